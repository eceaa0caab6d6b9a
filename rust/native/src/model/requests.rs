//! What processes asked of block devices.

use serde::{Deserialize, Serialize};

/// Between two looks, `CLOCK_MONOTONIC` ns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestCounts {
    pub from: u64,
    pub now: u64,
    pub rows: Vec<RequestRow>,
}

/// Requests of a process that are alike, and have ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestRow {
    pub proc: u64,
    pub point: u16,
    pub size_class: u8,
    pub count: u64,
    pub bytes: u64,
    /// ns from the begin to the end of each, added up; that of the shortest, and of the longest.
    pub time: u64,
    pub min: u64,
    pub max: u64,
}

impl RequestRow {
    /// One more.
    pub fn add(&mut self, bytes: u64, time: u64) {
        self.min = if self.count == 0 { time } else { self.min.min(time) };
        self.max = self.max.max(time);
        self.count += 1;
        self.bytes += bytes;
        self.time = self.time.saturating_add(time);
    }
}
