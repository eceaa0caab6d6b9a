//! Finds processes, reads them in the order of `SEGMENT.md`, and buries the dead.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;

use iostrata_segment::points::POINTS_HASH;
use iostrata_segment::segment::ProcessPage;
use rustix::fs::{AtFlags, Mode, OFlags, fstat, openat, unlinkat};

use super::block::{self, BlockKind, EndBlock};
use super::descriptors;
use super::hosts;
use super::pace::Pace;
use super::pipeline::Pipeline;
use super::procfs::is_alive;
use super::shares::Room;
use super::source::{OVER_SHARE, RejectedFile, Source};
use super::started::Started;
use super::trouble::log;
use crate::clock::{MS, SECOND};
use crate::listing::{Freshness, list};
use crate::model::process::ProcessInfo;
use crate::users;

/// Directories are looked at this often when nothing is read.
const SCAN_EVERY: u64 = 50 * MS;
/// Bytes of blocks of one poll; what is left waits for the next one.
const BATCH: usize = 16 << 20;
/// Bytes of names of one user in one poll: many more than what may have named anything in it.
const NAMES: usize = 32 << 20;
/// Rows that are held when they cannot be published; beyond them nothing is read.
pub const MAX_ROWS: usize = 4 << 20;

/// What became of a name below a user's directory.
#[derive(Debug)]
enum EntryState {
    /// Its page was not ready.
    Unready,
    /// There was no descriptor for it: it is read when others have ended.
    Crowded,
    Open,
    Rejected,
}

/// The traced processes of a directory.
#[derive(Debug, Default)]
pub struct Sources {
    by_proc: BTreeMap<u64, Source>,
    /// Directories of users, by name.
    users: HashMap<String, (OwnedFd, Freshness)>,
    top: Freshness,
    /// What was looked at, by path: process directories, and what is not read.
    entries: HashMap<String, EntryState>,
    scanned: u64,
    /// When it was last looked whether each process lives.
    looked: u64,
    /// When a ring was found last that had filled by a 256th, `CLOCK_MONOTONIC` ns.
    pub busy: u64,
    /// Processes that nobody watches yet.
    found: Vec<u64>,
    /// Files and directories that are not read.
    pub rejected: u64,
    /// By the name of their user's directory.
    rejected_of: HashMap<String, u64>,
    /// Uids whose processes serve other users.
    serving: Rc<HashSet<u32>>,
    started: Started,
    /// The process that the next batch begins with, by uid.
    next: BTreeMap<u32, u64>,
    /// Uids of which the last poll read something.
    read: Vec<u32>,
}

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

impl Sources {
    pub fn new(serving: HashSet<u32>, started: Started) -> Sources {
        Sources { serving: Rc::new(serving), started, ..Sources::default() }
    }

    /// Those that are read and may still write.
    pub fn live(&self) -> impl Iterator<Item = &Source> {
        self.by_proc.values().filter(|source| !source.rejected && source.dead.is_none())
    }

    /// Gives `watch` a pidfd of each process that was found since it was asked last.
    pub fn watch_new(&mut self, watch: impl Fn(BorrowedFd<'_>)) {
        let found = std::mem::take(&mut self.found);
        let found = found.iter().filter_map(|proc| self.by_proc.get(proc)?.life());
        found.for_each(watch);
    }

    /// Pid and start of each.
    pub fn processes(&self) -> HashSet<(u32, u64)> {
        self.by_proc.values().map(|source| (source.pid, source.pid_start)).collect()
    }

    /// Whether the directory of a process is still there.
    pub fn has(&self, proc: u64) -> bool {
        self.by_proc.contains_key(&proc)
    }

    /// Processes that have not acted yet on what the control page says.
    pub fn behind(&self, control: u32) -> impl Iterator<Item = u32> {
        self.live().filter(move |s| s.page.seen_control() != control).map(|source| source.pid)
    }

    /// Events of a user's processes that wait in their rings.
    pub fn unread(&self, uid: u32) -> u64 {
        self.by_proc.values().filter(|source| source.uid == uid).map(Source::waiting).sum()
    }

    /// Why a process that has files is not read; `None`: it has none, or is.
    pub fn why_unread(&self, uid: u32, pid: u32) -> Option<&'static str> {
        let prefix = format!("{uid}/{pid}-");
        let mut of_process = self.entries.iter().filter(|(path, _)| path.starts_with(&prefix));
        of_process.find_map(|(_, entry)| match entry {
            EntryState::Rejected => Some("agent rejected: its files are not valid"),
            EntryState::Crowded => Some(descriptors::NONE_LEFT),
            EntryState::Unready | EntryState::Open => None,
        })
    }

    /// Whether there are processes of a user that wait for the end of others.
    pub fn are_crowded(&self, uid: u32) -> bool {
        let prefix = format!("{uid}/");
        let mut of_user = self.entries.iter().filter(|(path, _)| path.starts_with(&prefix));
        of_user.any(|(_, entry)| matches!(entry, EntryState::Crowded))
    }

    /// Reads all that is there of a user and of those that serve others; `uid`: `None`: of all.
    /// Nobody waits for the others, who may write without end.
    pub fn drain(
        &mut self,
        directory: BorrowedFd<'_>,
        pipeline: &mut Pipeline,
        uid: Option<u32>,
        now: u64,
    ) {
        self.by_proc.values_mut().for_each(Source::hurry);
        self.scanned = 0;
        for _ in 0..100 {
            let pace = self.poll(directory, pipeline, now);
            let is_awaited = |of| uid.is_none_or(|uid| uid == of) || self.serving.contains(&of);
            if pace == Pace::Idle || !self.read.iter().any(|of| is_awaited(*of)) {
                return;
            }
        }
    }

    /// Reads what is published.
    pub fn poll(&mut self, directory: BorrowedFd<'_>, pipeline: &mut Pipeline, now: u64) -> Pace {
        if pipeline.state().output.rows() > MAX_ROWS {
            return Pace::Idle;
        }
        let (mut blocks, mut consumed, mut rejected) = (Vec::new(), Vec::new(), Vec::new());
        // first all heads and slots …
        self.read.clear();
        for (uid, procs) in self.turns() {
            let begin = blocks.len();
            let limit = begin + BATCH / self.next.len().max(1);
            let mut cut = None;
            for proc in procs {
                let Some(process) = pipeline.state().processes.get(&proc) else { continue };
                let Some(source) = self.by_proc.get_mut(&proc) else { continue };
                if !source.read(process, now, limit, &mut blocks, &mut consumed, &mut rejected) {
                    cut = Some(proc);
                    break;
                }
            }
            self.next.insert(uid, cut.unwrap_or(0));
            if blocks.len() > begin {
                self.read.push(uid);
            }
        }
        // … then all that may have named them before
        if !blocks.is_empty() || now - self.scanned > SCAN_EVERY {
            self.scanned = now;
            self.scan(directory, pipeline, now, &mut rejected);
        }
        let mut batch = Vec::new();
        for (_, procs) in self.turns() {
            let limit = batch.len() + NAMES;
            for proc in procs {
                let Some(process) = pipeline.state().processes.get(&proc) else { continue };
                let Some(source) = self.by_proc.get_mut(&proc) else { continue };
                source.read_names(process, limit, &mut batch, &mut rejected);
            }
        }
        for RejectedFile { file, reason } in rejected {
            self.say_rejected(&file, &reason);
        }
        batch.append(&mut blocks);
        if batch.is_empty() || !pipeline.commit_events(&batch) {
            return Pace::Idle;
        }
        for segment in &consumed {
            if let Some(source) = self.by_proc.get(&segment.proc) {
                source.free(segment);
            }
        }
        let fullest = consumed.iter().map(|segment| segment.fill).max();
        if fullest > Some(0) {
            self.busy = now;
        }
        fullest.map_or(Pace::Idle, |fill| Pace::Busy { fill })
    }

    /// The processes to read, by user: a batch is shared out between users, and a user's processes
    /// take turns, so that nobody's numbers decide who is read.
    fn turns(&mut self) -> BTreeMap<u32, Vec<u64>> {
        let mut turns: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for source in self.by_proc.values().filter(|source| !source.rejected) {
            turns.entry(source.uid).or_default().push(source.proc);
        }
        self.next.retain(|uid, _| turns.contains_key(uid));
        for (uid, procs) in &mut turns {
            let next = *self.next.entry(*uid).or_default();
            let begin = procs.partition_point(|proc| *proc < next);
            procs.rotate_left(begin);
        }
        turns
    }

    /// Finds new processes and new segments of known ones.
    fn scan(
        &mut self,
        directory: BorrowedFd<'_>,
        pipeline: &mut Pipeline,
        now: u64,
        rejected: &mut Vec<RejectedFile>,
    ) {
        if self.top.changed(directory) {
            self.scan_users(directory);
        }
        let users: Vec<String> = self.users.keys().cloned().collect();
        for user in users {
            let Some((handle, freshness)) = self.users.get_mut(&user) else { continue };
            let waiting = self.entries.values().any(is_open_question);
            if !freshness.changed(handle.as_fd()) && !waiting {
                continue;
            }
            let names = list(handle.as_fd());
            for name in names {
                self.scan_process(pipeline, &user, &name, now);
            }
        }
        let mut room = self.room();
        for source in self.by_proc.values_mut().filter(|source| !source.rejected) {
            source.scan(pipeline.state().processes.get(&source.proc), now, &mut room, rejected);
        }
    }

    fn room(&self) -> Room {
        let used = self.by_proc.values().map(|source| {
            let (mappings, tables) = source.used();
            (source.uid, mappings, tables)
        });
        Room::new(Rc::clone(&self.serving), used)
    }

    fn scan_users(&mut self, directory: BorrowedFd<'_>) {
        for name in list(directory) {
            let Ok(uid) = name.parse::<u32>() else { continue };
            if self.users.contains_key(&name) || self.entries.contains_key(&name) {
                continue;
            }
            match openat(directory, &name, DIRECTORY, Mode::empty()) {
                Ok(handle) if fstat(&handle).is_ok_and(|stat| stat.st_uid == uid) => {
                    self.users.insert(name, (handle, Freshness::default()));
                }
                Ok(_) => self.reject(&name, "its owner is not the user of its name"),
                Err(errno) => self.reject(&name, &errno.to_string()),
            }
        }
    }

    fn reject(&mut self, name: &str, reason: &str) {
        self.say_rejected(name, reason);
        self.entries.insert(name.to_owned(), EntryState::Rejected);
    }

    /// The first ones of each user, and then each time there are twice as many.
    fn say_rejected(&mut self, name: &str, reason: &str) {
        self.rejected += 1;
        let user = name.split('/').next().unwrap_or_default();
        let count = self.rejected_of.entry(user.to_owned()).or_default();
        *count += 1;
        if *count <= 20 || count.is_power_of_two() {
            log(&format!("rejected {name}: {reason}"));
        }
    }

    fn scan_process(&mut self, pipeline: &mut Pipeline, user: &str, name: &str, now: u64) {
        let path = format!("{user}/{name}");
        if matches!(self.entries.get(&path), Some(EntryState::Open | EntryState::Rejected)) {
            return;
        }
        let Some((pid, proc)) = parse_name(name) else {
            return self.reject(&path, "not PID-PROC");
        };
        let uid: u32 = user.parse().unwrap_or(u32::MAX);
        let Some((handle, _)) = self.users.get(user) else { return };
        if !descriptors::are_left(handle.as_fd()) {
            if self.entries.insert(path, EntryState::Crowded).is_none() {
                log(&format!("pid={pid} uid={uid}: {}", descriptors::NONE_LEFT));
            }
            return;
        }
        let directory = match openat(handle, name, DIRECTORY, Mode::empty()) {
            Ok(directory) => directory,
            Err(rustix::io::Errno::NOENT) => return,
            Err(errno) => return self.reject(&path, &errno.to_string()),
        };
        if fstat(&directory).map_or(u32::MAX, |stat| stat.st_uid) != uid {
            return self.reject(&path, "owner differs from its user's directory");
        }
        let mut room = self.room();
        if !room.take(uid, 0) {
            return self.reject(&path, OVER_SHARE);
        }
        let (page, who) = match ProcessPage::open(directory.as_fd(), uid) {
            Ok(Some(opened)) => opened,
            Ok(None) if is_alive(pid, None) => {
                self.entries.insert(path, EntryState::Unready);
                return;
            }
            Ok(None) => return self.remove_directory(user, name, &directory),
            Err(rejection) => return self.reject(&path, &rejection.to_string()),
        };
        if who.proc != proc || who.pid != pid {
            return self.reject(&path, "the page names another process");
        }
        let id = (proc, uid, who.pid, who.pid_start);
        let mut source = Source::new(id, name.to_owned(), directory, page, who.start);
        let known = pipeline.state().processes.get(&proc);
        let hash = who.points_hash;
        source.rejected = hash != POINTS_HASH || known.is_some_and(|known| known.end.is_some());
        if known.is_none() {
            let host = hosts::of(pid, who.pid_start);
            let info = ProcessInfo::new(who, users::name_of(uid), host, now);
            let serves = self.serving.contains(&uid);
            let started_by = self.started.run_of(pid, info.pid_start);
            let info = ProcessInfo { uid, serves, started_by, ..info };
            if !self.introduce(pipeline, info, hash) {
                return; // no room in the spool now: found again at the next scan
            }
        }
        self.entries.insert(path, EntryState::Open);
        self.by_proc.insert(proc, source);
        self.found.push(proc);
    }

    fn introduce(&mut self, pipeline: &mut Pipeline, info: ProcessInfo, hash: u64) -> bool {
        let mut blocks = Vec::new();
        block::push_json(&mut blocks, BlockKind::Process, &info);
        if hash != POINTS_HASH {
            let rejection = format!(
                "agent rejected: its point table {hash:016x} is not the collector's {POINTS_HASH:016x}"
            );
            self.rejected += 1;
            log(&format!("pid={} uid={}: {rejection}", info.pid, info.uid));
            let end = EndBlock { proc: info.proc, now: info.now, rejection };
            block::push_json(&mut blocks, BlockKind::End, &end);
        }
        let committed = pipeline.commit(&blocks);
        if !committed && let Some((_, freshness)) = self.users.get_mut(&info.uid.to_string()) {
            *freshness = Freshness::default();
        }
        committed
    }

    /// Ends of processes that are watched are looked for once a second, too: not all are told.
    pub fn look_for_deaths(&mut self, pipeline: &mut Pipeline, is_told: bool, now: u64) {
        let looks = is_told || now - self.looked > SECOND;
        if looks {
            self.looked = now;
        }
        for source in self.by_proc.values_mut().filter(|source| source.dead.is_none()) {
            let is_watched = source.life().is_some();
            if source.is_detached() || (looks || !is_watched) && source.has_ended() {
                source.dead = Some(0);
                self.scanned = 0;
            }
        }
        let gone: Vec<u64> = pipeline
            .state()
            .processes
            .values()
            .filter(|p| p.end.is_none() && !self.by_proc.contains_key(&p.info.proc))
            .map(|process| process.info.proc)
            .collect();
        let mut blocks = Vec::new();
        // known from the spool, but its directory is not there any more
        for proc in gone.into_iter().filter(|_| self.scanned > 0) {
            let end = EndBlock { proc, now, rejection: String::new() };
            block::push_json(&mut blocks, BlockKind::End, &end);
        }
        pipeline.commit(&blocks);
    }

    /// Ends and removes dead processes that are read to their end.
    pub fn bury(&mut self, pipeline: &mut Pipeline, now: u64) {
        let dead: Vec<u64> =
            self.by_proc.values().filter(|s| s.dead.is_some()).map(|s| s.proc).collect();
        for proc in dead {
            let Some(source) = self.by_proc.get_mut(&proc) else { continue };
            let mut blocks = Vec::new();
            let finished = source.rejected
                || pipeline
                    .state()
                    .processes
                    .get(&proc)
                    .is_none_or(|process| source.finish(process, now, &mut blocks));
            if !finished || !pipeline.commit(&blocks) {
                continue;
            }
            let Some(source) = self.by_proc.remove(&proc) else { continue };
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
            Ok(()) => drop(self.entries.remove(&path)),
            Err(errno) => self.reject(&path, &format!("cannot remove it: {errno}")),
        }
    }
}

/// Whether an entry is to be looked at again.
fn is_open_question(entry: &EntryState) -> bool {
    matches!(entry, EntryState::Unready | EntryState::Crowded)
}

/// Pid and proc of `PID-PROC`.
fn parse_name(name: &str) -> Option<(u32, u64)> {
    let (pid, proc) = name.split_once('-')?;
    (proc.len() == 16).then_some(())?;
    Some((pid.parse().ok()?, u64::from_str_radix(proc, 16).ok()?))
}
