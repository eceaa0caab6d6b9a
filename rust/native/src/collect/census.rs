//! Which JVMs of a run should be traced, from `/proc`.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::Read;

use super::block::{self, Kind};
use super::ids;
use super::order::{Run, Seen};
use super::{Collector, SECOND, hosts};
use crate::clock;

/// A process this young may still become a JVM by exec, ns.
const YOUNG: u64 = 5 * SECOND;
/// From fork to exec is less, also on a busy machine.
const FORK: u64 = 2 * SECOND;

#[derive(Debug, Default)]
pub struct Census {
    /// By pid.
    people: HashMap<u32, Person>,
}

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
    descends: HashSet<(u32, u64)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Jvm {
    main: String,
    attempt: String,
    container: String,
}

/// Whether a process is neither traced nor noted.
type IsNews<'a> = dyn Fn(u32, &Person) -> bool + 'a;

/// The fields of `/proc/PID/stat` that matter here.
struct Stat {
    comm: String,
    parent: u32,
    start: u64,
    is_dead: bool,
}

/// Whether the process lives; with `start` (clock ticks), whether it is still the same one.
pub fn is_alive(pid: u32, start: Option<u64>) -> bool {
    stat(pid).is_some_and(|stat| !stat.is_dead && start.is_none_or(|start| start == stat.start))
}

/// When a process began, in clock ticks since boot.
#[cfg(test)]
pub fn started(pid: u32) -> Option<u64> {
    stat(pid).map(|stat| stat.start)
}

fn stat(pid: u32) -> Option<Stat> {
    // One read gets the whole line; what reads files to their end asks for size and end as well.
    let mut line = [0; 1024];
    let length = fs::File::open(format!("/proc/{pid}/stat")).ok()?.read(&mut line).ok()?;
    let text = String::from_utf8_lossy(&line[..length]);
    // the command's name may hold spaces and brackets
    let (head, fields) = text.rsplit_once(") ")?;
    let fields: Vec<&str> = fields.split(' ').collect();
    let threads: u32 = fields.get(17)?.parse().ok()?;
    let state = *fields.first()?;
    Some(Stat {
        comm: head.split_once('(')?.1.to_owned(),
        parent: fields.get(1)?.parse().ok()?,
        start: fields.get(19)?.parse().ok()?,
        // a zombie with threads is a process whose first thread ended
        is_dead: matches!(state, "Z" | "X" | "x") && threads <= 1,
    })
}

impl Collector<'_> {
    /// Looks for JVMs that belong to active runs and notes those that are not traced.
    pub(super) fn take_census(&mut self, now: u64) {
        if self.state.runs.is_empty() {
            self.census.people.clear();
            return;
        }
        let recorders: Vec<(u32, u64)> = self.state.runs.values().map(recorder).collect();
        self.census.look(&recorders, now);
        let traced: HashSet<(u32, u64)> =
            self.sources.values().map(|source| (source.pid, source.pid_start)).collect();
        let mut blocks = Vec::new();
        for run in self.state.runs.values() {
            // the recorder knows roles better than command lines tell: its word comes first
            let mut noted = HashSet::new();
            let is_news = |pid: u32, person: &Person| {
                !traced.contains(&(pid, person.start))
                    && !run.seen.contains_key(&Seen::key_of(pid, person.start))
            };
            let expected = self.expected(run, &is_news, now);
            for seen in expected.into_iter().chain(self.census.of(run, self, &is_news, now)) {
                if noted.insert(seen.key()) {
                    block::push_json(&mut blocks, Kind::Seen, &seen);
                }
            }
            for seen in run.seen.values().filter(|seen| seen.end == 0) {
                if !is_alive(seen.pid, Some(seen.pid_start)) {
                    let ended = Seen { end: now, ..seen.clone() };
                    block::push_json(&mut blocks, Kind::Seen, &ended);
                }
            }
        }
        self.commit(&blocks);
    }

    /// The processes that the recorder named.
    fn expected(&self, run: &Run, is_news: &IsNews<'_>, now: u64) -> Vec<Seen> {
        let seen = run.order.expect.iter().filter_map(|(role, pid)| {
            let person = self.census.people.get(pid).filter(|person| is_news(*pid, person))?;
            let main = jvm(*pid).map(|jvm| jvm.main).unwrap_or_default();
            let run = run.order.run.clone();
            let (role, pid, pid_start, uid) = (role.clone(), *pid, person.start, uid(*pid)?);
            let (reason, host) = (self.reason(pid, uid), hosts::of(pid, pid_start));
            Some(Seen {
                run,
                pid,
                pid_start,
                uid,
                role,
                main,
                reason,
                host,
                now,
                ..Seen::default()
            })
        });
        seen.collect()
    }

    /// Why a process is not traced.
    fn reason(&self, pid: u32, uid: u32) -> String {
        let own = rustix::process::geteuid();
        if !own.is_root() && own.as_raw() != uid {
            return format!("not readable: uid {uid}");
        }
        let prefix = format!("{uid}/{pid}-");
        let refused = self.looked_at.iter().any(|(path, entry)| {
            path.starts_with(&prefix) && matches!(entry, super::poll::Entry::Refused)
        });
        if refused { "agent refused: its files are not valid".into() } else { "no agent".into() }
    }
}

fn recorder(run: &Run) -> (u32, u64) {
    (run.order.recorder_pid, run.order.recorder_start)
}

impl Census {
    fn look(&mut self, recorders: &[(u32, u64)], now: u64) {
        let Ok(listing) = fs::read_dir("/proc") else { return };
        let pids: HashSet<u32> = listing
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .collect();
        self.people.retain(|pid, _| pids.contains(pid));
        let asleep = clock::since_boot().saturating_sub(now);
        let tick = SECOND / rustix::param::clock_ticks_per_second();
        let mut fresh = Vec::new();
        for pid in pids {
            let known = self.people.get(&pid);
            if known.is_some_and(|person| now.saturating_sub(person.born) > YOUNG) {
                continue;
            }
            let Some(stat) = stat(pid) else { continue };
            let same = known.filter(|person| person.start == stat.start);
            let descends = same.map(|person| person.descends.clone()).unwrap_or_default();
            let jvm = if stat.comm == "java" { jvm(pid) } else { None };
            let uid = jvm.as_ref().and_then(|_| uid(pid)).unwrap_or(u32::MAX);
            let (start, parent) = (stat.start, stat.parent);
            let born = (start * tick).saturating_sub(asleep);
            self.people.insert(pid, Person { start, born, parent, uid, jvm, descends });
            fresh.push(pid);
        }
        for pid in fresh {
            let found = self.ancestry(pid, recorders);
            if let Some(person) = self.people.get_mut(&pid) {
                person.descends.extend(found);
            }
        }
    }

    fn ancestry(&self, pid: u32, recorders: &[(u32, u64)]) -> HashSet<(u32, u64)> {
        let mut found = HashSet::new();
        let mut next = self.people.get(&pid).map(|person| person.parent);
        for _ in 0..64 {
            let Some((pid, person)) = next.and_then(|pid| Some((pid, self.people.get(&pid)?)))
            else {
                break;
            };
            found.extend(recorders.iter().filter(|r| **r == (pid, person.start)));
            found.extend(person.descends.iter());
            next = Some(person.parent);
        }
        found
    }

    /// JVMs of a run: below its recorder, or containers of its jobs.
    fn of(
        &self,
        run: &Run,
        collector: &Collector<'_>,
        is_news: &IsNews<'_>,
        now: u64,
    ) -> Vec<Seen> {
        let mut found = Vec::new();
        for (pid, person) in &self.people {
            let Some(jvm) = person.jvm.as_ref().filter(|_| is_news(*pid, person)) else { continue };
            let parent = self.people.get(&person.parent).and_then(|parent| parent.jvm.as_ref());
            if parent == Some(jvm) && now.saturating_sub(person.born) < FORK {
                continue; // still the image of the JVM that forked it to run something else
            }
            let name = &run.order.run;
            let claims = &collector.state.claims;
            let claimed = [&jvm.attempt, &jvm.container]
                .into_iter()
                .find_map(|id| claims.run_of_job(id).filter(|(owner, _)| *owner == name));
            if claimed.is_none() && !person.descends.contains(&recorder(run)) {
                continue;
            }
            found.push(Seen {
                run: name.clone(),
                pid: *pid,
                pid_start: person.start,
                uid: person.uid,
                role: ids::role(&jvm.main, &jvm.attempt).to_owned(),
                main: jvm.main.clone(),
                job: claimed.map(|(_, job)| job.to_owned()).unwrap_or_default(),
                task: jvm.attempt.clone(),
                container: jvm.container.clone(),
                reason: collector.reason(*pid, person.uid),
                host: hosts::of(*pid, person.start),
                now,
                end: 0,
            });
        }
        found
    }
}

/// Who a JVM is, from its command line; `None` where that cannot be read or has no main class.
fn jvm(pid: u32) -> Option<Jvm> {
    let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let line = String::from_utf8_lossy(&line);
    let arguments: Vec<&str> = line.split('\0').collect();
    let main = ids::main_class(arguments.iter().copied()).to_owned();
    if main.is_empty() {
        return None;
    }
    let attempt = arguments.iter().find(|argument| argument.starts_with("attempt_"));
    let container = arguments.iter().find_map(|argument| {
        let found = &argument[argument.find("container_")?..];
        let end = found.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        Some(found[..end.unwrap_or(found.len())].to_owned())
    });
    Some(Jvm {
        main,
        attempt: attempt.map(|attempt| (*attempt).to_owned()).unwrap_or_default(),
        container: container.unwrap_or_default(),
    })
}

fn uid(pid: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
