//! Buckets of durations, and how many calls are in each.

/// The last bucket: of the longest duration there is, `i64::MAX` ns.
pub const HIGHEST: u16 = 1887;

/// The bucket of a duration: 32 to each power of two, the numbers of `analyse/buckets.py`.
pub fn bucket(value: u64) -> u16 {
    let exponent = (value | 32).ilog2() - 5;
    HIGHEST.min((u64::from(exponent) * 32 + (value >> exponent)) as u16)
}

/// Counts of buckets from `base` on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Histogram {
    base: u16,
    counts: Vec<u64>,
}

impl Histogram {
    pub fn add(&mut self, bucket: u16, count: u64) {
        if self.counts.is_empty() {
            self.base = bucket;
        } else if bucket < self.base {
            let missing = usize::from(self.base - bucket);
            self.counts.splice(0..0, std::iter::repeat_n(0, missing));
            self.base = bucket;
        }
        let place = usize::from(bucket - self.base);
        if place >= self.counts.len() {
            self.counts.resize(place + 1, 0);
        }
        self.counts[place] = self.counts[place].saturating_add(count);
    }

    /// Buckets that are not empty, with their counts.
    pub fn pairs(&self) -> impl Iterator<Item = (u16, u64)> {
        let numbered = (self.base..).zip(&self.counts);
        numbered.filter(|(_, count)| **count > 0).map(|(bucket, count)| (bucket, *count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn buckets_have_the_numbers_of_the_analyses() {
        let values = [0, 1, 31, 32, 63, 64, 65, 66, 127, 128, 1000, 1 << 62];
        let expected = [0, 1, 31, 32, 63, 64, 64, 65, 95, 96, 190, 1856];
        assert_eq!(values.map(bucket), expected);
        assert_eq!([i64::MAX as u64, u64::MAX].map(bucket), [HIGHEST, HIGHEST]);
    }

    proptest! {
        #[test]
        fn a_histogram_counts_each_value_in_whatever_order(values: Vec<u16>) {
            let (mut histogram, mut expected) = (Histogram::default(), [0u64; 1888]);
            for value in values.iter().map(|value| value % 1888) {
                histogram.add(value, 1);
                expected[usize::from(value)] += 1;
            }
            for (bucket, count) in histogram.pairs() {
                prop_assert_eq!(expected[usize::from(bucket)], count);
            }
            prop_assert_eq!(histogram.pairs().map(|(_, count)| count).sum::<u64>(), values.len() as u64);
        }
    }
}
