//! Samples of the host, once a second while a run records.
//!
//! The spool holds readings, which are cumulative: after a crash the next sample covers the time
//! in which nobody looked.

use super::Collector;
use super::block::{self, Kind};
use super::state::State;
use crate::host::Reading;
use crate::store::system::Sample;

/// Samples that are held when they cannot be published: a day of them.
const MAX_SAMPLES: usize = 86_400;

impl Collector<'_> {
    pub(super) fn sample_host(&mut self, now: u64) {
        self.since.sample = now;
        let recording = self.state.runs.values().any(|run| !run.order.ended);
        // a sample is small: it would find room where events do not, and claim that all is well
        let is_full = self.trouble == Some("spool");
        if !recording || is_full || self.state.output.samples.len() >= MAX_SAMPLES {
            return; // the next sample covers what this one would have
        }
        let reading = Reading::take(now, &self.places);
        let mut blocks = Vec::new();
        block::push_json(&mut blocks, Kind::Host, &reading);
        self.commit(&blocks);
    }
}

impl State {
    pub(super) fn host_read(&mut self, reading: Reading) {
        let sample = self.host.as_ref().and_then(|before| Sample::between(before, &reading));
        self.output.samples.extend(sample);
        self.host = Some(reading);
    }
}
