//! The segments of one thread, one after the other: rows, slots, gaps, growth.

use std::sync::atomic::Ordering;

use rustix::io::Errno;

use super::chunk::Chunk;
use super::context::Level;
use super::detail::ALL_REQUESTS;
use super::overflow::RETRY_CALLS;
use super::rows::{Outcome, Packed};
use super::targets::MOST_ROWS;
use super::thread::Thread;
use crate::ring::{Event, Layout};
use crate::schema::{
    CATEGORY_THREAD_NAME, FLAG_REMOTE, KIND_CONTEXT, KIND_GAP, PROCESS_COUNTER_REFUSED_SEGMENTS,
};

/// Rings hold this many contexts and a call.
const MAX_RESTATED: usize = 16;
const GROWTH: u32 = 4;
const MAX_GROWTH: u32 = 64;

#[derive(Debug, Default)]
pub(super) struct Chain {
    /// The active one; None until the first call, and while none can be made.
    pub chunk: Option<Chunk>,
    /// Dictionary id of the thread's name, and the next segment's place in the chain.
    thread_name: u32,
    position: u32,
    retry_in: u32,
    refused: bool,
    gap: Gap,
}

/// Detail lost since the last slot.
#[derive(Debug, Default)]
struct Gap {
    /// What is open has to be said again, and what was lost before it.
    open: bool,
    calls: u64,
    start: u64,
    end: u64,
}

impl Chain {
    /// Whether a segment may be asked for: not within so many calls after one was refused.
    pub fn due(&mut self) -> bool {
        self.retry_in = self.retry_in.saturating_sub(1);
        self.retry_in == 0
    }

    /// The ring has no room for a slot, or something has to be said before it.
    #[inline]
    fn needs_room(&self) -> bool {
        self.gap.open || self.chunk.as_ref().is_none_or(Chunk::full)
    }

    fn lose(&mut self, start: u64, end: u64) {
        let Some(chunk) = self.chunk.as_mut() else { return };
        chunk.count_gap();
        let gap = &mut self.gap;
        gap.start = if gap.calls == 0 { start } else { gap.start.min(start) };
        gap.open = true;
        gap.calls += 1;
        gap.end = end;
    }

    /// Says what was lost, where it was counted; into the slot that is kept back.
    fn tell_gap(&mut self) {
        let Some(chunk) = self.chunk.as_mut() else { return };
        let Gap { calls, start, end, .. } = self.gap;
        if calls == 0 || chunk.layout().ring_slots == 0 {
            return;
        }
        let dur = end - start;
        chunk.append(Event {
            start,
            dur,
            bytes: calls as i64,
            offset: -1,
            kind: KIND_GAP,
            ..Event::default()
        });
        self.gap = Gap { open: self.gap.open, ..Gap::default() };
    }
}

impl Thread {
    /// Asks for the thread's first segment.
    pub(super) fn first_segment(&mut self) {
        let directory = self.process.directory();
        let made = directory.and_then(|at| self.process.pool().first(at));
        let chunk = match made {
            Ok(Some(chunk)) => chunk,
            Ok(None) => return self.refused(None),
            Err(why) => return self.refused(Some(why)),
        };
        self.chain.thread_name = self.process.name(CATEGORY_THREAD_NAME, &self.name);
        self.go_on_in(chunk);
        self.restate();
    }

    /// The thread has another name by now, and goes on under it in another segment. For once in its
    /// life: some pools put the number of each request into the names of their threads.
    pub fn rename(&mut self, name: &str) {
        if self.dead || self.name == name {
            return;
        }
        name.clone_into(&mut self.name);
        if self.chain.chunk.is_none() {
            return; // the first segment will say it
        }
        let directory = self.process.directory();
        let made = directory.and_then(|at| self.process.pool().with_ring(at));
        // else it keeps the old one: there is no room for a segment more
        if let Ok(Some(chunk)) = made {
            self.chain.thread_name = self.process.name(CATEGORY_THREAD_NAME, &self.name);
            self.replace(chunk);
        }
    }

    /// `why`: None: the cap.
    fn refused(&mut self, why: Option<Errno>) {
        self.chain.retry_in = RETRY_CALLS;
        if let Some(why) = why {
            self.process.refused_by(why);
        }
        if !self.chain.refused {
            self.chain.refused = true;
            self.process.count(PROCESS_COUNTER_REFUSED_SEGMENTS, 1);
        }
    }

    fn go_on_in(&mut self, mut chunk: Chunk) {
        let chain = &mut self.chain;
        chunk.begin(self.tid, chain.thread_name, chain.position);
        chain.position += 1;
        chain.refused = false;
        chain.retry_in = 0;
        self.let_rows_go();
        self.mirror_all(&mut chunk);
        self.chain.chunk = Some(chunk);
    }

    /// A recording begins and nothing is open: what is remembered of the jobs and clients of those
    /// before is let go, with their segment, where it is more than a thread begins with.
    pub(super) fn renew(&mut self) {
        if self.chain.chunk.is_none() || self.rows.len() <= self.process.options.table_rows as usize
        {
            return;
        }
        let directory = self.process.directory();
        let made = directory.and_then(|at| self.process.pool().with_ring(at));
        // else the old one has room, or says what has none
        if let Ok(Some(chunk)) = made {
            self.replace(chunk);
        }
    }

    /// Seals the segment and goes on in a larger one; false when there is none.
    fn grow(&mut self, ring: bool, table: bool) -> bool {
        let Some(old) = self.chain.chunk.as_ref().map(Chunk::layout) else { return false };
        if !self.chain.due() {
            return false;
        }
        let options = &self.process.options;
        let slots = old.ring_slots.max(options.ring_slots);
        let larger = |now: u32, most: u32| now.saturating_mul(GROWTH).min(most).max(now);
        let most_rows = options.table_rows * MAX_GROWTH;
        let wanted = Layout {
            ring_slots: if ring { larger(slots, options.most_slots) } else { old.ring_slots },
            table_rows: if table { larger(old.table_rows, most_rows) } else { old.table_rows },
        };
        let least = Layout { ring_slots: if ring { slots } else { old.ring_slots }, ..old };
        let directory = self.process.directory();
        let made = directory.and_then(|at| self.process.pool().successor(at, wanted, least));
        match made {
            Ok(Some(chunk)) => {
                self.replace(chunk);
                return true;
            }
            // The cap bounds growth by design: what that costs is counted call by call.
            Ok(None) => self.chain.retry_in = RETRY_CALLS,
            Err(why) => self.refused(Some(why)),
        }
        false
    }

    fn replace(&mut self, next: Chunk) {
        self.chain.tell_gap();
        let old = self.chain.chunk.take();
        self.go_on_in(next);
        if let Some(old) = old {
            old.depth(0);
            self.process.seal(old);
        }
    }

    /// Adds a call to its row.
    ///
    /// `gap`: its detail is lost if the thread has no segment.
    #[inline]
    pub(super) fn record(&mut self, key: Packed, scope: u64, call: &Outcome, gap: bool) {
        if let (Some(row), Some(chunk)) = (self.rows.find(key, scope, 0), &self.chain.chunk) {
            return row.add(chunk.memory(), call);
        }
        self.record_new(key, scope, 0, call, gap);
    }

    /// Adds a call that is not recorded individually to its row, or to that of its target (handle).
    #[inline]
    pub(super) fn record_summed(&mut self, key: Packed, scope: u64, target: u64, call: &Outcome) {
        let rows = self.process.target_rows.load(Ordering::Relaxed);
        if !self.targets.has_rows(target, call.calls, call.bytes, rows) {
            return self.record(key, scope, call, false);
        }
        let id = target as u32;
        if let (Some(row), Some(chunk)) = (self.rows.find(key, scope, id), &self.chain.chunk) {
            return row.add(chunk.memory(), call);
        }
        if rows < MOST_ROWS {
            self.record_new(key, scope, id, call, false);
        } else {
            self.record(key, scope, call, false);
        }
    }

    #[cold]
    fn record_new(&mut self, key: Packed, scope: u64, target: u32, call: &Outcome, gap: bool) {
        if self.new_row(key, scope, target, call)
            || self.grow(false, true) && self.new_row(key, scope, target, call)
        {
            return;
        }
        let gap = gap && self.chain.chunk.is_none();
        self.process.add_to_overflow(key, call, gap);
    }

    fn new_row(&mut self, key: Packed, scope: u64, target: u32, call: &Outcome) -> bool {
        let Some(chunk) = self.chain.chunk.as_mut() else { return false };
        let Some(row) = self.rows.add(chunk, key, scope, target) else { return false };
        row.add(chunk.memory(), call);
        self.process.target_rows.fetch_add(u32::from(target != 0), Ordering::Relaxed);
        true
    }

    /// They stay in the segment that was left; what comes next has rows in another.
    fn let_rows_go(&mut self) {
        let with_target = self.rows.clear();
        self.process.target_rows.fetch_sub(with_target, Ordering::Relaxed);
    }

    /// Writes the slot of a finished call, or counts it as a gap.
    #[inline]
    pub(super) fn publish(&mut self, call: Event) {
        if self.chain.needs_room() && !self.make_room() {
            return self.chain.lose(call.start, call.start + call.dur);
        }
        if let Some(chunk) = self.chain.chunk.as_mut() {
            chunk.append(call);
        }
    }

    /// Writes a `begin` slot if there is room; its call is counted anyway.
    pub(super) fn publish_begin(&mut self, begin: Event) {
        if self.chain.needs_room() && !self.make_room() {
            return;
        }
        if let Some(chunk) = self.chain.chunk.as_mut() {
            chunk.append(begin);
        }
    }

    /// The segment, if there is one, says whose and why the calls are that come next.
    ///
    /// `point`: of the call that the context was pushed for, 0 none; `waited`: ns since its cause
    /// handed it over.
    pub(super) fn tell_context(&mut self, point: u16, waited: u64) {
        if self.chain.chunk.is_none() {
            return;
        }
        if self.chain.needs_room() && !self.make_room() {
            self.chain.gap.open = true; // the contexts are restated behind it
            return;
        }
        let slot = self.contexts.open().last().map(|level| context(level, point, waited));
        if let (Some(slot), Some(chunk)) = (slot, self.chain.chunk.as_mut()) {
            chunk.append(slot);
        }
    }

    /// Slots of the innermost open contexts, outer ones first.
    fn restate(&mut self) {
        let Some(chunk) = self.chain.chunk.as_mut() else { return };
        let open = self.contexts.open();
        let open = &open[open.len().saturating_sub(MAX_RESTATED)..];
        if chunk.room() < open.len() as u64 {
            self.chain.gap.open = true;
            return;
        }
        for level in open {
            chunk.append(context(level, 0, 0));
        }
    }

    /// Makes room for one slot and, behind a gap, for what has to be said first.
    fn make_room(&mut self) -> bool {
        let restated = self.contexts.open().len().min(MAX_RESTATED) as u64;
        let needed = if self.chain.gap.open { 2 + restated } else { 1 };
        let fits = |thread: &mut Thread| {
            let chunk = thread.chain.chunk.as_mut();
            chunk.is_some_and(|chunk| chunk.room() >= needed && !chunk.exhausted())
        };
        if !(fits(self) || self.grow(true, false) && fits(self)) {
            return false;
        }
        if self.chain.gap.open {
            self.chain.gap.open = false;
            self.chain.tell_gap();
            self.restate();
        }
        true
    }

    /// After this no one writes to the segment: its thread has ended or failed.
    pub(super) fn seal(&mut self) {
        self.chain.tell_gap();
        self.let_rows_go();
        if let Some(last) = self.chain.chunk.take() {
            self.process.seal(last);
        }
    }
}

fn context(level: &Level, point: u16, waited: u64) -> Event {
    let all = level.sampling == ALL_REQUESTS as u32;
    let slot = Event {
        kind: KIND_CONTEXT,
        start: level.since,
        dur: waited,
        offset: -1,
        target: level.id,
        point,
        asked: if all { 0 } else { level.sampling },
        ..Event::default()
    };
    level.cause.map_or(slot, |cause| Event {
        offset: cause.trace as i64,
        flags: FLAG_REMOTE,
        span: cause.span,
        parent: cause.proc,
        ..slot
    })
}
