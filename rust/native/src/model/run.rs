//! What a run asked for, and what became of it.

use std::collections::{BTreeMap, BTreeSet};

use iostrata_segment::control::Detail;
use iostrata_segment::process::{Cost, Moved, Scheduled};
use serde::{Deserialize, Serialize};

use super::traced::Traced;

/// What a run asks for, and its end.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct RunOrder {
    pub run: String,
    pub uid: u32,
    pub user: String,
    pub recorder_pid: u32,
    pub recorder_start: u64,
    pub expect: Vec<(String, u32)>,
    /// Points that are off in all processes while the run is on.
    pub points_off: Vec<u16>,
    // How much detail it wants: see `Detail`.
    pub level: u8,
    pub sampling: u32,
    #[serde(default)]
    pub budget: u32,
    /// It brings points of its own, `RUN.points`.
    #[serde(default)]
    pub has_points: bool,
    /// It wants requests to block devices, too.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub devices: bool,
    pub now: u64,
    pub ended: bool,
    pub message: String,
}

impl RunOrder {
    #[must_use]
    pub fn detail(&self) -> Detail {
        Detail { level: self.level, sampling: self.sampling, budget: self.budget }
    }

    /// Pid and start of the process that records.
    #[must_use]
    pub fn recorder(&self) -> (u32, u64) {
        (self.recorder_pid, self.recorder_start)
    }
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Run {
    pub order: RunOrder,
    /// When it began, `CLOCK_MONOTONIC` ns.
    pub began: u64,
    /// By pid and start of the process.
    #[serde(rename = "seen")]
    pub untraced: BTreeMap<String, UntracedProcess>,
    /// Rows and bytes of parts published so far.
    pub rows: u64,
    pub bytes: u64,
    /// Rows that were not published: its user had taken their share of the store.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub left_out: u64,
    /// By process: what it had said when the run began.
    #[serde(default, rename = "before")]
    pub baselines: BTreeMap<u64, Baseline>,
    /// `None` of a run that a version began which did not gather it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outline: Option<Outline>,
}

/// What the rows of a run say of its completeness, from its begin to the last part.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outline {
    /// That have sums.
    pub layers: BTreeSet<String>,
    /// That have sums of a process which is no server: servers name whom they worked for.
    pub tasks: BTreeSet<String>,
    /// Some sums are of a job or task.
    pub of_jobs: bool,
    /// Calls that were open when their process died.
    pub unfinished: u64,
}

/// What a process had said before a run: its costs, seconds in which points were only summed,
/// and what had been moved.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Baseline {
    pub cost: Cost,
    pub summed: Vec<(u16, u16)>,
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub moved: Moved,
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub scheduled: Scheduled,
    /// ns.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub class_loading: u64,
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub traced: Traced,
}

/// A process that should be traced, found in `/proc` or expected by the recorder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UntracedProcess {
    pub run: String,
    pub pid: u32,
    pub pid_start: u64,
    pub uid: u32,
    pub role: String,
    pub main: String,
    pub job: String,
    pub task: String,
    pub container: String,
    pub reason: String,
    /// As in [`super::process::ProcessInfo`].
    #[serde(default)]
    pub host: Option<String>,
    pub now: u64,
    /// When it was no longer there, 0 before.
    pub end: u64,
}

impl UntracedProcess {
    pub fn key(&self) -> String {
        Self::key_of(self.pid, self.pid_start)
    }

    pub fn key_of(pid: u32, start: u64) -> String {
        format!("{pid}-{start}")
    }
}
