/*!
Requests to block devices, from the kernel's events: whose each was, and how long it took.

The events are read from an instance of the kernel's tracing of our own ([`tracefs`]), page by page
([`pages`], [`format`]); a request is what lies between its first event and its last ([`pairs`]),
of the process whose thread began it ([`askers`]).
What each process asked for becomes rows of the layer `device` ([`rows`]). Nothing is read, and
nothing is switched on, unless a run asks for it.
*/

mod askers;
mod format;
mod pages;
mod pairs;
mod rows;
mod tracefs;

use std::collections::HashMap;

use self::askers::{Asker, Askers};
use self::pairs::{Asked, Pairs};
use self::tracefs::Tracing;
use crate::clock::SECOND;
use crate::model::requests::{RequestCounts, RequestRow};
use crate::model::state::State;

/// More events than these in a second cost more than they say.
const MOST_EVENTS: usize = 100_000;

/// What is asked for, and what came of it.
#[derive(Debug, Default)]
pub struct Requests {
    tracing: Option<Tracing>,
    pairs: Pairs,
    askers: Askers,
    /// Of processes that were not known at the last look: they may just have begun.
    unnamed: Vec<Asked>,
    /// Since when, `CLOCK_MONOTONIC` ns.
    from: u64,
    /// Events since then.
    events: usize,
    /// Why they were switched off, until somebody was told.
    reason: Option<String>,
}

impl Requests {
    /// Switches events on, if they are off.
    ///
    /// # Errors
    ///
    /// Why that cannot be.
    pub fn begin(&mut self, now: u64) -> Result<(), String> {
        if self.tracing.is_none() {
            self.tracing = Some(Tracing::begin()?);
            (self.from, self.events) = (now, 0);
        }
        Ok(())
    }

    pub fn end(&mut self) {
        *self = Requests::default();
    }

    /// Why events were switched off since it was last asked.
    pub fn given_up(&mut self) -> Option<String> {
        self.reason.take()
    }

    /// Reads what has come until `now`.
    pub fn read(&mut self, now: u64) {
        let Some(tracing) = &mut self.tracing else { return };
        let pairs = &mut self.pairs;
        let lost = tracing.read(|event| pairs.add(event));
        self.events += pairs.step(now, &mut self.askers);
        let too_many = MOST_EVENTS as u64 * (now.saturating_sub(self.from) / SECOND + 1);
        let reason = if lost {
            "the kernel lost events"
        } else if self.events as u64 > too_many {
            "more than 50,000 a second"
        } else {
            return;
        };
        self.tracing = None;
        self.pairs.stop();
        self.reason = Some(format!("{reason}, so they were traced no more"));
    }

    /// What processes that are known asked for since the last time.
    pub fn take(&mut self, state: &State, now: u64) -> Option<RequestCounts> {
        let from = std::mem::replace(&mut self.from, now);
        self.events = 0;
        let (mut rows, _) = named(std::mem::take(&mut self.unnamed), state);
        let (more, unnamed) = named(self.pairs.take(), state);
        rows.extend(more);
        self.unnamed = unnamed;
        (!rows.is_empty()).then_some(RequestCounts { from, now, rows })
    }
}

/// Those of processes of `state`, and the others; of several processes with one pid and an unknown
/// start, it is the last.
fn named(asked: Vec<Asked>, state: &State) -> (Vec<RequestRow>, Vec<Asked>) {
    if asked.is_empty() {
        return (Vec::new(), asked);
    }
    let mut procs: HashMap<Asker, u64> = HashMap::new();
    let mut last: HashMap<u32, u64> = HashMap::new();
    for process in state.processes.values() {
        let info = &process.info;
        procs.insert(Asker { pid: info.pid, start: info.pid_start }, info.proc);
        let latest = last.entry(info.pid).or_default();
        *latest = (*latest).max(info.pid_start);
    }
    let proc = |who: Asker| {
        let start = if who.start == 0 { *last.get(&who.pid)? } else { who.start };
        procs.get(&Asker { start, ..who }).copied()
    };
    let (known, unknown): (Vec<_>, Vec<_>) =
        asked.into_iter().partition(|asked| proc(asked.who).is_some());
    let row = |asked: &Asked| Some(RequestRow { proc: proc(asked.who)?, ..asked.row });
    (known.iter().filter_map(row).collect(), unknown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::process::{Process, ProcessInfo};

    #[test]
    fn a_request_is_of_the_process_with_its_pid_and_start() {
        let mut state = State::default();
        for (proc, pid, pid_start) in [(1, 10, 5), (2, 10, 9), (3, 11, 1)] {
            let info = ProcessInfo { proc, pid, pid_start, ..ProcessInfo::default() };
            state.processes.insert(proc, Process::new(info));
        }
        let asked = |pid, start| Asked { who: Asker { pid, start }, row: RequestRow::default() };
        let all = [asked(10, 0), asked(10, 5), asked(12, 0), asked(11, 1), asked(11, 2)];
        let (rows, others) = named(all.to_vec(), &state);
        assert_eq!(rows.iter().map(|row| row.proc).collect::<Vec<_>>(), [2, 1, 3]);
        assert_eq!(others, [all[2], all[4]]);
    }

    #[test]
    fn a_process_that_has_just_begun_is_asked_for_once_more() {
        let (mut requests, mut state) = (Requests::default(), State::default());
        let who = Asker { pid: 10, start: 5 };
        requests.unnamed = vec![Asked { who, row: RequestRow::default() }];
        let info = ProcessInfo { proc: 1, pid: 10, pid_start: 5, ..ProcessInfo::default() };
        state.processes.insert(1, Process::new(info));
        assert_eq!(requests.take(&state, 7).map(|counts| counts.rows[0].proc), Some(1));
        assert_eq!(requests.take(&state, 8), None);
    }
}
