//! What the calls of a point have in common, as far as the writer needs to know it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::schema::{FLAG_COVERED, FLAG_INNER, PROCESS_MAX_POINTS};

/// Layers have codes below this, directions numbers up to 63 less this.
const FIRST_DIRECTION: u32 = 15;

/// One point. A layer of 0: there is no such point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PointFacts {
    /// A code of `layer`.
    pub layer: u8,
    /// Direction of its bytes, 1 to 48; 0: it carries none. Calls nested in one of the same
    /// direction are double-counted.
    pub direction: u8,
    /// Its open span is the scope of what it encloses.
    pub scope: bool,
    /// It writes a `begin` slot at entry.
    pub begin: bool,
    /// Its calls may be only summed to stay within the budget.
    pub summable: bool,
    /// Number of the operation whose bytes it adds up, 0 none; and of the one that its own are.
    pub adds_up: u8,
    pub added_up: u8,
}

impl PointFacts {
    /// layer | direction << 8 | scope, begin, summable << 16 | `adds_up` << 24 | `added_up` << 32.
    #[must_use]
    pub fn packed(self) -> u64 {
        let flags =
            u64::from(self.scope) | u64::from(self.begin) << 1 | u64::from(self.summable) << 2;
        u64::from(self.layer)
            | u64::from(self.direction) << 8
            | flags << 16
            | u64::from(self.adds_up) << 24
            | u64::from(self.added_up) << 32
    }

    #[inline]
    #[must_use]
    pub fn unpacked(word: u64) -> PointFacts {
        PointFacts {
            layer: word as u8,
            direction: (word >> 8) as u8,
            scope: word >> 16 & 1 != 0,
            begin: word >> 17 & 1 != 0,
            summable: word >> 18 & 1 != 0,
            adds_up: (word >> 24) as u8,
            added_up: (word >> 32) as u8,
        }
    }

    /// Its layer and direction among the open ones.
    #[inline]
    pub(super) fn bits(self) -> u64 {
        1 << self.layer | self.direction_bit()
    }

    #[inline]
    fn direction_bit(self) -> u64 {
        if self.direction == 0 { 0 } else { 1 << (FIRST_DIRECTION + u32::from(self.direction)) }
    }

    /// `inner` and `covered`, by the layers and directions open around a call.
    #[inline]
    pub(super) fn flags(self, open: u64) -> u8 {
        let inner = if open >> self.layer & 1 != 0 { FLAG_INNER } else { 0 };
        inner | if open & self.direction_bit() != 0 { FLAG_COVERED } else { 0 }
    }
}

/// All points of a process; those of users may come while it runs.
#[derive(Debug)]
pub struct PointTable {
    facts: Box<[AtomicU64]>,
    off: Box<[AtomicBool]>,
}

impl Default for PointTable {
    fn default() -> PointTable {
        PointTable {
            facts: (0..PROCESS_MAX_POINTS).map(|_| AtomicU64::new(0)).collect(),
            off: (0..PROCESS_MAX_POINTS).map(|_| AtomicBool::new(false)).collect(),
        }
    }
}

impl PointTable {
    /// Before the first call of the point. Ids beyond the table are left out.
    pub fn set(&self, point: u16, facts: PointFacts) {
        if let Some(place) = self.facts.get(usize::from(point)) {
            place.store(facts.packed(), Ordering::Release);
        }
    }

    #[inline]
    #[must_use]
    pub fn get(&self, point: u16) -> PointFacts {
        let word = self.facts.get(usize::from(point)).map_or(0, |at| at.load(Ordering::Relaxed));
        PointFacts::unpacked(word)
    }

    /// From here on its calls may end that never began: their begins are not reported.
    pub fn switch(&self, point: u16, off: bool) {
        if let Some(place) = self.off.get(usize::from(point)) {
            place.store(off, Ordering::Relaxed);
        }
    }

    pub(super) fn is_off(&self, point: u16) -> bool {
        self.off.get(usize::from(point)).is_some_and(|off| off.load(Ordering::Relaxed))
    }

    /// Points that there are.
    pub(super) fn count(&self) -> usize {
        self.facts.iter().filter(|word| word.load(Ordering::Relaxed) & 0xFF != 0).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_survive_their_word() {
        let facts = PointFacts {
            layer: 11,
            direction: 48,
            scope: true,
            begin: false,
            summable: true,
            adds_up: 255,
            added_up: 1,
        };
        assert_eq!(PointFacts::unpacked(facts.packed()), facts);
        let begin = PointFacts { begin: true, ..PointFacts::default() };
        assert_eq!(PointFacts::unpacked(begin.packed()), begin);
    }

    #[test]
    fn a_call_is_inner_by_layer_and_covered_by_direction() {
        let read = PointFacts { layer: 8, direction: 1, ..PointFacts::default() };
        let open = PointFacts { layer: 8, ..PointFacts::default() };
        assert_eq!(read.flags(0), 0);
        assert_eq!(read.flags(open.bits()), FLAG_INNER);
        assert_eq!(read.flags(read.bits()), FLAG_INNER | FLAG_COVERED);
        let higher = PointFacts { layer: 3, direction: 1, ..PointFacts::default() };
        assert_eq!(read.flags(higher.bits()), FLAG_COVERED);
    }
}
