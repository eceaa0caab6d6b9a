//! What opening files takes, of which the collector has only so much.

use std::collections::HashSet;
use std::rc::Rc;

use crate::model::usage::Usage;

/// Mappings that it can watch over.
const MAPPINGS: u64 = iostrata_segment::sigbus::CAPACITY as u64;
/// Bytes of counter tables: their rows are remembered, some more than they take in a file.
pub const TABLES: u64 = 256 << 20;

/// What opening files of a process takes.
#[derive(Debug)]
pub struct Room {
    mappings: Usage,
    tables: Usage,
    most_tables: u64,
    serving: Rc<HashSet<u32>>,
}

impl Room {
    /// `used`: uid, mappings and bytes of tables of each process; `most`: bytes that all tables may
    /// take, if that is less than what there is memory for.
    pub fn new(
        serving: Rc<HashSet<u32>>,
        most: u64,
        used: impl Iterator<Item = (u32, u64, u64)>,
    ) -> Room {
        let (mut mappings, mut tables) = (Usage::default(), Usage::default());
        for (uid, open, bytes) in used {
            mappings.add(uid, open);
            tables.add(uid, bytes);
        }
        Room { mappings, tables, most_tables: most.min(TABLES), serving }
    }

    /// Takes one mapping with so many bytes of tables; false if that is more than a user's share.
    pub fn take(&mut self, uid: u32, bytes: u64) -> bool {
        let serves = self.serving.contains(&uid);
        let has_room = self.mappings.left(MAPPINGS, uid, serves) >= 1
            && self.tables.left(self.most_tables, uid, serves) >= bytes;
        if has_room {
            self.mappings.add(uid, 1);
            self.tables.add(uid, bytes);
        }
        has_room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_takes_all_mappings_leaves_half_of_them() {
        let serving = Rc::new(HashSet::from([0]));
        let mut room = Room::new(serving, u64::MAX, [(0, 10, 0), (7, 5, 100)].into_iter());
        let taken = (0..MAPPINGS).take_while(|_| room.take(7, 0)).count() as u64;
        assert_eq!(taken + 5, (MAPPINGS - 10) / 2);
        assert!(room.take(8, 1 << 20) && !room.take(8, TABLES / 2));
        assert!(room.take(0, TABLES / 2));
    }
}
