//! Which JVMs of a run should be traced, from `/proc`.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use super::block::{self, BlockKind};
use super::hosts;
use super::pipeline::Pipeline;
use super::procfs::{self, Jvm, is_alive};
use super::sources::Sources;
use super::untraced;
use crate::clock::{self, SECOND};
use crate::model::claims::Claims;
use crate::model::ids;
use crate::model::run::{Run, UntracedProcess};

/// A process this young may still become a JVM by exec, ns.
const YOUNG: u64 = 5 * SECOND;
/// From fork to exec is less, also on a busy machine.
const FORK: u64 = 2 * SECOND;
/// The native writer keeps such a child out of its parent's files.
const FORKED: &str = "a child of a traced JVM that called no exec";

/// Pid and start of a process.
type ProcessKey = (u32, u64);
/// Why a process is not traced: of its pid and uid, and whether it is below the recorder.
type Why<'a> = &'a dyn Fn(u32, u32, bool) -> String;

#[derive(Debug, Default)]
pub struct Census {
    /// By pid.
    people: HashMap<u32, Person>,
    /// When all processes were listed, `CLOCK_MONOTONIC` ns; since then there may be others.
    listed: u64,
    changed: bool,
    /// The pid that had been given last before the last look.
    last_pid: Option<u32>,
    /// From then on none of them may still become a JVM.
    settled: u64,
}

/// A process of this machine.
#[derive(Debug, Clone)]
struct Person {
    /// Clock ticks since boot.
    start: u64,
    /// The same as `CLOCK_MONOTONIC`, ns.
    born: u64,
    parent: u32,
    /// Of a JVM.
    uid: u32,
    jvm: Option<Jvm>,
    /// Recorders that it descends from, found when it was first seen: parents may end.
    recorders: HashSet<ProcessKey>,
}

impl Person {
    /// What a recorder started before a run, such as a lab, is none of what it records.
    fn is_started_by(&self, run: &Run) -> bool {
        // the kernel says the tick in which it was born
        let latest = self.born + SECOND / rustix::param::clock_ticks_per_second();
        latest >= run.began && self.recorders.contains(&run.order.recorder())
    }
}

impl Census {
    /// Looks for JVMs that belong to active runs and notes those that are not traced.
    ///
    /// `dir`: where traced ones write.
    pub fn take(&mut self, pipeline: &mut Pipeline, sources: &Sources, dir: &Path, now: u64) {
        let owners = &pipeline.state().owners;
        if owners.runs.is_empty() {
            *self = Census::default();
            return;
        }
        let recorders: Vec<_> = owners.runs.values().map(|run| run.order.recorder()).collect();
        self.look(&recorders, now);
        let traced = sources.processes();
        let mut blocks = Vec::new();
        for run in owners.runs.values() {
            // the recorder knows roles better than command lines tell: its word comes first
            let mut noted = HashSet::new();
            let is_news = |pid: u32, person: &Person| {
                !traced.contains(&(pid, person.start))
                    && !run.untraced.contains_key(&UntracedProcess::key_of(pid, person.start))
            };
            let why = |pid, uid, inherits| reason(sources, pid, uid, dir, inherits);
            let expected = self.expected(run, &why, &is_news);
            let own = self.jvms_of(run, &owners.claims, &why, &is_news, now);
            for process in expected.into_iter().chain(own) {
                if noted.insert(process.key()) {
                    let process = UntracedProcess { now, ..process };
                    block::push_json(&mut blocks, BlockKind::Untraced, &process);
                }
            }
            for process in run.untraced.values().filter(|process| process.end == 0) {
                if !is_alive(process.pid, Some(process.pid_start)) {
                    let ended = UntracedProcess { end: now, ..process.clone() };
                    block::push_json(&mut blocks, BlockKind::Untraced, &ended);
                    continue;
                }
                // it may have been noted before its files were there
                let why = sources.why_unread(process.uid, process.pid);
                if let Some(why) = why.filter(|why| *why != process.reason) {
                    let known = UntracedProcess { reason: why.into(), ..process.clone() };
                    block::push_json(&mut blocks, BlockKind::Untraced, &known);
                }
            }
        }
        pipeline.commit(&blocks);
    }

    fn look(&mut self, recorders: &[ProcessKey], now: u64) {
        let asleep = clock::since_boot().saturating_sub(now);
        let tick = SECOND / rustix::param::clock_ticks_per_second();
        let mut fresh = Vec::new();
        for pid in self.pids(recorders, now) {
            let known = self.people.get(&pid);
            if known.is_some_and(|person| now.saturating_sub(person.born) > YOUNG) {
                continue;
            }
            let Some(stat) = procfs::stat(pid) else { continue };
            let same = known.filter(|person| person.start == stat.start);
            let recorders = same.map(|person| person.recorders.clone()).unwrap_or_default();
            let jvm = if stat.comm == "java" { procfs::jvm(pid) } else { None };
            let uid = jvm.as_ref().and_then(|_| procfs::uid(pid)).unwrap_or(u32::MAX);
            let (start, parent) = (stat.start, stat.parent);
            let born = (start * tick).saturating_sub(asleep);
            self.people.insert(pid, Person { start, born, parent, uid, jvm, recorders });
            fresh.push(pid);
            // one more look once none is young
            self.settled = self.settled.max(born + YOUNG + SECOND);
        }
        for pid in fresh {
            let above = self.recorders_above(pid, recorders);
            if let Some(person) = self.people.get_mut(&pid) {
                person.recorders.extend(above);
            }
        }
    }

    /// Processes to look at: once a second all, and between what recorders have started, because a
    /// second later a parent may have ended. None where no process can be new.
    fn pids(&mut self, recorders: &[ProcessKey], now: u64) -> Vec<u32> {
        let last = procfs::last_pid();
        let is_new = last.is_none() || last != self.last_pid;
        self.last_pid = last;
        self.changed |= is_new || now <= self.settled;
        if now - self.listed < SECOND && procfs::lists_children() {
            return if is_new { self.descendants(recorders) } else { Vec::new() };
        }
        self.listed = now;
        if !std::mem::take(&mut self.changed) {
            return Vec::new();
        }
        let Ok(listing) = fs::read_dir("/proc") else { return Vec::new() };
        let pids: HashSet<u32> = listing
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .collect();
        self.people.retain(|pid, _| pids.contains(pid));
        pids.into_iter().collect()
    }

    /// What recorders, and what is no JVM among that, have started from their first threads.
    fn descendants(&self, recorders: &[ProcessKey]) -> Vec<u32> {
        let mut found = Vec::new();
        let mut parents: Vec<u32> = recorders.iter().map(|(pid, _)| *pid).collect();
        while let Some(parent) = parents.pop() {
            for pid in procfs::children(parent) {
                if self.people.get(&pid).is_none_or(|person| person.jvm.is_none()) {
                    parents.push(pid);
                    found.push(pid);
                }
            }
        }
        found
    }

    fn recorders_above(&self, pid: u32, recorders: &[ProcessKey]) -> HashSet<ProcessKey> {
        let mut above = HashSet::new();
        let mut next = self.people.get(&pid).map(|person| person.parent);
        for _ in 0..64 {
            let Some((pid, person)) = next.and_then(|pid| Some((pid, self.people.get(&pid)?)))
            else {
                break;
            };
            above.extend(recorders.iter().filter(|r| **r == (pid, person.start)));
            above.extend(person.recorders.iter());
            next = Some(person.parent);
        }
        above
    }

    /// The processes that the recorder named, of those that are news.
    fn expected(
        &self,
        run: &Run,
        why: Why<'_>,
        is_news: &dyn Fn(u32, &Person) -> bool,
    ) -> Vec<UntracedProcess> {
        let expected = run.order.expect.iter().filter_map(|(role, pid)| {
            let person = self.people.get(pid).filter(|person| is_news(*pid, person))?;
            let uid = procfs::uid(*pid)?;
            Some(UntracedProcess {
                run: run.order.run.clone(),
                pid: *pid,
                pid_start: person.start,
                uid,
                role: role.clone(),
                main: procfs::jvm(*pid).map(|jvm| jvm.main).unwrap_or_default(),
                reason: why(*pid, uid, false),
                host: hosts::of(*pid, person.start),
                ..UntracedProcess::default()
            })
        });
        expected.collect()
    }

    /// JVMs of a run, of those that are news: below its recorder, or containers of its jobs.
    fn jvms_of(
        &self,
        run: &Run,
        claims: &Claims,
        why: Why<'_>,
        is_news: &dyn Fn(u32, &Person) -> bool,
        now: u64,
    ) -> Vec<UntracedProcess> {
        let jvms = self.people.iter().filter_map(|(pid, person)| {
            let jvm = person.jvm.as_ref().filter(|_| is_news(*pid, person))?;
            let parent = self.people.get(&person.parent).and_then(|parent| parent.jvm.as_ref());
            let is_image = parent == Some(jvm);
            if is_image && now.saturating_sub(person.born) < FORK {
                return None; // still the image of the JVM that forked it to run something else
            }
            let name = &run.order.run;
            let claimed = [&jvm.attempt, &jvm.container]
                .into_iter()
                .find_map(|id| claims.run_of_job(id).filter(|(owner, _)| *owner == name));
            let is_below = person.is_started_by(run);
            if claimed.is_none() && !is_below {
                return None;
            }
            Some(UntracedProcess {
                run: name.clone(),
                pid: *pid,
                pid_start: person.start,
                uid: person.uid,
                role: ids::role(&jvm.main, &jvm.attempt).to_owned(),
                main: jvm.main.clone(),
                job: claimed.map(|(_, job)| job.to_owned()).unwrap_or_default(),
                task: jvm.attempt.clone(),
                container: jvm.container.clone(),
                reason: if is_image && is_single(*pid) {
                    FORKED.to_owned()
                } else {
                    why(*pid, person.uid, is_below)
                },
                host: hosts::of(*pid, person.start),
                ..UntracedProcess::default()
            })
        });
        jvms.collect()
    }
}

/// Whether it has one thread, as what native code has forked; a JVM has more.
fn is_single(pid: u32) -> bool {
    procfs::stat(pid).is_some_and(|stat| stat.threads == 1)
}

/// Why a process is not traced.
fn reason(sources: &Sources, pid: u32, uid: u32, dir: &Path, inherits: bool) -> String {
    let own = rustix::process::geteuid();
    if !own.is_root() && own.as_raw() != uid {
        return format!("not readable: uid {uid}");
    }
    if let Some(why) = sources.why_unread(uid, pid) {
        return why.into();
    }
    untraced::reason(pid, dir, inherits)
}
