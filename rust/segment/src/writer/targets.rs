//! Which targets have counter rows of their own, of calls that are not recorded individually: the
//! heaviest, and all as long as they are few (docs/decisions/0025-targets-in-sums.md).

use crate::schema::{CATEGORY_RECORD, NEVER_DETAIL_UNDER_BUDGET};

/// As long as a process has fewer rows with a target, a target gets them that has been so heavy in
/// one thread.
const STEPS: [(u32, u64); 4] = [(256, 1), (1024, 64), (2048, 1024), (MOST_ROWS, 16_384)];
/// Rows with a target that a process may have at a time: 512 KiB of its segments.
pub(super) const MOST_ROWS: u32 = 4096;
/// Of bytes that weigh as much as a call.
const AS_A_CALL: u32 = 14;
const SETS: usize = 32;
const WAYS: usize = 4;

#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    target: u32,
    has_rows: bool,
    /// Calls, and bytes in 16 KiB.
    weight: u64,
}

/// The targets that a thread has met lately, the heavier ones for longer: who takes the place of
/// the lightest of its set takes its weight as well, so that none looks lighter than it is (the
/// space-saving algorithm of Metwally, Agrawal and El Abbadi, ICDT 2005).
#[derive(Debug, Default)]
pub(super) struct Targets {
    sets: Vec<[Seen; WAYS]>,
    /// One that has rows; 0 none.
    last: u32,
}

impl Targets {
    /// Whether a target (dictionary id | category << 32) has rows of its own, now that a call has
    /// moved `bytes` there.
    ///
    /// `calls`: 0: the call was counted before; `rows`: those with a target in the process.
    #[inline]
    pub fn has_rows(&mut self, target: u64, calls: u64, bytes: i64, rows: u32) -> bool {
        let id = target as u32;
        id != 0 && (id == self.last || self.meet(target, calls, bytes, rows))
    }

    fn meet(&mut self, target: u64, calls: u64, bytes: i64, rows: u32) -> bool {
        let (id, category) = (target as u32, (target >> 32) as u8);
        if category == CATEGORY_RECORD {
            return false;
        }
        if self.sets.is_empty() {
            self.sets.resize(SETS, [Seen::default(); WAYS]);
        }
        let set = &mut self.sets[id as usize % SETS];
        let Some(seen) = find(set, id) else { return false };
        if calls > 0 {
            seen.weight += calls + (bytes.max(0) as u64 >> AS_A_CALL);
            seen.has_rows |= seen.weight >= least(category, rows);
        }
        if seen.has_rows {
            self.last = id;
        }
        seen.has_rows
    }
}

fn find(set: &mut [Seen; WAYS], target: u32) -> Option<&mut Seen> {
    if let Some(at) = set.iter().position(|seen| seen.target == target) {
        return set.get_mut(at);
    }
    let lightest = set.iter_mut().min_by_key(|seen| seen.weight)?;
    *lightest = Seen { target, has_rows: false, ..*lightest };
    Some(lightest)
}

/// What a target must weigh; of jars and classes, which each JVM reads while it starts, never the
/// least.
fn least(category: u8, rows: u32) -> u64 {
    let at_once = NEVER_DETAIL_UNDER_BUDGET >> (category & 63) & 1 == 0;
    let steps = STEPS.iter().skip(usize::from(!at_once));
    steps.into_iter().find(|(below, _)| rows < *below).map_or(u64::MAX, |(_, least)| *least)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{CATEGORY_FILE, CATEGORY_JARS};

    const FILE: u64 = (CATEGORY_FILE as u64) << 32;
    const JAR: u64 = (CATEGORY_JARS as u64) << 32;

    /// Calls of one byte until it has rows.
    fn calls_until(targets: &mut Targets, target: u64, rows: u32) -> Option<u64> {
        (1..100_000).find(|_| targets.has_rows(target, 1, 1, rows))
    }

    #[test]
    fn the_more_rows_there_are_the_heavier_a_target_must_be() {
        let needed =
            |target, rows| calls_until(&mut Targets::default(), target, rows).unwrap_or_default();
        assert_eq!(
            [0, 256, 1024, 2048, 4096].map(|rows| needed(FILE | 1, rows)),
            [1, 64, 1024, 16_384, 0]
        );
        assert_eq!([0, 1024].map(|rows| needed(JAR | 1, rows)), [64, 1024]);
        assert_eq!(needed(u64::from(CATEGORY_RECORD) << 32 | 1, 0), 0);
        assert_eq!(needed(FILE, 0), 0, "no target");
    }

    #[test]
    fn bytes_weigh_and_a_call_that_was_counted_before_weighs_nothing() {
        let mut targets = Targets::default();
        assert!(!targets.has_rows(FILE | 1, 0, 1 << 30, 0));
        assert!(!targets.has_rows(FILE | 1, 1, 62 << AS_A_CALL, 256));
        assert!(targets.has_rows(FILE | 1, 1, 1, 256));
        assert!(targets.has_rows(FILE | 1, 0, 0, MOST_ROWS), "it keeps them");
    }

    #[test]
    fn a_heavy_target_is_found_among_many_light_ones() {
        let mut targets = Targets::default();
        let heavy = FILE | 7;
        let found = (1..100_000_u64).find(|round| {
            targets.has_rows(FILE | (1000 + round), 1, 0, 256);
            targets.has_rows(heavy, 1, 0, 256)
        });
        assert!(found.is_some_and(|round| round <= 64), "{found:?}");
    }
}
