//! When to look at the rings again.

/// How much there was to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    Idle,
    /// The fullest ring was `fill` of 256 full.
    Busy {
        fill: u32,
    },
}

impl Pace {
    /// As few looks as the rings allow, for each touches memory of every thread: the next pause in
    /// which the fullest ring should fill to an eighth, if it goes on as in the pause `last`.
    pub fn nap(self, last: u64) -> u64 {
        match self {
            Pace::Idle => last * 2,
            Pace::Busy { fill } if fill >= 64 => 0, // a burst: nobody knows how much comes
            Pace::Busy { fill } => last * 32 / u64::from(fill.max(16)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::MS;

    #[test]
    fn pauses_end_before_rings_are_full() {
        assert_eq!(Pace::Idle.nap(10 * MS), 20 * MS);
        assert_eq!(Pace::Busy { fill: 0 }.nap(10 * MS), 20 * MS); // no faster than doubling
        assert_eq!(Pace::Busy { fill: 32 }.nap(10 * MS), 10 * MS); // an eighth: as it should be
        assert_eq!(Pace::Busy { fill: 63 }.nap(10 * MS) / MS, 5);
        assert_eq!(Pace::Busy { fill: 64 }.nap(10 * MS), 0);
    }
}
