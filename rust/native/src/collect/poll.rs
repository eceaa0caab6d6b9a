//! Finds processes, reads them in the order of `SEGMENT.md`, and buries the dead.

use std::os::fd::{AsFd, OwnedFd};

use iostrata_segment::points::POINTS_HASH;
use iostrata_segment::segment::ProcessPage;
use rustix::fs::{AtFlags, Mode, OFlags, fstat, openat, unlinkat};

use super::block::{self, Gone, Kind};
use super::census::is_alive;
use super::listing::{Freshness, list};
use super::source::{Complaint, Source};
use super::state::Known;
use super::{Collector, MS, hosts, log};
use crate::users;

/// Directories are looked at this often when nothing is read.
const SCAN_EVERY: u64 = 50 * MS;
/// Rows that are held when they cannot be published; beyond them nothing is read.
pub const MAX_ROWS: usize = 4 << 20;

/// How much there was to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    Idle,
    /// The fullest ring was `fill` of 256 full.
    Busy {
        fill: u32,
    },
}

impl Pace {
    /// As few looks as the rings allow, for each touches memory of every thread: the next pause in
    /// which the fullest ring should fill to an eighth, if it goes on as in the pause `last`.
    pub fn nap(self, last: u64) -> u64 {
        match self {
            Pace::Idle => last * 2,
            Pace::Busy { fill } if fill >= 64 => 0, // a burst: nobody knows how much comes
            Pace::Busy { fill } => last * 32 / u64::from(fill.max(16)),
        }
    }
}

/// What became of a name below a user's directory.
#[derive(Debug)]
pub enum Entry {
    /// Its page was not ready.
    Unready,
    Known,
    Refused,
}

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

impl Collector<'_> {
    /// Reads what is published.
    pub(super) fn poll(&mut self, now: u64) -> Pace {
        if self.state.output.rows() > MAX_ROWS {
            return Pace::Idle;
        }
        let (mut blocks, mut done, mut complaints) = (Vec::new(), Vec::new(), Vec::new());
        // first all heads and slots …
        for source in self.sources.values_mut().filter(|source| !source.refused) {
            if let Some(process) = self.state.processes.get(&source.proc) {
                source.read(process, now, &mut blocks, &mut done, &mut complaints);
            }
        }
        // … then all that may have named them before
        if !blocks.is_empty() || now - self.since.scan > SCAN_EVERY {
            self.since.scan = now;
            self.scan(now, &mut complaints);
        }
        let mut batch = Vec::new();
        for source in self.sources.values_mut().filter(|source| !source.refused) {
            if let Some(process) = self.state.processes.get(&source.proc) {
                source.read_names(process, &mut batch, &mut complaints);
            }
        }
        for Complaint { file, reason } in complaints {
            self.refusals += 1;
            log(&format!("refused {file}: {reason}"));
        }
        batch.append(&mut blocks);
        if batch.is_empty() || !self.commit(&batch) {
            return Pace::Idle;
        }
        for done in &done {
            if let Some(source) = self.sources.get(&done.proc) {
                source.free(done);
            }
        }
        let fullest = done.iter().map(|done| done.fill).max();
        fullest.map_or(Pace::Idle, |fill| Pace::Busy { fill })
    }

    /// Finds new processes and new segments of known ones.
    fn scan(&mut self, now: u64, complaints: &mut Vec<Complaint>) {
        if self.top.changed(self.directory.handle.as_fd()) {
            self.scan_users();
        }
        let users: Vec<String> = self.users.keys().cloned().collect();
        for user in users {
            let Some((handle, freshness)) = self.users.get_mut(&user) else { continue };
            let waiting = self.looked_at.values().any(|entry| matches!(entry, Entry::Unready));
            if !freshness.changed(handle.as_fd()) && !waiting {
                continue;
            }
            let names = list(handle.as_fd());
            for name in names {
                self.scan_process(&user, &name, now);
            }
        }
        for source in self.sources.values_mut().filter(|source| !source.refused) {
            source.scan(self.state.processes.get(&source.proc), now, complaints);
        }
    }

    fn scan_users(&mut self) {
        for name in list(self.directory.handle.as_fd()) {
            let Ok(uid) = name.parse::<u32>() else { continue };
            if self.users.contains_key(&name) || self.looked_at.contains_key(&name) {
                continue;
            }
            match openat(&self.directory.handle, &name, DIRECTORY, Mode::empty()) {
                Ok(handle) if fstat(&handle).is_ok_and(|stat| stat.st_uid == uid) => {
                    self.users.insert(name, (handle, Freshness::default()));
                }
                Ok(_) => self.refuse(&name, "its owner is not the user of its name"),
                Err(errno) => self.refuse(&name, &errno.to_string()),
            }
        }
    }

    fn refuse(&mut self, name: &str, reason: &str) {
        self.refusals += 1;
        log(&format!("refused {name}: {reason}"));
        self.looked_at.insert(name.to_owned(), Entry::Refused);
    }

    fn scan_process(&mut self, user: &str, name: &str, now: u64) {
        let path = format!("{user}/{name}");
        if matches!(self.looked_at.get(&path), Some(Entry::Known | Entry::Refused)) {
            return;
        }
        let Some((pid, proc)) = parse_name(name) else {
            return self.refuse(&path, "not PID-PROC");
        };
        let uid: u32 = user.parse().unwrap_or(u32::MAX);
        let Some((handle, _)) = self.users.get(user) else { return };
        let directory = match openat(handle, name, DIRECTORY, Mode::empty()) {
            Ok(directory) => directory,
            Err(rustix::io::Errno::NOENT) => return,
            Err(errno) => return self.refuse(&path, &errno.to_string()),
        };
        if fstat(&directory).map_or(u32::MAX, |stat| stat.st_uid) != uid {
            return self.refuse(&path, "owner differs from its user's directory");
        }
        let (page, who) = match ProcessPage::open(directory.as_fd(), uid) {
            Ok(Some(opened)) => opened,
            Ok(None) if is_alive(pid, None) => {
                self.looked_at.insert(path, Entry::Unready);
                return;
            }
            Ok(None) => return self.remove_directory(user, name, &directory),
            Err(refused) => return self.refuse(&path, &refused.to_string()),
        };
        if who.proc != proc || who.pid != pid {
            return self.refuse(&path, "the page names another process");
        }
        let id = (proc, uid, who.pid, who.pid_start);
        let mut source = Source::new(id, name.to_owned(), directory, page, who.start);
        let known = self.state.processes.get(&proc);
        let hash = who.points_hash;
        source.refused = hash != POINTS_HASH || known.is_some_and(|known| known.gone.is_some());
        if known.is_none() {
            let host = hosts::of(pid, who.pid_start);
            if !self.introduce(Known::new(who, users::name_of(uid), host, now), hash) {
                return; // no room in the spool now: found again at the next scan
            }
        }
        self.looked_at.insert(path, Entry::Known);
        self.sources.insert(proc, source);
    }

    fn introduce(&mut self, known: Known, hash: u64) -> bool {
        let mut blocks = Vec::new();
        block::push_json(&mut blocks, Kind::Process, &known);
        if hash != POINTS_HASH {
            let refused = format!(
                "agent refused: its point table {hash:016x} is not the collector's {POINTS_HASH:016x}"
            );
            self.refusals += 1;
            log(&format!("pid={} uid={}: {refused}", known.pid, known.uid));
            let gone = Gone { proc: known.proc, now: known.now, refused };
            block::push_json(&mut blocks, Kind::Gone, &gone);
        }
        let committed = self.commit(&blocks);
        if !committed && let Some((_, freshness)) = self.users.get_mut(&known.uid.to_string()) {
            *freshness = Freshness::default();
        }
        committed
    }

    pub(super) fn look_for_deaths(&mut self, now: u64) {
        for source in self.sources.values_mut().filter(|source| source.dead.is_none()) {
            if source.is_detached() || !is_alive(source.pid, Some(source.pid_start)) {
                source.dead = Some(0);
                self.since.scan = 0;
            }
        }
        let gone: Vec<u64> = self
            .state
            .processes
            .values()
            .filter(|p| p.gone.is_none() && !self.sources.contains_key(&p.known.proc))
            .map(|process| process.known.proc)
            .collect();
        let mut blocks = Vec::new();
        // known from the spool, but its directory is not there any more
        for proc in gone.into_iter().filter(|_| self.since.scan > 0) {
            let gone = Gone { proc, now, refused: String::new() };
            block::push_json(&mut blocks, Kind::Gone, &gone);
        }
        self.commit(&blocks);
    }

    /// Ends and removes dead processes that are read to their end.
    pub(super) fn bury(&mut self, now: u64) {
        let dead: Vec<u64> =
            self.sources.values().filter(|s| s.dead.is_some()).map(|s| s.proc).collect();
        for proc in dead {
            let Some(source) = self.sources.get_mut(&proc) else { continue };
            let mut blocks = Vec::new();
            let finished = source.refused
                || self
                    .state
                    .processes
                    .get(&proc)
                    .is_none_or(|process| source.finish(process, now, &mut blocks));
            if !finished || !self.commit(&blocks) {
                continue;
            }
            let Some(source) = self.sources.remove(&proc) else { continue };
            let user = source.uid.to_string();
            self.remove_directory(&user, &source.name, &source.directory);
        }
    }

    fn remove_directory(&mut self, user: &str, name: &str, directory: &OwnedFd) {
        for file in list(directory.as_fd()) {
            let _ = unlinkat(directory, &file, AtFlags::empty());
        }
        let Some((handle, _)) = self.users.get(user) else { return };
        let path = format!("{user}/{name}");
        match unlinkat(handle, name, AtFlags::REMOVEDIR) {
            Ok(()) => drop(self.looked_at.remove(&path)),
            Err(errno) => self.refuse(&path, &format!("cannot remove it: {errno}")),
        }
    }
}

/// Pid and proc of `PID-PROC`.
fn parse_name(name: &str) -> Option<(u32, u64)> {
    let (pid, proc) = name.split_once('-')?;
    (proc.len() == 16).then_some(())?;
    Some((pid.parse().ok()?, u64::from_str_radix(proc, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_end_before_rings_are_full() {
        assert_eq!(Pace::Idle.nap(10 * MS), 20 * MS);
        assert_eq!(Pace::Busy { fill: 0 }.nap(10 * MS), 20 * MS); // no faster than doubling
        assert_eq!(Pace::Busy { fill: 32 }.nap(10 * MS), 10 * MS); // an eighth: as it should be
        assert_eq!(Pace::Busy { fill: 63 }.nap(10 * MS) / MS, 5);
        assert_eq!(Pace::Busy { fill: 64 }.nap(10 * MS), 0);
    }
}
