//! The directories of users below the shared one. Their owners may fill them as they like.

use std::collections::{HashMap, HashSet};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags, fstat, openat, unlinkat};
use rustix::io::Errno;

use super::descriptors;
use crate::clock::MS;
use crate::listing::{Freshness, list};

/// ns in which nothing is listed for each name that was: a user whose directories change all the
/// time takes a few percent of a core, however many names are in them.
const REST: u64 = 30_000;
/// Names that are listed for one user in one look at all directories.
const MOST: usize = 1 << 15;
/// What found no room is tried again after this long, ns.
const RETRY: u64 = 200 * MS;

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// What became of the directory of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryState {
    /// Its page was not ready.
    Unready,
    Open,
    Rejected,
    /// There is no room for it until others have ended, and why.
    Waiting(&'static str),
}

impl EntryState {
    fn waits(self) -> bool {
        matches!(self, EntryState::Waiting(_))
    }
}

/// Why directories are not read.
pub const OVER_SHARE: &str = "its user has used up their share of the collector";

/// The directory of one user.
#[derive(Debug)]
pub struct Folder {
    handle: OwnedFd,
    freshness: Freshness,
    /// By name.
    entries: HashMap<String, EntryState>,
    /// Files and directories that are not read.
    rejected: u64,
    /// Names that were listed in this look, and when the next one may be.
    listed: usize,
    rests_until: u64,
    /// When to look again at what found no room; 0: nothing waits.
    retry: u64,
}

impl Folder {
    /// An error in words where it is not that user's.
    pub fn open(top: BorrowedFd<'_>, name: &str, uid: u32) -> Result<Folder, String> {
        let handle = openat(top, name, DIRECTORY, Mode::empty()).map_err(|e| e.to_string())?;
        if !fstat(&handle).is_ok_and(|stat| stat.st_uid == uid) {
            return Err("its owner is not the user of its name".into());
        }
        let (freshness, entries) = (Freshness::default(), HashMap::new());
        Ok(Folder { handle, freshness, entries, rejected: 0, listed: 0, rests_until: 0, retry: 0 })
    }

    /// Names that are news, were not ready, or found no room a while ago.
    pub fn look(&mut self, now: u64) -> Vec<String> {
        let tries = self.retry > 0 && now >= self.retry;
        let waits = tries || self.entries.values().any(|entry| *entry == EntryState::Unready);
        if !self.may_list(now) || !self.freshness.changed(self.handle.as_fd()) && !waits {
            return Vec::new();
        }
        let mut names = list(self.handle.as_fd());
        self.listed(names.len());
        let there: HashSet<&str> = names.iter().map(String::as_str).collect();
        self.entries
            .retain(|name, entry| *entry == EntryState::Open || there.contains(name.as_str()));
        if tries {
            self.retry = 0;
            self.entries.retain(|_, entry| !entry.waits());
        }
        let is_news = |name: &String| {
            self.entries.get(name).is_none_or(|entry| *entry == EntryState::Unready)
        };
        names.retain(is_news);
        names
    }

    /// There is no room for the directory now; true if it is the first for which that is so.
    pub fn wait(&mut self, name: &str, why: &'static str, now: u64) -> bool {
        self.enter(name, EntryState::Waiting(why));
        let is_first = self.retry == 0;
        self.retry = now + RETRY;
        is_first
    }

    /// Whether directories of this user may be listed.
    pub fn may_list(&self, now: u64) -> bool {
        now >= self.rests_until && self.listed < MOST
    }

    pub fn listed(&mut self, names: usize) {
        self.listed += names;
    }

    /// The look is over.
    pub fn rest(&mut self, now: u64) {
        if self.listed > 0 {
            self.rests_until = now + self.listed as u64 * REST;
            self.listed = 0;
        }
    }

    /// All may be listed at once, and anew.
    pub fn hurry(&mut self) {
        self.rests_until = 0;
        self.freshness = Freshness::default();
    }

    /// Whether there are descriptors for the directory of one more process.
    pub fn has_descriptors(&self) -> bool {
        descriptors::are_left(self.handle.as_fd())
    }

    /// The directory of a process; none: there is none any more.
    pub fn process(&self, name: &str, uid: u32) -> Result<Option<OwnedFd>, String> {
        match openat(&self.handle, name, DIRECTORY, Mode::empty()) {
            Ok(directory) if fstat(&directory).is_ok_and(|stat| stat.st_uid == uid) => {
                Ok(Some(directory))
            }
            Ok(_) => Err("owner differs from its user's directory".into()),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno.to_string()),
        }
    }

    pub fn enter(&mut self, name: &str, state: EntryState) {
        self.entries.insert(name.to_owned(), state);
    }

    /// Deletes the directory of a process, which is open as `directory`.
    pub fn remove(&mut self, name: &str, directory: &OwnedFd) -> Result<(), Errno> {
        for file in list(directory.as_fd()) {
            let _ = unlinkat(directory, &file, AtFlags::empty());
        }
        unlinkat(&self.handle, name, AtFlags::REMOVEDIR)?;
        self.entries.remove(name);
        Ok(())
    }

    /// Why a process that has files is not read; `None`: it has none, or is.
    pub fn why_unread(&self, pid: u32) -> Option<&'static str> {
        let prefix = format!("{pid}-");
        let mut of_process = self.entries.iter().filter(|(name, _)| name.starts_with(&prefix));
        of_process.find_map(|(_, entry)| match entry {
            EntryState::Rejected => Some("agent rejected: its files are not valid"),
            EntryState::Waiting(why) => Some(why),
            EntryState::Unready | EntryState::Open => None,
        })
    }

    /// Whether there are processes that wait for the end of others.
    pub fn is_crowded(&self) -> bool {
        self.entries.values().any(|entry| entry.waits())
    }

    /// Counts a rejection; true if it is worth a line: the first ones of each user are, and then
    /// each time there are twice as many.
    pub fn count_rejected(&mut self) -> bool {
        self.rejected += 1;
        self.rejected <= 20 || self.rejected.is_power_of_two()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn names_that_come_and_go_are_not_kept_and_not_listed_all_the_time() {
        let path = std::env::temp_dir().join(format!("iostrata-folder-{}", std::process::id()));
        fs::create_dir(&path).unwrap();
        let top = fs::File::open(path.parent().unwrap()).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let own = fs::metadata(&path).unwrap().uid();
        let refusal = Folder::open(top.as_fd(), name, own + 1).unwrap_err();
        assert_eq!(refusal, "its owner is not the user of its name");
        let mut folder = Folder::open(top.as_fd(), name, own).unwrap();
        for time in 0..3 {
            for number in 0..100 {
                fs::create_dir(path.join(format!("{time}-{number}"))).unwrap();
            }
            let found = folder.look(time * 10 * MS);
            assert_eq!(found.len(), 100);
            for name in &found {
                folder.enter(name, EntryState::Rejected);
            }
            assert!(folder.why_unread(time as u32).is_some() && !folder.is_crowded());
            folder.rest(time * 10 * MS);
            assert_eq!(folder.look(time * 10 * MS + 2_999_999), [""; 0]); // 100 names, 30 µs each
            for number in 0..100 {
                fs::remove_dir(path.join(format!("{time}-{number}"))).unwrap();
            }
        }
        assert_eq!(folder.look(90 * MS), [""; 0]);
        assert_eq!(folder.entries.len(), 0);
        folder.rest(90 * MS);

        fs::create_dir(path.join("7-1")).unwrap();
        assert_eq!(folder.look(100 * MS), ["7-1"]);
        let said = [0, 1].map(|_| folder.wait("7-1", OVER_SHARE, 100 * MS));
        assert_eq!((said, folder.is_crowded()), ([true, false], true));
        assert_eq!(folder.why_unread(7), Some(OVER_SHARE));
        folder.rest(100 * MS);
        let looks = [200 * MS, 100 * MS + RETRY].map(|now| folder.look(now));
        assert_eq!(looks, [vec![], vec!["7-1".to_owned()]]);
        fs::remove_dir(path.join("7-1")).unwrap();

        let said = (0..100).filter(|_| folder.count_rejected()).count();
        assert_eq!(said, 20 + 2);
        fs::remove_dir(&path).unwrap();
    }
}
