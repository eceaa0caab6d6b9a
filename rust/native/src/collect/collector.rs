//! The collector's parts, and what is done with them round after round.

use std::os::fd::AsFd;
use std::time::Duration;

use anyhow::{Context, Result};
use iostrata_segment::control::Detail;

use super::block::BlockKind;
use super::census::Census;
use super::cost::EventCost;
use super::directory::SharedDirectory;
use super::hosts;
use super::live::Live;
use super::options::Options;
use super::orders::{self, Orders};
use super::pace::Pace;
use super::pipeline::Pipeline;
use super::procfs::is_alive;
use super::progress;
use super::publisher::{self, Publisher};
use super::runs::{ActiveRun, Phase, Runs};
use super::sampler::HostSampler;
use super::sources::Sources;
use super::trouble::{Trouble, log};
use super::waker::{Waker, Woken};
use crate::clock::{self, MS, SECOND};
use crate::model::run::RunOrder;
use crate::store::directory::StoreDirectory;

/// What waits to be published keeps a collector that ends when it is idle, but not for ever.
const LONG: u64 = 60 * SECOND;

pub struct Collector<'a> {
    options: &'a Options,
    pub(super) directory: SharedDirectory,
    pub(super) pipeline: Pipeline,
    pub(super) sources: Sources,
    census: Census,
    orders: Orders,
    pub(super) runs: Runs,
    sampler: HostSampler,
    pub(super) publisher: Publisher,
    event_cost: EventCost,
    pub(super) live: Live,
    pub(super) progress_trouble: Trouble,
    waker: Waker,
    /// When processes were last looked at for deaths, `CLOCK_MONOTONIC` ns; 0: one was told.
    deaths: u64,
    /// When the control page was last told that the collector lives.
    beat: u64,
}

impl<'a> Collector<'a> {
    pub fn start(options: &'a Options) -> Result<Collector<'a>> {
        let host = options.host.clone().unwrap_or_else(hosts::own);
        let directory = SharedDirectory::open(&options.dir, &host, &options.store)?;
        let waker = Waker::new(directory.runs.as_fd())?;
        waker.stop_on_signals();
        let store = StoreDirectory::root(&options.store, 0o711)
            .with_context(|| format!("cannot make the store {}", options.store.display()))?;
        let started = directory.open_door(store.existing(".")?, options.floor)?;
        let pipeline = Pipeline::open(options, publisher::next_part(&store))?;
        let now = clock::monotonic();
        log(&format!(
            "collecting dir={} store={} spool={} host={host} pid={}",
            options.dir.display(),
            options.store.display(),
            options.spool.display(),
            std::process::id()
        ));
        let mut collector = Collector {
            options,
            publisher: Publisher::new(store, host, directory.anchor, options, now),
            directory,
            pipeline,
            sources: Sources::new(options.serving(), started),
            census: Census::default(),
            orders: Orders::new(waker.watches_orders()),
            runs: Runs::new(now),
            sampler: HostSampler::default(),
            event_cost: EventCost::default(),
            live: Live::default(),
            progress_trouble: Trouble::new("progress"),
            waker,
            deaths: 0,
            beat: 0,
        };
        collector.resume(now);
        Ok(collector)
    }

    /// Takes up the runs that the spool knows, after a restart.
    fn resume(&mut self, now: u64) {
        let orders: Vec<RunOrder> =
            self.pipeline.state().owners.runs.values().map(|run| run.order.clone()).collect();
        // one that has ended is published again by the next rotation
        for order in orders.iter().filter(|order| !order.ended) {
            match self.publisher.store.enter(&order.run, order.uid) {
                Ok(directory) => self.activate(order, directory, (0, 0), now),
                Err(error) => log(&format!("run {}: cannot go on: {error}", order.run)),
            }
        }
        self.sampler.look_at_mounts(&self.options.store);
        self.switch_control(false);
    }

    pub fn is_idle(&self, now: u64) -> bool {
        let waits = self.pipeline.state().owners.runs.values().any(|run| run.order.ended);
        self.runs.is_idle(now) && (!waits || self.publisher.is_stuck_for(now, LONG))
    }

    /// The longest nap that is good for all runs, ns.
    pub fn longest_nap(&self, now: u64) -> u64 {
        self.runs.longest_nap(now - self.sources.busy)
    }

    /// Sleeps until something happens, or for `longest`.
    pub fn nap(&mut self, longest: Duration) -> Woken {
        self.sources.watch_new(|life| self.waker.watch(life));
        let woken = self.waker.nap(longest);
        if woken.orders {
            self.orders.hurry();
        }
        if woken.deaths {
            self.deaths = 0;
        }
        woken
    }

    /// One round.
    pub fn tick(&mut self, now: u64) -> Pace {
        self.look_for_runs(now);
        let pace = self.sources.poll(self.directory.handle.as_fd(), &mut self.pipeline, now);
        let looks_for_deaths = now - self.deaths > 200 * MS;
        if looks_for_deaths {
            let is_told = std::mem::replace(&mut self.deaths, now) == 0;
            self.sources.look_for_deaths(&mut self.pipeline, is_told, now);
            let dir = &self.options.dir;
            self.census.take(&mut self.pipeline, &self.sources, dir, now);
        }
        self.sources.bury(&mut self.pipeline, now);
        self.advance_runs(looks_for_deaths, now);
        self.sampler.requests.read(now);
        if self.sampler.is_due(now) {
            self.sampler.sample(&mut self.pipeline);
        }
        if let Some(why) = self.sampler.requests.given_up() {
            self.say_of_devices(&why);
        }
        if self.publisher.is_due(&self.pipeline, now) {
            let outcome = self.rotate(now);
            if let Err(error) = &outcome {
                self.report_stuck(&format!("{error:#}"), now);
            }
            self.publisher.attempted(outcome, now);
        }
        if now - self.beat > SECOND {
            self.beat = now;
            self.directory.control.beat(now);
            let cost = self.event_cost.look(self.pipeline.state().slots);
            self.directory.control.event_cost(cost);
        }
        pace
    }

    fn look_for_runs(&mut self, now: u64) {
        let Some((wanted, stopped)) = self.orders.look(self.directory.runs.as_fd(), now) else {
            return;
        };
        for name in wanted {
            self.look_at_order(&name, now);
        }
        for name in stopped {
            let run = self.pipeline.state().owners.runs.get(&name);
            let runs = self.directory.runs.as_fd();
            if run.is_some_and(|run| orders::may_stop(runs, &run.order)) {
                self.finish_run(&name, now, "");
            }
        }
    }

    fn look_at_order(&mut self, name: &str, now: u64) {
        let runs = self.directory.runs.as_fd();
        let modified = orders::modified(runs, name);
        let known = self.pipeline.state().owners.runs.get(name);
        let is_taken_up = self.runs.active.get(name).is_some_and(|run| run.modified == modified);
        if is_taken_up || known.is_some_and(|run| run.order.ended) {
            return;
        }
        let order = match orders::read(runs, name, now) {
            Ok(order) => order,
            Err(reason) => match self.runs.active.get_mut(name) {
                Some(active) => {
                    active.modified = modified;
                    return log(&format!("run {name} goes on as before: {reason}"));
                }
                None => return self.orders.reject(runs, name, &reason),
            },
        };
        let Some(active) = self.runs.active.get_mut(name) else {
            return self.begin_run(&order, modified, now);
        };
        active.modified = modified;
        active.reported = 0;
        let is_owner = known.is_some_and(|run| run.order.uid == order.uid);
        if is_owner && self.pipeline.commit_json(BlockKind::Run, &order) {
            self.switch_control(false);
        }
    }

    fn begin_run(&mut self, order: &RunOrder, modified: (i64, u64), now: u64) {
        let name = order.run.as_str();
        let directory = match self.publisher.store.enter(name, order.uid) {
            Ok(run) if progress::is_done(&run.read("progress.json").unwrap_or_default()) => {
                orders::remove(&self.directory.runs, name, &["run"]);
                return log(&format!("rejected run {name}: the store has one of that name"));
            }
            Ok(run) => run,
            Err(error) => {
                let runs = self.directory.runs.as_fd();
                return self.orders.reject(runs, name, &error.to_string());
            }
        };
        if !self.runs.active.is_empty() {
            // what was counted for the other runs is none of this one's
            self.drain(Some(order.uid), now);
        }
        // of the other runs: no sample lies across the begin of one
        self.sampler.sample(&mut self.pipeline);
        if !self.pipeline.commit_json(BlockKind::Run, order) {
            return; // asked again at the next look
        }
        self.sampler.look_at_mounts(&self.options.store);
        self.sampler.sample(&mut self.pipeline);
        log(&format!("run {name} of {} begins: recorder pid={}", order.user, order.recorder_pid));
        self.activate(order, directory, modified, now);
        self.report(name, now);
    }

    fn activate(
        &mut self,
        order: &RunOrder,
        directory: StoreDirectory,
        modified: (i64, u64),
        now: u64,
    ) {
        self.switch_control(order.has_points);
        self.runs.begin(&order.run, directory, modified, now);
        if order.devices {
            self.begin_requests(order, now);
        }
    }

    fn begin_requests(&mut self, order: &RunOrder, now: u64) {
        let begun = if may_have_requests(order) {
            self.sampler.requests.begin(now)
        } else {
            Err("only the collector's own user may ask for them, for they cost everybody".into())
        };
        if let Err(why) = begun {
            self.say_of_devices(&why);
        }
    }

    /// To the runs that asked for requests to devices: why there are none.
    fn say_of_devices(&mut self, why: &str) {
        let known = &self.pipeline.state().owners.runs;
        for (name, active) in &mut self.runs.active {
            if known.get(name).is_some_and(|run| run.order.devices) {
                log(&format!("run {name}: requests to devices: {why}"));
                active.devices = format!("requests to devices: {why}");
            }
        }
    }

    fn finish_run(&mut self, name: &str, now: u64, message: &str) {
        let active = self.runs.active.get_mut(name);
        if active.is_some_and(|run| run.finish(name, message, now)) {
            self.report(name, now);
        }
    }

    /// Moves each run on, and reports each second where it is.
    fn advance_runs(&mut self, looks_for_deaths: bool, now: u64) {
        for name in self.runs.names() {
            let Some(active) = self.runs.active.get(&name) else { continue };
            match active.phase {
                Phase::Waiting { .. } => self.advance_waiting(&name, now),
                Phase::Recording if looks_for_deaths => self.check_recorder(&name, now),
                Phase::Recording => {}
                Phase::Finishing { .. } => self.advance_finishing(&name, now),
            }
            if self.runs.active.get(&name).is_some_and(|run| run.is_report_due(now)) {
                self.report(&name, now);
            }
        }
    }

    fn advance_waiting(&mut self, name: &str, now: u64) {
        let Some(run) = self.pipeline.state().owners.runs.get(name) else { return };
        let (word, uid) = (self.directory.control.word(), run.order.uid);
        let active = self.runs.active.get_mut(name);
        let native = active.as_ref().is_some_and(|run| run.waits_for_native(now));
        let silent = self.sources.behind(word, uid, native);
        if active.is_some_and(|run| run.record(name, &silent, now)) {
            self.report(name, now);
        }
    }

    fn check_recorder(&mut self, name: &str, now: u64) {
        let Some(run) = self.pipeline.state().owners.runs.get(name) else { return };
        let (pid, start) = run.order.recorder();
        if pid != 0 && !is_alive(pid, Some(start)) {
            self.finish_run(name, now, &format!("the recorder (pid {pid}) ended without a stop"));
        }
    }

    fn advance_finishing(&mut self, name: &str, now: u64) {
        let state = self.pipeline.state();
        let has_processes = state.processes.values().any(|process| {
            let run = state.owners.run_of_process(process);
            process.end.is_none() && run.is_some_and(|run| run.order.run == name)
        });
        let owner = state.owners.runs.get(name).map(|run| run.order.uid);
        let has_more = has_processes || owner.is_some_and(|uid| self.sources.are_crowded(uid));
        let grace = self.options.grace.as_nanos() as u64;
        let active = self.runs.active.get_mut(name);
        if active.is_some_and(|run| run.is_at_end(has_more, grace, now)) {
            self.end_run(name, now);
        }
    }

    /// Reads everything once more and marks the run's end; the rotation that follows publishes it.
    fn end_run(&mut self, name: &str, now: u64) {
        let uid = self.pipeline.state().owners.runs.get(name).map(|run| run.order.uid);
        self.drain(uid, now);
        self.sampler.sample(&mut self.pipeline);
        let Some(run) = self.pipeline.state().owners.runs.get(name) else { return };
        let active = self.runs.active.get(name).map(ActiveRun::said);
        let message = [active.unwrap_or_default(), self.unread(run.order.uid)].join("");
        // of now, not of this round's begin: the last sample is within the run
        let ended = clock::monotonic();
        let order = RunOrder { ended: true, now: ended, message, ..run.order.clone() };
        if self.pipeline.commit_json(BlockKind::Run, &order) {
            self.runs.end(name, now);
            let mut others = self.pipeline.state().owners.runs.values();
            if !others.any(|run| may_have_requests(&run.order) && !run.order.ended) {
                self.sampler.requests.end();
            }
            // before agents look again: its points end with it
            orders::remove(&self.directory.runs, name, &["points"]);
            self.switch_control(order.has_points);
        }
    }

    /// Publishes in between where the spool has no room for all that there is to read.
    fn drain(&mut self, uid: Option<u32>, now: u64) {
        for _ in 0..50 {
            self.sources.drain(self.directory.handle.as_fd(), &mut self.pipeline, uid, now);
            if !self.pipeline.is_full() || self.rotate(now).is_err() {
                return;
            }
        }
    }

    /// On while a run is, in the detail that the one needs that needs most, but for the points that
    /// one of them wants off. `renewed`: points of users have come or gone, and agents have to look.
    fn switch_control(&mut self, renewed: bool) {
        let runs = self.pipeline.state().owners.runs.values();
        let orders = runs.map(|run| &run.order).filter(|order| !order.ended);
        let Some(detail) = orders.clone().map(RunOrder::detail).reduce(Detail::and) else {
            return self.directory.control.off();
        };
        let off: Vec<u16> = orders.flat_map(|order| order.points_off.clone()).collect();
        self.directory.control.on(detail, off, renewed);
    }

    /// Publishes all rows and begins the next spool file.
    fn rotate(&mut self, now: u64) -> Result<()> {
        let (state, number) = (self.pipeline.state(), self.pipeline.number());
        let published = self.publisher.publish(state, number, &|uid| self.sources.serves(uid))?;
        self.pipeline.count(&published.parts);
        for (run, why) in &published.broken {
            self.give_up(run, why, now);
        }
        self.conclude_runs(now);
        let sources = &self.sources;
        self.pipeline
            .rotate(&published.parts, |proc| sources.has(proc))
            .context("cannot begin the next spool file")?;
        self.publisher.rotated(now);
        let over =
            self.publisher.over_share(self.pipeline.state(), &|uid| self.sources.serves(uid));
        for (name, why) in over {
            self.finish_run(&name, now, &why);
        }
        Ok(())
    }

    /// A run that cannot be published ends, and says why.
    fn give_up(&mut self, name: &str, why: &str, now: u64) {
        if self.runs.active.contains_key(name) {
            return self.finish_run(name, now, why);
        }
        let known = self.pipeline.state().owners.runs.get(name);
        let Some(order) = known.map(|run| &run.order) else { return };
        log(&format!("run {name}: {why}"));
        let message = [order.message.as_str(), why].join("; ");
        let message = message.trim_start_matches("; ").to_owned();
        self.pipeline.commit_json(BlockKind::Run, &RunOrder { message, ..order.clone() });
    }

    /// Ends all runs as if they were stopped, publishes, and leaves the directory.
    pub fn stop(&mut self) -> Result<()> {
        let now = clock::monotonic();
        for name in self.runs.names() {
            self.finish_run(&name, now, "the collector was stopped");
            self.end_run(&name, now);
        }
        self.drain(None, now);
        let published = self.rotate(clock::monotonic());
        self.directory.leave();
        let rejected = &self.pipeline.state().rejected;
        log(&format!(
            "ended: rejected files={} slots={} names={} rows={} blocks={}",
            self.sources.rejected + self.orders.rejected,
            rejected.slots,
            rejected.names,
            rejected.rows,
            rejected.blocks
        ));
        published
    }
}

/// An event costs whoever makes a request, so that users cannot ask a collector of all for them.
fn may_have_requests(order: &RunOrder) -> bool {
    order.devices && order.uid == rustix::process::geteuid().as_raw()
}
