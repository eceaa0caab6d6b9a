//! Calls inside which the thread makes none that is recorded, as system calls are: one that is only
//! summed needs no place among the open ones, and is added to its row when it has returned.

use super::detail::ALL_REQUESTS;
use super::rows::Outcome;
use super::spans::Entry;
use super::thread::{Thread, Timing};
use crate::schema::{FLAG_ERRNO, PROCESS_COUNTER_LOST_CALLS};

/// How such a call is recorded, from its begin to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaf {
    /// Not at all: the thread records nothing, or another recording has begun.
    Lost,
    /// Individually: it is an open span, see [`Thread::enter`].
    Span,
    /// In its row, with the time since then, ns; 0: it is not timed.
    Sum(u64),
}

impl Thread {
    /// A call begins that makes no other; what it returns goes to [`Thread::exit_leaf`].
    #[inline]
    pub fn enter_leaf(&mut self, entry: &Entry) -> Leaf {
        self.follow_recording();
        if !self.active() {
            return Leaf::Lost;
        }
        let facts = self.process.points.get(entry.point);
        let request = self.request();
        if request == 0 && self.process.detail.sampled() != ALL_REQUESTS {
            self.open_span(entry, facts, false); // it may be drawn
            return Leaf::Span;
        }
        if request == 0 && self.contexts.tells(ALL_REQUESTS) {
            self.tell_context(0, 0);
        }
        let category = (self.target_of(entry) >> 32) as u8;
        if request >= 0 && self.process.detail.keeps(entry.point, facts, category) {
            self.open_kept(entry, facts, if request == 0 { ALL_REQUESTS } else { request });
            return Leaf::Span;
        }
        let state = self.point(entry.point);
        if !state.sampler.next() || state.timing != Timing::None {
            return Leaf::Sum(0);
        }
        state.timing = Timing::Span;
        Leaf::Sum(self.process.now())
    }

    /// The call has returned: it has moved so many bytes beside those given at its begin, or has
    /// failed with that `errno`.
    #[inline]
    pub fn exit_leaf(&mut self, entry: &Entry, leaf: Leaf, moved: Result<i64, i32>) {
        match (leaf, moved) {
            (Leaf::Lost, _) => {}
            (Leaf::Span, Ok(bytes)) => self.exit(entry.point, bytes, 0),
            (Leaf::Span, Err(errno)) => self.failed(entry.point, errno, FLAG_ERRNO),
            (Leaf::Sum(since), _) => self.sum_leaf(entry, since, moved),
        }
    }

    #[inline]
    fn sum_leaf(&mut self, entry: &Entry, since: u64, moved: Result<i64, i32>) {
        let end = if since == 0 { 0 } else { self.process.now() };
        let timed = (since != 0).then(|| {
            let dur = end.saturating_sub(since).saturating_sub(self.process.clock_cost);
            let state = self.point(entry.point);
            state.timing = Timing::None;
            state.timed(dur, end)
        });
        if self.dead {
            return self.process.count(PROCESS_COUNTER_LOST_CALLS, 1);
        }
        if !self.is_of_this_recording() {
            return;
        }
        let bytes = moved.map_or(0, |moved| entry.bytes.saturating_add(moved).max(0));
        let Entry { point, target, asked, .. } = *entry;
        let error = moved.is_err();
        let outcome = Outcome { calls: 1, bytes, asked, error, timed, inside: 0 };
        self.add_to(point, target, bytes as u64, &outcome);
    }
}
