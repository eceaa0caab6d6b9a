//! What descriptors stand for: looked up once, and kept until they are closed. And where the next
//! read or write of one begins, of those that this process has opened and shares with nobody.

use std::ffi::c_int;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use iostrata_segment::fork;
use iostrata_segment::schema::{
    CATEGORY_BLK, CATEGORY_BLK_META, CATEGORY_CLASSES, CATEGORY_FILE, CATEGORY_JARS, CATEGORY_LOG,
    CATEGORY_PIPE, CATEGORY_PROPERTIES, CATEGORY_SOCKET, CATEGORY_UNKNOWN, CATEGORY_XML,
};
use iostrata_segment::writer::{Named, Process};
use rustix::fs::OFlags;

use crate::environment::shown;

/// A table has so many; one of a descriptor above [`MOST`] is looked up at each call.
const ROW: usize = 1024;
const MOST: usize = ROW * ROW;
const STANDARD: [&str; 3] = ["stdin", "stdout", "stderr"];

/// What is known of a descriptor; 0: nothing.
#[derive(Debug)]
struct Known {
    target: AtomicU64,
    /// One more than where the next read or write begins that says no place itself.
    next: AtomicU64,
}

type Row = [Known; ROW];

#[derive(Debug)]
pub struct Descriptors {
    rows: Box<[AtomicPtr<Row>]>,
    /// [`fork::made`] when places were known.
    forks: AtomicU32,
}

impl Default for Descriptors {
    fn default() -> Descriptors {
        let rows = (0..ROW).map(|_| AtomicPtr::default()).collect();
        Descriptors { rows, forks: AtomicU32::new(fork::made()) }
    }
}

impl Descriptors {
    /// Target of a descriptor: dictionary id | category << 32.
    #[inline]
    pub fn target(&self, process: &Process, fd: c_int) -> u64 {
        let known = self.known(fd, false).map_or(0, |known| known.target.load(Ordering::Relaxed));
        if known == 0 { self.learn(process, fd) } else { known }
    }

    #[cold]
    fn learn(&self, process: &Process, fd: c_int) -> u64 {
        let target = look_up(process, fd);
        if let Some(known) = self.known(fd, true) {
            known.target.store(target, Ordering::Relaxed);
        }
        target
    }

    /// It has just been opened: looks it up, whatever is known.
    pub fn opened(&self, process: &Process, fd: c_int) -> u64 {
        self.follow_forks();
        let target = self.learn(process, fd);
        if let Some(known) = self.known(fd, false) {
            known.next.store(u64::from(!appends(fd)), Ordering::Relaxed);
        }
        target
    }

    /// Where the next read or write begins that says no place itself; -1: not known.
    #[inline]
    pub fn next(&self, fd: c_int) -> i64 {
        self.follow_forks();
        self.known(fd, false).map_or(0, |known| known.next.load(Ordering::Relaxed)) as i64 - 1
    }

    /// Such a call has moved so many bytes.
    #[inline]
    pub fn moved(&self, fd: c_int, bytes: i64) {
        let next = self.known(fd, false).map(|known| &known.next);
        if let Some(next) = next.filter(|next| next.load(Ordering::Relaxed) != 0) {
            next.fetch_add(bytes as u64, Ordering::Relaxed);
        }
    }

    /// The next one begins there.
    pub fn sought(&self, fd: c_int, at: i64) {
        let next = self.known(fd, false).map(|known| &known.next);
        if let Some(next) = next.filter(|next| next.load(Ordering::Relaxed) != 0) {
            next.store(at as u64 + 1, Ordering::Relaxed);
        }
    }

    /// From now on others may move it, or what moves it is not followed.
    pub fn share(&self, fd: c_int) {
        if let Some(known) = self.known(fd, false) {
            known.next.store(0, Ordering::Relaxed);
        }
    }

    /// What a child has been forked with, it has, too.
    #[inline]
    fn follow_forks(&self) {
        let made = fork::made();
        if self.forks.load(Ordering::Relaxed) != made {
            self.forks.store(made, Ordering::Relaxed);
            self.share_all();
        }
    }

    /// No place is known any more.
    #[cold]
    pub fn share_all(&self) {
        for row in &self.rows {
            // SAFETY: null, or made by `make` and never freed
            let row = unsafe { row.load(Ordering::Acquire).as_ref() };
            for known in row.into_iter().flatten() {
                known.next.store(0, Ordering::Relaxed);
            }
        }
    }

    /// `to` is the same as `from` now.
    pub fn copy(&self, from: c_int, to: c_int) {
        let target =
            self.known(from, false).map_or(0, |known| known.target.load(Ordering::Relaxed));
        if let Some(known) = self.known(to, true) {
            known.target.store(target, Ordering::Relaxed);
        }
        self.share(from);
        self.share(to);
    }

    /// It is closed, or has become another.
    pub fn forget(&self, fd: c_int) {
        if let Some(known) = self.known(fd, false) {
            known.target.store(0, Ordering::Relaxed);
            known.next.store(0, Ordering::Relaxed);
        }
    }

    #[inline]
    fn known(&self, fd: c_int, makes: bool) -> Option<&Known> {
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
    let nothing = [const { Known { target: AtomicU64::new(0), next: AtomicU64::new(0) } }; ROW];
    let made = Box::into_raw(Box::new(nothing));
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

/// Whether each write goes to the end, wherever that is.
fn appends(fd: c_int) -> bool {
    // SAFETY: it has been opened a moment ago; if it is another one now, so is the answer
    let fd = unsafe { BorrowedFd::borrow_raw(fd) };
    rustix::fs::fcntl_getfl(fd).is_ok_and(|flags| flags.contains(OFlags::APPEND))
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
        let all = Descriptors::default();
        let at = |fd| all.known(fd, false).map_or(0, |known| known.target.load(Ordering::Relaxed));
        all.known(3, true).unwrap().target.store(7, Ordering::Relaxed);
        all.copy(3, 5000);
        assert_eq!((at(3), at(5000), at(5001), at(9)), (7, 7, 0, 0));
        all.forget(3);
        all.copy(3, 5000);
        assert_eq!((at(3), at(5000)), (0, 0));
        assert!(all.known(-1, true).is_none() && all.known(c_int::MAX, true).is_none());
    }

    #[test]
    fn a_place_is_known_until_others_may_move_it() {
        let all = Descriptors::default();
        let open = |fd| all.known(fd, true).unwrap().next.store(1, Ordering::Relaxed);
        assert_eq!(all.next(3), -1); // inherited
        all.moved(3, 10);
        all.sought(3, 10);
        assert_eq!(all.next(3), -1);
        open(3);
        assert_eq!(all.next(3), 0);
        all.moved(3, 10);
        assert_eq!(all.next(3), 10);
        all.sought(3, 5);
        all.moved(3, 1);
        assert_eq!(all.next(3), 6);
        all.copy(3, 4);
        assert_eq!((all.next(3), all.next(4)), (-1, -1));
        open(5);
        all.share_all();
        assert_eq!(all.next(5), -1);
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
