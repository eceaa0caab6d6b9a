/*!
The classes of the agent's jar, which are defined in the bootstrap loader one after the other.

To append the jar to that loader's class path would be less work, and would end the sharing of class
data in this JVM: since JDK 10 an archive holds classes of the application, made with
`-XX:ArchiveClassesAtExit`, and a JVM lets go of them as soon as the bootstrap class path grows
(`ClassLoaderExt::append_boot_classpath`).
*/

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};
use noak::error::DecodeError;
use noak::reader::Class;
use rawzip::{CompressionMethod, ZipArchive};

use crate::jni::Jni;

/// Only weaving needs these, so only a JVM that weaves pays for them.
const ASM: &str = concat!(env!("IOSTRATA_AGENT_PACKAGE"), "/asm/");
const END: &str = ".class";
/// Of one class file: a jar that says more is none of ours.
const LONGEST: u64 = 4 << 20;

#[derive(Debug, PartialEq, Eq)]
struct ClassFile {
    bytes: Vec<u8>,
    /// Its class and its interfaces, which have to be there before it.
    above: Vec<String>,
}

/// By name (`java/io/File`).
type ClassFiles = BTreeMap<String, ClassFile>;

/// Those that are not defined yet.
#[derive(Debug, Default)]
struct Pending {
    files: ClassFiles,
    /// The jar, until what weaves is taken from it.
    jar: Vec<u8>,
}

#[derive(Debug, Default)]
pub struct AgentClasses(Mutex<Pending>);

impl AgentClasses {
    /// Of a jar with this content.
    ///
    /// # Errors
    ///
    /// Why it is no jar.
    pub fn of(jar: Vec<u8>) -> Result<AgentClasses, String> {
        let files = read(&jar, |name| !name.starts_with(ASM))?;
        Ok(AgentClasses(Mutex::new(Pending { files, jar })))
    }

    /// Defines all that the agent needs where nothing is woven.
    pub fn define(&self, jni: Jni) {
        let mut pending = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for name in in_order(&pending.files, |name| !name.starts_with(ASM)) {
            define(jni, &mut pending.files, &name);
        }
    }

    /// Defines those that weave, which are there for the first caller and all after it.
    ///
    /// # Errors
    ///
    /// Why they are not in the jar.
    pub fn define_weaver(&self, jni: Jni) -> Result<(), String> {
        let mut pending = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let jar = std::mem::take(&mut pending.jar);
        if !jar.is_empty() {
            pending.files.extend(read(&jar, |name| name.starts_with(ASM))?);
        }
        for name in in_order(&pending.files, |_| true) {
            define(jni, &mut pending.files, &name);
        }
        Ok(())
    }
}

/// Class files of a jar whose names are wanted.
fn read(jar: &[u8], wanted: impl Fn(&str) -> bool) -> Result<ClassFiles, String> {
    let bad = |why: rawzip::Error| why.to_string();
    let archive = ZipArchive::from_slice(jar).map_err(bad)?;
    let (mut entries, mut files) = (archive.entries(), BTreeMap::new());
    let mut inflater = Box::<DecompressorOxide>::default();
    while let Some(entry) = entries.next_entry().map_err(bad)? {
        let path = entry.file_path();
        let name = str::from_utf8(path.as_ref()).ok().and_then(|path| path.strip_suffix(END));
        let Some(name) = name.filter(|name| wanted(name)) else { continue };
        let data = archive.get_entry(entry.wayfinder()).map_err(bad)?.data();
        let size = entry.uncompressed_size_hint().min(LONGEST) as usize;
        let bytes = match entry.compression_method() {
            CompressionMethod::STORE => Some(data.to_vec()),
            CompressionMethod::DEFLATE => inflated(&mut inflater, data, size),
            _ => None,
        };
        let file = bytes.ok_or_else(|| "it cannot be read".to_owned()).and_then(ClassFile::of);
        files.insert(name.to_owned(), file.map_err(|why| format!("{name}{END}: {why}"))?);
    }
    Ok(files)
}

/// A window of `size` bytes is all that there is to inflate into: no allocation but the result.
fn inflated(inflater: &mut DecompressorOxide, data: &[u8], size: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; size];
    inflater.init();
    let flags = TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
    let (status, _, written) = decompress(inflater, data, &mut bytes, 0, flags);
    (status == TINFLStatus::Done && written == size).then_some(bytes)
}

/// One that is there already, of an agent of the same version, is the same.
fn define(jni: Jni, files: &mut ClassFiles, name: &str) {
    if let Some(file) = files.remove(name) {
        let _ = jni.define(&file.bytes);
    }
}

impl ClassFile {
    fn of(bytes: Vec<u8>) -> Result<ClassFile, String> {
        let above = above(&bytes).map_err(|why| why.to_string())?;
        Ok(ClassFile { bytes, above })
    }
}

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
    let mut order = Vec::new();
    let mut seen = BTreeMap::new();
    for name in files.keys() {
        visit(files, &wanted, name, &mut seen, &mut order);
    }
    order
}

/// Whether it may be defined once all of `order` is; `seen`: what was said of others.
fn visit(
    files: &ClassFiles,
    wanted: &impl Fn(&str) -> bool,
    name: &str,
    seen: &mut BTreeMap<String, bool>,
    order: &mut Vec<String>,
) -> bool {
    let Some(file) = files.get(name) else { return wanted(name) }; // defined, or the JDK's
    if let Some(may) = seen.get(name) {
        return *may;
    }
    seen.insert(name.to_owned(), false); // what is above itself is no class
    let may = wanted(name) && file.above.iter().all(|one| visit(files, wanted, one, seen, order));
    if may {
        order.push(name.to_owned());
    }
    seen.insert(name.to_owned(), may);
    may
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(all: &[(&str, &[&str])]) -> ClassFiles {
        let file = |above: &[&str]| ClassFile {
            bytes: Vec::new(),
            above: above.iter().map(|name| (*name).to_owned()).collect(),
        };
        all.iter().map(|(name, above)| ((*name).to_owned(), file(above))).collect()
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
        let jar = files(&[
            ("a/Visitor", &["asm/Visitor"]),
            ("a/Visitor$Inner", &["a/Visitor"]),
            ("a/Writer", &["java/lang/Object"]),
            ("asm/Visitor", &["java/lang/Object"]),
        ]);
        assert_eq!(in_order(&jar, |name| !name.starts_with("asm/")), ["a/Writer"]);
        let order = in_order(&jar, |_| true);
        assert_eq!(order, ["asm/Visitor", "a/Visitor", "a/Visitor$Inner", "a/Writer"]);
    }

    #[test]
    fn a_class_above_itself_ends_nothing() {
        let jar = files(&[("a/One", &["a/Two"]), ("a/Two", &["a/One"])]);
        assert_eq!(in_order(&jar, |_| true), [""; 0]);
    }

    #[test]
    fn what_is_no_jar_is_said_in_a_line() {
        let why = AgentClasses::of(b"PK".to_vec()).unwrap_err();
        assert!(!why.is_empty() && !why.contains('\n'), "{why}");
    }
}
