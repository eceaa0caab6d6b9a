//! The open counted-only calls of a thread: they are added to their rows and get no slot. There are
//! 160,000 of them per MB, so their clocks are sampled.

use super::rows::{Outcome, Packed, Timed};
use super::thread::{AS_ENTERED, PointState, Thread, Timing};

#[derive(Debug)]
pub(super) struct CountedCall {
    point: u16,
    target: u64,
    layers_before: u64,
    asked: u64,
    bytes: i64,
    /// ns of calls recorded individually inside.
    inside: u64,
    /// It was counted when it began.
    is_counted: bool,
}

/// A call whose bytes are known when it begins: it is counted then, and its end need not be told
/// unless something happens inside.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct AtOnce {
    target: u64,
    asked: u64,
    bytes: i64,
}

impl PointState {
    /// The time of a call that was drawn.
    pub(super) fn timed(&mut self, dur: u64, end: u64) -> Timed {
        let weight = self.sampler.weight;
        Timed { dur, end, weight, spread: self.sampler.ended(dur) }
    }
}

impl Thread {
    /// Bytes of a call at its end that say: those given at its begin.
    pub const AS_ENTERED: i64 = AS_ENTERED;

    /// A counted-only call begins.
    ///
    /// `target`: 0: that of the enclosing open span; `bytes`: what its exit adds to.
    #[inline]
    pub fn enter_counted(&mut self, point: u16, target: u64, asked: u64, bytes: i64) {
        self.follow_recording();
        if !self.active() {
            return;
        }
        let at = self.counted.len();
        self.push_counted(point, AtOnce { target, asked, bytes }, false);
        let state = self.point(point);
        if state.sampler.next() && state.timing == Timing::None {
            let start = self.process.now();
            self.point(point).timing = Timing::Counted(at, start);
        }
    }

    #[inline]
    fn push_counted(&mut self, point: u16, known: AtOnce, is_counted: bool) {
        let AtOnce { target, asked, bytes } = known;
        let (layers_before, inside) = (self.layers, 0);
        self.layers |= self.process.points.get(point).bits();
        let call = CountedCall { point, target, layers_before, asked, bytes, inside, is_counted };
        self.counted.push(call);
    }

    /// A counted-only call begins whose bytes are known, and is counted at once.
    ///
    /// True: it was not, because its time is wanted; it is as after [`Thread::enter_counted`]. False:
    /// its end is not to be told, unless [`Thread::open_counted`] comes before; should it fail,
    /// [`Thread::fail_counted`] says so.
    #[inline]
    pub fn count(&mut self, point: u16, target: u64, asked: u64, bytes: i64) -> bool {
        let state = self.point(point);
        if state.timing == Timing::None && state.sampler.is_next() {
            self.enter_counted(point, target, asked, bytes);
            return true;
        }
        state.sampler.next();
        self.follow_recording();
        self.at_once = AtOnce::default();
        if !self.active() {
            return false;
        }
        self.at_once = AtOnce { target, asked, bytes };
        self.add_counted(point, Outcome { calls: 1, bytes, asked, ..Outcome::default() });
        false
    }

    /// Something happens inside the call that [`Thread::count`] has counted last: its end is to be
    /// told by [`Thread::exit_counted`].
    pub fn open_counted(&mut self, point: u16) {
        self.push_counted(point, self.at_once, true);
    }

    /// The call that [`Thread::count`] has counted last fails.
    pub fn fail_counted(&mut self, point: u16) {
        let bytes = -self.at_once.bytes;
        self.add_counted(point, Outcome { bytes, error: true, ..Outcome::default() });
    }

    /// Adds to the row of the call that was counted last.
    #[inline]
    fn add_counted(&mut self, point: u16, outcome: Outcome) {
        let AtOnce { target, bytes, .. } = self.at_once;
        self.add_to(point, target, bytes.max(0) as u64, &outcome);
    }

    /// A counted-only call ends.
    ///
    /// `moved`: [`Thread::AS_ENTERED`], or what to add to the bytes given at entry.
    #[inline]
    pub fn exit_counted(&mut self, point: u16, moved: i64, error: bool) {
        let floor = self.counted_floor();
        if !self.unwind_counted(point, floor) {
            return;
        }
        let Some(call) = self.counted.pop() else { return };
        let timed = self.end_timing(&call);
        self.layers = call.layers_before;
        if call.inside != 0 && self.counted.len() > floor {
            self.count_inside(call.inside);
        }
        let entered = if moved == AS_ENTERED { 0 } else { moved };
        let CountedCall { target, inside, .. } = call;
        // A call that fails stands among those of as many bytes as it was to move, where they are
        // known when it begins.
        let wanted = call.bytes.max(0) as u64;
        if call.is_counted {
            let bytes = if error { -call.bytes } else { 0 };
            let outcome = Outcome { bytes, error, inside, ..Outcome::default() };
            return self.add_to(point, target, wanted, &outcome);
        }
        let bytes = if error { 0 } else { call.bytes.saturating_add(entered).max(0) };
        let added_up = self.process.points.get(point).added_up;
        if added_up != 0 {
            self.add_up(added_up, bytes);
        }
        let outcome = Outcome { calls: 1, bytes, asked: call.asked, error, timed, inside };
        self.add_to(point, target, if error { wanted } else { bytes as u64 }, &outcome);
    }

    /// Adds to the row of calls on a target (0: that of the enclosing open span) with so many bytes.
    #[inline]
    pub(super) fn add_to(&mut self, point: u16, target: u64, bytes: u64, outcome: &Outcome) {
        let span = self.spans.last();
        let enclosing = span.map_or(0, |span| span.target);
        let target = if target == 0 { enclosing } else { target };
        let scope = span.map_or(0, |span| span.scope_inside);
        let flags = self.process.points.get(point).flags(self.layers);
        let category = (target >> 32) as u8;
        let key = Packed::new(point, flags, category, bytes, self.contexts.current());
        self.record_summed(key, scope, target, outcome);
    }

    /// A counted-only call ends as if it had not been.
    pub fn drop_counted(&mut self, point: u16) {
        if self.unwind_counted(point, self.counted_floor()) {
            self.cut_counted(self.counted.len() - 1);
        }
    }

    /// Time of a call recorded individually, or of one inside that, within the counted-only call on
    /// top, if one is open inside the same span.
    pub(super) fn count_inside(&mut self, dur: u64) {
        let floor = self.counted_floor();
        if self.counted.len() > floor
            && let Some(call) = self.counted.last_mut()
        {
            call.inside += dur;
        }
    }

    /// Takes off the calls above a smaller depth, as if they had not been.
    #[inline]
    pub(super) fn cut_counted(&mut self, to: usize) {
        while self.counted.len() > to {
            let Some(call) = self.counted.pop() else { return };
            let at = self.counted.len();
            let state = self.point(call.point);
            if matches!(state.timing, Timing::Counted(depth, _) if depth >= at) {
                state.timing = Timing::None;
            }
            self.layers = call.layers_before;
        }
    }

    /// Counted-only calls that are open outside the innermost span.
    #[inline]
    fn counted_floor(&self) -> usize {
        self.spans.last().map_or(0, |span| span.counted_before)
    }

    /// The innermost call of the point is the last that counts; false when it has none open.
    #[inline]
    fn unwind_counted(&mut self, point: u16, floor: usize) -> bool {
        if self.counted.len() > floor && self.counted.last().is_some_and(|call| call.point == point)
        {
            return true;
        }
        let above = self.counted.get(floor..).unwrap_or_default();
        let Some(at) = above.iter().rposition(|call| call.point == point) else {
            self.unbalanced(point);
            return false;
        };
        self.cut_counted(floor + at + 1);
        true
    }

    /// The time of a call just taken off, if it was drawn.
    #[inline]
    fn end_timing(&mut self, call: &CountedCall) -> Option<Timed> {
        let at = self.counted.len();
        let Timing::Counted(depth, start) = self.point(call.point).timing else { return None };
        if depth < at {
            return None;
        }
        let end = self.process.now();
        let own = self.process.clock_cost + call.inside;
        let dur = end.saturating_sub(start).saturating_sub(own);
        let state = self.point(call.point);
        state.timing = Timing::None;
        Some(state.timed(dur, end))
    }
}
