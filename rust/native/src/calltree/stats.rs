//! What is known of the calls of a node: exact totals, and a histogram of their durations.

use serde::{Deserialize, Serialize};

use super::own::Own;

/// Buckets of durations: eight to each power of two, the numbers of `analyse/buckets.py`.
pub fn bucket(value: i64) -> u16 {
    let value = value.max(0) as u64;
    let exponent = (value | 8).ilog2() - 3;
    (u64::from(exponent) * 8 + (value >> exponent)) as u16
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

/// Sums that saturate: of hostile values they are wrong, but nothing ends.
///
/// Times are ns. `count` leaves out calls that never ended, `spans` has them. `least` and `most` are
/// of single calls; those of calls that were only summed are as their rows say. `histogram` knows
/// of calls kept one by one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub struct Stats {
    pub spans: u64,
    pub count: u64,
    pub errors: u64,
    pub bytes: i64,
    pub total: i64,
    pub own: i64,
    /// Part of `own` in which what the calls caused elsewhere ran.
    pub elsewhere: i64,
    pub least: i64,
    pub most: i64,
    /// Part of `total` is scaled up from sampled clocks.
    pub estimated: bool,
    pub histogram: Histogram,
}

impl Default for Stats {
    fn default() -> Stats {
        Stats {
            spans: 0,
            count: 0,
            errors: 0,
            bytes: 0,
            total: 0,
            own: 0,
            elsewhere: 0,
            least: i64::MAX,
            most: 0,
            estimated: false,
            histogram: Histogram::default(),
        }
    }
}

impl Stats {
    /// One call that has ended.
    pub fn call(&mut self, bytes: i64, total: i64, own: &Own, error: bool) {
        self.count += 1;
        self.errors += u64::from(error);
        self.bytes = self.bytes.saturating_add(bytes);
        self.total = self.total.saturating_add(total);
        self.own = self.own.saturating_add(own.own);
        self.elsewhere = self.elsewhere.saturating_add(own.elsewhere);
        self.seen(total);
    }

    /// A duration of a call whose totals are kept elsewhere.
    pub fn seen(&mut self, total: i64) {
        self.least = self.least.min(total);
        self.most = self.most.max(total);
        self.histogram.add(bucket(total), 1);
    }

    pub fn add(&mut self, other: &Stats) {
        self.spans = self.spans.saturating_add(other.spans);
        self.count = self.count.saturating_add(other.count);
        self.errors = self.errors.saturating_add(other.errors);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.total = self.total.saturating_add(other.total);
        self.own = self.own.saturating_add(other.own);
        self.elsewhere = self.elsewhere.saturating_add(other.elsewhere);
        self.least = self.least.min(other.least);
        self.most = self.most.max(other.most);
        self.estimated |= other.estimated;
        for (bucket, count) in other.histogram.pairs() {
            self.histogram.add(bucket, count);
        }
    }
}

/// The names in documents; `min` is null where no duration is known.
#[derive(Serialize, Deserialize)]
struct Stored {
    spans: u64,
    calls: u64,
    errors: u64,
    bytes: i64,
    total: i64,
    #[serde(rename = "self")]
    own: i64,
    elsewhere: i64,
    min: Option<i64>,
    max: i64,
    estimated: bool,
    histogram: Vec<(u16, u64)>,
}

impl From<Stats> for Stored {
    fn from(stats: Stats) -> Stored {
        Stored {
            spans: stats.spans,
            calls: stats.count,
            errors: stats.errors,
            bytes: stats.bytes,
            total: stats.total,
            own: stats.own,
            elsewhere: stats.elsewhere,
            min: (stats.least != i64::MAX).then_some(stats.least),
            max: stats.most,
            estimated: stats.estimated,
            histogram: stats.histogram.pairs().collect(),
        }
    }
}

impl From<Stored> for Stats {
    fn from(stored: Stored) -> Stats {
        let mut histogram = Histogram::default();
        for (bucket, count) in stored.histogram {
            // the highest bucket there is; a hostile number would take memory
            histogram.add(bucket.min(self::bucket(i64::MAX)), count);
        }
        Stats {
            spans: stored.spans,
            count: stored.calls,
            errors: stored.errors,
            bytes: stored.bytes,
            total: stored.total,
            own: stored.own,
            elsewhere: stored.elsewhere,
            least: stored.min.unwrap_or(i64::MAX),
            most: stored.max,
            estimated: stored.estimated,
            histogram,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn buckets_have_the_numbers_of_the_analyses() {
        let found = [-5, 0, 7, 8, 15, 16, 17, 18, 31, 32, 1000, i64::MAX].map(bucket);
        assert_eq!(found, [0, 0, 7, 8, 15, 16, 16, 17, 23, 24, 63, 487]);
    }

    proptest! {
        #[test]
        fn a_histogram_counts_each_value_in_whatever_order(values: Vec<u16>) {
            let (mut found, mut expected) = (Histogram::default(), [0u64; 500]);
            for value in values.iter().map(|value| value % 488) {
                found.add(value, 1);
                expected[usize::from(value)] += 1;
            }
            for (bucket, count) in found.pairs() {
                prop_assert_eq!(expected[usize::from(bucket)], count);
            }
            prop_assert_eq!(found.pairs().map(|(_, count)| count).sum::<u64>(), values.len() as u64);
        }
    }
}
