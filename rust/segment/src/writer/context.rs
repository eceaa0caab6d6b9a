//! Whose the calls of a thread are, and why they happen.

use super::detail::ALL_REQUESTS;

/// The span, in another thread or process, that something is done for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cause {
    /// Dictionary id of whom it belongs to; 0 none.
    pub context: u32,
    /// The `proc` of the process where it all began.
    pub trace: u64,
    pub proc: u64,
    /// 0: none was open, the process as a whole is the cause.
    pub span: u64,
    /// When this process handed it over, `CLOCK_MONOTONIC` ns; 0: another process did.
    pub since: u64,
    /// Handle of what it acts on, for calls that say nothing else; 0 none.
    pub target: u64,
    /// Of a billion requests, how many were in the sample when the request began that it belongs
    /// to: above 0, and what is done for it is in the sample, or below 0, and it is not. 0: it
    /// belongs to none, what is done for it begins requests.
    pub sampling: i32,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Level {
    pub id: u32,
    /// Since when it is or was on top: what a reader needs to place a call that began before a gap.
    pub since: u64,
    /// None where the calls have no other cause than their own thread.
    pub cause: Option<Cause>,
    /// What a reader was told about the requests that begin there: [`Cause::sampling`], unsigned.
    pub sampling: u32,
}

/// The open contexts of a thread: the process's at the bottom, what was pushed above it.
#[derive(Debug)]
pub(super) struct Contexts {
    levels: Vec<Level>,
    /// A reader knows of samplings: it needs a report when all requests are kept again.
    reported: bool,
}

impl Default for Contexts {
    fn default() -> Contexts {
        let base = Level { sampling: ALL_REQUESTS as u32, ..Level::default() };
        Contexts { levels: vec![base], reported: false }
    }
}

impl Contexts {
    fn top(&self) -> &Level {
        &self.levels[self.levels.len() - 1]
    }

    #[inline]
    pub fn current(&self) -> u32 {
        self.top().id
    }

    #[inline]
    pub fn base(&self) -> u32 {
        self.levels[0].id
    }

    pub fn cause(&self) -> Option<Cause> {
        self.top().cause
    }

    pub fn nested(&self) -> bool {
        self.levels.len() > 1
    }

    /// Those worth telling a reader about, outer ones first: none when nothing was ever set.
    pub fn open(&self) -> &[Level] {
        let [base, above @ ..] = self.levels.as_slice() else { return &[] };
        let said = base.id != 0 || base.since != 0 || self.reported || !above.is_empty();
        if said { &self.levels } else { &[] }
    }

    /// True when that is new.
    pub fn tells(&mut self, sampling: i32) -> bool {
        let last = self.levels.len() - 1;
        let differs = self.levels[last].sampling != sampling as u32;
        self.levels[last].sampling = sampling as u32;
        self.reported |= differs;
        differs
    }

    pub fn set_base(&mut self, id: u32, now: u64) {
        self.levels[0].id = id;
        self.levels[0].since = now;
    }

    /// A context without a cause of its own keeps that of the one it is in.
    ///
    /// `request`: [`Cause::sampling`] of the call that is open; 0: none is.
    pub fn push(&mut self, id: u32, cause: Option<Cause>, request: i32, now: u64) {
        let below = *self.top();
        let drawn = if request != 0 { request } else { cause.map_or(0, |cause| cause.sampling) };
        let none = if cause.is_none() { below.sampling } else { ALL_REQUESTS as u32 };
        self.levels.push(Level {
            id,
            since: now,
            cause: cause.or(below.cause),
            sampling: if drawn == 0 { none } else { drawn.unsigned_abs() },
        });
    }

    pub fn pop(&mut self, now: u64) {
        if self.nested() {
            self.levels.pop();
            let last = self.levels.len() - 1;
            self.levels[last].since = now;
        }
    }
}
