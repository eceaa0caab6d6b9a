//! Readings of the host, once a second while a run records.

use std::path::{Path, PathBuf};

use super::block::BlockKind;
use super::pipeline::Pipeline;
use crate::clock::{self, SECOND};
use crate::host::{self, Reading};

/// Samples that are held when they cannot be published: a day of them.
const MAX_SAMPLES: usize = 86_400;

#[derive(Debug, Default)]
pub struct HostSampler {
    /// Directories on the file systems whose space is sampled.
    file_systems: Vec<PathBuf>,
    sampled: u64,
}

impl HostSampler {
    /// Finds the file systems that are mounted now.
    pub fn look_at_mounts(&mut self, store: &Path) {
        self.file_systems = host::places(store);
    }

    pub fn is_due(&self, now: u64) -> bool {
        now.saturating_sub(self.sampled) >= SECOND
    }

    /// The time of a sample is that of its reading, which a long round may be well behind.
    pub fn sample(&mut self, pipeline: &mut Pipeline) {
        let now = clock::monotonic();
        self.sampled = now;
        let state = pipeline.state();
        // a sample is small: it would find room where events do not, and claim that all is well
        let has_room = pipeline.has_room() && state.host.samples.len() < MAX_SAMPLES;
        if !state.owners.is_recording() || !has_room {
            return; // the next sample covers what this one would have
        }
        let reading = Reading::take(now, &self.file_systems);
        pipeline.commit_json(BlockKind::Host, &reading);
    }
}
