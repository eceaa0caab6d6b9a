//! What is known of the calls of a node: exact totals, and a histogram of their durations.

use serde::{Deserialize, Serialize};

use crate::histogram::{HIGHEST, Histogram, bucket};

/// Time that a call has for itself, ns: `own`, its duration less what calls below it take of it in
/// its own thread, and `elsewhere`, the part of `own` in which calls that it caused in other threads
/// or processes ran. Those take nothing from `own`: the call waits for them, or works beside them.
pub struct OwnTime {
    pub own: i64,
    pub elsewhere: i64,
}

/// Sums that saturate: of hostile values they are wrong, but nothing ends.
///
/// Times are ns. `count` leaves out calls that never ended, `spans` has them. `least` and `most` are
/// of single calls; those of calls that were only summed are as their rows say. `histogram` has
/// calls that were recorded individually.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredStats", into = "StoredStats")]
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
    pub fn call(&mut self, bytes: i64, total: i64, own: &OwnTime, error: bool) {
        self.count += 1;
        self.errors += u64::from(error);
        self.bytes = self.bytes.saturating_add(bytes);
        self.total = self.total.saturating_add(total);
        self.own = self.own.saturating_add(own.own);
        self.elsewhere = self.elsewhere.saturating_add(own.elsewhere);
        self.add_duration(total);
    }

    /// A duration of a call whose totals are estimated.
    pub fn add_duration(&mut self, total: i64) {
        self.least = self.least.min(total);
        self.most = self.most.max(total);
        self.histogram.add(bucket(total.max(0) as u64), 1);
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
struct StoredStats {
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

impl From<Stats> for StoredStats {
    fn from(stats: Stats) -> StoredStats {
        StoredStats {
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

impl From<StoredStats> for Stats {
    fn from(stored: StoredStats) -> Stats {
        let mut histogram = Histogram::default();
        for (bucket, count) in stored.histogram {
            // a hostile number would take memory
            histogram.add(bucket.min(HIGHEST), count);
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
