//! CPU time of single threads: of those that have made a call, by the scheduler's account.

use std::collections::HashMap;

use rustix::thread::gettid;

use super::scheduler::Times;
use super::{Process, locked};
use crate::schema::CATEGORY_THREAD_TIME;

/// Threads that have ended since the last look, of which the times are kept.
const MOST_ENDED: usize = 1000;
/// ns; less is not worth a row.
const LEAST: u64 = 1_000_000;

/// What a thread took while something was recorded, or so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ThreadTime {
    /// The kernel's.
    pub id: u32,
    tid: u64,
    name: String,
    /// `CLOCK_MONOTONIC` ns; `None`: it lives on.
    end: Option<u64>,
    pub of: Times,
}

impl ThreadTime {
    pub fn is_worth_a_row(&self) -> bool {
        self.of.cpu + self.of.queued >= LEAST
    }
}

/// Threads that have made a call, by the kernel's id.
#[derive(Debug, Default)]
pub(super) struct NamedThreads {
    living: HashMap<u32, NamedThread>,
    ended: Vec<ThreadTime>,
}

#[derive(Debug)]
struct NamedThread {
    tid: u64,
    name: String,
    /// Virtual threads take turns on it: what it took is none's.
    is_carrier: bool,
}

impl NamedThreads {
    fn begins(&mut self, id: u32, tid: u64, name: &str) {
        let is_carrier = self.living.get(&id).is_some_and(|other| other.tid != tid);
        self.living.insert(id, NamedThread { tid, name: name.to_owned(), is_carrier });
    }

    /// By itself; `at`: what it has taken until now.
    fn ends(&mut self, id: u32, tid: u64, now: u64, at: Option<Times>) {
        if let Some(known) = self.living.get_mut(&id) {
            known.is_carrier |= known.tid != tid;
        }
        self.stops(id, now, at);
    }

    /// Likewise, where nobody knows of which log it is.
    fn stops(&mut self, id: u32, now: u64, at: Option<Times>) {
        let of_none = |known: &NamedThread| known.is_carrier;
        if self.living.get(&id).is_none_or(of_none) {
            return;
        }
        let Some(NamedThread { tid, name, .. }) = self.living.remove(&id) else { return };
        let room = self.ended.len() < MOST_ENDED;
        let end = Some(now);
        self.ended.extend(at.filter(|_| room).map(|of| ThreadTime { id, tid, name, end, of }));
    }

    /// Another thread ends its log: what it took is not known, if it has not said so.
    fn forget(&mut self, id: u32, tid: u64) {
        if self.living.get(&id).is_some_and(|known| known.tid == tid && !known.is_carrier) {
            self.living.remove(&id);
        }
    }

    /// Those that have ended since it was asked last.
    pub fn ended(&mut self) -> Vec<ThreadTime> {
        std::mem::take(&mut self.ended)
    }

    /// Those that have not, of which something is known.
    pub fn living(&self, of: impl Fn(u32) -> Option<Times>) -> impl Iterator<Item = ThreadTime> {
        let own = self.living.iter().filter(|(_, thread)| !thread.is_carrier);
        own.filter_map(move |(id, thread)| {
            let (tid, name, end) = (thread.tid, thread.name.clone(), None);
            Some(ThreadTime { id: *id, tid, name, end, of: of(*id)? })
        })
    }
}

impl Process {
    /// The thread that asks makes its first call. The kernel's id of it.
    pub(super) fn thread_begins(&self, tid: u64, name: &str) -> u32 {
        let id = kernel_id();
        if !self.is_forked() {
            locked(&self.named_threads).begins(id, tid, name);
        }
        id
    }

    /// It makes none any more; another thread may say so, which does not know what it took.
    pub(super) fn thread_ends(&self, id: u32, tid: u64) {
        if self.is_forked() {
            return;
        }
        if id == kernel_id() {
            let at = self.times_here();
            locked(&self.named_threads).ends(id, tid, self.now(), at);
        } else {
            locked(&self.named_threads).forget(id, tid);
        }
    }

    /// The thread that asks makes no call any more, whose log another thread will end.
    pub fn thread_stops(&self) {
        let id = kernel_id();
        if !self.is_forked() && locked(&self.named_threads).living.contains_key(&id) {
            let at = self.times_here();
            locked(&self.named_threads).stops(id, self.now(), at);
        }
    }

    fn times_here(&self) -> Option<Times> {
        if self.records() { Times::of_this_thread() } else { None }
    }

    pub(super) fn write_thread_times(&self, times: Vec<ThreadTime>) {
        for ThreadTime { tid, name, end, of, .. } in times {
            let end = end.unwrap_or_else(|| self.now());
            let text = format!("{tid}\t{end}\t{}\t{}\t{name}", of.cpu, of.queued);
            self.name(CATEGORY_THREAD_TIME, &text);
        }
    }
}

fn kernel_id() -> u32 {
    gettid().as_raw_nonzero().get().cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(cpu: u64) -> Times {
        Times { cpu, queued: 0 }
    }

    #[test]
    fn who_has_ended_is_named_once_and_who_lives_as_often_as_asked() {
        let mut named = NamedThreads::default();
        named.begins(7, 1, "main");
        named.begins(8, 2, "pool");
        named.ends(8, 2, 99, Some(at(5)));
        let pool = ThreadTime { id: 8, tid: 2, name: "pool".into(), end: Some(99), of: at(5) };
        assert_eq!((named.ended(), named.ended()), (vec![pool], vec![]));
        let living: Vec<_> = named.living(|id| Some(at(u64::from(id)))).collect();
        let main = ThreadTime { id: 7, tid: 1, name: "main".into(), end: None, of: at(7) };
        assert_eq!(living, [main]);
        assert_eq!(named.living(|_| None).count(), 0);
    }

    #[test]
    fn of_a_carrier_of_virtual_threads_nothing_is_said() {
        let mut named = NamedThreads::default();
        named.begins(7, 1, "virtual-1");
        named.begins(7, 2, "virtual-2");
        named.ends(7, 2, 99, Some(at(5)));
        named.ends(7, 1, 99, Some(at(5)));
        assert_eq!((named.ended(), named.living(|_| Some(at(1))).count()), (vec![], 0));
    }

    #[test]
    fn what_another_thread_ends_has_no_time() {
        let mut named = NamedThreads::default();
        named.begins(7, 1, "gone");
        named.forget(7, 1);
        assert_eq!((named.ended(), named.living(|_| Some(at(1))).count()), (vec![], 0));
        // but the kernel has given its id to a new one
        named.begins(7, 1, "gone");
        named.stops(7, 99, Some(at(5)));
        named.begins(7, 2, "new");
        named.forget(7, 1);
        let tids = |times: Vec<ThreadTime>| times.iter().map(|time| time.tid).collect::<Vec<_>>();
        assert_eq!(tids(named.ended()), [1]);
        assert_eq!(tids(named.living(|_| Some(at(1))).collect()), [2]);
    }
}
