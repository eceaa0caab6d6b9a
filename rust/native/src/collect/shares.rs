//! What the collector has only so much of, shared out between users.

use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;

/// Mappings that it can watch over.
const MAPPINGS: u64 = iostrata_segment::sigbus::CAPACITY as u64;
/// Bytes of counter tables: their rows are remembered, some more than they take in a file.
pub const TABLES: u64 = 256 << 20;

/// One such thing, and how much of it each user has.
#[derive(Debug, Clone)]
pub struct Share {
    all: u64,
    used: BTreeMap<u32, u64>,
}

impl Share {
    pub fn new(all: u64) -> Share {
        Share { all, used: BTreeMap::new() }
    }

    pub fn add(&mut self, uid: u32, used: u64) {
        *self.used.entry(uid).or_default() += used;
    }

    /// What a user may have in all: half of what others leave, so that there is always something
    /// for the next one. Users that serve others get the whole.
    pub fn most(&self, uid: u32, serves: bool) -> u64 {
        let others = self.used.iter().filter(|(of, _)| **of != uid).map(|(_, used)| used).sum();
        let left = self.all.saturating_sub(others);
        if serves { left } else { left / 2 }
    }

    pub fn of(&self, uid: u32) -> u64 {
        self.used.get(&uid).copied().unwrap_or_default()
    }

    fn has_room(&self, uid: u32, serves: bool, more: u64) -> bool {
        self.of(uid) + more <= self.most(uid, serves)
    }
}

/// What opening files of a process takes.
#[derive(Debug)]
pub struct Room {
    mappings: Share,
    tables: Share,
    serving: Rc<HashSet<u32>>,
}

impl Room {
    /// `used`: uid, mappings and bytes of tables of each process.
    pub fn new(serving: Rc<HashSet<u32>>, used: impl Iterator<Item = (u32, u64, u64)>) -> Room {
        let (mut mappings, mut tables) = (Share::new(MAPPINGS), Share::new(TABLES));
        for (uid, open, bytes) in used {
            mappings.add(uid, open);
            tables.add(uid, bytes);
        }
        Room { mappings, tables, serving }
    }

    /// Takes one mapping with so many bytes of tables; false if that is more than a user's share.
    pub fn take(&mut self, uid: u32, bytes: u64) -> bool {
        let serves = self.serving.contains(&uid);
        let has_room =
            self.mappings.has_room(uid, serves, 1) && self.tables.has_room(uid, serves, bytes);
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
    fn there_is_always_something_for_the_next() {
        let mut share = Share::new(1000);
        for (uid, most) in [(1, 500), (2, 250), (3, 125)] {
            assert_eq!(share.most(uid, false), most);
            share.add(uid, most);
            assert!(!share.has_room(uid, false, 1));
        }
        assert_eq!((share.most(4, true), share.most(4, false)), (125, 62));
        assert_eq!(share.most(1, false), (1000 - 375) / 2);
    }

    #[test]
    fn who_takes_all_mappings_leaves_half_of_them() {
        let serving = Rc::new(HashSet::from([0]));
        let mut room = Room::new(serving, [(0, 10, 0), (7, 5, 100)].into_iter());
        let taken = (0..MAPPINGS).take_while(|_| room.take(7, 0)).count() as u64;
        assert_eq!(taken + 5, (MAPPINGS - 10) / 2);
        assert!(room.take(8, 1 << 20) && !room.take(8, TABLES / 2));
        assert!(room.take(0, TABLES / 2));
    }
}
