//! One segment as the thread knows it that writes it.

use std::sync::Arc;

use crate::life::{self, SegmentIdentity};
use crate::mapping::Mapping;
use crate::memory::Memory;
use crate::ring::{Event, Layout, Slot};
use crate::row::{self, CounterRow, Key, Values};
use crate::schema::{
    OPEN_SPAN_SIZE, SEGMENT_DRAINED_EPOCH, SEGMENT_FOLDED, SEGMENT_GAPS, SEGMENT_HEAD,
    SEGMENT_OPEN, SEGMENT_OPEN_CAPACITY, SEGMENT_OPEN_DEPTH, SEGMENT_ROWS, SEGMENT_TAIL, SLOT_SIZE,
};
use crate::segment::OpenSpan;

/// Spans are serial << 40 | number.
pub(super) const SPAN_NUMBERS: u64 = (1 << 40) - 1;

/// A mapped file; it stays mapped as long as its process records.
#[derive(Debug)]
pub(super) struct Segment {
    pub memory: Mapping,
    pub layout: Layout,
    pub serial: u32,
}

#[derive(Debug)]
pub(super) struct Chunk {
    pub segment: Arc<Segment>,
    epoch: u32,
    /// Slots published, and those of them that are consumed as last seen.
    head: u64,
    tail: u64,
    /// Counter rows in use.
    rows: u32,
    gaps: u64,
    collapsed: u64,
    /// Last span given out; goes on when the file is reused, so that no span is given out twice.
    span: u64,
}

impl Chunk {
    pub fn new(segment: Arc<Segment>) -> Chunk {
        let span = u64::from(segment.serial) << 40;
        Chunk { segment, epoch: 0, head: 0, tail: 0, rows: 0, gaps: 0, collapsed: 0, span }
    }

    #[inline]
    pub fn memory(&self) -> &Mapping {
        &self.segment.memory
    }

    #[inline]
    pub fn layout(&self) -> Layout {
        self.segment.layout
    }

    /// Gives the file to a thread; only of a new file, or of one that is [`Chunk::drained`].
    pub fn begin(&mut self, tid: u64, thread_name: u32, chain: u32) {
        self.epoch += 1;
        let identity = SegmentIdentity { epoch: self.epoch, tid, thread_name, chain };
        if let Some(head) = life::reuse(self.memory(), &identity) {
            (self.head, self.tail) = (head, head);
        }
        (self.rows, self.gaps, self.collapsed) = (0, 0, 0);
    }

    pub fn seal(&self) {
        life::seal(self.memory());
    }

    /// The collector needs nothing more from this sealed segment.
    pub fn drained(&self) -> bool {
        self.memory().acquire_u32(SEGMENT_DRAINED_EPOCH) == self.epoch
    }

    /// Slots that can be written now; looks at the consumer's `tail`.
    pub fn room(&mut self) -> u64 {
        let seen = self.memory().acquire_u64(SEGMENT_TAIL);
        // A tail that runs backwards or overtakes head is not believed.
        if seen > self.tail && seen <= self.head {
            self.tail = seen;
        }
        u64::from(self.layout().ring_slots).saturating_sub(1 + self.head - self.tail)
    }

    /// One slot is kept back: what is lost behind it is reported there.
    #[inline]
    pub fn full(&self) -> bool {
        self.head - self.tail + 1 >= u64::from(self.layout().ring_slots)
    }

    /// Writes and publishes one slot; the caller has seen that there is room.
    #[inline]
    pub fn append(&mut self, event: Event) {
        let memory = &self.segment.memory;
        let at = self.segment.layout.slot_at(self.head);
        debug_assert!(at + SLOT_SIZE <= memory.size());
        for (word, value) in Slot::from(event).0.into_iter().enumerate() {
            memory.set_u64(at + word * 8, value);
        }
        self.head += 1;
        memory.release_u64(SEGMENT_HEAD, self.head);
    }

    /// Mirrors an open span at depth `at`, from 0; deeper than the header holds, only the depth.
    #[inline]
    pub fn open(&self, at: usize, span: OpenSpan) {
        if at < SEGMENT_OPEN_CAPACITY {
            for (i, word) in span.words().into_iter().enumerate() {
                self.memory().set_u64(SEGMENT_OPEN + at * OPEN_SPAN_SIZE + i * 8, word);
            }
        }
        self.depth(at + 1);
    }

    #[inline]
    pub fn depth(&self, depth: usize) {
        self.memory().release_u32(SEGMENT_OPEN_DEPTH, depth as u32);
    }

    /// Offset of a new counter row; None when the table is full.
    pub fn new_row(&mut self, key: Key) -> Option<usize> {
        if self.rows >= self.layout().table_rows {
            return None;
        }
        let at = self.layout().row_at(self.rows);
        let empty = CounterRow { key, values: Values::default() };
        row::begin_row(self.memory(), at, &empty);
        self.rows += 1;
        self.memory().release_u32(SEGMENT_ROWS, self.rows);
        Some(at)
    }

    #[inline]
    pub fn next_span(&mut self) -> u64 {
        self.span += 1;
        self.span
    }

    /// No more span ids: half of them is a margin for what still begins before the next look.
    pub fn exhausted(&self) -> bool {
        self.span & SPAN_NUMBERS > SPAN_NUMBERS / 2
    }

    pub fn count_gap(&mut self) {
        self.gaps += 1;
        self.memory().set_u64(SEGMENT_GAPS, self.gaps);
    }

    pub fn count_collapsed(&mut self) {
        self.collapsed += 1;
        self.memory().set_u64(SEGMENT_FOLDED, self.collapsed);
    }
}
