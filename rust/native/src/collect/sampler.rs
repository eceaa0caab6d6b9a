//! Readings of the host, once a second while a run records.

use std::path::{Path, PathBuf};

use super::block::BlockKind;
use super::pipeline::Pipeline;
use super::requests::Requests;
use crate::clock::{self, SECOND};
use crate::devices::Mounts;
use crate::host::{self, Reading};

/// Samples that are held when they cannot be published: a day of them.
const MAX_SAMPLES: usize = 86_400;

#[derive(Debug, Default)]
pub struct HostSampler {
    /// Directories on the file systems whose space is sampled.
    file_systems: Vec<PathBuf>,
    mounts: Mounts,
    pub requests: Requests,
    sampled: u64,
}

impl HostSampler {
    /// Finds the file systems that are mounted now.
    pub fn look_at_mounts(&mut self, store: &Path) {
        self.file_systems = host::places(store);
        self.mounts.look_here();
    }

    pub fn is_due(&self, now: u64) -> bool {
        now.saturating_sub(self.sampled) >= SECOND
    }

    /// The time of a sample is that of its reading, which a long round may be well behind.
    pub fn sample(&mut self, pipeline: &mut Pipeline) {
        let now = clock::monotonic();
        self.sampled = now;
        self.requests.read(now);
        let state = pipeline.state();
        // a sample is small: it would find room where events do not, and claim that all is well
        let has_room = pipeline.has_room() && state.host.samples.len() < MAX_SAMPLES;
        if !state.owners.is_recording() || !has_room {
            return; // the next sample covers what this one would have
        }
        for process in state.processes.values() {
            let info = &process.info;
            self.mounts.look_at(info.pid, info.pid_start, info.host.as_deref());
        }
        let reading = Reading::take(now, &self.file_systems, &self.mounts.devices);
        pipeline.commit_json(BlockKind::Host, &reading);
        if let Some(counts) = self.requests.take(pipeline.state(), now) {
            pipeline.commit_json(BlockKind::Requests, &counts);
        }
    }
}
