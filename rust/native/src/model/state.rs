//! What the collector knows. It changes only by applying blocks, so that a spool file rebuilds it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::claims::Claims;
use super::listed::Listed;
use super::owners::{Owners, Processes};
use super::page::PageReading;
use super::process::{Process, ProcessEnd, ProcessInfo, SegmentProgress, Tally};
use super::rows::{Identity, Output};
use super::run::Run;
use super::sample::HostHistory;
use super::spent::Spending;
use super::threads::ThreadState;
use super::traced::Traced;
use super::usage::Usage;
use crate::host::Reading;

/// Bytes of memory for what processes are and say: their names, threads and contexts.
pub const MEMORY: u64 = 384 << 20;

/// [`MEMORY`], or less where a spool file that begins with all of it would not fit the disk.
#[derive(Debug, Clone, Copy)]
pub struct MostMemory(pub u64);

impl Default for MostMemory {
    fn default() -> MostMemory {
        MostMemory(MEMORY)
    }
}

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
    pub most_memory: MostMemory,
    /// Of that.
    pub memory: Usage,
    /// Rows since the last rotation.
    pub rows: Usage,
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
    #[serde(default, skip_serializing_if = "super::is_default")]
    traced: Traced,
    #[serde(flatten)]
    listed: Listed,
    #[serde(default, skip_serializing_if = "super::is_default")]
    spending: Spending,
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
        self.owners.claims.weigh();
        self.weigh_all();
    }

    /// Bytes of memory that a user's processes may take beside what they take.
    pub fn memory_left(&self, uid: u32, serves: bool) -> u64 {
        self.memory.left(self.most_memory.0, uid, serves)
    }

    /// Notes what a process takes now.
    pub fn weigh(&mut self, proc: u64) {
        let Some(process) = self.processes.get_mut(&proc) else { return };
        let now = process.bytes();
        let before = std::mem::replace(&mut process.weight, now);
        self.memory.change(process.info.uid, before, now);
    }

    fn weigh_all(&mut self) {
        self.memory = Usage::default();
        for process in self.processes.values_mut() {
            process.weight = process.bytes();
            self.memory.add(process.info.uid, process.weight);
        }
    }

    /// What stands in the columns run, owner, job, task and phase of a process's events in
    /// `context` (dictionary id).
    pub fn identify(&self, process: &Process, context: u32) -> Identity {
        self.owners.identify(&self.processes, process, context)
    }

    /// The run's own processes: others may have worked for it, too.
    pub fn processes_of(&self, run: &Run) -> impl Iterator<Item = &Process> {
        self.processes.values().filter(|process| {
            let own = self.owners.run_of_process(process);
            own.is_some_and(|own| own.order.run == run.order.run)
        })
    }

    /// Forgets what was published, and what no later block can refer to; `is_there`: a process's
    /// directory still exists.
    pub fn rotate(&mut self, is_there: impl Fn(u64) -> bool) {
        self.output.rotate();
        self.rows = Usage::default();
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
        self.weigh_all();
    }
}

impl ProcessSnapshot {
    fn of(process: &Process) -> ProcessSnapshot {
        ProcessSnapshot {
            info: process.info.clone(),
            segments: process.segments.clone(),
            threads: process.threads.all().map(|(tid, thread)| (tid, thread.clone())).collect(),
            page: process.page.clone(),
            end: process.end.clone(),
            tallies: process.tallies.clone(),
            names_rejected: process.names_rejected,
            traced: process.traced,
            listed: process.listed.clone(),
            spending: process.spending.clone(),
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
            traced: self.traced,
            listed: self.listed,
            spending: self.spending,
            ..Process::new(self.info)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names in spool files are those of the first version, whatever fields are called here.
    #[test]
    fn a_snapshot_is_written_as_ever_and_read_again() {
        let process = r#"{"known":{"proc":7,"pid":1,"uid":2,"user":"alice","pid_start":3,"start":4,"points_hash":5,"text":{"run":"r"},"host":null,"now":6},"segments":{"1":{"epoch":2,"tid":3,"chain":4,"position":5,"drained":true,"gaps":6,"told":7,"folded":8}},"threads":[[3,{"name":1,"chain":2,"history":[[9,{"id":1,"cause":{"trace":2,"proc":3,"span":4},"sampling":5}]],"last_span":6,"seen":7}]],"page":{"proc":7,"now":1,"ended":true,"counters":[2],"detached":false,"woven":3,"faulted":[4],"user_points":[[5,6]],"cost":{"hooks":1,"thread":2,"collector":3,"cpu":4,"over":5},"summed":[[7,8]]},"gone":[9,"why"],"tallies":{"r":{"calls":1,"detail":2,"dropped":3,"folded":4}},"names_refused":5}"#;
        let run = r#"{"order":{"run":"r","uid":2,"user":"alice","recorder_pid":1,"recorder_start":2,"expect":[["NameNode",3]],"points_off":[4],"level":1,"sampling":5,"budget":6,"has_points":true,"now":7,"ended":false,"message":"m"},"began":8,"seen":{"1-2":{"run":"r","pid":1,"pid_start":2,"uid":3,"role":"map","main":"M","job":"j","task":"t","container":"c","reason":"no agent","host":null,"now":4,"end":5}},"rows":9,"bytes":10,"before":{"7":{"cost":{"hooks":1,"thread":2,"collector":3,"cpu":4,"over":5},"summed":[[6,7]]}}}"#;
        let claims = r#"{"jobs":{"1_1":{"run":"r","uid":2,"name":"job_1_1","disputed":false}},"clients":{}}"#;
        let text = format!(
            r#"{{"processes":[{process}],"runs":{{"r":{run}}},"claims":{claims},"host":null}}"#
        );
        let mut state = State::default();

        state.restore(serde_json::from_str(&text).unwrap());

        assert_eq!(serde_json::to_string(&state.snapshot()).unwrap(), text);
        assert_eq!(state.processes[&7].tallies["r"].collapsed, 4);
        assert_eq!(state.owners.runs["r"].untraced["1-2"].reason, "no agent");
    }
}
