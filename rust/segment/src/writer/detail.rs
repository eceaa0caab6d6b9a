//! Which calls are recorded individually. All others are still in the sums, their clocks sampled.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};

use super::point::PointFacts;
use crate::schema::{
    CONTROL_ALL_REQUESTS, KEPT_JOB, KEPT_PHASE, KEPT_RECORD, KEPT_TASK, KEPT_THREAD, LEVEL_JOB,
    LEVEL_PHASE, LEVEL_TASK, LEVEL_THREAD, NEVER_DETAIL_UNDER_BUDGET, PROCESS_MAX_POINTS,
};

/// Of this many requests, so many are in the sample.
pub const ALL_REQUESTS: i32 = CONTROL_ALL_REQUESTS as i32;

/// Of [`Detail::allow`].
const UNLIMITED: i64 = i64::MAX;

/// Changed by one thread while others read: a call may see a change a little late.
#[derive(Debug)]
pub struct Detail {
    /// Bitmap of categories, by the level.
    categories: AtomicU64,
    /// Bitmap of categories whose reads and writes are only summed, without waiting for a cost.
    without: AtomicU64,
    sampling: AtomicU32,
    /// Calls that may still be recorded individually, of points that may be only summed: until the
    /// budget looks again, however many there are.
    allowance: AtomicI64,
    /// By point.
    summed: Box<[AtomicBool]>,
}

impl Default for Detail {
    fn default() -> Detail {
        Detail {
            categories: AtomicU64::new(KEPT_RECORD),
            without: AtomicU64::new(0),
            sampling: AtomicU32::new(ALL_REQUESTS as u32),
            allowance: AtomicI64::new(UNLIMITED),
            summed: (0..PROCESS_MAX_POINTS).map(|_| AtomicBool::new(false)).collect(),
        }
    }
}

impl Detail {
    /// A code of `level`; what is none of them keeps all.
    pub fn level(&self, level: u8) {
        let kept = match level {
            LEVEL_THREAD => KEPT_THREAD,
            LEVEL_PHASE => KEPT_PHASE,
            LEVEL_TASK => KEPT_TASK,
            LEVEL_JOB => KEPT_JOB,
            _ => KEPT_RECORD,
        };
        self.categories.store(kept, Ordering::Relaxed);
    }

    /// Requests of [`ALL_REQUESTS`] that are kept, with all that is done for them; 0: all.
    pub fn sampling(&self, requests: u32) {
        let all = ALL_REQUESTS as u32;
        let wanted = if requests == 0 { all } else { requests.min(all) };
        self.sampling.store(wanted, Ordering::Relaxed);
    }

    /// There is a budget, or there is none.
    pub fn budgeted(&self, is: bool) {
        self.without.store(if is { NEVER_DETAIL_UNDER_BUDGET } else { 0 }, Ordering::Relaxed);
    }

    /// From now on so many calls of points that may be only summed are recorded individually, and
    /// then no more; negative: all.
    pub fn allow(&self, calls: i64) {
        let calls = if calls < 0 { UNLIMITED } else { calls };
        self.allowance.store(calls, Ordering::Relaxed);
    }

    /// As many calls as were allowed are recorded individually.
    pub fn is_used_up(&self) -> bool {
        self.allowance.load(Ordering::Relaxed) <= 0
    }

    #[inline]
    fn is_allowed(&self) -> bool {
        let left = self.allowance.load(Ordering::Relaxed);
        left == UNLIMITED || left > 0 && self.allowance.fetch_sub(1, Ordering::Relaxed) > 0
    }

    /// The calls of a point are only summed from now on, or no longer.
    pub fn summed(&self, point: u16, only: bool) {
        if let Some(summed) = self.summed.get(usize::from(point)) {
            summed.store(only, Ordering::Relaxed);
        }
    }

    #[inline]
    pub(super) fn keeps(&self, point: u16, facts: PointFacts, category: u8) -> bool {
        if facts.scope {
            return true;
        }
        let mut kept = self.categories.load(Ordering::Relaxed);
        if facts.summable {
            kept &= !self.without.load(Ordering::Relaxed);
        }
        kept >> (category & 63) & 1 != 0
            && !self.summed.get(usize::from(point)).is_some_and(|is| is.load(Ordering::Relaxed))
            && (!facts.summable || self.is_allowed())
    }

    /// Of [`ALL_REQUESTS`] so many are wanted in the sample.
    #[inline]
    pub(super) fn sampled(&self) -> i32 {
        self.sampling.load(Ordering::Relaxed) as i32
    }
}

/// Whether a request that begins now is in the sample, as [`super::Cause::sampling`] says it.
#[inline]
pub(super) fn drawn(wanted: i32, random: u64) -> i32 {
    let within = (random >> 1) % (ALL_REQUESTS as u64) < wanted as u64;
    if within { wanted } else { -wanted }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{CATEGORY_BLK, CATEGORY_FILE, CATEGORY_RECORD, LEVEL_RECORD};

    #[test]
    fn a_level_keeps_its_categories_and_scopes_always() {
        let detail = Detail::default();
        let read = PointFacts { layer: 8, ..PointFacts::default() };
        assert!(detail.keeps(1, read, CATEGORY_FILE));
        detail.level(LEVEL_JOB);
        assert!(detail.keeps(1, read, CATEGORY_BLK) && !detail.keeps(1, read, CATEGORY_RECORD));
        let scope = PointFacts { scope: true, ..read };
        assert!(detail.keeps(1, scope, CATEGORY_RECORD));
        detail.level(LEVEL_RECORD);
        detail.summed(1, true);
        assert!(!detail.keeps(1, read, CATEGORY_FILE) && detail.keeps(2, read, CATEGORY_FILE));
        detail.summed(1, false);
        assert!(detail.keeps(1, read, CATEGORY_FILE));
    }

    #[test]
    fn so_many_calls_as_are_allowed_are_kept_of_what_may_be_summed() {
        let detail = Detail::default();
        let open = PointFacts { layer: 8, ..PointFacts::default() };
        let read = PointFacts { summable: true, ..open };
        detail.allow(2);
        assert_eq!([0; 3].map(|_| detail.keeps(1, read, CATEGORY_FILE)), [true, true, false]);
        assert!(detail.keeps(2, open, CATEGORY_FILE), "it is none of these");
        assert!(detail.is_used_up());
        detail.allow(-1);
        assert!(!detail.is_used_up());
        assert_eq!([0; 3].map(|_| detail.keeps(1, read, CATEGORY_FILE)), [true; 3]);
    }

    #[test]
    fn a_sample_draws_its_share() {
        let detail = Detail::default();
        assert_eq!(drawn(detail.sampled(), 2 * 999_999_999), ALL_REQUESTS);
        detail.sampling(1000);
        assert_eq!([999, 1000].map(|of| drawn(detail.sampled(), 2 * of)), [1000, -1000]);
        detail.sampling(0);
        assert_eq!(drawn(detail.sampled(), 0), ALL_REQUESTS);
    }
}
