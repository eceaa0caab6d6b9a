//! Runs that are on: each waits for its agents, records, and finishes.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use super::trouble::log;
use crate::clock::{MS, SECOND};
use crate::store::directory::StoreDirectory;

/// How long agents may take to acknowledge that a run begins.
const START_PATIENCE: u64 = 3 * SECOND;
const NATIVE_PATIENCE: u64 = SECOND / 5;
/// Agents look for a run five times a second: nothing is gained by more without one.
const NAP_WITHOUT_RUNS: u64 = 200 * MS;
/// While a run records, if rings stay as good as empty.
const NAP: u64 = 40 * MS;
/// After they stayed so for long: a ring that fills meanwhile grows.
const IDLE_NAP: u64 = 100 * MS;
const LONG: u64 = SECOND;
/// After its last process ended: what daemons still write about it.
const SETTLE: u64 = 300 * MS;
/// Processes in a message.
const MOST_NAMED: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    Waiting { since: u64 },
    Recording,
    Finishing { since: u64, quiet: Option<u64> },
}

#[derive(Debug)]
pub struct ActiveRun {
    pub phase: Phase,
    pub message: String,
    /// Why it has no requests to devices, if it asked for them.
    pub devices: String,
    /// When its progress was reported, and as which text.
    pub reported: u64,
    pub progress: Vec<u8>,
    /// Time stamp of its order.
    pub modified: (i64, u64),
    pub directory: StoreDirectory,
}

#[derive(Debug)]
pub struct Runs {
    pub active: BTreeMap<String, ActiveRun>,
    /// The last run ended, or the collector began.
    idle_since: u64,
    had_run: bool,
}

impl Phase {
    pub fn name(self) -> &'static str {
        match self {
            Phase::Waiting { .. } => "waiting",
            Phase::Recording => "recording",
            Phase::Finishing { .. } => "finishing",
        }
    }
}

impl Runs {
    pub fn new(now: u64) -> Runs {
        Runs { active: BTreeMap::new(), idle_since: now, had_run: false }
    }

    pub fn is_idle(&self, now: u64) -> bool {
        let patience = if self.had_run { 2 } else { 30 };
        self.active.is_empty() && now - self.idle_since > patience * SECOND
    }

    /// Between two looks, ns; `idle`: for how long rings stayed as good as empty.
    pub fn longest_nap(&self, idle: u64) -> u64 {
        let is_changing = |run: &ActiveRun| run.phase != Phase::Recording;
        if self.active.is_empty() {
            NAP_WITHOUT_RUNS
        } else if idle < LONG || self.active.values().any(is_changing) {
            NAP
        } else {
            IDLE_NAP
        }
    }

    pub fn names(&self) -> Vec<String> {
        self.active.keys().cloned().collect()
    }

    pub fn begin(&mut self, name: &str, directory: StoreDirectory, modified: (i64, u64), now: u64) {
        self.had_run = true;
        let phase = Phase::Waiting { since: now };
        let (message, devices) = (String::new(), String::new());
        let (reported, progress) = (0, Vec::new());
        let run = ActiveRun { phase, message, devices, reported, progress, modified, directory };
        self.active.insert(name.to_owned(), run);
    }

    pub fn end(&mut self, name: &str, now: u64) {
        self.active.remove(name);
        self.idle_since = now;
    }
}

impl ActiveRun {
    /// Writes where it is, if that is news, and what it does at this moment.
    pub fn report(
        &mut self,
        progress: Vec<u8>,
        live_name: &str,
        live: &[u8],
        now: u64,
    ) -> io::Result<()> {
        self.reported = now;
        if self.progress != progress {
            self.directory.replace("progress.json", &progress)?;
            self.progress = progress;
        }
        self.directory.replace(live_name, live)
    }

    pub fn is_report_due(&self, now: u64) -> bool {
        now - self.reported > SECOND
    }

    /// Whether native programs may still answer: what is idle only does so when it makes a call, and
    /// is recorded from then on.
    pub fn waits_for_native(&self, now: u64) -> bool {
        matches!(self.phase, Phase::Waiting { since } if now - since <= NATIVE_PATIENCE)
    }

    /// Records once all agents have answered, or too late; `silent`: those that have not. True if
    /// it does from now on.
    pub fn record(&mut self, name: &str, silent: &BTreeSet<u32>, now: u64) -> bool {
        let Phase::Waiting { since } = self.phase else { return false };
        if !silent.is_empty() && now - since <= START_PATIENCE {
            return false;
        }
        self.phase = Phase::Recording;
        if !silent.is_empty() {
            self.message = unanswered(silent);
        }
        log(&format!("run {name} records {}", self.message));
        true
    }

    /// All there is to say of it.
    pub fn said(&self) -> String {
        joined(&self.message, &self.devices)
    }

    /// True if it did not finish before.
    pub fn finish(&mut self, name: &str, message: &str, now: u64) -> bool {
        if matches!(self.phase, Phase::Finishing { .. }) {
            return false;
        }
        self.phase = Phase::Finishing { since: now, quiet: None };
        message.clone_into(&mut self.message);
        log(&format!("run {name} finishes{}{message}", if message.is_empty() { "" } else { ": " }));
        true
    }

    /// Whether a run that finishes has come to its end; `has_processes`: some of its own live.
    pub fn is_at_end(&mut self, has_processes: bool, grace: u64, now: u64) -> bool {
        let Phase::Finishing { since, quiet } = self.phase else { return false };
        if has_processes && now - since < grace {
            return false;
        }
        let Some(quiet) = quiet else {
            if has_processes {
                let more = "processes of the run still lived when it ended";
                self.message = joined(&self.message, more);
            }
            self.phase = Phase::Finishing { since, quiet: Some(now) };
            return false;
        };
        now - quiet >= SETTLE
    }
}

fn joined(first: &str, second: &str) -> String {
    let joint = if first.is_empty() || second.is_empty() { "" } else { "; " };
    format!("{first}{joint}{second}")
}

/// `2 JVMs did not answer: pid 7, 8`.
fn unanswered(pids: &BTreeSet<u32>) -> String {
    let named: Vec<_> = pids.iter().take(MOST_NAMED).map(u32::to_string).collect();
    let jvms = if pids.len() == 1 { "JVM" } else { "JVMs" };
    let more = if pids.len() > MOST_NAMED { ", …" } else { "" };
    format!("{} {jvms} did not answer: pid {}{more}", pids.len(), named.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_waits_records_and_finishes() {
        let path = std::env::temp_dir().join(format!("iostrata-runs-{}", std::process::id()));
        let mut runs = Runs::new(0);
        assert!(!runs.is_idle(30 * SECOND) && runs.is_idle(31 * SECOND));
        let begin = 100 * SECOND;
        runs.begin("demo", StoreDirectory::root(&path, 0o700).unwrap(), (0, 0), begin);
        std::fs::remove_dir(&path).unwrap();
        let run = runs.active.get_mut("demo").unwrap();
        let silent = BTreeSet::from([7]);
        assert!(!run.record("demo", &silent, begin + START_PATIENCE));
        assert!(run.record("demo", &silent, begin + START_PATIENCE + 1));
        assert_eq!(
            (run.phase, run.message.as_str()),
            (Phase::Recording, "1 JVM did not answer: pid 7")
        );

        let stop = begin + 60 * SECOND;
        assert!(run.finish("demo", "", stop) && !run.finish("demo", "again", stop));
        assert!(!run.is_at_end(true, SECOND, stop + SECOND - 1));
        assert!(!run.is_at_end(true, SECOND, stop + SECOND));
        assert_eq!(run.message, "processes of the run still lived when it ended");
        assert!(!run.is_at_end(true, SECOND, stop + SECOND + SETTLE - 1));
        assert!(run.is_at_end(true, SECOND, stop + SECOND + SETTLE));

        let naps = [0, LONG - 1, LONG].map(|idle| runs.longest_nap(idle));
        assert_eq!(naps, [NAP; 3]); // it finishes
        runs.active.get_mut("demo").unwrap().phase = Phase::Recording;
        assert_eq!([LONG - 1, LONG].map(|idle| runs.longest_nap(idle)), [NAP, IDLE_NAP]);

        runs.end("demo", stop);
        assert_eq!(runs.longest_nap(0), NAP_WITHOUT_RUNS);
        assert!(!runs.is_idle(stop + 2 * SECOND) && runs.is_idle(stop + 3 * SECOND));
    }
}
