//! The hot side: one thread's calls into its counter rows and its ring.

use std::sync::{Arc, PoisonError};

use super::{Chunk, Process};
use crate::life;
use crate::memory::Memory;
use crate::ring::{self, Event, Slot};
use crate::row::{self, Key, Values};
use crate::schema::{
    FLAG_ERRNO, FLAG_ERROR, FLAG_INNER, KIND_CALL, KIND_CONTEXT, KIND_GAP, OPEN_SPAN_SIZE,
    PROCESS_COUNTER_LOST_CALLS, SEGMENT_FOLDED, SEGMENT_GAPS, SEGMENT_OPEN, SEGMENT_OPEN_CAPACITY,
    SEGMENT_OPEN_DEPTH, SEGMENT_ROWS, SEGMENT_TAIL, SIZE_CLASS_FOLD,
};
use crate::segment::OpenSpan;

/// Rows held back for collapsed calls.
const FOLD_ROWS: u32 = 64;

/// The events of one thread.
#[derive(Debug)]
pub struct Thread {
    pub(super) process: Arc<Process>,
    pub(super) tid: u64,
    /// Dictionary id.
    pub(super) called: u32,
    pub(super) chain: u32,
    pub(super) chunk: Chunk,
    pub(super) spans: u64,
    pub(super) open: Vec<OpenSpan>,
    pub(super) context: u32,
    /// Calls without detail since the ring was last full, with the first and last of their times.
    pub(super) lost: Option<(u64, u64, u64)>,
}

impl Thread {
    /// A span id that no other call of the process has.
    pub fn span(&mut self) -> u64 {
        self.spans += 1;
        u64::from(self.chunk.serial) << 40 | self.spans
    }

    /// Adds a finished call to its counter row and, while there is room, to the ring.
    pub fn call(&mut self, event: Event, category: u8) {
        self.add(&event, category);
        self.append(Event { kind: KIND_CALL, ..event });
    }

    /// From `start` on, calls of this thread belong to dictionary entry `context` (0 none).
    pub fn context(&mut self, context: u32, start: u64) {
        self.context = context;
        self.append(Event { kind: KIND_CONTEXT, start, target: context, ..Event::default() });
    }

    /// Slots that can be written before the ring is full.
    pub fn free_slots(&mut self) -> u64 {
        let Chunk { memory, layout, head, tail, .. } = &mut self.chunk;
        *tail = memory.acquire_u64(SEGMENT_TAIL);
        u64::from(layout.ring_slots) - (*head - *tail)
    }

    /// Mirrors the begin of a long operation in the header.
    pub fn begin(&mut self, open: OpenSpan) {
        self.open.push(open);
        self.mirror();
    }

    /// Mirrors its end.
    pub fn end(&mut self) {
        self.open.pop();
        self.mirror();
    }

    /// Seals the thread's segment: the thread has ended.
    pub fn seal(self) {
        life::seal(&self.chunk.memory);
        let sealed = self.process.sealed.lock();
        sealed.unwrap_or_else(PoisonError::into_inner).push(self.chunk);
    }

    fn mirror(&self) {
        let memory = &self.chunk.memory;
        for (place, open) in self.open.iter().take(SEGMENT_OPEN_CAPACITY).enumerate() {
            for (i, word) in open.words().into_iter().enumerate() {
                memory.set_u64(SEGMENT_OPEN + place * OPEN_SPAN_SIZE + i * 8, word);
            }
        }
        memory.release_u32(SEGMENT_OPEN_DEPTH, self.open.len() as u32);
    }

    /// Appends a slot; when the ring is full, to a larger successor, else counts it as lost.
    pub fn append(&mut self, event: Event) {
        if self.lost.is_none() && (self.publish(event) || self.grow() && self.publish(event)) {
            return;
        }
        if self.lost.is_some() && self.recover() && self.publish(event) {
            return;
        }
        let end = event.start + event.dur;
        let (count, first, last) = self.lost.unwrap_or((0, event.start, end));
        self.lost = Some((count + 1, first, last.max(end)));
        let gaps = self.chunk.memory.relaxed_u64(SEGMENT_GAPS);
        self.chunk.memory.set_u64(SEGMENT_GAPS, gaps + 1);
    }

    fn publish(&mut self, event: Event) -> bool {
        let Chunk { memory, layout, head, tail, .. } = &mut self.chunk;
        let published = ring::publish(memory, *layout, *head, tail, &Slot::from(event));
        *head += u64::from(published);
        published
    }

    /// After a gap: says what was lost and in which context the thread is now.
    fn recover(&mut self) -> bool {
        let Some((count, first, last)) = self.lost else { return true };
        let (dur, bytes) = (last - first, count as i64);
        if !self.publish(Event { kind: KIND_GAP, start: first, dur, bytes, ..Event::default() }) {
            return false;
        }
        self.lost = None;
        let context = self.context;
        self.publish(Event { kind: KIND_CONTEXT, start: last, target: context, ..Event::default() })
    }

    fn grow(&mut self) -> bool {
        let slots = self.chunk.layout.ring_slots * 4;
        slots <= self.process.limits.ring_slots && self.succeed(slots)
    }

    /// Goes on in a successor of `slots` slots; false when none can be made.
    fn succeed(&mut self, slots: u32) -> bool {
        let next = self.process.chunk(self.tid, self.called, self.chain + 1, slots);
        let Ok(next) = next else { return false };
        self.chain += 1;
        let full = std::mem::replace(&mut self.chunk, next);
        self.mirror();
        life::seal(&full.memory);
        let sealed = self.process.sealed.lock();
        sealed.unwrap_or_else(PoisonError::into_inner).push(full);
        true
    }

    /// Adds a call to its row without a slot, as counted-only points do.
    pub fn add(&mut self, event: &Event, category: u8) {
        let size_class = if event.bytes <= 0 { 0 } else { 1 + event.bytes.ilog2() as u8 };
        let key = Key {
            point: event.point,
            category,
            size_class,
            context: self.context,
            flags: event.flags & FLAG_INNER,
            scope: 0,
        };
        let Some(key) = self.room_for(key) else {
            return self.process.count(PROCESS_COUNTER_LOST_CALLS);
        };
        let Chunk { memory, layout, rows, .. } = &mut self.chunk;
        let index = rows.len() as u32;
        let place = rows.entry(key).or_insert((index, 0, Values::default()));
        let (index, version, values) = place;
        let is_new = values.count == 0;
        tally(values, event);
        let at = layout.row_at(*index);
        if is_new {
            row::begin_row(memory, at, &row::CounterRow { key, values: *values });
            memory.release_u32(SEGMENT_ROWS, *index + 1);
        } else {
            row::write_row(memory, at, version, values);
        }
    }
}

impl Thread {
    /// The key to count under: the call's own, or its point's fold row when the table is full and
    /// no successor can be made.
    fn room_for(&mut self, key: Key) -> Option<Key> {
        let has_room = |chunk: &Chunk, key: &Key, kept_back: u32| {
            chunk.rows.contains_key(key)
                || chunk.rows.len() as u32 + kept_back < chunk.layout.table_rows
        };
        let again = self.chunk.layout.ring_slots;
        if has_room(&self.chunk, &key, FOLD_ROWS) || self.succeed(again) {
            return Some(key);
        }
        let fold = Key { point: key.point, size_class: SIZE_CLASS_FOLD as u8, ..Key::default() };
        let collapsed = self.chunk.memory.relaxed_u64(SEGMENT_FOLDED);
        self.chunk.memory.set_u64(SEGMENT_FOLDED, collapsed + 1);
        has_room(&self.chunk, &fold, 0).then_some(fold)
    }
}

fn tally(values: &mut Values, event: &Event) {
    let least = if values.timed == 0 { event.dur } else { values.min.min(event.dur) };
    *values = Values {
        count: values.count + 1,
        bytes: values.bytes + event.bytes,
        asked: values.asked + u64::from(event.asked),
        errors: values.errors + u64::from(event.flags & (FLAG_ERROR | FLAG_ERRNO) != 0),
        timed: values.timed + 1,
        timed_dur: values.timed_dur + event.dur,
        min: least,
        max: values.max.max(event.dur),
        last_end: event.start + event.dur,
        weight: values.weight + 1,
        ..*values
    };
}
