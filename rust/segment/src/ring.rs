//! Slots and the ring they travel in: `head` belongs to the producer, `tail` to the collector.

use crate::memory::Memory;
use crate::schema::{
    ROW_SIZE, SEGMENT_HEAD, SEGMENT_HEADER, SEGMENT_RING_SLOTS, SEGMENT_TABLE_ROWS, SEGMENT_TAIL,
    SLOT_SIZE,
};

/// Slots of the largest ring.
pub const MAX_RING_SLOTS: u32 = 65_536;
/// Rows of the largest counter table; far beyond what a producer makes.
pub const MAX_TABLE_ROWS: u32 = 1 << 20;
const SLOT_WORDS: usize = SLOT_SIZE / 8;

/// One slot as it stands in memory, eight little-endian words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(transparent)]
pub struct Slot(pub [u64; SLOT_WORDS]);

/// The fields of a slot, named as in `events.toml`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Event {
    pub start: u64,
    pub dur: u64,
    pub bytes: i64,
    pub offset: i64,
    pub target: u32,
    pub point: u16,
    pub kind: u8,
    pub flags: u8,
    pub ret: i32,
    pub asked: u32,
    pub span: u64,
    pub parent: u64,
}

impl Slot {
    #[must_use]
    pub fn event(&self) -> Event {
        let [start, dur, bytes, offset, what, more, span, parent] = self.0;
        Event {
            start,
            dur,
            bytes: bytes as i64,
            offset: offset as i64,
            target: what as u32,
            point: (what >> 32) as u16,
            kind: (what >> 48) as u8,
            flags: (what >> 56) as u8,
            ret: more as i32,
            asked: (more >> 32) as u32,
            span,
            parent,
        }
    }

    /// The 64 bytes of a slot as they are spooled.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; SLOT_SIZE]) -> Self {
        let mut words = [0; SLOT_WORDS];
        for (word, chunk) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = u64::from_le_bytes(chunk.try_into().unwrap_or_default());
        }
        Slot(words)
    }

    pub fn append_to(&self, out: &mut Vec<u8>) {
        for word in self.0 {
            out.extend_from_slice(&word.to_le_bytes());
        }
    }
}

impl From<Event> for Slot {
    fn from(e: Event) -> Self {
        let what = u64::from(e.target)
            | u64::from(e.point) << 32
            | u64::from(e.kind) << 48
            | u64::from(e.flags) << 56;
        let more = u64::from(e.ret as u32) | u64::from(e.asked) << 32;
        Slot([e.start, e.dur, e.bytes as u64, e.offset as u64, what, more, e.span, e.parent])
    }
}

/// Where things lie in a segment of a given size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    pub ring_slots: u32,
    pub table_rows: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadRing {
    #[error("ring_slots={0} is neither 0 nor a power of two up to {MAX_RING_SLOTS}")]
    Slots(u32),
    #[error("table_rows={0} is more than {MAX_TABLE_ROWS}")]
    Rows(u32),
    #[error("file of {file} bytes cannot hold ring_slots={ring_slots} table_rows={table_rows}")]
    Size { file: usize, ring_slots: u32, table_rows: u32 },
    #[error("head={head} tail={tail}: more than ring_slots={ring_slots} apart")]
    Apart { head: u64, tail: u64, ring_slots: u32 },
}

impl Layout {
    /// Checks the sizes that a segment claims against the bytes its file has.
    pub fn checked(ring_slots: u32, table_rows: u32, file: usize) -> Result<Self, BadRing> {
        if ring_slots != 0 && (!ring_slots.is_power_of_two() || ring_slots > MAX_RING_SLOTS) {
            return Err(BadRing::Slots(ring_slots));
        }
        if table_rows > MAX_TABLE_ROWS {
            return Err(BadRing::Rows(table_rows));
        }
        let layout = Layout { ring_slots, table_rows };
        if layout.size() > file {
            return Err(BadRing::Size { file, ring_slots, table_rows });
        }
        Ok(layout)
    }

    pub fn read(memory: &impl Memory, file: usize) -> Result<Self, BadRing> {
        let ring_slots = memory.relaxed_u32(SEGMENT_RING_SLOTS);
        Self::checked(ring_slots, memory.relaxed_u32(SEGMENT_TABLE_ROWS), file)
    }

    #[must_use]
    pub const fn size(self) -> usize {
        self.slots_at() + self.ring_slots as usize * SLOT_SIZE
    }

    #[must_use]
    pub const fn row_at(self, row: u32) -> usize {
        SEGMENT_HEADER + row as usize * ROW_SIZE
    }

    /// Offset of the slot that event number `index` of this ring occupies.
    #[must_use]
    pub const fn slot_at(self, index: u64) -> usize {
        let mask = self.ring_slots as u64 - 1;
        self.slots_at() + (index & mask) as usize * SLOT_SIZE
    }

    const fn slots_at(self) -> usize {
        self.row_at(self.table_rows)
    }
}

/// Collector: how many events are published, given how many were read.
///
/// An empty ring (`ring_slots` = 0) must not move at all.
pub fn published(memory: &impl Memory, layout: Layout, tail: u64) -> Result<u64, BadRing> {
    let head = memory.acquire_u64(SEGMENT_HEAD);
    let ring_slots = layout.ring_slots;
    // wrapping: a hostile head below tail becomes a huge distance
    if head.wrapping_sub(tail) > u64::from(ring_slots) {
        return Err(BadRing::Apart { head, tail, ring_slots });
    }
    Ok(head)
}

/// Collector: copies the event number `index`, which must be published and not yet freed.
#[must_use]
pub fn read_slot(memory: &impl Memory, layout: Layout, index: u64) -> Slot {
    let at = layout.slot_at(index);
    Slot(std::array::from_fn(|word| memory.relaxed_u64(at + word * 8)))
}

/// Collector: gives the slots before `tail` back to the producer.
pub fn free(memory: &impl Memory, tail: u64) {
    memory.release_u64(SEGMENT_TAIL, tail);
}

/// Producer: publishes one event if the ring has room; `tail` is the producer's cached copy.
pub fn publish(
    memory: &impl Memory,
    layout: Layout,
    head: u64,
    tail: &mut u64,
    slot: &Slot,
) -> bool {
    if head.wrapping_sub(*tail) >= u64::from(layout.ring_slots) {
        *tail = memory.acquire_u64(SEGMENT_TAIL);
        if head.wrapping_sub(*tail) >= u64::from(layout.ring_slots) {
            return false;
        }
    }
    let at = layout.slot_at(head);
    for (word, value) in slot.0.iter().enumerate() {
        memory.set_u64(at + word * 8, *value);
    }
    memory.release_u64(SEGMENT_HEAD, head + 1);
    true
}
