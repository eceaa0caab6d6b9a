/*!
The classes of the agent's jar, which are defined in the bootstrap loader one after the other.

To append the jar to that loader's class path would be less work, and would end the sharing of class
data in this JVM: since JDK 10 an archive may hold classes of the application, and a JVM lets go of
them when the bootstrap class path is not the one that the archive was made with
(`FileMapInfo::validate_boot_class_paths`) or grows (`ClassLoaderExt::append_boot_classpath`).
*/

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use noak::error::DecodeError;
use noak::reader::Class;
use rawzip::{CompressionMethod, ZipArchive};

use crate::jni::Jni;

/// Only weaving needs these, so only a JVM that weaves pays for them.
const ASM: &str = concat!(env!("IOSTRATA_AGENT_PACKAGE"), "/asm/");
const END: &str = ".class";

/// By name (`java/io/File`).
type ClassFiles = BTreeMap<String, Vec<u8>>;

/// Those that are not defined yet.
#[derive(Debug)]
pub struct AgentClasses(Mutex<ClassFiles>);

impl AgentClasses {
    /// Of a jar with this content.
    ///
    /// # Errors
    ///
    /// Why it is none of ours.
    pub fn of(jar: &[u8]) -> Result<AgentClasses, String> {
        read(jar).map(|files| AgentClasses(Mutex::new(files)))
    }

    /// Defines all that the agent needs where nothing is woven.
    pub fn define(&self, jni: Jni) {
        self.define_some(jni, |name| !name.starts_with(ASM));
    }

    /// Defines those that weave, too, which are there for the first caller and all after it.
    pub fn define_weaver(&self, jni: Jni) {
        self.define_some(jni, |_| true);
    }

    fn define_some(&self, jni: Jni, wanted: impl Fn(&str) -> bool) {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for name in in_order(&files, wanted) {
            // one that is there already, of an agent of the same version, is the same
            let _ = files.remove(&name).map(|file| jni.define(&file));
        }
    }
}

/// The build stores them: a JVM that starts has nothing to inflate.
fn read(jar: &[u8]) -> Result<ClassFiles, String> {
    let bad = |why: rawzip::Error| why.to_string();
    let archive = ZipArchive::from_slice(jar).map_err(bad)?;
    let (mut entries, mut files) = (archive.entries(), ClassFiles::new());
    while let Some(entry) = entries.next_entry().map_err(bad)? {
        let path = entry.file_path();
        let name = str::from_utf8(path.as_ref()).ok().and_then(|path| path.strip_suffix(END));
        let Some(name) = name else { continue };
        if entry.compression_method() != CompressionMethod::STORE {
            return Err(format!("{name}{END} is compressed"));
        }
        let file = archive.get_entry(entry.wayfinder()).map_err(bad)?;
        files.insert(name.to_owned(), file.data().to_vec());
    }
    Ok(files)
}

/// Names of the classes above one: its own and its interfaces.
fn above(class_file: &[u8]) -> Result<Vec<String>, DecodeError> {
    let class = Class::new(class_file)?;
    let mut names = Vec::new();
    for place in class.super_class().into_iter().map(Ok).chain(class.interfaces()) {
        names.push(class.pool().retrieve(place?)?.name.display().to_string());
    }
    Ok(names)
}

/// Names of files that are wanted with all above them, which come first.
fn in_order(files: &ClassFiles, wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let (mut order, mut seen) = (Vec::new(), BTreeMap::new());
    for name in files.keys() {
        visit(files, &wanted, name, &mut seen, &mut order);
    }
    order
}

/// Whether a class may be defined once all of `order` are; `seen`: what was said of others.
fn visit(
    files: &ClassFiles,
    wanted: &impl Fn(&str) -> bool,
    name: &str,
    seen: &mut BTreeMap<String, bool>,
    order: &mut Vec<String>,
) -> bool {
    let Some(file) = files.get(name) else { return true }; // defined, or the JDK's
    if let Some(may) = seen.get(name) {
        return *may;
    }
    seen.insert(name.to_owned(), false); // what is above itself is no class
    let above = if wanted(name) { above(file).ok() } else { None };
    let may = above.is_some_and(|all| all.iter().all(|one| visit(files, wanted, one, seen, order)));
    if may {
        order.push(name.to_owned());
    }
    seen.insert(name.to_owned(), may);
    may
}

#[cfg(test)]
mod tests {
    use noak::writer::ClassWriter;
    use noak::{AccessFlags, Version};

    use super::*;

    fn class_file(name: &str, above: &[&str]) -> Vec<u8> {
        let written = ClassWriter::new()
            .version(Version::latest())
            .and_then(|class| class.access_flags(AccessFlags::PUBLIC))
            .and_then(|class| class.this_class(name))
            .and_then(|class| class.super_class(above[0]))
            .and_then(|class| {
                class.interfaces(|interfaces| {
                    above[1..].iter().try_for_each(|one| {
                        interfaces.begin(|place| place.interface(*one)).map(drop)
                    })
                })
            })
            .and_then(|class| class.fields(|_| Ok(())))
            .and_then(|class| class.methods(|_| Ok(())))
            .and_then(|class| class.attributes(|_| Ok(())));
        written.and_then(ClassWriter::into_bytes).unwrap()
    }

    fn files(all: &[(&str, &[&str])]) -> ClassFiles {
        all.iter().map(|(name, above)| ((*name).to_owned(), class_file(name, above))).collect()
    }

    #[test]
    fn what_is_above_a_class_comes_before_it() {
        let jar = files(&[
            ("a/First", &["a/Super", "a/Shape"]),
            ("a/Shape", &["java/lang/Object"]),
            ("a/Super", &["java/lang/Object", "a/Shape"]),
        ]);
        assert_eq!(in_order(&jar, |_| true), ["a/Shape", "a/Super", "a/First"]);
    }

    #[test]
    fn what_stands_below_an_unwanted_class_waits_with_it() {
        let mut jar = files(&[
            ("a/Visitor", &["asm/Visitor"]),
            ("a/Visitor$Inner", &["a/Visitor"]),
            ("a/Writer", &["java/lang/Object"]),
            ("asm/Visitor", &["java/lang/Object"]),
        ]);
        assert_eq!(in_order(&jar, |name| !name.starts_with("asm/")), ["a/Writer"]);
        jar.remove("a/Writer");
        assert_eq!(in_order(&jar, |_| true), ["asm/Visitor", "a/Visitor", "a/Visitor$Inner"]);
    }

    #[test]
    fn what_is_no_class_is_left_out() {
        let mut jar = files(&[("a/One", &["a/Two"]), ("a/Two", &["a/One"])]);
        jar.insert("a/Three".into(), b"no class".to_vec());
        assert_eq!(in_order(&jar, |_| true), [""; 0]);
    }

    #[test]
    fn what_is_no_jar_is_said_in_a_line() {
        let why = AgentClasses::of(b"PK").unwrap_err();
        assert!(!why.is_empty() && !why.contains('\n'), "{why}");
    }
}
