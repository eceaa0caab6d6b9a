//! What a run does at this moment: `live-HOST.json` beside `progress.json`, once a second.
//!
//! It holds what is in no published part yet, added up, and what is open, so that a reader adds the
//! parts before `part` and knows how far the run is. It is made of rows that are held anyway; each
//! is looked at once. Nothing depends on it: after a crash it is made again from the spool.

use std::collections::HashMap;

use iostrata_segment::points::POINTS;
use iostrata_segment::schema::{
    FLAG_COVERED, FLAG_INNER, KIND_CALL, KIND_SUM, LAYER_JVM, PROCESS_FIRST_USER_POINT, layer_name,
};
use serde_json::{Value, json};

use super::progress::View;
use super::source::Source;
use super::sources::Sources;
use crate::histogram::{Histogram, bucket};
use crate::model::names::text;
use crate::model::rows::{EventRow, Part};
use crate::model::state::State;

/// Jobs that a part lists; the others are together.
const MOST_JOBS: usize = 64;
const OTHERS: &str = "(other jobs)";
/// Open calls that are listed: those open for longest.
const MOST_OPEN: usize = 100;

#[derive(Debug, Default)]
pub struct Live {
    /// Of the output; what was added up before another one is void.
    rotation: u64,
    runs: HashMap<String, PendingSums>,
}

/// What the rows of a part say so far.
#[derive(Debug, Default)]
struct PendingSums {
    /// Rows looked at.
    position: usize,
    jobs: Vec<String>,
    /// Place in `jobs` by identity.
    jobs_of: HashMap<u32, usize>,
    /// Layer and operation.
    ops: Vec<(&'static str, String)>,
    /// Place in `ops` by point; those of users by process, too.
    ops_of: HashMap<(u64, u16), usize>,
    /// Calls and bytes by operation, job and the flags `inner` and `covered`.
    cells: HashMap<(usize, usize, u8), (u64, i64)>,
    /// Of calls recorded individually, by layer and job.
    times: HashMap<(&'static str, usize), Times>,
}

#[derive(Debug, Default)]
struct Times {
    calls: u64,
    dur: u64,
    histogram: Histogram,
}

pub fn file_name(host: &str) -> String {
    format!("live-{host}.json")
}

impl Live {
    /// The text of a run's `live-HOST.json`.
    pub fn text(&mut self, view: View<'_>, run: &str) -> Vec<u8> {
        let View { state, sources, anchor, .. } = view;
        let rotation = state.output.rotation;
        if self.rotation != rotation {
            *self = Live { rotation, runs: HashMap::new() };
        }
        let pending = self.runs.entry(run.to_owned()).or_default();
        if let Some(part) = state.output.parts.iter().find(|part| part.run == run) {
            pending.add(state, part);
        }
        let (open, more_open) = open_calls(state, sources, run, anchor);
        // sums of all processes are known up to then
        let looked = sources.live().filter_map(Source::looked).min().unwrap_or(view.now);
        let text = json!({
            "at": (looked as i64).wrapping_add(anchor),
            "part": view.part,
            "cells": pending.cells(),
            "times": pending.times(),
            "open": open,
            "more_open": more_open,
        });
        format!("{text}\n").into_bytes()
    }
}

impl PendingSums {
    fn add(&mut self, state: &State, part: &Part) {
        let from = std::mem::replace(&mut self.position, part.rows.len());
        for row in part.rows.get(from..).unwrap_or_default() {
            if !matches!(row.kind, KIND_SUM | KIND_CALL) {
                continue;
            }
            let Some(op) = self.op(state, row) else { continue };
            let job = self.job(state, row.identity);
            if row.kind == KIND_SUM {
                let flags = row.flags & (FLAG_INNER | FLAG_COVERED);
                let cell = self.cells.entry((op, job, flags)).or_default();
                cell.0 += part.sums[row.sum as usize].count;
                cell.1 += row.bytes;
            } else if row.flags & FLAG_COVERED == 0 {
                // a call within another one of its layer and operation is a part of that one
                let times = self.times.entry((self.ops[op].0, job)).or_default();
                times.calls += 1;
                times.dur += row.dur;
                times.histogram.add(bucket(row.dur), 1);
            }
        }
    }

    /// None for pauses, which are no I/O, and for what has no name.
    fn op(&mut self, state: &State, row: &EventRow) -> Option<usize> {
        let is_user = usize::from(row.point) >= PROCESS_FIRST_USER_POINT;
        let proc = state.output.threads[row.thread as usize].proc;
        let key = (if is_user { proc } else { 0 }, row.point);
        if let Some(place) = self.ops_of.get(&key) {
            return Some(*place).filter(|place| Some(self.ops[*place].0) != layer_name(LAYER_JVM));
        }
        let (layer, op) = if is_user {
            state.processes.get(&proc)?.layer_and_op(row.point)?
        } else {
            let point = POINTS.iter().find(|point| point.id == row.point)?;
            (point.layer, point.op)
        };
        self.ops.push((layer, op.to_owned()));
        self.ops_of.insert(key, self.ops.len() - 1);
        self.op(state, row)
    }

    fn job(&mut self, state: &State, identity: u32) -> usize {
        if let Some(place) = self.jobs_of.get(&identity) {
            return *place;
        }
        let name = state.output.identities[identity as usize].0.job.as_ref().map_or("", text);
        let name = if self.jobs.len() < MOST_JOBS || self.jobs.iter().any(|job| job == name) {
            name
        } else {
            OTHERS
        };
        let known = self.jobs.iter().position(|job| job == name);
        let place = known.unwrap_or_else(|| {
            self.jobs.push(name.to_owned());
            self.jobs.len() - 1
        });
        self.jobs_of.insert(identity, place);
        place
    }

    fn cells(&self) -> Vec<Value> {
        let cells = self.cells.iter().map(|((op, job, flags), (count, bytes))| {
            let (layer, op) = &self.ops[*op];
            json!({"layer": layer, "op": op, "job": self.jobs[*job], "flags": flags,
                "count": count, "bytes": bytes})
        });
        cells.collect()
    }

    fn times(&self) -> Vec<Value> {
        let times = self.times.iter().map(|((layer, job), times)| {
            let buckets: Vec<(u16, u64)> = times.histogram.pairs().collect();
            json!({"layer": layer, "job": self.jobs[*job], "calls": times.calls,
                "dur": times.dur, "buckets": buckets})
        });
        times.collect()
    }
}

/// What processes of the run, or working for it, are in: the longest, and how many more.
fn open_calls(state: &State, sources: &Sources, run: &str, anchor: i64) -> (Vec<Value>, usize) {
    let mut calls = Vec::new();
    for source in sources.live() {
        let Some(process) = state.processes.get(&source.proc) else { continue };
        for reader in source.readers.values().filter(|reader| reader.in_turn.is_some()) {
            let Some(identity) = reader.segment.identity() else { continue };
            let Some(thread) = process.threads.get(identity.tid) else { continue };
            for open in reader.segment.open_now() {
                let Some((layer, op)) = process.layer_and_op(open.point) else { continue };
                let owner = state.identify(process, thread.context_at(open.start).id);
                // its process itself is always open; the last call has ended
                if owner.run != run || op == "process" || open.span == thread.last_span {
                    continue;
                }
                let named = |id| process.names.get(id).map(|name| text(&name.text));
                calls.push((
                    open.start,
                    json!({
                        "layer": layer,
                        "op": op,
                        "target": named(open.target),
                        "job": owner.job.as_ref().map(text),
                        "task": owner.task.as_ref().map(text),
                        "role": process.role,
                        "pid": process.info.pid,
                        "thread": named(identity.thread_name),
                        "since": (open.start as i64).wrapping_add(anchor),
                    }),
                ));
            }
        }
    }
    calls.sort_by_key(|(start, _)| *start);
    let more = calls.len().saturating_sub(MOST_OPEN);
    (calls.into_iter().take(MOST_OPEN).map(|(_, call)| call).collect(), more)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_is_added_once() {
        use crate::model::rows::{Identity, SumValues, ThreadRef};
        let mut state = State::default();
        let identity =
            |job: &str| Identity { run: "r".into(), job: Some(job.into()), ..Identity::default() };
        let identities = ["a", "b"].map(|job| state.output.add_identity(identity(job)));
        let thread = state.output.add_thread(ThreadRef { proc: 7, tid: 1, name: 0 });
        let point = POINTS.iter().find(|point| point.op == "write").unwrap();
        let row = EventRow { point: point.id, thread, bytes: 10, dur: 16, ..EventRow::default() };
        let mut pending = PendingSums::default();
        for round in 1..=2_u64 {
            for identity in identities {
                let row = EventRow { identity, ..row };
                let sum = SumValues { count: 3, ..SumValues::default() };
                state
                    .output
                    .push_sum(EventRow { kind: KIND_SUM, flags: FLAG_COVERED | 2, ..row }, sum);
                state.output.push(EventRow { kind: KIND_CALL, ..row });
                state.output.push(EventRow { kind: KIND_CALL, flags: FLAG_COVERED, ..row });
            }
            pending.add(&state, &state.output.parts[0]);
            pending.add(&state, &state.output.parts[0]);
            let mut cells: Vec<_> = pending.cells.iter().collect();
            cells.sort_unstable();
            let grown = (3 * round, 10 * round as i64);
            assert_eq!(cells, [(&(0, 0, FLAG_COVERED), &grown), (&(0, 1, FLAG_COVERED), &grown)]);
            let times = &pending.times[&(point.layer, 1)];
            let buckets: Vec<_> = times.histogram.pairs().collect();
            assert_eq!((times.calls, times.dur, buckets), (round, 16 * round, vec![(16, round)]));
        }
    }

    #[test]
    fn jobs_are_bounded_and_no_call_is_lost() {
        use crate::model::rows::Identity;
        let mut state = State::default();
        let mut pending = PendingSums::default();
        for job in 0..200 {
            let job = Some(format!("job_{job}").as_str().into());
            let place = state.output.add_identity(Identity { job, ..Identity::default() });
            pending.job(&state, place);
        }
        assert_eq!(pending.jobs.len(), MOST_JOBS + 1);
        assert_eq!(pending.jobs[MOST_JOBS], OTHERS);
        assert_eq!(pending.jobs_of[&199], MOST_JOBS);
    }
}
