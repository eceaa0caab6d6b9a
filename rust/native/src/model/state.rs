//! What the collector knows. It changes only by applying blocks, so that a spool file rebuilds it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::claims::Claims;
use super::owners::{Owners, Processes};
use super::process::{
    PageReading, Process, ProcessEnd, ProcessInfo, SegmentProgress, Tally, ThreadState,
};
use super::rows::{Identity, Output};
use super::run::Run;
use super::sample::HostHistory;
use crate::host::Reading;

#[derive(Debug, Default)]
pub struct State {
    pub processes: Processes,
    pub owners: Owners,
    pub host: HostHistory,
    /// Rows since the last rotation, made while blocks are applied.
    pub output: Output,
    /// Slots applied.
    pub slots: u64,
    pub rejected: RejectedCounts,
}

/// What was read and made no sense, since the collector started.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct RejectedCounts {
    pub slots: u64,
    pub names: u64,
    pub rows: u64,
    pub blocks: u64,
}

/// Everything but names and rows, which follow the snapshot as blocks of their own.
#[derive(Debug, Serialize, Deserialize)]
pub struct Snapshot {
    processes: Vec<ProcessSnapshot>,
    runs: BTreeMap<String, Run>,
    claims: Claims,
    #[serde(default)] // of a version that did not read it
    host: Option<Reading>,
}

#[derive(Debug, Serialize, Deserialize)]
struct ProcessSnapshot {
    #[serde(rename = "known")]
    info: ProcessInfo,
    segments: BTreeMap<u32, SegmentProgress>,
    threads: Vec<(u64, ThreadState)>,
    page: Option<PageReading>,
    #[serde(rename = "gone")]
    end: Option<ProcessEnd>,
    tallies: BTreeMap<String, Tally>,
    #[serde(default, rename = "names_refused")] // of a version that did not count them
    names_rejected: u64,
}

impl State {
    pub fn snapshot(&self) -> Snapshot {
        let is_on = |run: &(String, Run)| !run.1.order.ended;
        Snapshot {
            processes: self.processes.values().map(ProcessSnapshot::of).collect(),
            runs: self.owners.runs.clone().into_iter().filter(is_on).collect(),
            claims: self.owners.claims.clone(),
            host: self.host.last.clone(),
        }
    }

    pub fn restore(&mut self, snapshot: Snapshot) {
        let Snapshot { processes, runs, claims, host } = snapshot;
        let generation = self.owners.generation + 1;
        let processes = processes.into_iter().map(ProcessSnapshot::restored);
        *self = State {
            processes: processes.map(|process| (process.info.proc, process)).collect(),
            owners: Owners { runs, claims, generation },
            host: HostHistory { last: host, samples: Vec::new() },
            ..State::default()
        };
    }

    /// What stands in the columns run, owner, job, task and phase of a process's events in
    /// `context` (dictionary id).
    pub fn identify(&self, process: &Process, context: u32) -> Identity {
        self.owners.identify(&self.processes, process, context)
    }

    /// Forgets what was published, and what no later block can refer to; `is_there`: a process's
    /// directory still exists.
    pub fn rotate(&mut self, is_there: impl Fn(u64) -> bool) {
        self.output.rotate();
        self.host.samples.clear();
        self.owners.forget();
        let runs = &self.owners.runs;
        for process in self.processes.values_mut() {
            process.forget(|run| runs.contains_key(run));
        }
        // runs list who was there during their time
        let oldest = runs.values().map(|run| run.began).min().unwrap_or(u64::MAX);
        self.processes.retain(|proc, process| {
            process.end.as_ref().is_none_or(|end| end.at >= oldest || is_there(*proc))
        });
    }
}

impl ProcessSnapshot {
    fn of(process: &Process) -> ProcessSnapshot {
        ProcessSnapshot {
            info: process.info.clone(),
            segments: process.segments.clone(),
            threads: process.threads.iter().map(|(tid, thread)| (*tid, thread.clone())).collect(),
            page: process.page.clone(),
            end: process.end.clone(),
            tallies: process.tallies.clone(),
            names_rejected: process.names_rejected,
        }
    }

    fn restored(self) -> Process {
        Process {
            segments: self.segments,
            threads: self.threads.into_iter().collect(),
            page: self.page,
            end: self.end,
            tallies: self.tallies,
            names_rejected: self.names_rejected,
            ..Process::new(self.info)
        }
    }
}
