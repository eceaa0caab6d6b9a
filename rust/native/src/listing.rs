//! Directories that are looked at again and again, cheaply.

use std::ffi::OsStr;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{Dir, fstat};
use rustix::time::{ClockId, clock_gettime};

/// A change within this long after a look may carry the same time stamp as the look, ns.
const GRAIN: i128 = 50_000_000;

/// Tells from a directory's time stamp whether it must be listed again.
#[derive(Debug, Default)]
pub struct Freshness {
    modified: i128,
    settled: bool,
}

impl Freshness {
    pub fn changed(&mut self, directory: BorrowedFd<'_>) -> bool {
        let Ok(stat) = fstat(directory) else { return false };
        let modified = i128::from(stat.st_mtime) * 1_000_000_000 + i128::from(stat.st_mtime_nsec);
        if self.settled && modified == self.modified {
            return false;
        }
        let now = clock_gettime(ClockId::Realtime);
        let now = i128::from(now.tv_sec) * 1_000_000_000 + i128::from(now.tv_nsec);
        self.modified = modified;
        self.settled = now - modified > GRAIN;
        true
    }
}

/// Names of a directory that are looked at: its owner may make millions.
const MOST: usize = 1 << 15;

/// Names in a directory that are UTF-8, and no more than a process may have; none if it cannot be
/// read.
pub fn list(directory: BorrowedFd<'_>) -> Vec<String> {
    let Ok(entries) = Dir::read_from(directory) else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| {
        let name = OsStr::from_bytes(entry.file_name().to_bytes()).to_str()?;
        (!name.starts_with('.')).then(|| name.to_owned())
    });
    names.take(MOST).collect()
}
