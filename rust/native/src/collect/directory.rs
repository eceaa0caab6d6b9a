//! The shared directory D: who drains it, its control page, the anchor of its clock.

use std::fs::File;
use std::io::{Seek, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use anyhow::{Context, Result, bail};
use iostrata_segment::control::Control;
use iostrata_segment::door::{DOOR, namespace};
use iostrata_segment::writer::pid_start;
use rustix::fs::{
    AtFlags, FlockOperation, Mode, OFlags, fchmod, fcntl_lock, fstat, openat, renameat, statat,
    unlinkat,
};

use super::door::Door;
use super::floor::Floor;
use super::started::Started;
use super::trouble::log;
use crate::clock;
use crate::store::directory::StoreDirectory;

const HOLDER: &str = "collector";
const ANCHOR: &str = "anchor";

pub struct SharedDirectory {
    pub handle: OwnedFd,
    pub runs: OwnedFd,
    pub control: Control,
    /// Added to monotonic times to get ns since the epoch.
    pub anchor: i64,
    /// Locked as long as it is open.
    _holder: File,
}

impl SharedDirectory {
    /// Makes or takes over `path`; fails if it is somebody else's or another collector drains it.
    pub fn open(path: &Path, host: &str, store: &Path) -> Result<SharedDirectory> {
        let own = rustix::process::geteuid().as_raw();
        // others come in, and write to nothing: they ask at the door; a user's own JVMs that run
        // as somebody else must reach the agent there, or they do not start
        let (mode, of_runs) = if own == 0 { (0o755, 0o755) } else { (0o711, 0o700) };
        displace(path, own);
        StoreDirectory::root(path, mode)
            .with_context(|| format!("cannot make {}", path.display()))?;
        let handle = open_directory(path, own, mode)?;
        let holder = hold(&handle, path)?;
        say_who(&holder, own, host, store)?;
        let runs = path.join("runs");
        StoreDirectory::root(&runs, of_runs)
            .with_context(|| format!("cannot make {}", runs.display()))?;
        let runs = open_directory(&runs, own, of_runs)?;
        let control = Control::create(handle.as_fd(), own)
            .with_context(|| format!("{}/control", path.display()))?;
        let anchor = anchor(&handle, own)?;
        Ok(SharedDirectory { handle, runs, control, anchor, _holder: holder })
    }

    /// Lets others ask, see [`Door`]. `store`: where runs are published.
    pub fn open_door(&self, store: StoreDirectory, floor: Floor) -> Result<Started> {
        let started = Started::default();
        Door::open(
            self.handle.try_clone()?,
            self.runs.try_clone()?,
            store,
            started.clone(),
            floor,
        )?;
        Ok(started)
    }

    /// Says that nobody drains the directory any more.
    pub fn leave(&mut self) {
        self.control.off();
        for name in [HOLDER, DOOR] {
            let _ = unlinkat(&self.handle, name, AtFlags::empty());
        }
    }
}

/// Everybody may make names in `/dev/shm`: what another user has made at the place of root's
/// directory is put aside, or it would stand in the way of all.
fn displace(path: &Path, own: u32) {
    let Ok(stat) = statat(rustix::fs::CWD, path, AtFlags::SYMLINK_NOFOLLOW) else { return };
    if own != 0 || stat.st_uid == 0 {
        return;
    }
    let aside = format!("{}.of-uid-{}-{}", path.display(), stat.st_uid, std::process::id());
    let moved = renameat(rustix::fs::CWD, path, rustix::fs::CWD, &aside);
    let came = moved.map_or_else(|errno| errno.to_string(), |()| format!("it is {aside} now"));
    log(&format!("{} was made by uid={}: {came}", path.display(), stat.st_uid));
}

/// `mode`: what it is to have, also if an older collector has made it.
fn open_directory(path: &Path, own: u32, mode: u32) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let handle = openat(rustix::fs::CWD, path, flags, Mode::empty())
        .with_context(|| format!("cannot open {}", path.display()))?;
    let stat = fstat(&handle)?;
    if stat.st_uid != own {
        let owner = stat.st_uid;
        bail!("{} belongs to uid={owner}, this collector runs as uid={own}", path.display());
    }
    if stat.st_mode & 0o7022 != 0 {
        fchmod(&handle, Mode::from_raw_mode(mode))?;
    }
    Ok(handle)
}

/// Locks D/collector: a POSIX write lock, which only who may write the file can take.
fn hold(directory: &OwnedFd, path: &Path) -> Result<File> {
    for _ in 0..10 {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(directory, HOLDER, flags, Mode::from_raw_mode(0o644))
            .with_context(|| format!("cannot open {}/{HOLDER}", path.display()))?;
        if fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            let text = std::io::read_to_string(File::from(file)).unwrap_or_default();
            let pid = text.lines().find_map(|line| line.strip_prefix("pid="));
            let pid = pid.unwrap_or("unknown");
            bail!("{} is drained by another collector: pid={pid}", path.display());
        }
        // one that just left may have unlinked the file between our open and lock
        let named = statat(directory, HOLDER, AtFlags::SYMLINK_NOFOLLOW);
        if named.is_ok_and(|named| fstat(&file).is_ok_and(|ours| ours.st_ino == named.st_ino)) {
            fchmod(&file, Mode::from_raw_mode(0o644))?;
            return Ok(File::from(file));
        }
    }
    bail!("{}/{HOLDER} keeps changing: is another collector starting and ending?", path.display())
}

/// In one write: whoever looks finds all of it or nothing, where the begin of it would name another
/// store.
fn say_who(mut file: &File, uid: u32, host: &str, store: &Path) -> Result<()> {
    let pid = std::process::id();
    let start = pid_start(pid).unwrap_or(0);
    let version = env!("CARGO_PKG_VERSION");
    let store = store.display();
    let text = format!(
        "pid={pid}\npid_start={start}\npid_namespace={}\nuser_namespace={}\nuid={uid}\n\
         host={host}\nstore={store}\nversion={version}\n",
        namespace("pid"),
        namespace("user")
    );
    file.set_len(0)?;
    file.rewind()?;
    Ok(file.write_all(text.as_bytes())?)
}

/// One anchor per host and boot: times of all parts differ by the same amount from the epoch.
fn anchor(directory: &OwnedFd, own: u32) -> Result<i64> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let boot = boot.trim();
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    if let Ok(file) = openat(directory, ANCHOR, flags, Mode::empty()) {
        let is_ours = fstat(&file)?.st_uid == own;
        let begin = std::io::Read::take(File::from(file), 4096);
        let text = std::io::read_to_string(begin).unwrap_or_default();
        let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key));
        if let (Some(known), Some(Ok(offset))) = (value("boot="), value("offset=").map(str::parse))
            && is_ours
            && known == boot
        {
            return Ok(offset);
        }
    }
    let offset = clock::offset();
    let new = ".anchor.new";
    let _ = unlinkat(directory, new, AtFlags::empty());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let mut file = File::from(openat(directory, new, flags, Mode::from_raw_mode(0o644))?);
    write!(file, "boot={boot}\noffset={offset}\n")?;
    renameat(directory, new, directory, ANCHOR)?;
    Ok(offset)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::io::Read;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use iostrata_segment::scratch::ScratchDir;

    use super::*;

    const FILES: usize = 5000;

    /// By one read, as others look.
    fn look(path: &Path) -> String {
        let mut page = [0; 4096];
        let size = File::open(path).unwrap().read(&mut page).unwrap();
        String::from_utf8(page[..size].to_vec()).unwrap()
    }

    #[test]
    fn who_looks_finds_all_that_a_collector_says_of_itself_or_nothing() {
        let scratch = ScratchDir::new();
        let path = |number: usize| scratch.path().join(number.to_string());
        let file = File::create(path(0)).unwrap();
        let newest = AtomicUsize::new(0);
        let write = |file: &File| say_who(file, 7, "here", Path::new("/the/store")).unwrap();
        let seen: BTreeSet<String> = std::thread::scope(|scope| {
            let looks = scope.spawn(|| {
                let mut seen = BTreeSet::new();
                loop {
                    let number = newest.load(Ordering::Relaxed);
                    if number == FILES {
                        return seen;
                    }
                    seen.insert(look(&path(number)));
                }
            });
            for number in 1..=FILES {
                let file = File::create(path(number)).unwrap();
                newest.store(number, Ordering::Relaxed);
                write(&file);
            }
            looks.join().unwrap()
        });
        write(&file);
        let whole = look(&path(0));
        assert!(whole.contains("\nhost=here\nstore=/the/store\nversion="), "{whole}");
        assert!(seen.is_subset(&BTreeSet::from([String::new(), whole])), "{seen:?}");
    }
}
