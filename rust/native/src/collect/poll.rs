//! What is read in one poll: a share for each user, and of what was read all that names it.

use std::collections::{BTreeMap, HashSet};
use std::os::fd::BorrowedFd;

use super::folders::Folder;
use super::pace::Pace;
use super::pipeline::Pipeline;
use super::reader::SegmentReading;
use super::source::{RejectedFile, Source};
use super::sources::Sources;
use crate::clock::MS;

/// Directories are looked at this often when nothing is read.
const SCAN_EVERY: u64 = 50 * MS;
/// Bytes of blocks of one poll; what is left waits for the next one, as do orders and deaths.
const BATCH: usize = 4 << 20;
/// Bytes of names in one poll: as a rule more than what is named in it.
const NAMES: usize = 8 << 20;
/// Rows that are held when they cannot be published; of who has their share of them, nothing is read.
const MAX_ROWS: u64 = 3 << 19;

/// What was read of the rings of a process in one poll.
#[derive(Debug, Default)]
pub struct Reading {
    proc: u64,
    pub blocks: Vec<u8>,
    pub consumed: Vec<SegmentReading>,
}

impl Sources {
    /// Reads all that was published until now of a user and of those that serve others; `uid`:
    /// `None`: of all. Nobody waits for what others write meanwhile, who may write without end.
    pub fn drain(
        &mut self,
        directory: BorrowedFd<'_>,
        pipeline: &mut Pipeline,
        uid: Option<u32>,
        now: u64,
    ) {
        self.folders.values_mut().for_each(Folder::hurry);
        self.scanned = 0;
        for turn in 0..100 {
            let is_known = turn > 0; // the first one finds what is new, too
            if turn < 2 {
                self.by_proc.values_mut().for_each(Source::hurry);
            }
            let pace = self.poll(directory, pipeline, now);
            let is_awaited = |of| uid.is_none_or(|uid| uid == of) || self.serving.contains(&of);
            let has_more = self.cut_short.iter().any(|of| is_awaited(*of));
            if pace == Pace::Idle || is_known && !has_more {
                return;
            }
        }
    }

    /// Reads what is published.
    pub fn poll(&mut self, directory: BorrowedFd<'_>, pipeline: &mut Pipeline, now: u64) -> Pace {
        let mut rejected = Vec::new();
        let room = pipeline.room_for_events();
        // first all heads and slots …
        let mut readings = self.read_slots(pipeline, room.min(BATCH), now, &mut rejected);
        if !readings.is_empty() || now - self.scanned > SCAN_EVERY {
            self.scanned = now;
            self.scan(directory, pipeline, now, &mut rejected);
        }
        // … then all that may have named them before
        let (mut blocks, behind) = self.read_names(pipeline, room.min(NAMES), &mut rejected);
        for file in &rejected {
            self.say_rejected(file);
        }
        // what was not named yet is read again
        readings.retain(|reading| !behind.contains(&reading.proc));
        for proc in &behind {
            let Some(source) = self.by_proc.get_mut(proc) else { continue };
            source.hurry();
            self.cut_short.insert(source.uid);
        }
        for reading in &mut readings {
            blocks.append(&mut reading.blocks);
        }
        if blocks.is_empty() || !pipeline.commit(&blocks) {
            return Pace::Idle;
        }
        let consumed = || readings.iter().flat_map(|reading| &reading.consumed);
        for segment in consumed() {
            if let Some(source) = self.by_proc.get(&segment.proc) {
                source.free(segment);
            }
        }
        let waits = (room > 0 && !behind.is_empty()).then_some(0);
        let fullest = consumed().map(|segment| segment.fill).max().max(waits);
        if fullest > Some(0) {
            self.busy = now;
        }
        fullest.map_or(Pace::Idle, |fill| Pace::Busy { fill })
    }

    /// What is in rings, `most` bytes of all users.
    fn read_slots(
        &mut self,
        pipeline: &Pipeline,
        most: usize,
        now: u64,
        rejected: &mut Vec<RejectedFile>,
    ) -> Vec<Reading> {
        let mut readings: Vec<Reading> = Vec::new();
        self.cut_short.clear();
        for (uid, procs) in self.turns() {
            if pipeline.state().rows.left(MAX_ROWS, uid, self.serves(uid)) == 0 {
                continue;
            }
            let (mut left, mut cut) = (most / self.next.len().max(1), None);
            for proc in procs {
                let Some(process) = pipeline.state().processes.get(&proc) else { continue };
                let Some(source) = self.by_proc.get_mut(&proc) else { continue };
                let mut reading = Reading { proc, ..Reading::default() };
                let Reading { blocks, consumed, .. } = &mut reading;
                let is_all = source.read(process, now, left, blocks, consumed, rejected);
                left = left.saturating_sub(reading.blocks.len());
                if !reading.blocks.is_empty() {
                    readings.push(reading);
                }
                if !is_all {
                    cut = Some(proc);
                    break;
                }
            }
            self.next.insert(uid, cut.unwrap_or(0));
            if cut.is_some() {
                self.cut_short.insert(uid);
            }
        }
        readings
    }

    /// Blocks of names, `most` bytes of all users, and the processes of which there are more.
    fn read_names(
        &mut self,
        pipeline: &Pipeline,
        most: usize,
        rejected: &mut Vec<RejectedFile>,
    ) -> (Vec<u8>, HashSet<u64>) {
        let (mut blocks, mut behind) = (Vec::new(), HashSet::new());
        for (uid, procs) in self.turns() {
            let limit = blocks.len() + most / self.next.len().max(2);
            for proc in procs {
                let Some(process) = pipeline.state().processes.get(&proc) else { continue };
                let Some(source) = self.by_proc.get_mut(&proc) else { continue };
                if !source.read_names(process, limit, &mut blocks, rejected) {
                    if behind.is_empty() {
                        self.next.insert(uid, proc + 1); // the others of its user come first
                    }
                    behind.insert(proc);
                }
            }
        }
        (blocks, behind)
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
}
