//! Where a span is: rows by process and span.

use super::hash;
use super::parallel;

const NONE: u32 = u32::MAX;
/// Spans of a thread are numbered one after the other; so many of them share a place in the table,
/// which keeps neighbours on the same lines of the cache.
const NEIGHBOURS: u64 = 16;

/// Open tables of row numbers, each made by one thread: 6 to 12 bytes a span.
pub struct Index {
    tables: Vec<Vec<u32>>,
}

impl Index {
    /// `keys` gives process and span of a row. Also the rows whose key an earlier one has.
    pub fn new(
        threads: usize,
        tables: usize,
        rows: usize,
        keys: impl Fn(usize) -> (u32, u64) + Sync,
    ) -> (Index, Vec<u32>) {
        let made = parallel::each(threads, 0..tables, |place| {
            let is_here = |row: &usize| table_of(hashed(keys(*row)), tables) == place;
            let here = (0..rows).filter(is_here).count();
            let mut slots = vec![NONE; (here + here / 2 + 1).next_power_of_two()];
            let mut twice = Vec::new();
            for row in (0..rows).filter(is_here) {
                match slot(&slots, keys(row), &keys) {
                    Ok(_) => twice.push(row as u32),
                    Err(free) => slots[free] = row as u32,
                }
            }
            (slots, twice)
        });
        let (tables, twice): (_, Vec<_>) = made.into_iter().unzip();
        (Index { tables }, twice.concat())
    }

    pub fn find(&self, key: (u32, u64), keys: impl Fn(usize) -> (u32, u64)) -> Option<u32> {
        let table = &self.tables[table_of(hashed(key), self.tables.len())];
        slot(table, key, &keys).ok()
    }
}

fn hashed(key: (u32, u64)) -> u64 {
    hash::pair(u64::from(key.0), key.1 / NEIGHBOURS)
}

/// By the upper half of the hash; slots are found by the lower one.
fn table_of(hash: u64, tables: usize) -> usize {
    (((hash >> 32) * tables as u64) >> 32) as usize
}

/// The row, or the slot where it would be.
fn slot(slots: &[u32], key: (u32, u64), keys: &impl Fn(usize) -> (u32, u64)) -> Result<u32, usize> {
    let mask = slots.len() - 1;
    let mut slot = (hashed(key) as usize).wrapping_add((key.1 % NEIGHBOURS) as usize) & mask;
    loop {
        match slots[slot] {
            NONE => return Err(slot),
            row if keys(row as usize) == key => return Ok(row),
            _ => slot = (slot + 1) & mask,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Index;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_are_found_and_the_first_of_equal_keys_counts(
            keys in prop::collection::vec((0..3u32, 0..200u64), 0..200), tables in 1..5usize,
        ) {
            let (index, mut twice) = Index::new(2, tables, keys.len(), |row| keys[row]);
            let first = |key: &(u32, u64)| keys.iter().position(|one| one == key);
            let expected = (0..keys.len()).filter(|row| first(&keys[*row]) != Some(*row));
            twice.sort_unstable();
            prop_assert_eq!(twice, expected.map(|row| row as u32).collect::<Vec<_>>());
            for key in (0..3).flat_map(|proc| (0..200).map(move |span| (proc, span))) {
                let found = index.find(key, |row| keys[row]).map(|row| row as usize);
                prop_assert_eq!(found, first(&key));
            }
        }
    }
}
