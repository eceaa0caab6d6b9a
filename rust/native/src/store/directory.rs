//! Directories of the store, which belong to users while a collector that may be root writes them.
//!
//! Everything goes through directory handles and refuses symbolic links on the way, so that a user
//! cannot make root write elsewhere.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, Gid, Mode, OFlags, Uid, fchmod, fchown, fstat, fsync, mkdirat, openat, renameat,
    statat, unlinkat,
};
use rustix::io::Errno;

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A directory of the store and the user its content belongs to.
#[derive(Debug)]
pub struct StoreDirectory {
    handle: OwnedFd,
    owner: u32,
}

impl AsFd for StoreDirectory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

impl StoreDirectory {
    /// Opens or makes `path` with `mode`, whatever the umask.
    pub fn root(path: &Path, mode: u32) -> io::Result<StoreDirectory> {
        let made = match std::fs::create_dir_all(path.parent().unwrap_or(path)) {
            Ok(()) => mkdirat(CWD, path, Mode::from_raw_mode(0o700)),
            Err(error) => return Err(error),
        };
        let handle = openat(CWD, path, DIRECTORY, Mode::empty())?;
        match made {
            Ok(()) => fchmod(&handle, Mode::from_raw_mode(mode))?,
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno.into()),
        }
        Ok(StoreDirectory { handle, owner: rustix::process::geteuid().as_raw() })
    }

    /// One that is open already, of this process's own user.
    pub fn of(handle: OwnedFd) -> StoreDirectory {
        StoreDirectory { handle, owner: rustix::process::geteuid().as_raw() }
    }

    /// Opens or makes the directory `name`, 0700, for `owner`; refuses one of somebody else.
    pub fn enter(&self, name: &str, owner: u32) -> io::Result<StoreDirectory> {
        match openat(&self.handle, name, DIRECTORY, Mode::empty()) {
            Ok(handle) => {
                belongs(handle.as_fd(), name, owner)?;
                Ok(StoreDirectory { handle, owner })
            }
            Err(Errno::NOENT) => self.make(name, owner),
            Err(errno) => Err(errno.into()),
        }
    }

    /// It has its name only once it belongs to its owner, whenever this process is killed.
    fn make(&self, name: &str, owner: u32) -> io::Result<StoreDirectory> {
        let new = format!(".{name}.new");
        let _ = unlinkat(&self.handle, &new, AtFlags::REMOVEDIR);
        mkdirat(&self.handle, &new, Mode::from_raw_mode(0o700))?;
        let handle = self.give_new(&new, owner)?;
        renameat(&self.handle, &new, &self.handle, name)?;
        Ok(StoreDirectory { handle, owner })
    }

    /// Who may write here may have put another one at its place, which is not given away.
    fn give_new(&self, new: &str, owner: u32) -> io::Result<OwnedFd> {
        let handle = openat(&self.handle, new, DIRECTORY, Mode::empty())?;
        belongs(handle.as_fd(), new, rustix::process::geteuid().as_raw())?;
        give(handle.as_fd(), owner)?;
        Ok(handle)
    }

    /// Whose the directory `name` is; `None`: there is none.
    pub fn owner_of(&self, name: &str) -> Option<u32> {
        statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW).ok().map(|stat| stat.st_uid)
    }

    /// A directory that exists already.
    pub fn existing(&self, name: &str) -> io::Result<StoreDirectory> {
        let handle = openat(&self.handle, name, DIRECTORY, Mode::empty())?;
        Ok(StoreDirectory { handle, owner: self.owner })
    }

    /// Writes the file `name`, 0600, so that it is there as a whole or not at all, also when the
    /// machine fails; its size.
    pub fn publish(
        &self,
        name: &str,
        fill: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<u64> {
        self.write(name, |file| {
            fill(file)?;
            Ok(fsync(file)?)
        })
    }

    pub fn publish_bytes(&self, name: &str, bytes: &[u8]) -> io::Result<u64> {
        self.publish(name, |file| file.write_all(bytes))
    }

    /// Writes a file that will soon be written again: readers see the old one or this one, and
    /// nobody waits for the disk, which may take seconds.
    pub fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.write(name, |file| file.write_all(bytes)).map(drop)
    }

    /// [`StoreDirectory::replace`] with a file of `owner`, which all may read if it is `open`.
    pub fn put(&self, name: &str, bytes: &[u8], owner: u32, open: bool) -> io::Result<()> {
        let fill = |file: &mut File| {
            give(file.as_fd(), owner)?;
            let mode = if open { 0o644 } else { 0o600 };
            fchmod(&*file, Mode::from_raw_mode(mode))?;
            file.write_all(bytes)
        };
        self.write(name, fill).map(drop)
    }

    fn write(&self, name: &str, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<u64> {
        let new = format!(".{name}.new");
        let _ = unlinkat(&self.handle, &new, AtFlags::empty());
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let mode = Mode::from_raw_mode(0o600);
        let mut file = File::from(openat(&self.handle, &new, flags | OFlags::CLOEXEC, mode)?);
        let written =
            give(file.as_fd(), self.owner).and_then(|()| fill(&mut file)).and_then(|()| {
                let size = file.metadata()?.len();
                renameat(&self.handle, &new, &self.handle, name)?;
                Ok(size)
            });
        if written.is_err() {
            let _ = unlinkat(&self.handle, &new, AtFlags::empty());
        }
        written
    }

    pub fn remove(&self, name: &str) -> io::Result<()> {
        Ok(unlinkat(&self.handle, name, AtFlags::empty())?)
    }

    pub fn size_of(&self, name: &str) -> u64 {
        statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW).map_or(0, |stat| stat.st_size as u64)
    }

    pub fn read(&self, name: &str) -> io::Result<String> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = File::from(openat(&self.handle, name, flags, Mode::empty())?);
        io::read_to_string(io::Read::take(file, 1 << 20))
    }

    /// Names in it.
    pub fn list(&self) -> Vec<String> {
        crate::listing::list(self.handle.as_fd())
    }
}

fn belongs(directory: BorrowedFd<'_>, name: &str, owner: u32) -> io::Result<()> {
    let uid = fstat(directory)?.st_uid;
    if uid == owner {
        return Ok(());
    }
    let message = format!("{name} belongs to uid={uid}, not to uid={owner}");
    Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
}

/// Only root can give files away; for anybody else they are the user's own already.
fn give(file: BorrowedFd<'_>, owner: u32) -> io::Result<()> {
    if !rustix::process::geteuid().is_root() || owner == 0 {
        return Ok(());
    }
    let group = Gid::from_raw(crate::users::group_of(owner));
    Ok(fchown(file, Some(Uid::from_raw(owner)), Some(group))?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, chown};

    use iostrata_segment::scratch::ScratchDir;

    use super::*;

    const OWNER: u32 = 4_000_001;
    const OTHER: u32 = 4_000_002;

    #[test]
    fn what_was_put_at_the_place_of_a_new_folder_is_not_given_away() {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: only root gives folders away");
            return;
        }
        let dir = ScratchDir::new();
        let store = StoreDirectory::root(&dir.path().join("run"), 0o700).unwrap();
        let theirs = dir.path().join("run/.events.new");
        std::fs::create_dir(&theirs).unwrap();
        chown(&theirs, Some(OTHER), None).unwrap();
        let why = store.give_new(".events.new", OWNER).unwrap_err();
        assert_eq!(why.to_string(), format!(".events.new belongs to uid={OTHER}, not to uid=0"));
        assert_eq!(std::fs::metadata(&theirs).unwrap().uid(), OTHER);
    }

    #[test]
    fn a_folder_of_somebody_else_is_not_entered() {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: only root gives folders away");
            return;
        }
        let dir = ScratchDir::new();
        let store = StoreDirectory::root(&dir.path().join("run"), 0o700).unwrap();
        store.enter("events", OWNER).unwrap();
        let stat = std::fs::metadata(dir.path().join("run/events")).unwrap();
        assert_eq!((stat.uid(), stat.mode() & 0o777), (OWNER, 0o700));
        let why = store.enter("events", OTHER).unwrap_err();
        assert_eq!(why.to_string(), format!("events belongs to uid={OWNER}, not to uid={OTHER}"));
    }
}
