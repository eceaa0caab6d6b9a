//! The files of a producer: made so that nobody else can reach them, and reserved before they are
//! touched, because a SIGBUS inside the host would end it.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, FallocateFlags, Mode, OFlags, fallocate, fstat, mkdir, openat, unlinkat,
};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

use crate::door;
use crate::mapping::{Mapping, Rejection};
use crate::memory::Memory;
use crate::schema::{MAGIC, VERSION};

const PERMISSIONS: u32 = 0o777;
/// Whose all is that belongs to nobody in this user namespace.
const NOBODY: u32 = 65534;

/// Where a process has its files, and how its collector counts it and its user.
#[derive(Debug, PartialEq, Eq)]
pub struct Place {
    user: PathBuf,
    pub pid: u32,
    pub uid: u32,
}

impl Place {
    /// `DIR/UID`, which is made, or asked for at the door. `pid`: 0: as the collector sees this
    /// process. `shows`: it comes to the door all the same, for the collector to see who started
    /// it. The error is one line for people.
    pub fn of(dir: &Path, pid: u32, shows: bool) -> Result<Place, String> {
        let own = rustix::process::geteuid().as_raw();
        let is_own = check_shared(dir, own)? == own;
        let (pids, users) = door::counts_otherwise(dir);
        if users {
            let seen = door::hello(dir)?;
            let user = dir.join(seen.uid.to_string());
            mine(&user, own).map_err(|why| why.unwrap_or_else(|| not_made(&user)))?;
            return Ok(Place { user, pid: if pid == 0 { seen.pid } else { pid }, uid: seen.uid });
        }
        let user = dir.join(own.to_string());
        let mine = mine(&user, own);
        let own_pid = std::process::id();
        if shows && !is_own && mine.is_ok() {
            let _ = door::hello(dir); // without, it belongs to nobody's run but its own user's
        }
        if pid == 0 && pids || mine == Err(None) {
            let seen = door::hello(dir)?;
            self::mine(&user, own).map_err(|why| why.unwrap_or_else(|| not_made(&user)))?;
            return Ok(Place { user, pid: if pid == 0 { seen.pid } else { pid }, uid: own });
        }
        mine.map_err(Option::unwrap_or_default)?;
        Ok(Place { user, pid: if pid == 0 { own_pid } else { pid }, uid: own })
    }

    /// Makes `DIR/UID/NAME`.
    pub fn make(&self, name: &str) -> Result<PathBuf, String> {
        let process = self.user.join(name);
        make_private(&process).map_err(|why| cannot_make(&process, why))?;
        Ok(process)
    }
}

/// In a directory that others may write to, nothing is what it was a moment ago.
///
/// Its owner.
fn check_shared(dir: &Path, own: u32) -> Result<u32, String> {
    let shown = dir.display();
    let stat = std::fs::metadata(dir).map_err(|_| {
        format!(
            "{shown} does not exist; in a container: docker run --ipc=host, or -v {shown}:{shown}"
        )
    })?;
    if !stat.is_dir() {
        return Err(format!("{shown} is no directory"));
    }
    let hidden = stat.uid() == NOBODY && hides_users();
    if stat.uid() != 0 && stat.uid() != own || hidden {
        let theirs = stat.uid();
        let why = if hidden {
            " (a user namespace hides whose it is: record with a collector of its user's, \
             iostrata record --private, and map that user)"
        } else {
            ""
        };
        return Err(format!("{shown} belongs to uid {theirs}, neither root nor {own}{why}"));
    }
    if stat.mode() & 0o022 != 0 {
        return Err(format!("others may write to {shown}: its collector is an older one"));
    }
    Ok(stat.uid())
}

fn make_private(path: &Path) -> Result<(), Errno> {
    mkdir(path, Mode::from_raw_mode(0o700))
}

/// One line for people. The collector has the same of a JVM that has started.
pub fn cannot_make(path: &Path, why: Errno) -> String {
    let remedy = remedy(why).map_or_else(String::new, |remedy| format!("; {remedy}"));
    format!("cannot make {}: {why}{remedy}", path.display())
}

/// What to do where a file of ours cannot be made.
#[must_use]
pub fn remedy(why: Errno) -> Option<&'static str> {
    match why {
        Errno::NOSPC => Some("shared memory is full: free some of it, or docker run --shm-size=1g"),
        Errno::DQUOT => Some("the user's quota of shared memory is used up"),
        Errno::MFILE => Some("the JVM has reached its limit of open files: raise ulimit -n"),
        Errno::NFILE => Some("the host has reached its limit of open files: raise fs.file-max"),
        Errno::FBIG => Some("the JVM may write no file of that size: raise ulimit -f"),
        Errno::NOMEM => Some("the JVM may map no more memory: raise ulimit -v or its container's"),
        _ => None,
    }
}

/// Whether this is a user namespace that does not know all users.
fn hides_users() -> bool {
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    map.split_ascii_whitespace().ne(["0", "0", "4294967295"])
}

fn not_made(user: &Path) -> String {
    format!("{} was not made by the collector", user.display())
}

/// Makes the folder of this user, or finds it; `None`: it is not there, and only the collector may
/// make it.
fn mine(user: &Path, own: u32) -> Result<(), Option<String>> {
    let shown = user.display();
    let Err(why) = make_private(user) else { return Ok(()) };
    match std::fs::symlink_metadata(user) {
        Err(_) if why == Errno::ACCESS || why == Errno::PERM => Err(None),
        Err(_) => Err(Some(cannot_make(user, why))),
        Ok(stat) if stat.uid() != own => {
            Err(Some(format!("{shown} belongs to uid {}, not {own}", stat.uid())))
        }
        Ok(stat) if !stat.is_dir() => Err(Some(format!("{shown} is no directory"))),
        Ok(stat) if stat.mode() & PERMISSIONS & !0o700 != 0 => {
            let mode = stat.mode() & PERMISSIONS;
            Err(Some(format!("{shown} is open to others (mode {mode:o}, not 700)")))
        }
        Ok(_) => Ok(()),
    }
}

/// A folder of ours, for as long as it is needed. No descriptor is kept: programs close those that
/// are not theirs, and what is made by its number then is made in a folder of the program's.
pub fn open_folder(path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(CWD, path, flags, Mode::empty())
}

/// A new file of `size` reserved zero bytes, mapped; nothing is left behind when that fails.
pub fn create(directory: &Path, name: &str, size: usize) -> Result<Mapping, Errno> {
    if getrlimit(Resource::Fsize).current.is_some_and(|most| most < size as u64) {
        return Err(Errno::FBIG); // the signal of an attempt would end who does not expect it
    }
    let directory = open_folder(directory)?;
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = openat(&directory, name, flags, Mode::from_raw_mode(0o600))?;
    let mapped = reserve(&file, size).and_then(|()| map(&file, size));
    if mapped.is_err() {
        let _ = unlinkat(&directory, name, AtFlags::empty());
    }
    mapped
}

/// [`create`] with the preamble that every file begins with.
pub fn make(directory: &Path, name: &str, size: usize, kind: u16) -> Result<Mapping, Errno> {
    let memory = create(directory, name, size)?;
    memory.set_u32(4, u32::from(VERSION) | u32::from(kind) << 16);
    memory.set_u32(0, MAGIC);
    Ok(memory)
}

/// Fills `page` from the beginning of a file of `uid` or root; false when there is none.
pub fn read_control(path: &Path, page: &mut [u8], uid: u32) -> bool {
    open_control(path, uid).is_some_and(|file| file.read_exact_at(page, 0).is_ok())
}

/// A file of `uid` or root.
#[must_use]
pub fn open_control(path: &Path, uid: u32) -> Option<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = openat(CWD, path, flags, Mode::empty()).ok()?;
    let owner = fstat(&file).ok()?.st_uid;
    (owner == 0 || owner == uid).then(|| File::from(file))
}

/// A sparse mapping of a full tmpfs would fault inside the host.
fn reserve(file: &OwnedFd, size: usize) -> Result<(), Errno> {
    match fallocate(file, FallocateFlags::empty(), 0, size as u64) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => {
            let zeros = vec![0; size];
            let copy = File::from(file.try_clone().map_err(|_| Errno::MFILE)?);
            copy.write_all_at(&zeros, 0)
                .map_err(|why| Errno::from_io_error(&why).unwrap_or(Errno::IO))
        }
        other => other,
    }
}

fn map(file: &OwnedFd, size: usize) -> Result<Mapping, Errno> {
    Mapping::unguarded(file, size).map_err(|why| match why {
        Rejection::Io(errno) => errno,
        _ => Errno::IO,
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::scratch::ScratchDir;

    #[test]
    fn a_directory_is_for_its_user_only() {
        let dir = ScratchDir::new();
        let own = rustix::process::geteuid().as_raw();
        let place = Place::of(dir.path(), 0, false).unwrap();
        assert_eq!(
            (&place.user, place.pid),
            (&dir.path().join(own.to_string()), std::process::id())
        );
        let made = place.make("1-2").unwrap();
        assert_eq!(std::fs::metadata(&made).unwrap().mode() & 0o777, 0o700);
        let again = place.make("1-2").unwrap_err();
        assert!(again.starts_with("cannot make /") && again.contains("exists"), "{again}");
        let user = made.parent().unwrap();
        std::fs::set_permissions(user, std::fs::Permissions::from_mode(0o755)).unwrap();
        let open = Place::of(dir.path(), 0, false).unwrap_err();
        assert!(open.ends_with("is open to others (mode 755, not 700)"), "{open}");
    }

    #[test]
    fn a_directory_that_others_may_write_to_is_none() {
        let dir = ScratchDir::new();
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o1777)).unwrap();
        let open = Place::of(dir.path(), 0, false).unwrap_err();
        assert!(open.starts_with("others may write to /"), "{open}");
    }

    #[test]
    fn who_is_counted_otherwise_asks_at_the_door() {
        let dir = ScratchDir::new();
        let say = |namespace: &str| {
            let text = format!("pid=1\npid_namespace={namespace}\n");
            std::fs::write(dir.path().join("collector"), text).unwrap();
        };
        say(&door::namespace("pid"));
        assert_eq!(Place::of(dir.path(), 0, false).unwrap().pid, std::process::id());
        say("pid:[1]");
        assert_eq!(Place::of(dir.path(), 7, false).unwrap().pid, 7);
        let closed = Place::of(dir.path(), 0, false).unwrap_err();
        assert!(closed.contains("does not answer: No such file"), "{closed}");
    }

    #[test]
    fn a_link_or_a_missing_directory_is_refused() {
        let dir = ScratchDir::new();
        let own = rustix::process::geteuid().as_raw();
        std::os::unix::fs::symlink("/", dir.path().join(own.to_string())).unwrap();
        let linked = Place::of(dir.path(), 0, false).unwrap_err();
        assert!(linked.ends_with("is no directory"), "{linked}");
        let missing = Place::of(&dir.path().join("x"), 0, false).unwrap_err();
        assert!(
            missing.contains("does not exist; in a container: docker run --ipc=host"),
            "{missing}"
        );
    }

    #[test]
    fn a_file_is_zero_and_reserved_or_not_there() {
        let dir = ScratchDir::new();
        let memory = create(dir.path(), "1.seg", 8192).unwrap();
        assert_eq!(memory.relaxed_u64(8184), 0);
        memory.set_u64(8, 7);
        assert_eq!(std::fs::read(dir.path().join("1.seg")).unwrap()[8], 7);
        assert_eq!(std::fs::metadata(dir.path().join("1.seg")).unwrap().blocks(), 16);
        assert_eq!(create(dir.path(), "1.seg", 8192).unwrap_err(), Errno::EXIST);
        assert!(create(dir.path(), "2.seg", usize::MAX / 4).is_err());
        assert!(!dir.path().join("2.seg").exists());
    }

    #[test]
    fn a_control_page_is_read_whole_or_not_at_all() {
        let dir = ScratchDir::new();
        let path = dir.path().join("control");
        let own = rustix::process::geteuid().as_raw();
        let mut page = [0; 4];
        assert!(!read_control(&path, &mut page, own));
        std::fs::write(&path, [1, 2, 3]).unwrap();
        assert!(!read_control(&path, &mut page, own), "too short");
        std::fs::write(&path, [1, 2, 3, 4, 5]).unwrap();
        assert!(read_control(&path, &mut page, own));
        assert_eq!(page, [1, 2, 3, 4]);
        assert_eq!(read_control(&path, &mut page, own + 1), own == 0, "root's is believed");
    }
}
