//! What descriptors stand for: looked up once, and kept until they are closed.

use std::ffi::c_int;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use iostrata_segment::schema::{
    CATEGORY_BLK, CATEGORY_BLK_META, CATEGORY_CLASSES, CATEGORY_FILE, CATEGORY_JARS, CATEGORY_LOG,
    CATEGORY_PIPE, CATEGORY_PROPERTIES, CATEGORY_SOCKET, CATEGORY_UNKNOWN, CATEGORY_XML,
};
use iostrata_segment::writer::{Named, Process};

use crate::environment::shown;

/// A table has so many; one of a descriptor above [`MOST`] is looked up at each call.
const ROW: usize = 1024;
const MOST: usize = ROW * ROW;
const STANDARD: [&str; 3] = ["stdin", "stdout", "stderr"];

type Row = [AtomicU64; ROW];

/// Targets by descriptor; 0: not known.
#[derive(Debug)]
pub struct Descriptors {
    rows: Box<[AtomicPtr<Row>]>,
}

impl Default for Descriptors {
    fn default() -> Descriptors {
        Descriptors { rows: (0..ROW).map(|_| AtomicPtr::default()).collect() }
    }
}

impl Descriptors {
    /// Target of a descriptor: dictionary id | category << 32.
    #[inline]
    pub fn target(&self, process: &Process, fd: c_int) -> u64 {
        let known = self.place(fd, false).map_or(0, |place| place.load(Ordering::Relaxed));
        if known == 0 { self.learn(process, fd) } else { known }
    }

    /// Looks it up, whatever is known.
    #[cold]
    pub fn learn(&self, process: &Process, fd: c_int) -> u64 {
        let target = look_up(process, fd);
        self.set(fd, target);
        target
    }

    /// `to` is the same as `from` now.
    pub fn copy(&self, from: c_int, to: c_int) {
        let target = self.place(from, false).map_or(0, |place| place.load(Ordering::Relaxed));
        self.set(to, target);
    }

    /// It is closed, or has become another.
    pub fn forget(&self, fd: c_int) {
        if let Some(place) = self.place(fd, false) {
            place.store(0, Ordering::Relaxed);
        }
    }

    fn set(&self, fd: c_int, target: u64) {
        if let Some(place) = self.place(fd, true) {
            place.store(target, Ordering::Relaxed);
        }
    }

    #[inline]
    fn place(&self, fd: c_int, makes: bool) -> Option<&AtomicU64> {
        let fd = usize::try_from(fd).ok().filter(|fd| *fd < MOST)?;
        let row = &self.rows[fd / ROW];
        let mut at = row.load(Ordering::Acquire);
        if at.is_null() {
            if !makes {
                return None;
            }
            at = make(row);
        }
        // SAFETY: made by `make`, and never freed
        Some(unsafe { &(&*at)[fd % ROW] })
    }
}

#[cold]
fn make(row: &AtomicPtr<Row>) -> *mut Row {
    let made = Box::into_raw(Box::new([const { AtomicU64::new(0) }; ROW]));
    let null = std::ptr::null_mut();
    match row.compare_exchange(null, made, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => made,
        Err(other) => {
            // SAFETY: made above, and nobody else has seen it
            drop(unsafe { Box::from_raw(made) });
            other
        }
    }
}

fn look_up(process: &Process, fd: c_int) -> u64 {
    let (category, name) = name_of(fd);
    named(process, category, &name)
}

fn named(process: &Process, category: u8, name: &str) -> u64 {
    u64::from(process.named(Named::of(category), name)) | u64::from(category) << 32
}

/// Target of a path, `at` a descriptor of a folder or [`libc::AT_FDCWD`].
pub fn of_path(process: &Process, at: c_int, path: &Path) -> u64 {
    let whole = if path.is_absolute() { path.to_owned() } else { folder(at).join(path) };
    let name = shown(&whole);
    named(process, category(&name), &name)
}

/// Target of something inside of a file.
pub fn within_file(process: &Process, file: &Path, inside: &str) -> u64 {
    if inside.is_empty() {
        return of_path(process, libc::AT_FDCWD, file);
    }
    let name = shown(&folder(libc::AT_FDCWD).join(file));
    named(process, category(&name), &format!("{name}:{inside}"))
}

fn folder(at: c_int) -> PathBuf {
    let link = if at == libc::AT_FDCWD { "/proc/self/cwd".into() } else { link(at) };
    std::fs::read_link(link).unwrap_or_default()
}

fn link(fd: c_int) -> String {
    format!("/proc/self/fd/{fd}")
}

fn name_of(fd: c_int) -> (u8, String) {
    let Ok(path) = std::fs::read_link(link(fd)) else { return (CATEGORY_UNKNOWN, String::new()) };
    let name = shown(&path);
    if name.starts_with("pipe:") || name.starts_with("/dev/pts/") {
        let standard = usize::try_from(fd).ok().and_then(|fd| STANDARD.get(fd));
        return (CATEGORY_PIPE, (*standard.unwrap_or(&"")).to_owned());
    }
    if name.starts_with("socket:") {
        return (CATEGORY_SOCKET, peer(fd).unwrap_or_default());
    }
    if !name.starts_with('/') {
        return (CATEGORY_UNKNOWN, name); // anon_inode:[eventfd]
    }
    (category(&name), name)
}

fn peer(fd: c_int) -> Option<String> {
    // SAFETY: it was open a moment ago; if it is another one now, so is the answer
    let fd = unsafe { BorrowedFd::borrow_raw(fd) };
    let address = rustix::net::getpeername(fd).ok().flatten()?;
    let address = std::net::SocketAddr::try_from(address).ok()?;
    Some(address.to_string())
}

/// As the JVM agent has it (LocalName.java), but for what only JVMs write.
fn category(path: &str) -> u8 {
    let file = path.rsplit('/').next().unwrap_or_default();
    let ends = |ends: &[&str]| ends.iter().any(|end| file.ends_with(end));
    if file.starts_with("blk_") {
        return if ends(&[".meta"]) { CATEGORY_BLK_META } else { CATEGORY_BLK };
    }
    match () {
        () if ends(&[".jar", ".zip"]) => CATEGORY_JARS,
        () if ends(&[".class", ".so"]) || file.contains(".so.") => CATEGORY_CLASSES,
        () if ends(&[".properties"]) => CATEGORY_PROPERTIES,
        () if ends(&[".xml"]) => CATEGORY_XML,
        () if ends(&[".log"]) || file.contains(".log.") => CATEGORY_LOG,
        () => CATEGORY_FILE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_a_file_is() {
        for (path, expected) in [
            ("/a/b", CATEGORY_FILE),
            ("/a/x.log.2", CATEGORY_LOG),
            ("/lib/libc.so.6", CATEGORY_CLASSES),
            ("/d/blk_17", CATEGORY_BLK),
            ("/d/blk_17_9.meta", CATEGORY_BLK_META),
            ("/a.log/b", CATEGORY_FILE),
        ] {
            assert_eq!(category(path), expected, "{path}");
        }
    }

    #[test]
    fn what_is_known_stays_until_it_is_forgotten() {
        let known = Descriptors::default();
        let at = |fd| known.place(fd, false).map_or(0, |place| place.load(Ordering::Relaxed));
        known.set(3, 7);
        known.copy(3, 5000);
        assert_eq!((at(3), at(5000), at(5001), at(9)), (7, 7, 0, 0));
        known.forget(3);
        known.copy(3, 5000);
        assert_eq!((at(3), at(5000)), (0, 0));
        for fd in [-1, c_int::MAX] {
            known.set(fd, 7);
            assert_eq!(at(fd), 0);
        }
    }

    #[test]
    fn descriptors_have_the_names_of_their_files() {
        let file = std::fs::File::open("/proc/self/cmdline").unwrap();
        let fd = std::os::fd::AsRawFd::as_raw_fd(&file);
        let own = format!("/proc/{}/cmdline", std::process::id());
        assert_eq!(name_of(fd), (CATEGORY_FILE, own));
        assert_eq!(name_of(-1), (CATEGORY_UNKNOWN, String::new()));
    }
}
