//! What there is only so much of, shared out between users.

use std::collections::BTreeMap;

/// How much of one such thing each user has, by uid.
#[derive(Debug, Clone, Default)]
pub struct Usage(BTreeMap<u32, u64>);

impl Usage {
    pub fn add(&mut self, uid: u32, more: u64) {
        *self.0.entry(uid).or_default() += more;
    }

    /// A use of the user's that was `before` is `now`.
    pub fn change(&mut self, uid: u32, before: u64, now: u64) {
        let used = self.0.entry(uid).or_default();
        *used = used.saturating_sub(before) + now;
        if *used == 0 {
            self.0.remove(&uid);
        }
    }

    #[must_use]
    pub fn of(&self, uid: u32) -> u64 {
        self.0.get(&uid).copied().unwrap_or_default()
    }

    /// How much a user may have where there is `all`: half of what others leave, so that there is
    /// always something for the next one. Users that serve others get the whole.
    #[must_use]
    pub fn most(&self, all: u64, uid: u32, serves: bool) -> u64 {
        let others = self.0.iter().filter(|(of, _)| **of != uid).map(|(_, used)| used).sum();
        let left = all.saturating_sub(others);
        if serves { left } else { left / 2 }
    }

    /// How much more a user may have where there is `all`.
    #[must_use]
    pub fn left(&self, all: u64, uid: u32, serves: bool) -> u64 {
        self.most(all, uid, serves).saturating_sub(self.of(uid))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_always_something_for_the_next() {
        let mut usage = Usage::default();
        for (uid, most) in [(1, 500), (2, 250), (3, 125)] {
            assert_eq!(usage.most(1000, uid, false), most);
            usage.add(uid, most);
            assert_eq!(usage.left(1000, uid, false), 0);
        }
        assert_eq!((usage.left(1000, 4, true), usage.left(1000, 4, false)), (125, 62));
        assert_eq!(usage.most(1000, 1, false), (1000 - 375) / 2);
        usage.change(2, 250, 0);
        assert_eq!(usage.of(2), 0);
        assert_eq!((usage.left(1000, 2, false), usage.left(1000, 3, true)), (187, 375));
    }
}
