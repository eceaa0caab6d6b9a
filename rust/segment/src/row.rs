//! Counter rows: written by one thread under a sequence lock, read while they change.

use crate::memory::Memory;
use crate::ring::Layout;
use crate::schema::{
    ROW_ANCHOR, ROW_ASKED, ROW_BYTES, ROW_CONTEXT, ROW_COUNT, ROW_ERRORS, ROW_FLAGS, ROW_INSIDE,
    ROW_LAST_END, ROW_MAX, ROW_MIN, ROW_POINT, ROW_SIZE, ROW_SPREAD, ROW_TARGET, ROW_TIMED,
    ROW_TIMED_DUR, ROW_VERSION, ROW_WEIGHT, SEGMENT_ROWS,
};

/// What the calls of one row have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Key {
    pub point: u16,
    pub category: u8,
    pub size_class: u8,
    pub context: u32,
    pub flags: u8,
    /// Span of the nearest task, phase, block or RPC around its calls.
    pub scope: u64,
    /// Dictionary id: its calls act on this target, and none is recorded individually; 0: on any.
    pub target: u32,
}

/// 0 for no bytes, else 1 + floor(log2(bytes)).
#[inline]
#[must_use]
pub fn size_class(bytes: u64) -> u8 {
    (u64::BITS - bytes.leading_zeros()) as u8
}

/// Cumulative values of a row since its segment was last reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Values {
    pub count: u64,
    pub bytes: i64,
    pub asked: u64,
    pub errors: u64,
    pub timed: u64,
    pub timed_dur: u64,
    pub min: u64,
    pub max: u64,
    pub last_end: u64,
    pub weight: u64,
    /// Bits of an f64.
    pub spread: u64,
    pub inside: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CounterRow {
    pub key: Key,
    pub values: Values,
}

/// Tries before a row that its producer holds is left for the next poll.
const TRIES: usize = 64;

/// Collector: rows in use, never more than the table has.
pub fn rows_in_use(memory: &impl Memory, layout: Layout) -> u32 {
    memory.acquire_u32(SEGMENT_ROWS).min(layout.table_rows)
}

/// Collector: a consistent copy, or `None` while the producer writes (it may also have died there).
pub fn read_row(memory: &impl Memory, at: usize) -> Option<CounterRow> {
    (0..TRIES).find_map(|_| {
        let before = memory.acquire_u32(at + ROW_VERSION);
        if before % 2 == 1 {
            std::hint::spin_loop();
            return None;
        }
        let row = read_row_torn(memory, at);
        memory.acquire_fence();
        (memory.relaxed_u32(at + ROW_VERSION) == before).then_some(row)
    })
}

/// Collector: the values as they stand, for rows whose producer is gone.
///
/// `count` is stored last, so at most bytes of one uncounted call are included.
pub fn read_row_torn(memory: &impl Memory, at: usize) -> CounterRow {
    let count = memory.relaxed_u64(at + ROW_COUNT);
    let what = memory.relaxed_u32(at + ROW_POINT);
    CounterRow {
        key: Key {
            point: what as u16,
            category: (what >> 16) as u8,
            size_class: (what >> 24) as u8,
            context: memory.relaxed_u32(at + ROW_CONTEXT),
            flags: memory.relaxed_u32(at + ROW_FLAGS) as u8,
            scope: memory.relaxed_u64(at + ROW_ANCHOR),
            target: memory.relaxed_u32(at + ROW_TARGET),
        },
        values: Values {
            count,
            bytes: memory.relaxed_u64(at + ROW_BYTES) as i64,
            asked: memory.relaxed_u64(at + ROW_ASKED),
            errors: memory.relaxed_u64(at + ROW_ERRORS),
            timed: memory.relaxed_u64(at + ROW_TIMED),
            timed_dur: memory.relaxed_u64(at + ROW_TIMED_DUR),
            min: memory.relaxed_u64(at + ROW_MIN),
            max: memory.relaxed_u64(at + ROW_MAX),
            last_end: memory.relaxed_u64(at + ROW_LAST_END),
            weight: memory.relaxed_u64(at + ROW_WEIGHT),
            spread: memory.relaxed_u64(at + ROW_SPREAD),
            inside: memory.relaxed_u64(at + ROW_INSIDE),
        },
    }
}

/// Producer: writes key and first values of a row that `rows` does not cover yet.
pub fn begin_row(memory: &impl Memory, at: usize, row: &CounterRow) {
    let key = &row.key;
    let what =
        u32::from(key.point) | u32::from(key.category) << 16 | u32::from(key.size_class) << 24;
    memory.set_u32(at + ROW_VERSION, 0);
    memory.set_u32(at + ROW_POINT, what);
    memory.set_u32(at + ROW_CONTEXT, key.context);
    memory.set_u32(at + ROW_FLAGS, u32::from(key.flags));
    memory.set_u64(at + ROW_ANCHOR, key.scope);
    memory.set_u32(at + ROW_TARGET, key.target);
    set_values(memory, at, &row.values);
}

/// Producer: replaces the values of a visible row; `version` is the producer's own even copy.
pub fn write_row(memory: &impl Memory, at: usize, version: &mut u32, values: &Values) {
    memory.set_u32(at + ROW_VERSION, version.wrapping_add(1));
    memory.release_fence();
    set_values(memory, at, values);
    *version = version.wrapping_add(2);
    memory.release_u32(at + ROW_VERSION, *version);
}

fn set_values(memory: &impl Memory, at: usize, values: &Values) {
    memory.set_u64(at + ROW_BYTES, values.bytes as u64);
    memory.set_u64(at + ROW_ASKED, values.asked);
    memory.set_u64(at + ROW_ERRORS, values.errors);
    memory.set_u64(at + ROW_TIMED, values.timed);
    memory.set_u64(at + ROW_TIMED_DUR, values.timed_dur);
    memory.set_u64(at + ROW_MIN, values.min);
    memory.set_u64(at + ROW_MAX, values.max);
    memory.set_u64(at + ROW_LAST_END, values.last_end);
    memory.set_u64(at + ROW_WEIGHT, values.weight);
    memory.set_u64(at + ROW_SPREAD, values.spread);
    memory.set_u64(at + ROW_INSIDE, values.inside);
    memory.release_u64(at + ROW_COUNT, values.count);
}

impl CounterRow {
    /// The bytes of a row as they are spooled; `version` is written as 0.
    pub fn append_to(&self, out: &mut Vec<u8>) {
        let (key, v) = (&self.key, &self.values);
        let what =
            u64::from(key.point) | u64::from(key.category) << 16 | u64::from(key.size_class) << 24;
        for word in [
            what << 32,
            u64::from(key.context) | u64::from(key.flags) << 32,
            key.scope,
            v.count,
            v.bytes as u64,
            v.asked,
            v.errors,
            v.timed,
            v.timed_dur,
            v.min,
            v.max,
            v.last_end,
            v.weight,
            v.spread,
            v.inside,
            u64::from(key.target),
        ] {
            out.extend_from_slice(&word.to_le_bytes());
        }
    }

    #[must_use]
    pub fn from_bytes(bytes: &[u8; ROW_SIZE]) -> Self {
        let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap_or_default());
        let what = (word(ROW_VERSION) >> 32) as u32;
        CounterRow {
            key: Key {
                point: what as u16,
                category: (what >> 16) as u8,
                size_class: (what >> 24) as u8,
                context: word(ROW_CONTEXT) as u32,
                flags: (word(ROW_CONTEXT) >> 32) as u8,
                scope: word(ROW_ANCHOR),
                target: word(ROW_TARGET) as u32,
            },
            values: Values {
                count: word(ROW_COUNT),
                bytes: word(ROW_BYTES) as i64,
                asked: word(ROW_ASKED),
                errors: word(ROW_ERRORS),
                timed: word(ROW_TIMED),
                timed_dur: word(ROW_TIMED_DUR),
                min: word(ROW_MIN),
                max: word(ROW_MAX),
                last_end: word(ROW_LAST_END),
                weight: word(ROW_WEIGHT),
                spread: word(ROW_SPREAD),
                inside: word(ROW_INSIDE),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_class_is_the_number_of_bits() {
        let classes = [0, 1, 2, 3, 4, 1 << 40, u64::MAX].map(size_class);
        assert_eq!(classes, [0, 1, 2, 2, 3, 41, 64]);
    }
}
