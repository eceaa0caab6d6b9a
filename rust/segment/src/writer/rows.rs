//! What a thread knows of its counter rows. The rows themselves are only ever written: a reader of
//! values in shared memory would have to trust them.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::chunk::Chunk;
use crate::memory::Memory;
use crate::row::{self, Key, Values, size_class};
use crate::schema::{
    FLAG_COVERED, FLAG_INNER, PROCESS_MAX_POINTS, ROW_ASKED, ROW_BYTES, ROW_COUNT, SIZE_CLASS_FOLD,
};

const FLAGS_SHIFT: u32 = 10;
const FLAGS: u8 = FLAG_INNER | FLAG_COVERED;
/// Rows met last, by the last bits of their hash.
const MET: usize = 64;
const NONE: u32 = u32::MAX;

/// point | inner and covered << 10 | category << 16 | size class << 24 | context << 32. Points are
/// below 1024: of their 16 bits the upper ones hold the flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Packed(u64);

impl Packed {
    #[inline]
    pub fn new(point: u16, flags: u8, category: u8, bytes: u64, context: u32) -> Packed {
        Packed(
            u64::from(point)
                | u64::from(flags & FLAGS) << FLAGS_SHIFT
                | u64::from(category) << 16
                | u64::from(size_class(bytes)) << 24
                | u64::from(context) << 32,
        )
    }

    /// Of the row that takes what has no row of its own: the point and its flags stay.
    pub fn collapsed(self) -> Packed {
        Packed(self.0 & 0xFFFF | (SIZE_CLASS_FOLD as u64) << 24)
    }

    pub fn unpacked(self, scope: u64, target: u32) -> Key {
        Key {
            point: self.0 as u16 & (PROCESS_MAX_POINTS as u16 - 1),
            category: (self.0 >> 16) as u8,
            size_class: (self.0 >> 24) as u8,
            context: (self.0 >> 32) as u32,
            flags: (self.0 >> FLAGS_SHIFT) as u8 & FLAGS,
            scope,
            target,
        }
    }
}

/// The time of a call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timed {
    /// ns, without those of calls recorded individually inside it.
    pub dur: u64,
    pub end: u64,
    /// Calls that it stands for.
    pub weight: u32,
    /// What that adds to the variance of the sum.
    pub spread: f64,
}

/// What one call adds to its row.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Outcome {
    /// 1, or 0 of a call that was counted when it began.
    pub calls: u64,
    /// Below 0 where such a call has failed.
    pub bytes: i64,
    pub asked: u64,
    pub error: bool,
    pub timed: Option<Timed>,
    /// ns of calls recorded individually inside it.
    pub inside: u64,
}

#[derive(Debug)]
pub(super) struct Row {
    key: Packed,
    scope: u64,
    target: u32,
    at: usize,
    version: u32,
    values: Values,
}

impl Row {
    /// One more call. Its row says so at once: `kill -9` costs no count.
    #[inline]
    pub fn add(&mut self, memory: &impl Memory, call: &Outcome) {
        self.values.count += call.calls;
        self.values.bytes += call.bytes;
        self.values.asked += call.asked;
        if call.timed.is_some() || call.error || call.inside != 0 {
            return self.add_more(memory, call);
        }
        memory.set_u64(self.at + ROW_BYTES, self.values.bytes as u64);
        memory.set_u64(self.at + ROW_ASKED, self.values.asked);
        // last: a row cut short never counts a call whose bytes are missing
        memory.release_u64(self.at + ROW_COUNT, self.values.count);
    }

    fn add_more(&mut self, memory: &impl Memory, call: &Outcome) {
        let values = &mut self.values;
        values.errors += u64::from(call.error);
        values.inside += call.inside;
        if let Some(Timed { dur, end, weight, spread }) = call.timed {
            values.min = if values.timed == 0 { dur } else { values.min.min(dur) };
            values.max = values.max.max(dur);
            values.timed += 1;
            values.timed_dur += dur * u64::from(weight);
            values.last_end = end;
            values.weight += u64::from(weight);
            values.spread = (f64::from_bits(values.spread) + spread).to_bits();
        }
        row::write_row(memory, self.at, &mut self.version, &self.values);
    }
}

/// The hash of a key is one product; its upper bits are the good ones.
#[derive(Debug, Default)]
struct Mixer(u64);

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    #[inline]
    fn write_u64(&mut self, word: u64) {
        self.0 = mixed(self.0, word);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

#[inline]
fn mixed(state: u64, word: u64) -> u64 {
    let product = (state ^ word).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    product ^ product >> 32
}

/// The rows of one segment.
#[derive(Debug)]
pub(super) struct Rows {
    all: Vec<Row>,
    index: HashMap<(u64, u64, u64), u32, BuildHasherDefault<Mixer>>,
    met: [u32; MET],
    /// Those of one target each.
    with_target: u32,
}

impl Default for Rows {
    fn default() -> Rows {
        Rows { all: Vec::new(), index: HashMap::default(), met: [NONE; MET], with_target: 0 }
    }
}

impl Rows {
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// For a segment without rows; how many had a target.
    pub fn clear(&mut self) -> u32 {
        std::mem::take(self).with_target
    }

    /// The row of a key; None when there is none. `target`: 0: of calls on any.
    #[inline]
    pub fn find(&mut self, key: Packed, scope: u64, target: u32) -> Option<&mut Row> {
        let place = (mixed(mixed(u64::from(target), key.0), scope) >> 40) as usize % MET;
        let met = self.met[place] as usize;
        let is_it = |row: &Row| row.key == key && row.scope == scope && row.target == target;
        if self.all.get(met).is_some_and(is_it) {
            return self.all.get_mut(met);
        }
        let found = *self.index.get(&(key.0, scope, u64::from(target)))?;
        self.met[place] = found;
        self.all.get_mut(found as usize)
    }

    /// A row that is not there yet; None when the segment has no room.
    pub fn add(
        &mut self,
        chunk: &mut Chunk,
        key: Packed,
        scope: u64,
        target: u32,
    ) -> Option<&mut Row> {
        let at = chunk.new_row(key.unpacked(scope, target))?;
        let row = Row { key, scope, target, at, version: 0, values: Values::default() };
        self.index.insert((key.0, scope, u64::from(target)), self.all.len() as u32);
        self.with_target += u32::from(target != 0);
        self.all.push(row);
        self.all.last_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_survives_its_packing() {
        let packed = Packed::new(1023, FLAG_INNER | FLAG_COVERED, 20, 4096, 7);
        let expected = Key {
            point: 1023,
            category: 20,
            size_class: 13,
            context: 7,
            flags: FLAG_INNER | FLAG_COVERED,
            scope: 9,
            target: 5,
        };
        assert_eq!(packed.unpacked(9, 5), expected);
        let collapsed =
            Key { category: 0, size_class: 255, context: 0, scope: 0, target: 0, ..expected };
        assert_eq!(packed.collapsed().unpacked(0, 0), collapsed);
    }
}
