//! Finds processes, reads them in the order of `SEGMENT.md`, and buries the dead.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;

use iostrata_segment::points::POINTS_HASH;
use iostrata_segment::segment::ProcessPage;

use super::block::{self, BlockKind, EndBlock};
use super::descriptors;
use super::folders::{EntryState, Folder, OVER_SHARE};
use super::hosts;
use super::pipeline::Pipeline;
use super::procfs::is_alive;
use super::shares::Room;
use super::source::{RejectedFile, Source};
use super::started::Started;
use super::trouble::log;
use crate::clock::SECOND;
use crate::listing::{Freshness, list};
use crate::model::process::ProcessInfo;
use crate::users;

/// The traced processes of a directory.
#[derive(Debug, Default)]
pub struct Sources {
    pub(super) by_proc: BTreeMap<u64, Source>,
    /// Directories of users, by uid.
    pub(super) folders: BTreeMap<u32, Folder>,
    top: Freshness,
    /// Names beside them that are no user's.
    strange: HashSet<String>,
    pub(super) scanned: u64,
    /// When it was last looked whether each process lives.
    looked: u64,
    /// When a ring was found last that had filled by a 256th, `CLOCK_MONOTONIC` ns.
    pub busy: u64,
    /// Processes that nobody watches yet.
    found: Vec<u64>,
    /// Files and directories that are not read.
    pub rejected: u64,
    /// Uids whose processes serve other users.
    pub(super) serving: Rc<HashSet<u32>>,
    started: Started,
    /// The process that the next batch begins with, by uid.
    pub(super) next: BTreeMap<u32, u64>,
    /// Users of whom more was published than the last poll had room for.
    pub(super) cut_short: BTreeSet<u32>,
}

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

    /// Processes with calls for a user's runs that have not acted yet on what the control page says:
    /// nobody waits for those of others. Native programs are among them if `native`.
    pub fn behind(&self, control: u32, uid: u32, native: bool) -> BTreeSet<u32> {
        let late = self.live().filter(|source| source.page.seen_control() != control);
        let late = late.filter(|source| native || !source.is_native);
        late.filter(|s| s.uid == uid || self.serves(s.uid)).map(|source| source.pid).collect()
    }

    /// Whether the node's configuration says that a user's processes serve others.
    pub fn serves(&self, uid: u32) -> bool {
        self.serving.contains(&uid)
    }

    /// Events of a user's processes that wait in their rings.
    pub fn unread(&self, uid: u32) -> u64 {
        self.by_proc.values().filter(|source| source.uid == uid).map(Source::waiting).sum()
    }

    /// Why a process that has files is not read; `None`: it has none, or is.
    pub fn why_unread(&self, uid: u32, pid: u32) -> Option<&'static str> {
        self.folders.get(&uid)?.why_unread(pid)
    }

    /// Whether there are processes of a user that wait for the end of others.
    pub fn are_crowded(&self, uid: u32) -> bool {
        self.folders.get(&uid).is_some_and(Folder::is_crowded)
    }

    /// Finds new processes and new segments of known ones.
    pub(super) fn scan(
        &mut self,
        directory: BorrowedFd<'_>,
        pipeline: &mut Pipeline,
        now: u64,
        rejected: &mut Vec<RejectedFile>,
    ) {
        if self.top.changed(directory) {
            self.scan_users(directory);
        }
        let users: Vec<u32> = self.folders.keys().copied().collect();
        let mut room = self.room(pipeline.state().most_memory.0);
        // before children are found, which ask for their open calls
        for source in self.by_proc.values_mut() {
            Self::scan_segments(source, &mut self.folders, pipeline, now, &mut room, rejected);
        }
        for uid in users {
            let names = self.folders.get_mut(&uid).map(|folder| folder.look(now));
            let mut names = names.unwrap_or_default();
            names.sort_by_key(|name| parse_name(name)); // most parents have lower pids
            for name in names {
                let before = self.found.len();
                self.scan_process(pipeline, &mut room, uid, &name, now);
                // likewise
                let found = self.found.get(before);
                if let Some(source) = found.and_then(|proc| self.by_proc.get_mut(proc)) {
                    Self::scan_segments(
                        source,
                        &mut self.folders,
                        pipeline,
                        now,
                        &mut room,
                        rejected,
                    );
                }
            }
        }
        self.folders.values_mut().for_each(|folder| folder.rest(now));
    }

    fn scan_segments(
        source: &mut Source,
        folders: &mut BTreeMap<u32, Folder>,
        pipeline: &Pipeline,
        now: u64,
        room: &mut Room,
        rejected: &mut Vec<RejectedFile>,
    ) {
        let folder = folders.get_mut(&source.uid).filter(|_| !source.rejected);
        if let Some(folder) = folder.filter(|folder| folder.may_list(now)) {
            let state = pipeline.state().processes.get(&source.proc);
            folder.listed(source.scan(state, now, room, rejected));
        }
    }

    fn room(&self, most: u64) -> Room {
        let used = self.by_proc.values().map(|source| {
            let (mappings, tables) = source.used();
            (source.uid, mappings, tables)
        });
        Room::new(Rc::clone(&self.serving), most, used)
    }

    fn scan_users(&mut self, directory: BorrowedFd<'_>) {
        for name in list(directory) {
            let Ok(uid) = name.parse::<u32>() else { continue };
            if self.folders.contains_key(&uid) || self.strange.contains(&name) {
                continue;
            }
            match Folder::open(directory, &name, uid) {
                Ok(folder) => drop(self.folders.insert(uid, folder)),
                Err(reason) => {
                    self.rejected += 1;
                    log(&format!("rejected {name}: {reason}"));
                    self.strange.insert(name);
                }
            }
        }
    }

    /// The directory `name` of a user is not read.
    fn reject(&mut self, uid: u32, name: &str, reason: &str) {
        let file = RejectedFile { uid, file: name.to_owned(), reason: reason.to_owned() };
        self.say_rejected(&file);
        if let Some(folder) = self.folders.get_mut(&uid) {
            folder.enter(name, EntryState::Rejected);
        }
    }

    pub(super) fn say_rejected(&mut self, file: &RejectedFile) {
        let RejectedFile { uid, file, reason } = file;
        self.rejected += 1;
        if self.folders.get_mut(uid).is_some_and(Folder::count_rejected) {
            log(&format!("rejected {uid}/{file}: {reason}"));
        }
    }

    fn scan_process(
        &mut self,
        pipeline: &mut Pipeline,
        room: &mut Room,
        uid: u32,
        name: &str,
        now: u64,
    ) {
        let Some((pid, proc)) = parse_name(name) else {
            return self.reject(uid, name, "not PID-PROC");
        };
        let Some(folder) = self.folders.get(&uid) else { return };
        if !folder.has_descriptors() {
            return self.wait(uid, name, descriptors::NONE_LEFT, now);
        }
        let directory = match folder.process(name, uid) {
            Ok(Some(directory)) => directory,
            Ok(None) => return,
            Err(reason) => return self.reject(uid, name, &reason),
        };
        let (page, who) = match ProcessPage::open(directory.as_fd(), uid) {
            Ok(Some(opened)) => opened,
            Ok(None) if is_alive(pid, None) => return self.enter(uid, name, EntryState::Unready),
            Ok(None) => return self.remove_directory(uid, name, &directory),
            Err(rejection) => return self.reject(uid, name, &rejection.to_string()),
        };
        if who.proc != proc || who.pid != pid {
            return self.reject(uid, name, "the page names another process");
        }
        let serves = self.serves(uid);
        if pipeline.state().memory_left(uid, serves) == 0 || !room.take(uid, 0) {
            if is_alive(pid, Some(who.pid_start)) {
                return self.wait(uid, name, OVER_SHARE, now);
            }
            return self.remove_directory(uid, name, &directory);
        }
        let id = (proc, uid, who.pid, who.pid_start);
        let mut source = Source::new(id, name.to_owned(), directory, page, who.start);
        let known = pipeline.state().processes.get(&proc);
        let hash = who.points_hash;
        source.rejected = hash != POINTS_HASH || known.is_some_and(|known| known.end.is_some());
        if known.is_none() {
            let host = hosts::of(pid, who.pid_start);
            let info = ProcessInfo::new(who, users::name_of(uid), host, now);
            let started_by = self.started.run_of(pid, info.pid_start);
            let info = ProcessInfo { uid, serves, started_by, ..info };
            let parent = self.parent_of(pipeline.state(), &info);
            let info = ProcessInfo { parent, ..info };
            if !self.introduce(pipeline, info, hash) {
                return; // no room in the spool now: found again at the next scan
            }
        }
        let state = pipeline.state().processes.get(&proc);
        source.is_native = state.is_some_and(|process| process.info.is_native());
        self.enter(uid, name, EntryState::Open);
        self.by_proc.insert(proc, source);
        self.found.push(proc);
    }

    fn wait(&mut self, uid: u32, name: &str, why: &'static str, now: u64) {
        if self.folders.get_mut(&uid).is_some_and(|folder| folder.wait(name, why, now)) {
            let (file, reason) = (name.to_owned(), why.to_owned());
            self.say_rejected(&RejectedFile { uid, file, reason });
        }
    }

    fn enter(&mut self, uid: u32, name: &str, state: EntryState) {
        if let Some(folder) = self.folders.get_mut(&uid) {
            folder.enter(name, state);
        }
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
        if !committed && let Some(folder) = self.folders.get_mut(&info.uid) {
            folder.hurry();
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
            self.remove_directory(source.uid, &source.name, &source.directory);
        }
    }

    fn remove_directory(&mut self, uid: u32, name: &str, directory: &OwnedFd) {
        let Some(folder) = self.folders.get_mut(&uid) else { return };
        if let Err(errno) = folder.remove(name, directory) {
            self.reject(uid, name, &format!("cannot remove it: {errno}"));
        }
    }
}

/// Pid and proc of `PID-PROC`.
fn parse_name(name: &str) -> Option<(u32, u64)> {
    let (pid, proc) = name.split_once('-')?;
    (proc.len() == 16).then_some(())?;
    Some((pid.parse().ok()?, u64::from_str_radix(proc, 16).ok()?))
}
