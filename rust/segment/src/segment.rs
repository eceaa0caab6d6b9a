//! What the collector opens: segments, dictionaries, process pages.

use std::os::fd::BorrowedFd;

use crate::life::{self, SegmentIdentity};
use crate::mapping::{Mapping, Rejection};
use crate::memory::Memory;
use crate::process::{self, Account, ProcessIdentity};
use crate::ring::{self, BadRing, Layout, Slot};
use crate::row::{self, CounterRow};
use crate::schema::{
    DICTIONARY_CAPACITY, DICTIONARY_HEADER, DICTIONARY_SEALED, DICTIONARY_USED,
    FILE_KIND_DICTIONARY, FILE_KIND_PROCESS, FILE_KIND_SEGMENT, OPEN_SPAN_SIZE, PROCESS_SIZE,
    ROW_SIZE, SEGMENT_EPOCH, SEGMENT_FOLDED, SEGMENT_GAPS, SEGMENT_HEAD, SEGMENT_HEADER,
    SEGMENT_OPEN, SEGMENT_OPEN_CAPACITY, SEGMENT_OPEN_DEPTH, SEGMENT_PROC, SEGMENT_SERIAL,
    SEGMENT_TAIL,
};

/// Bytes of a dictionary file: a writer's have a quarter of a MiB, and then the next one begins.
const MOST_DICTIONARY: usize = 8 << 20;

/// An operation that had begun and not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OpenSpan {
    pub span: u64,
    pub start: u64,
    pub parent: u64,
    pub target: u32,
    pub point: u16,
    pub flags: u8,
}

impl OpenSpan {
    #[must_use]
    pub fn from_words([span, start, parent, what]: [u64; 4]) -> Self {
        let (target, point, flags) = (what as u32, (what >> 32) as u16, (what >> 48) as u8);
        OpenSpan { span, start, parent, target, point, flags }
    }

    #[must_use]
    pub fn words(&self) -> [u64; 4] {
        let what =
            u64::from(self.target) | u64::from(self.point) << 32 | u64::from(self.flags) << 48;
        [self.span, self.start, self.parent, what]
    }
}

/// A segment of a process, checked against the size of its file.
#[derive(Debug)]
pub struct Segment {
    memory: Mapping,
    layout: Layout,
    /// Unique in the process.
    pub serial: u32,
}

impl Segment {
    /// `Ok(None)`: its writer has not finished making it.
    pub fn open(
        directory: BorrowedFd<'_>,
        name: &str,
        owner: u32,
        proc: u64,
    ) -> Result<Option<Segment>, Rejection> {
        let memory = match Mapping::open(directory, name, owner, SEGMENT_HEADER) {
            // a file grows before its header is written
            Err(Rejection::Size { size, .. }) if size < SEGMENT_HEADER as u64 => return Ok(None),
            other => other?,
        };
        if life::identity(&memory).is_none() {
            return Ok(None);
        }
        memory.expect_kind(FILE_KIND_SEGMENT)?;
        let found = memory.relaxed_u64(SEGMENT_PROC);
        if found != proc {
            return Err(Rejection::Proc { found, expected: proc });
        }
        let layout = match Layout::read(&memory, memory.size()) {
            // it grew since it was mapped: its writer was making it
            Err(BadRing::Size { .. }) if size_of(directory, name) > memory.size() => {
                return Ok(None);
            }
            other => other?,
        };
        let serial = memory.relaxed_u32(SEGMENT_SERIAL);
        Ok(Some(Segment { memory, layout, serial }))
    }

    #[must_use]
    pub fn identity(&self) -> Option<SegmentIdentity> {
        life::identity(&self.memory)
    }

    /// Whether the ring of this epoch ends at `head` and may still go on. What is published while
    /// it looks may be missed: that is seen by the next look.
    #[must_use]
    pub fn is_open_at(&self, epoch: u32, head: u64) -> bool {
        self.memory.acquire_u64(SEGMENT_HEAD) == head && life::is_active_in(&self.memory, epoch)
    }

    /// Whether no other epoch has begun.
    #[must_use]
    pub fn is_of(&self, epoch: u32) -> bool {
        self.memory.acquire_u32(SEGMENT_EPOCH) == epoch
    }

    /// Bytes of its counter table.
    #[must_use]
    pub fn table_bytes(&self) -> u64 {
        u64::from(self.layout.table_rows) * ROW_SIZE as u64
    }

    #[must_use]
    pub fn ring_slots(&self) -> u32 {
        self.layout.ring_slots
    }

    #[must_use]
    pub fn is_sealed(&self) -> bool {
        life::is_sealed(&self.memory)
    }

    pub fn release_epoch(&self, epoch: u32) {
        life::release_epoch(&self.memory, epoch);
    }

    /// Where an earlier reader stopped.
    #[must_use]
    pub fn tail(&self) -> u64 {
        self.memory.acquire_u64(SEGMENT_TAIL)
    }

    pub fn published(&self, tail: u64) -> Result<u64, BadRing> {
        ring::published(&self.memory, self.layout, tail)
    }

    #[must_use]
    pub fn slot(&self, index: u64) -> Slot {
        ring::read_slot(&self.memory, self.layout, index)
    }

    pub fn free(&self, tail: u64) {
        ring::free(&self.memory, tail);
    }

    #[must_use]
    pub fn rows_in_use(&self) -> u32 {
        row::rows_in_use(&self.memory, self.layout)
    }

    /// `None` while the producer writes the row.
    #[must_use]
    pub fn row(&self, index: u32) -> Option<CounterRow> {
        row::read_row(&self.memory, self.layout.row_at(index))
    }

    /// The row of a process that is gone, even if it died while writing it.
    #[must_use]
    pub fn last_row(&self, index: u32) -> CounterRow {
        let at = self.layout.row_at(index);
        row::read_row(&self.memory, at).unwrap_or_else(|| row::read_row_torn(&self.memory, at))
    }

    /// Calls without detail and calls added to a fold row, both of this epoch.
    #[must_use]
    pub fn gaps_and_collapsed(&self) -> (u64, u64) {
        (self.memory.relaxed_u64(SEGMENT_GAPS), self.memory.relaxed_u64(SEGMENT_FOLDED))
    }

    /// The open-span stack, outermost first; only meaningful when the process is gone.
    #[must_use]
    pub fn open_spans(&self) -> Vec<OpenSpan> {
        let depth = self.memory.acquire_u32(SEGMENT_OPEN_DEPTH) as usize;
        (0..depth.min(SEGMENT_OPEN_CAPACITY))
            .map(|place| {
                let at = SEGMENT_OPEN + place * OPEN_SPAN_SIZE;
                OpenSpan::from_words(std::array::from_fn(|i| self.memory.relaxed_u64(at + i * 8)))
            })
            .collect()
    }

    /// The open-span stack of a process that lives, without what it is about to change.
    ///
    /// A span that ends lowers the depth before its place is written again, so what is found twice,
    /// with a depth above it in between, is whole.
    #[must_use]
    pub fn open_now(&self) -> Vec<OpenSpan> {
        let first = self.open_spans();
        self.memory.acquire_fence();
        let again = self.open_spans();
        first
            .into_iter()
            .zip(again)
            .take_while(|(one, two)| one == two)
            .map(|(one, _)| one)
            .collect()
    }

    #[must_use]
    pub fn truncated(&self) -> bool {
        self.memory.truncated()
    }
}

fn size_of(directory: BorrowedFd<'_>, name: &str) -> usize {
    let stat = rustix::fs::statat(directory, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW);
    stat.map_or(0, |stat| stat.st_size as usize)
}

/// A dictionary file of a process.
#[derive(Debug)]
pub struct Dictionary {
    memory: Mapping,
}

impl Dictionary {
    /// `Ok(None)`: its writer has not finished making it.
    pub fn open(
        directory: BorrowedFd<'_>,
        name: &str,
        owner: u32,
    ) -> Result<Option<Dictionary>, Rejection> {
        let memory = match Mapping::open(directory, name, owner, DICTIONARY_HEADER) {
            Err(Rejection::Size { size, .. }) if size < DICTIONARY_HEADER as u64 => {
                return Ok(None);
            }
            other => other?,
        };
        if memory.acquire_u32(0) == 0 {
            return Ok(None);
        }
        memory.expect_kind(FILE_KIND_DICTIONARY)?;
        if memory.size() > MOST_DICTIONARY {
            let (size, most) = (memory.size() as u64, MOST_DICTIONARY as u64);
            return Err(Rejection::Size { size, least: DICTIONARY_HEADER, most });
        }
        Ok(Some(Dictionary { memory }))
    }

    /// Records published beyond the first `from` bytes of records, and whether a next file exists.
    #[must_use]
    pub fn published(&self, from: usize) -> (Vec<u8>, bool) {
        let sealed = self.memory.acquire_u32(DICTIONARY_SEALED) == 1;
        let used = self.memory.acquire_u32(DICTIONARY_USED) as usize;
        let room = self.memory.size() - DICTIONARY_HEADER;
        let capacity = (self.memory.relaxed_u32(DICTIONARY_CAPACITY) as usize).min(room);
        let used = used.min(capacity) & !7;
        if used <= from {
            return (Vec::new(), sealed);
        }
        (self.memory.copy(DICTIONARY_HEADER + from, DICTIONARY_HEADER + used), sealed)
    }

    #[must_use]
    pub fn truncated(&self) -> bool {
        self.memory.truncated()
    }
}

/// The page of a process.
#[derive(Debug)]
pub struct ProcessPage {
    memory: Mapping,
}

impl ProcessPage {
    /// `Ok(None)`: its writer has not finished making it.
    pub fn open(
        directory: BorrowedFd<'_>,
        owner: u32,
    ) -> Result<Option<(ProcessPage, ProcessIdentity)>, Rejection> {
        let memory = match Mapping::open(directory, "process", owner, PROCESS_SIZE) {
            Err(Rejection::Size { size, .. }) if size < PROCESS_SIZE as u64 => return Ok(None),
            Err(Rejection::Io(rustix::io::Errno::NOENT)) => return Ok(None),
            other => other?,
        };
        let Some(who) = process::who(&memory) else { return Ok(None) };
        memory.expect_kind(FILE_KIND_PROCESS)?;
        if who.uid != owner {
            return Err(Rejection::Owner { found: who.uid, expected: owner });
        }
        Ok(Some((ProcessPage { memory }, who)))
    }

    /// As in [`Account::state`].
    #[must_use]
    pub fn state(&self) -> u32 {
        process::state(&self.memory)
    }

    #[must_use]
    pub fn account(&self) -> Account {
        process::account(&self.memory)
    }

    #[must_use]
    pub fn seen_control(&self) -> u32 {
        process::seen_control(&self.memory)
    }

    #[must_use]
    pub fn truncated(&self) -> bool {
        self.memory.truncated()
    }
}
