//! Which process a thread is of.

use std::collections::HashMap;

use super::super::procfs;

/// Threads that are remembered; then all are forgotten.
const MOST: usize = 1 << 16;

/// A process by its pid and its start (clock ticks), 0 where nobody knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Asker {
    pub pid: u32,
    pub start: u64,
}

/// Somebody began a thread of its own process, or another process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpawnEvent {
    /// `CLOCK_MONOTONIC` ns.
    pub time: u64,
    pub creator: u32,
    pub tid: u32,
    pub is_thread: bool,
}

/// By thread. One that gets the id of another is told by the event of its begin.
#[derive(Debug)]
pub struct Askers {
    known: HashMap<u32, Asker>,
    look: fn(u32) -> Asker,
}

impl Default for Askers {
    fn default() -> Askers {
        Askers::new(look)
    }
}

impl Askers {
    pub fn new(look: fn(u32) -> Asker) -> Askers {
        Askers { known: HashMap::new(), look }
    }

    pub fn of(&mut self, tid: u32) -> Asker {
        if self.known.len() >= MOST {
            self.known.clear();
        }
        *self.known.entry(tid).or_insert_with(|| (self.look)(tid))
    }

    /// A thread may have ended before anybody asks, so it is noted as it begins.
    pub fn spawned(&mut self, event: SpawnEvent) {
        if event.is_thread {
            let asker = self.of(event.creator);
            self.known.insert(event.tid, asker);
        } else {
            self.known.remove(&event.tid);
        }
    }
}

/// Of one that has gone it is taken as the first thread of its process. A process that has pids of
/// its own (a container) is none that has the same pid out here, which the start tells.
fn look(tid: u32) -> Asker {
    let pid = procfs::process(tid).unwrap_or(tid);
    Asker { pid, start: procfs::stat(pid).map_or(0, |stat| stat.start) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_one_of_its_process() {
        let tid = rustix::thread::gettid().as_raw_nonzero().get() as u32;
        let pid = std::process::id();
        assert_eq!(look(tid), Asker { pid, start: procfs::started(pid).unwrap() });
        assert_eq!(look(u32::MAX), Asker { pid: u32::MAX, start: 0 });
    }

    #[test]
    fn what_begins_is_known_after_it_has_ended() {
        let mut askers = Askers::new(|tid| Asker { pid: tid, start: 9 });
        let spawn = |creator, tid, is_thread| SpawnEvent { time: 0, creator, tid, is_thread };
        askers.spawned(spawn(5, 6, true));
        askers.spawned(spawn(6, 7, true));
        assert_eq!(askers.of(7), Asker { pid: 5, start: 9 });
        askers.spawned(spawn(5, 7, false)); // the id is given again, to a process
        assert_eq!(askers.of(7), Asker { pid: 7, start: 9 });
    }
}
