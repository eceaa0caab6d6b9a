//! Where a span is: rows by process and span.

use super::hash;

const NONE: u32 = u32::MAX;
/// Spans of a thread are numbered one after the other; so many of them share a place in the table,
/// which keeps neighbours on the same lines of the cache.
const NEIGHBOURS: u64 = 16;

/// An open table of row numbers: 6 to 12 bytes a span.
pub struct Index {
    slots: Vec<u32>,
}

impl Index {
    /// `keys` gives process and span of a row. Calls `twice` with each row whose key an earlier one
    /// has.
    pub fn new(
        rows: usize,
        keys: impl Fn(usize) -> (u32, u64),
        mut twice: impl FnMut(usize),
    ) -> Index {
        let mut index = Index { slots: vec![NONE; (rows + rows / 2 + 1).next_power_of_two()] };
        for row in 0..rows {
            let key = keys(row);
            match index.place(key, &keys) {
                Ok(_) => twice(row),
                Err(free) => index.slots[free] = row as u32,
            }
        }
        index
    }

    pub fn find(&self, key: (u32, u64), keys: impl Fn(usize) -> (u32, u64)) -> Option<u32> {
        self.place(key, &keys).ok()
    }

    /// The row, or the slot where it would be.
    fn place(&self, key: (u32, u64), keys: &impl Fn(usize) -> (u32, u64)) -> Result<u32, usize> {
        let mask = self.slots.len() - 1;
        let begin = hash::pair(u64::from(key.0), key.1 / NEIGHBOURS) as usize;
        let mut slot = begin.wrapping_add((key.1 % NEIGHBOURS) as usize) & mask;
        loop {
            match self.slots[slot] {
                NONE => return Err(slot),
                row if keys(row as usize) == key => return Ok(row),
                _ => slot = (slot + 1) & mask,
            }
        }
    }
}
