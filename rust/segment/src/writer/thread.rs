//! What one thread records: its state, its contexts, and how it begins and ends.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::Process;
use super::chain::Chain;
use super::chunk::Chunk;
use super::context::{Cause, Contexts};
use super::counted::{AtOnce, CountedCall};
use super::rows::{Outcome, Packed, Rows, Timed};
use super::sampler::{Sampler, xorshift};
use super::spans::Span;
use super::targets::Targets;
use crate::ring::Event;
use crate::schema::{
    FLAG_ERRNO, FLAG_ERROR, KIND_CALL, PROCESS_COUNTER_FAULTS, PROCESS_COUNTER_LOST_CALLS,
    PROCESS_COUNTER_UNBALANCED,
};

/// Bytes of a call at its end that say: those given at its begin.
pub(super) const AS_ENTERED: i64 = i64::MIN;

/// The calls of one thread; used by that thread only.
///
/// Every enter needs its exit, every `enter_counted` its `exit_counted` or `drop_counted`, also when
/// the point has been switched off in between.
#[derive(Debug)]
pub struct Thread {
    pub(super) process: Arc<Process>,
    pub(super) tid: u64,
    /// The kernel's of the thread that it began on.
    kernel_id: u32,
    pub(super) name: String,
    pub(super) chain: Chain,
    pub(super) rows: Rows,
    /// Of calls that are not recorded individually.
    pub(super) targets: Targets,
    pub(super) contexts: Contexts,
    pub(super) spans: Vec<Span>,
    /// Those of them that are recorded individually, as the segment's header mirrors them.
    pub(super) kept: usize,
    pub(super) counted: Vec<CountedCall>,
    /// The last call that was counted when it began.
    pub(super) at_once: AtOnce,
    /// Layers and directions of bytes with an open call, see [`super::PointFacts`].
    pub(super) layers: u64,
    points: PointStates,
    random: u64,
    recording: u32,
    /// A fault inside, or it has ended: its calls are only counted as lost.
    pub(super) dead: bool,
}

/// What a thread remembers of a point.
#[derive(Debug)]
pub(super) struct PointState {
    /// Of calls that are not recorded individually.
    pub sampler: Sampler,
    /// Which of the point's open calls is being timed, and since when.
    pub timing: Timing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Timing {
    None,
    /// A summed span, or a call that makes no other.
    Span,
    /// A counted-only call at this depth of them, since so many ns.
    Counted(usize, u64),
}

/// The points that a thread has met.
#[derive(Debug, Default)]
struct PointStates {
    /// Place in `met` and one, by point id.
    places: Vec<u16>,
    met: Vec<PointState>,
}

impl PointStates {
    #[inline]
    fn get(&mut self, point: u16, random: &mut u64) -> &mut PointState {
        let id = usize::from(point);
        if self.places.get(id).is_none_or(|place| *place == 0) {
            self.meet(id, random);
        }
        &mut self.met[usize::from(self.places[id]) - 1]
    }

    #[cold]
    fn meet(&mut self, id: usize, random: &mut u64) {
        if self.places.len() <= id {
            self.places.resize(id + 1, 0);
        }
        *random = xorshift(*random);
        let sampler = Sampler::new(random.wrapping_add(id as u64));
        self.met.push(PointState { sampler, timing: Timing::None });
        self.places[id] = self.met.len() as u16;
    }
}

impl Thread {
    pub(super) fn new(process: Arc<Process>, tid: u64, name: &str) -> Thread {
        let seed = process.options.seed.wrapping_add(tid.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        Thread {
            recording: process.recording.load(Ordering::Relaxed),
            random: split_mix(seed) | 1,
            kernel_id: process.thread_begins(tid, name),
            process,
            tid,
            name: name.to_owned(),
            chain: Chain::default(),
            rows: Rows::default(),
            targets: Targets::default(),
            contexts: Contexts::default(),
            spans: Vec::new(),
            kept: 0,
            counted: Vec::new(),
            at_once: AtOnce::default(),
            layers: 0,
            points: PointStates::default(),
            dead: false,
        }
    }

    /// From here on in this thread: the context `id` (0 nobody's), for `cause` (None: as before).
    ///
    /// `point`: of the call that enters next, 0 none.
    pub fn push_context(&mut self, point: u16, id: u32, cause: Option<Cause>) {
        if self.dead {
            return;
        }
        let now = self.process.now();
        let request = self.spans.last().map_or(0, |span| span.sampling);
        self.contexts.push(id, cause, request, now);
        let handed = cause.filter(|cause| cause.since != 0 && cause.sampling >= 0);
        let waited = handed.map_or(0, |cause| now.saturating_sub(cause.since));
        self.tell_context(point, waited);
    }

    /// Back to the context before.
    pub fn pop_context(&mut self) {
        if self.dead {
            return;
        }
        if self.contexts.nested() {
            self.contexts.pop(self.process.now());
            self.tell_context(0, 0);
        } else {
            self.unbalanced(0);
        }
    }

    /// What other threads and processes do for this one now is caused by.
    #[must_use]
    pub fn cause(&self) -> Cause {
        let outer = self.contexts.cause();
        let top = self.spans.last();
        let proc = self.process.proc;
        // Where nothing that is open is recorded individually, it is the outer cause's.
        let (of, span) = match top.map_or(0, |top| top.id) {
            0 => outer.map_or((proc, 0), |outer| (outer.proc, outer.span)),
            span => (proc, span),
        };
        let inherited = outer.unwrap_or_default();
        Cause {
            context: self.contexts.current(),
            trace: outer.map_or(proc, |outer| outer.trace),
            proc: of,
            span,
            since: self.process.now(),
            target: top.map_or(inherited.target, |top| top.target),
            sampling: top.map_or(inherited.sampling, |top| top.sampling),
        }
    }

    /// A call that was measured elsewhere, with a span of its own: to its row and, while there is
    /// room, to the ring.
    pub fn call(&mut self, event: Event, category: u8) {
        if !self.active() {
            return;
        }
        let Event { start, dur, bytes, asked, flags, point, .. } = event;
        let key = Packed::new(point, flags, category, bytes as u64, self.contexts.current());
        let call = Outcome {
            calls: 1,
            bytes,
            asked: u64::from(asked),
            error: flags & (FLAG_ERROR | FLAG_ERRNO) != 0,
            timed: Some(Timed { dur, end: start + dur, weight: 1, spread: 0.0 }),
            inside: 0,
        };
        self.record(key, 0, &call, true);
        self.publish(Event { kind: KIND_CALL, ..event });
    }

    /// Slots that can be written before the ring is full.
    pub fn free_slots(&mut self) -> u64 {
        self.chain.chunk.as_mut().map_or(u64::MAX, Chunk::room)
    }

    /// Point of the span on top. Counted-only calls are not spans.
    #[must_use]
    pub fn open_point(&self) -> Option<u16> {
        self.spans.last().map(|span| span.point)
    }

    /// The thread has ended, or writes no more: seals its segment.
    pub fn end(mut self) {
        self.process.thread_ends(self.kernel_id, self.tid);
        self.seal();
    }

    /// A fault inside: nothing that is half done is touched again.
    pub fn fail(&mut self) {
        self.dead = true;
        self.spans.clear();
        self.counted.clear();
        self.process.count(PROCESS_COUNTER_FAULTS, 1);
        if let Some(chunk) = &self.chain.chunk {
            chunk.depth(0);
        }
        self.seal();
    }

    /// False when a call cannot even be put on the stack; it is then counted.
    #[inline]
    pub(super) fn active(&mut self) -> bool {
        if self.chain.chunk.is_none() && !self.begin() {
            return false;
        }
        let base = self.process.base_context.load(Ordering::Acquire);
        if base != self.contexts.base() {
            self.contexts.set_base(base, self.process.now());
            if !self.contexts.nested() {
                self.tell_context(0, 0);
            }
        }
        true
    }

    /// Calls that were open when an earlier recording ended never said how they went on.
    #[inline]
    pub(super) fn follow_recording(&mut self) {
        if !self.is_of_this_recording() {
            self.begin_recording();
        }
    }

    /// The recording is the one that the thread has last followed.
    #[inline]
    pub(super) fn is_of_this_recording(&self) -> bool {
        self.recording == self.process.recording.load(Ordering::Relaxed)
    }

    #[cold]
    fn begin_recording(&mut self) {
        self.recording = self.process.recording.load(Ordering::Relaxed);
        while !self.spans.is_empty() {
            self.drop_span();
        }
        self.cut_counted(0);
        self.renew();
    }

    /// Asks for a segment. Without one calls are stacked all the same: one may come later.
    #[cold]
    fn begin(&mut self) -> bool {
        self.dead |= self.process.closed.load(Ordering::Acquire);
        if self.dead {
            self.process.count(PROCESS_COUNTER_LOST_CALLS, 1);
            return false;
        }
        let base = self.process.base_context.load(Ordering::Acquire);
        if base != self.contexts.base() {
            self.contexts.set_base(base, self.process.now());
        }
        if self.chain.due() {
            self.first_segment();
        }
        true
    }

    /// An end without its begin; expected of a point that was switched off in between.
    pub(super) fn unbalanced(&self, point: u16) {
        if self.dead || self.process.points.is_off(point) {
            return;
        }
        self.process.count(PROCESS_COUNTER_UNBALANCED, 1);
    }

    #[inline]
    pub(super) fn point(&mut self, point: u16) -> &mut PointState {
        self.points.get(point, &mut self.random)
    }

    pub(super) fn draw(&mut self) -> u64 {
        self.random = xorshift(self.random);
        self.random
    }
}

/// Threads have numbers in a row, and their first draws shall not be alike.
fn split_mix(seed: u64) -> u64 {
    let z = (seed ^ seed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}
