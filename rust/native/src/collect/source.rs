//! One traced process as the collector reads it: mapped files, and what is left to read of them.

use std::collections::{BTreeMap, HashSet};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, unlinkat};
use rustix::io::Errno;

use iostrata_segment::life::SegmentIdentity;
use iostrata_segment::mapping::Rejection;
use iostrata_segment::process::DETACHED;
use iostrata_segment::segment::{Dictionary, ProcessPage, Segment};

use super::block::{self, BlockKind, EndBlock, NamesHead};
use super::folders::OVER_SHARE;
use super::procfs;
use super::reader::{Reader, SegmentReading};
use super::shares::Room;
use crate::listing::{Freshness, list};
use crate::model::page::PageReading;
use crate::model::process::Process;

/// A successor whose predecessor was never seen is read after this long, ns.
const PATIENCE: u64 = 1_000_000_000;
/// Counter rows are looked at this often, ns.
const ROWS_EVERY: u64 = 900_000_000;

#[derive(Debug)]
pub struct Source {
    pub proc: u64,
    pub uid: u32,
    pub pid: u32,
    pub pid_start: u64,
    /// Name of its directory below the owner's.
    pub name: String,
    pub directory: OwnedFd,
    pub page: ProcessPage,
    /// It looks at the control page when it makes a call, and never by itself.
    pub is_native: bool,
    /// Looks at its directory since it was found dead.
    pub dead: Option<u32>,
    /// Nothing of it is read.
    pub rejected: bool,
    pub readers: BTreeMap<u32, Reader>,
    files: HashSet<String>,
    dictionary: Option<(u32, Dictionary)>,
    /// Dictionary files below this number were unlinked.
    names_freed: u32,
    freshness: Freshness,
    scanned: u64,
    looked: u64,
    /// The segment that the next read begins with: a batch may end in the middle.
    next: u32,
    /// Of the process; `None` where the kernel has no such thing, and of one that had ended.
    life: Option<OwnedFd>,
    /// Bytes of counter tables that are open.
    tables: u64,
    /// Segments that were more than its user's share.
    unread: u64,
}

/// A file that is not read: counted and logged by the caller.
#[derive(Debug)]
pub struct RejectedFile {
    pub uid: u32,
    /// Below the user's directory.
    pub file: String,
    pub reason: String,
}

impl Source {
    pub fn new(
        (proc, uid, pid, pid_start): (u64, u32, u32, u64),
        name: String,
        directory: OwnedFd,
        page: ProcessPage,
        start: u64,
    ) -> Source {
        Source {
            proc,
            uid,
            pid,
            pid_start,
            name,
            directory,
            page,
            is_native: false,
            dead: None,
            rejected: false,
            readers: BTreeMap::new(),
            files: HashSet::new(),
            dictionary: None,
            names_freed: 0,
            freshness: Freshness::default(),
            scanned: start,
            looked: 0,
            next: 0,
            life: procfs::life(pid, pid_start),
            tables: 0,
            unread: 0,
        }
    }

    /// A descriptor that is readable once the process has ended.
    pub fn life(&self) -> Option<BorrowedFd<'_>> {
        self.life.as_ref().map(AsFd::as_fd)
    }

    pub fn has_ended(&self) -> bool {
        match &self.life {
            Some(life) => procfs::is_over(life.as_fd()),
            None => !procfs::is_alive(self.pid, Some(self.pid_start)),
        }
    }

    /// Mappings and bytes of counter tables that are open.
    pub fn used(&self) -> (u64, u64) {
        (self.readers.len() as u64 + 2, self.tables) // its page and a dictionary
    }

    /// Events that wait in its rings.
    pub fn waiting(&self) -> u64 {
        let waiting = |reader: &Reader| {
            let tail = reader.segment.tail();
            reader.segment.published(tail).map_or(0, |head| head - tail)
        };
        self.readers.values().map(waiting).sum()
    }

    /// Opens segments that appeared since the last look, as far as there is room. The number of
    /// names that it listed.
    pub fn scan(
        &mut self,
        state: Option<&Process>,
        now: u64,
        room: &mut Room,
        rejected: &mut Vec<RejectedFile>,
    ) -> usize {
        if !self.freshness.changed(self.directory.as_fd()) && self.dead.is_none() {
            return 0;
        }
        let since = std::mem::replace(&mut self.scanned, now);
        let mut waiting = false;
        let names = list(self.directory.as_fd());
        if self.files.len() > names.len() {
            let there: HashSet<&String> = names.iter().collect();
            self.files.retain(|file| there.contains(file));
        }
        for name in &names {
            if name.strip_suffix(".seg").is_none() || self.files.contains(name) {
                continue;
            }
            match Segment::open(self.directory.as_fd(), name, self.uid, self.proc) {
                Ok(None) => waiting = true, // still being made
                Ok(Some(segment)) if room.take(self.uid, segment.table_bytes()) => {
                    self.tables += segment.table_bytes();
                    self.resume(segment, state, since, now);
                    self.files.insert(name.clone());
                }
                Ok(Some(_)) => {
                    self.unread += 1;
                    if self.unread == 1 {
                        self.reject(rejected, name, OVER_SHARE.into());
                    }
                    self.files.insert(name.clone());
                }
                Err(rejection) => {
                    self.reject(rejected, name, rejection.to_string());
                    self.files.insert(name.clone());
                }
            }
        }
        if waiting {
            self.freshness = Freshness::default();
            self.scanned = since;
        }
        self.dead = self.dead.map(|looks| looks + 1);
        names.len()
    }

    /// Tells the producer where the state is, which a crash may have kept from it.
    fn resume(&mut self, segment: Segment, state: Option<&Process>, since: u64, now: u64) {
        if let Some(known) = state.and_then(|state| state.segments.get(&segment.serial)) {
            if segment.tail() < known.position {
                segment.free(known.position);
            }
            if known.drained {
                segment.release_epoch(known.epoch);
            }
        }
        self.readers.insert(segment.serial, Reader::new(segment, now, since));
    }

    fn reject(&self, rejected: &mut Vec<RejectedFile>, file: &str, reason: String) {
        let file = format!("{}/{file}", self.name);
        rejected.push(RejectedFile { uid: self.uid, file, reason });
    }

    /// Appends blocks of all that is published in rings, and of segments read to their end, until
    /// `out` has `limit` bytes; false if that was not all.
    pub fn read(
        &mut self,
        state: &Process,
        now: u64,
        limit: usize,
        out: &mut Vec<u8>,
        consumed: &mut Vec<SegmentReading>,
        rejected: &mut Vec<RejectedFile>,
    ) -> bool {
        let rows_due = now.saturating_sub(self.looked) >= ROWS_EVERY;
        let is_dead = self.dead.is_some();
        let due = self.readers.iter().filter(|(_, reader)| is_dead || !reader.is_quiet(rows_due));
        let mut due: Vec<u32> = due.map(|(serial, _)| *serial).collect();
        let begin = due.partition_point(|serial| *serial < self.next);
        due.rotate_left(begin);
        self.next = 0;
        for serial in due {
            if out.len() >= limit {
                self.next = serial;
                return false;
            }
            let turn = self.in_turn(serial, state, now);
            self.give_up_truncated(serial, rejected);
            let Some(identity) = turn else { continue };
            let Some(reader) = self.readers.get_mut(&serial) else { continue };
            let begin = out.len();
            match reader.read(self.proc, &identity, state, now, is_dead, out) {
                Ok(read) => {
                    let is_drained = read.is_some_and(|read| read.drained.is_some());
                    if rows_due && !is_drained {
                        reader.rows(self.proc, &identity, state, now, false, out);
                    }
                    if reader.segment.truncated() {
                        out.truncate(begin);
                        self.give_up_truncated(serial, rejected);
                    } else {
                        consumed.extend(read);
                    }
                }
                Err(bad) => {
                    reader.given_up = true;
                    self.reject(rejected, &format!("serial {serial}"), bad.to_string());
                }
            }
        }
        if rows_due {
            self.looked = now;
            self.push_page(state, now, out);
        }
        true
    }

    /// A segment whose file was cut reads as zeros from there on: nothing of it is worth keeping.
    fn give_up_truncated(&mut self, serial: u32, rejected: &mut Vec<RejectedFile>) {
        let Some(reader) = self.readers.get_mut(&serial) else { return };
        if reader.segment.truncated() && !reader.given_up {
            reader.given_up = true;
            self.reject(rejected, &format!("serial {serial}"), "truncated while in use".into());
        }
    }

    /// When all counter rows were looked at; none of a process that writes no more.
    pub fn looked(&self) -> Option<u64> {
        (self.looked > 0 && !self.rejected && self.dead.is_none()).then_some(self.looked)
    }

    /// Makes the next [`Source::read`] look at all counter rows.
    pub fn hurry(&mut self) {
        self.looked = 0;
    }

    /// The identity of a segment if there is something to read and its turn has come.
    fn in_turn(&mut self, serial: u32, state: &Process, now: u64) -> Option<SegmentIdentity> {
        let reader = self.readers.get_mut(&serial)?;
        let identity = reader.segment.identity()?;
        let known = state.segments.get(&serial).filter(|known| known.epoch == identity.epoch);
        if known.is_some_and(|known| known.drained) {
            reader.drained(identity.epoch);
            return None;
        }
        if reader.given_up {
            return None;
        }
        if reader.in_turn == Some(identity.epoch) {
            return Some(identity);
        }
        let reached = state.threads.get(identity.tid).map_or(0, |thread| thread.chain);
        let waited = now.saturating_sub(reader.found) > PATIENCE;
        if identity.chain > reached && (!waited || self.has_earlier(serial, identity, state)) {
            return None;
        }
        self.readers.get_mut(&serial)?.in_turn = Some(identity.epoch);
        Some(identity)
    }

    fn has_earlier(&self, serial: u32, of: SegmentIdentity, state: &Process) -> bool {
        self.readers.iter().any(|(other, reader)| {
            let identity = reader.segment.identity();
            let earlier = identity.filter(|id| id.tid == of.tid && id.chain < of.chain);
            let known = state.segments.get(other);
            let open = earlier.is_some_and(|id| {
                !known.is_some_and(|known| known.epoch == id.epoch && known.drained)
            });
            *other != serial && open && !reader.given_up
        })
    }

    /// Appends dictionary records published since the last look, until `out` has `limit` bytes;
    /// false if those were not all.
    pub fn read_names(
        &mut self,
        state: &Process,
        limit: usize,
        out: &mut Vec<u8>,
        rejected: &mut Vec<RejectedFile>,
    ) -> bool {
        self.free_names(state);
        let (mut number, mut used) = match &self.dictionary {
            Some((number, _)) if *number > state.names_read.0 => (*number, 0),
            _ => state.names_read,
        };
        loop {
            if out.len() >= limit {
                return false;
            }
            if self.dictionary.as_ref().is_none_or(|(open, _)| *open != number) {
                match Dictionary::open(self.directory.as_fd(), &format!("dict-{number}"), self.uid)
                {
                    Ok(Some(dictionary)) => self.dictionary = Some((number, dictionary)),
                    Err(Rejection::Io(Errno::NOENT)) if state.names.is_empty() && used == 0 => {
                        // an earlier collector unlinked what it had read
                        match self.first_dictionary() {
                            Some(first) if first > number => number = first,
                            _ => return true,
                        }
                        continue;
                    }
                    Ok(None) | Err(Rejection::Io(Errno::NOENT)) => return true,
                    Err(rejection) => {
                        let file = format!("dict-{number}");
                        if self.files.insert(file.clone()) {
                            self.reject(rejected, &file, rejection.to_string());
                        }
                        return true;
                    }
                }
            }
            let Some((_, dictionary)) = &self.dictionary else { return true };
            let (records, sealed) = dictionary.published(used as usize);
            if dictionary.truncated() {
                let file = format!("dict-{number}");
                if self.files.insert(file.clone()) {
                    self.reject(rejected, &file, "truncated while in use".into());
                }
                return true;
            }
            if !records.is_empty() {
                used += records.len() as u32;
                let head = NamesHead { proc: self.proc, number, used };
                block::push(out, BlockKind::Names, |out| {
                    head.append_to(out);
                    out.extend_from_slice(&records);
                });
            }
            if !sealed {
                return true;
            }
            (number, used) = (number + 1, 0);
        }
    }

    fn first_dictionary(&self) -> Option<u32> {
        let names = list(self.directory.as_fd());
        names.iter().filter_map(|name| name.strip_prefix("dict-")?.parse().ok()).min()
    }

    /// Unlinks the dictionary files whose records are all spooled: room for the next ones.
    fn free_names(&mut self, state: &Process) {
        while self.names_freed < state.names_read.0 {
            let file = format!("dict-{}", self.names_freed);
            let _ = unlinkat(&self.directory, file, AtFlags::empty());
            self.names_freed += 1;
        }
    }

    /// The agent has gone and its process lives on: nothing more will be written.
    pub fn is_detached(&self) -> bool {
        self.page.state() == DETACHED
    }

    /// Appends the end of a dead process if everything of it was read; true if so.
    pub fn finish(&self, state: &Process, now: u64, out: &mut Vec<u8>) -> bool {
        let Some(looks) = self.dead else { return false };
        let all_read = self.readers.values().all(|reader| {
            reader.given_up
                || reader.segment.identity().is_none_or(|identity| {
                    let known = state.segments.get(&reader.segment.serial);
                    known.is_some_and(|known| known.drained && known.epoch == identity.epoch)
                })
        });
        // one look finds what appeared between the last one and its death
        if looks < 1 || !all_read {
            return false;
        }
        self.push_page(state, now, out);
        let rejection = match self.unread {
            0 => String::new(),
            unread => format!("{unread} of its segments at least were not read: {OVER_SHARE}"),
        };
        let end = EndBlock { proc: self.proc, now, rejection };
        block::push_json(out, BlockKind::End, &end);
        true
    }

    fn push_page(&self, state: &Process, now: u64, out: &mut Vec<u8>) {
        let page = PageReading::of(self.proc, now, self.page.account());
        let is_news = state.page.as_ref().is_none_or(|known| !known.says_the_same(&page));
        if is_news {
            block::push_json(out, BlockKind::Page, &page);
        }
    }

    /// Frees what is spooled.
    pub fn free(&self, consumed: &SegmentReading) {
        let Some(reader) = self.readers.get(&consumed.serial) else { return };
        reader.segment.free(consumed.tail);
        if let Some(epoch) = consumed.drained {
            reader.segment.release_epoch(epoch);
        }
    }
}
