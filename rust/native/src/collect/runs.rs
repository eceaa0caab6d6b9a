//! Runs: asked for by a file in `D/runs`, begun, watched and ended.

use std::io::Write;
use std::os::fd::AsFd;

use iostrata_segment::control::Detail;
use iostrata_segment::schema::level_name;
use rustix::fs::{AtFlags, statat, unlinkat};
use serde_json::json;

use super::block::{self, Kind};
use super::census::is_alive;
use super::listing::list;
use super::live;
use super::order::{RunOrder, points_of};
use super::poll::Pace;
use super::{Collector, MS, SECOND, log};
use crate::host;
use crate::store::place::Place;
use crate::store::processes;

/// How long agents may take to acknowledge that a run begins.
const START_PATIENCE: u64 = 3 * SECOND;
/// After its last process ended: what daemons still write about it.
const SETTLE: u64 = 300 * MS;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Waiting { since: u64 },
    Recording,
    Finishing { since: u64, quiet: Option<u64> },
}

#[derive(Debug)]
pub struct Active {
    phase: Phase,
    message: String,
    said: u64,
    modified: (i64, u64),
    place: Place,
}

impl Phase {
    fn name(self) -> &'static str {
        match self {
            Phase::Waiting { .. } => "waiting",
            Phase::Recording => "recording",
            Phase::Finishing { .. } => "finishing",
        }
    }
}

impl Collector<'_> {
    /// Takes up the runs that the spool knows, after a restart.
    pub(super) fn resume(&mut self, now: u64) {
        let names: Vec<(String, u32, bool)> = self
            .state
            .runs
            .values()
            .map(|run| (run.order.run.clone(), run.order.uid, run.order.ended))
            .collect();
        for (name, uid, ended) in names {
            if ended {
                continue; // published again by the next rotation
            }
            match self.store.enter(&name, uid) {
                Ok(place) => self.activate(&name, place, now),
                Err(error) => log(&format!("run {name}: cannot go on: {error}")),
            }
        }
        self.places = host::places(&self.options.store);
        self.switch_control(false);
    }

    fn activate(&mut self, name: &str, place: Place, now: u64) {
        let has_points = self.state.runs.get(name).is_some_and(|run| run.order.has_points);
        self.switch_control(has_points);
        self.since.had_run = true;
        let phase = Phase::Waiting { since: now };
        let (message, said, modified) = (String::new(), 0, (0, 0));
        self.runs.insert(name.to_owned(), Active { phase, message, said, modified, place });
    }

    pub(super) fn look_for_runs(&mut self, now: u64) {
        let changed = self.runs_listing.changed(self.directory.runs.as_fd());
        if !changed && now - self.since.runs < 200 * MS {
            return;
        }
        self.since.runs = now;
        let names = list(self.directory.runs.as_fd());
        for name in names.iter().filter_map(|name| name.strip_suffix(".run")) {
            self.look_at_order(name, now);
        }
        for name in names.iter().filter_map(|name| name.strip_suffix(".stop")) {
            if self.may_stop(name) {
                self.finish_run(name, now, "");
            }
        }
    }

    fn look_at_order(&mut self, name: &str, now: u64) {
        let file = format!("{name}.run");
        if self.looked_at.contains_key(&file) {
            return;
        }
        let stat = statat(&self.directory.runs, &file, AtFlags::SYMLINK_NOFOLLOW);
        let modified = stat.map_or((0, 0), |stat| (stat.st_mtime, stat.st_mtime_nsec));
        let known = self.state.runs.get(name).is_some_and(|run| run.order.ended);
        if known || self.runs.get(name).is_some_and(|run| run.modified == modified) {
            return;
        }
        let order = match RunOrder::read(self.directory.runs.as_fd(), name, now) {
            Ok(order) => order,
            Err(reason) => return self.refuse_order(name, &reason),
        };
        if let Some(active) = self.runs.get_mut(name) {
            active.modified = modified;
            let is_owner = self.state.runs.get(name).is_some_and(|run| run.order.uid == order.uid);
            active.said = 0;
            if is_owner && self.commit_order(&order) {
                self.switch_control(false);
            }
            return;
        }
        self.begin_run(&order, modified, now);
    }

    fn refuse_order(&mut self, name: &str, reason: &str) {
        self.refusals += 1;
        log(&format!("refused runs/{name}.run: {reason}"));
        self.looked_at.insert(format!("{name}.run"), super::poll::Entry::Refused);
    }

    fn commit_order(&mut self, order: &RunOrder) -> bool {
        let mut blocks = Vec::new();
        block::push_json(&mut blocks, Kind::Run, order);
        self.commit(&blocks)
    }

    fn begin_run(&mut self, order: &RunOrder, modified: (i64, u64), now: u64) {
        let name = order.run.as_str();
        let place = match self.store.enter(name, order.uid) {
            Ok(place) if is_done(&place) => {
                let _ = unlinkat(&self.directory.runs, format!("{name}.run"), AtFlags::empty());
                return log(&format!("refused run {name}: the store has one of that name"));
            }
            Ok(place) => place,
            Err(error) => return self.refuse_order(name, &error.to_string()),
        };
        self.sample_host(now); // of the other runs: no sample lies across the begin of one
        if !self.commit_order(order) {
            return; // asked again at the next look
        }
        self.places = host::places(&self.options.store);
        self.sample_host(now);
        log(&format!("run {name} of {} begins: recorder pid={}", order.user, order.recorder_pid));
        self.activate(name, place, now);
        if let Some(active) = self.runs.get_mut(name) {
            active.modified = modified;
        }
        self.say(name, now);
    }

    fn may_stop(&self, name: &str) -> bool {
        let Some(run) = self.state.runs.get(name) else { return false };
        let file = format!("{name}.stop");
        let stat = statat(&self.directory.runs, file, AtFlags::SYMLINK_NOFOLLOW);
        stat.is_ok_and(|stat| stat.st_uid == run.order.uid || stat.st_uid == 0)
    }

    fn finish_run(&mut self, name: &str, now: u64, message: &str) {
        let Some(active) = self.runs.get_mut(name) else { return };
        if matches!(active.phase, Phase::Finishing { .. }) {
            return;
        }
        active.phase = Phase::Finishing { since: now, quiet: None };
        message.clone_into(&mut active.message);
        log(&format!("run {name} finishes{}{message}", if message.is_empty() { "" } else { ": " }));
        self.say(name, now);
    }

    /// Moves each run on, and says each second where it is.
    pub(super) fn advance_runs(&mut self, now: u64) {
        let names: Vec<String> = self.runs.keys().cloned().collect();
        for name in names {
            let Some(active) = self.runs.get(&name) else { continue };
            match active.phase {
                Phase::Waiting { since } => self.advance_waiting(&name, since, now),
                Phase::Recording => self.check_recorder(&name, now),
                Phase::Finishing { since, quiet } => {
                    self.advance_finishing(&name, since, quiet, now);
                }
            }
            if self.runs.get(&name).is_some_and(|active| now - active.said > SECOND) {
                self.say(&name, now);
            }
        }
    }

    fn advance_waiting(&mut self, name: &str, since: u64, now: u64) {
        let word = self.directory.control.word();
        let silent: Vec<u32> = self.behind(word).collect();
        let is_late = now - since > START_PATIENCE;
        if !silent.is_empty() && !is_late {
            return;
        }
        let Some(active) = self.runs.get_mut(name) else { return };
        active.phase = Phase::Recording;
        if !silent.is_empty() {
            active.message = format!("{} agents did not answer: pid {silent:?}", silent.len());
        }
        log(&format!("run {name} records {}", active.message));
        self.say(name, now);
    }

    /// Processes that have not acted on the control page yet.
    fn behind(&self, word: u32) -> impl Iterator<Item = u32> {
        self.sources
            .values()
            .filter(move |s| !s.refused && s.dead.is_none() && s.page.seen_control() != word)
            .map(|source| source.pid)
    }

    fn check_recorder(&mut self, name: &str, now: u64) {
        let Some(run) = self.state.runs.get(name) else { return };
        let (pid, start) = (run.order.recorder_pid, run.order.recorder_start);
        // looked at as often as other processes
        if pid != 0 && self.since.deaths == now && !is_alive(pid, Some(start)) {
            self.finish_run(name, now, &format!("the recorder (pid {pid}) ended without a stop"));
        }
    }

    fn advance_finishing(&mut self, name: &str, since: u64, quiet: Option<u64>, now: u64) {
        let grace = self.options.grace.as_nanos() as u64;
        let left = self.state.processes.values().any(|process| {
            let is_own = self.state.run_of_process(process);
            process.gone.is_none() && is_own.is_some_and(|run| run.order.run == name)
        });
        if left && now - since < grace {
            return;
        }
        if left
            && quiet.is_none()
            && let Some(active) = self.runs.get_mut(name)
        {
            let more = "processes of the run still lived when it ended";
            let joint = if active.message.is_empty() { "" } else { "; " };
            active.message = format!("{}{joint}{more}", active.message);
        }
        match quiet {
            None => {
                if let Some(active) = self.runs.get_mut(name) {
                    active.phase = Phase::Finishing { since, quiet: Some(now) };
                }
            }
            Some(at) if now - at >= SETTLE => self.end_run(name, now),
            Some(_) => {}
        }
    }

    /// Reads everything once more and marks the run's end; the rotation that follows publishes it.
    fn end_run(&mut self, name: &str, now: u64) {
        self.drain_all(now);
        self.sample_host(now);
        let Some(run) = self.state.runs.get(name) else { return };
        let message = self.runs.get(name).map(|active| active.message.clone()).unwrap_or_default();
        let order = RunOrder { ended: true, now, message, ..run.order.clone() };
        if self.commit_order(&order) {
            self.runs.remove(name);
            self.since.idle = now;
            // before agents look again: its points end with it
            let _ = unlinkat(&self.directory.runs, points_of(name), AtFlags::empty());
            self.switch_control(order.has_points);
        }
    }

    /// On while a run is, in the detail that the one needs that needs most, but for the points that
    /// one of them wants off. `renewed`: points of users have come or gone, and agents have to look.
    fn switch_control(&mut self, renewed: bool) {
        let orders = self.state.runs.values().map(|run| &run.order).filter(|o| !o.ended);
        let Some(detail) = orders.clone().map(RunOrder::detail).reduce(Detail::and) else {
            return self.directory.control.off();
        };
        let off: Vec<u16> = orders.flat_map(|order| order.points_off.clone()).collect();
        self.directory.control.on(detail, off, renewed);
    }

    fn drain_all(&mut self, now: u64) {
        self.sources.values_mut().for_each(super::source::Source::hurry);
        self.since.scan = 0;
        for _ in 0..100 {
            if self.poll(now) == Pace::Idle {
                return;
            }
        }
    }

    /// SIGTERM: everything ends now.
    pub(super) fn end_all_runs(&mut self, now: u64) {
        let names: Vec<String> = self.runs.keys().cloned().collect();
        for name in names {
            self.finish_run(&name, now, "the collector was stopped");
            self.end_run(&name, now);
        }
        self.drain_all(now);
    }

    /// Ended runs, once published: the last word to the recorder, and their files go.
    pub(super) fn conclude_runs(&mut self) {
        for run in self.state.runs.values().filter(|run| run.order.ended) {
            let name = &run.order.run;
            let place = match self.store.enter(name, run.order.uid) {
                Ok(place) => place,
                Err(error) => {
                    log(&format!("run {name}: {error}"));
                    continue;
                }
            };
            let progress = self.progress(name, "done", &run.order.message);
            let _ = place.remove(&live::file_name(&self.host));
            if let Err(error) = place.publish("progress.json", |file| file.write_all(&progress)) {
                log(&format!("run {name}: cannot write progress.json: {error}"));
            }
            for end in ["run", "stop"] {
                let file = format!("{name}.{end}");
                let _ = unlinkat(&self.directory.runs, file, AtFlags::empty());
            }
            log(&format!("run {name} done: rows={} bytes={}", run.rows, run.bytes));
        }
    }

    /// Writes `progress.json` and `live-HOST.json`.
    fn say(&mut self, name: &str, now: u64) {
        let live = self.live(name, now);
        let Some(active) = self.runs.get(name) else { return };
        let progress = self.progress(name, active.phase.name(), &active.message);
        let written = active.place.replace("progress.json", &progress);
        let written =
            written.and_then(|()| active.place.replace(&live::file_name(&self.host), &live));
        if let Err(error) = written {
            let line = format!("run {name}: cannot write progress.json: {error}");
            self.complain_once("progress", &line);
        }
        if let Some(active) = self.runs.get_mut(name) {
            active.said = now;
        }
    }

    fn progress(&self, name: &str, state: &str, message: &str) -> Vec<u8> {
        let Some(run) = self.state.runs.get(name) else { return Vec::new() };
        let rows = processes::of_run(&self.state, run);
        let pending = if state == "done" { 0 } else { self.state.output.rows_of(name) as u64 };
        let dropped: u64 = rows.iter().map(|row| row.tally.dropped).sum();
        let text = json!({
            "state": state,
            "run": name,
            "events": run.rows + pending,
            "bytes": run.bytes,
            "dropped": dropped,
            "processes": rows.len(),
            "level": level_name(run.order.level),
            "budget": run.order.budget,
            "sampling": run.order.sampling,
            "behind": self.behind(self.directory.control.word()).count(),
            "jobs": self.state.claims.jobs_of(name),
            "message": message,
        });
        format!("{text}\n").into_bytes()
    }
}

fn is_done(place: &Place) -> bool {
    let text = place.read("progress.json").unwrap_or_default();
    let said: Option<serde_json::Value> = serde_json::from_str(&text).ok();
    said.is_some_and(|said| said["state"] == "done")
}
