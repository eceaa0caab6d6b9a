//! What the scheduler says of the threads of this process: the CPU time of those that are the JVM's
//! own, how long all others waited for a CPU when they could run, and what each took that has made a
//! call.

use std::collections::HashMap;
use std::fs;
use std::os::fd::OwnedFd;
use std::sync::Mutex;

use rustix::fs::{Mode, OFlags};

use super::cgroup::Throttling;
use super::locked;
use super::thread_times::{NamedThreads, ThreadTime};
use crate::process::Scheduled;

/// How names of threads begin that the JVM starts for itself: compilers.
const COMPILERS: [&str; 3] = ["C1 Compiler", "C2 Compiler", "JVMCI"];
/// Garbage collectors, and what stops and watches the others. The kernel keeps 15 bytes of a name.
const OTHERS_OF_JVM: [&str; 10] = [
    "GC Thread",
    "G1 ",
    "VM Thread",
    "VM Periodic",
    "Sweeper thread",
    "Shenandoah GC",
    "ZDirector",
    "ZDriver",
    "ZWorker",
    "Concurrent Mark",
];
/// A look takes some microseconds a thread: no more than these are looked at in a window, of a
/// second, on average.
const EACH_WINDOW: usize = 32;
/// Threads of a process whose own times are handed out in a recording.
const MOST_LISTED: usize = 1000;

/// Since the process started, while something was recorded.
#[derive(Debug, Default)]
pub(super) struct SchedulerAccount {
    sum: Scheduled,
    /// By thread id; empty outside of a recording.
    threads: HashMap<u32, Thread>,
    looks: u32,
    /// Windows until the next one.
    left: usize,
    /// Times of threads that were handed out in this recording.
    listed: usize,
    throttling: Throttling,
}

#[derive(Debug)]
struct Thread {
    whose: Whose,
    /// When the recording began; 0: it has begun since.
    base: Times,
    at: Times,
    /// The last that has seen it.
    look: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    Compiler,
    Jvm,
    Program,
}

/// ns, of the text of `/proc/PID/task/TID/schedstat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Times {
    pub cpu: u64,
    pub queued: u64,
}

impl Times {
    /// Of the thread that asks.
    pub fn of_this_thread() -> Option<Times> {
        fs::read_to_string("/proc/thread-self/schedstat").as_deref().ok().and_then(times)
    }

    fn since(self, before: Times) -> Times {
        Times {
            cpu: self.cpu.saturating_sub(before.cpu),
            queued: self.queued.saturating_sub(before.queued),
        }
    }
}

impl SchedulerAccount {
    /// A window ends, and the next one begins if `records`: the account so far, and the times of
    /// threads that have ended in it, or of all with their recording. What any other did since the
    /// last look before its end is missing.
    pub fn look(
        &mut self,
        records: bool,
        named: &Mutex<NamedThreads>,
    ) -> (Scheduled, Vec<ThreadTime>) {
        let is_first = self.threads.is_empty();
        if is_first && !records {
            return (self.sum, Vec::new());
        }
        self.sum.throttled += self.throttling.look(is_first);
        self.left = self.left.saturating_sub(1);
        let mut times = Vec::new();
        if is_first || !records || self.left == 0 {
            times = self.times_of_ended(named);
            self.count(is_first);
            self.left = self.threads.len() / EACH_WINDOW + 1;
            if !records {
                let of = |id| self.threads.get(&id).map(|thread| thread.at.since(thread.base));
                times.extend(locked(named).living(of));
            }
            if is_first {
                (self.listed, times) = (0, Vec::new()); // nothing was recorded before
            }
            times.retain(ThreadTime::is_worth_a_row);
            times.truncate(MOST_LISTED - self.listed);
            self.listed += times.len();
        }
        if !records {
            self.threads.clear();
        }
        (self.sum, times)
    }

    /// What those that have ended since the last look took while something was recorded.
    fn times_of_ended(&mut self, named: &Mutex<NamedThreads>) -> Vec<ThreadTime> {
        let mut ended = locked(named).ended();
        for time in &mut ended {
            // another thread may have the id by now
            let known =
                self.threads.get_mut(&time.id).filter(|known| known.base.cpu <= time.of.cpu);
            if let Some(known) = known {
                (time.of, known.base) = (time.of.since(known.base), time.of);
            }
        }
        ended
    }

    /// What all threads did since the last look; of the first one only what they have done so far.
    fn count(&mut self, is_first: bool) {
        self.looks = self.looks.wrapping_add(1);
        let look = self.looks;
        let Ok(listed) = fs::read_dir("/proc/self/task") else { return };
        let Ok(folder) = rustix::fs::open(
            "/proc/self/task",
            OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC,
            Mode::empty(),
        ) else {
            return;
        };
        let ids = listed.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        for id in ids {
            let Some(now) = text_of(&folder, id, "schedstat").as_deref().and_then(times) else {
                continue;
            };
            let known = self.threads.get(&id).filter(|known| known.at.cpu <= now.cpu);
            let whose = known.map_or_else(|| whose(&folder, id), |known| known.whose);
            let new = if is_first { now } else { Times::default() };
            let (base, since) = known.map_or((new, new), |known| (known.base, known.at));
            let cpu = now.cpu - since.cpu;
            match whose {
                _ if is_first => {}
                Whose::Program => self.sum.queued += now.queued.saturating_sub(since.queued),
                Whose::Jvm => self.sum.jvm += cpu,
                Whose::Compiler => {
                    self.sum.jvm += cpu;
                    self.sum.compilers += cpu;
                }
            }
            self.threads.insert(id, Thread { whose, base, at: now, look });
        }
        self.threads.retain(|_, thread| thread.look == look);
    }
}

fn whose(folder: &OwnedFd, id: u32) -> Whose {
    let name = text_of(folder, id, "comm").unwrap_or_default();
    let begins = |begin: &&str| name.starts_with(*begin);
    if COMPILERS.iter().any(begins) {
        Whose::Compiler
    } else if OTHERS_OF_JVM.iter().any(begins) {
        Whose::Jvm
    } else {
        Whose::Program
    }
}

fn text_of(folder: &OwnedFd, id: u32, file: &str) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = rustix::fs::openat(folder, format!("{id}/{file}"), flags, Mode::empty()).ok()?;
    let mut bytes = [0; 64];
    let size = rustix::io::read(&file, &mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes[..size]).into_owned())
}

/// `None` where the kernel keeps none: then all are 0.
fn times(text: &str) -> Option<Times> {
    let mut numbers = text.split_whitespace().map(str::parse);
    let (cpu, queued) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    (cpu > 0).then_some(Times { cpu, queued })
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;

    /// A thread of this name computes for so long, until the other side says that it may end.
    fn computes(name: &str, time: Duration) -> (thread::JoinHandle<()>, mpsc::Receiver<()>) {
        let (done, is_done) = mpsc::channel();
        let work = move || {
            let begin = Instant::now();
            while begin.elapsed() < time {
                std::hint::spin_loop();
            }
            done.send(()).unwrap();
            thread::park_timeout(Duration::from_secs(10)); // a look still sees it
        };
        (thread::Builder::new().name(name.to_owned()).spawn(work).unwrap(), is_done)
    }

    #[test]
    fn threads_of_the_jvm_are_known_by_their_names() {
        let (mut account, named) = (SchedulerAccount::default(), Mutex::<NamedThreads>::default());
        assert_eq!(account.look(true, &named), (Scheduled::default(), Vec::new()));
        let names = ["C2 CompilerThread0", "G1 Conc#0", "main"];
        let threads = names.map(|name| computes(name, Duration::from_millis(300)));
        for (_, is_done) in &threads {
            is_done.recv().unwrap();
        }
        let (found, times) = account.look(false, &named);
        for (thread, _) in threads {
            thread.thread().unpark();
            thread.join().unwrap();
        }
        // on a busy machine each had a part of the time; with the program's it would be more
        assert!((1..320_000_000).contains(&found.compilers), "{found:?}");
        assert!((found.compilers + 1..640_000_000).contains(&found.jvm), "{found:?}");
        assert_eq!(times, Vec::new(), "none of them has made a call");
        let again = account.look(false, &named);
        assert_eq!(again, (found, times), "nothing is recorded any more");
    }

    #[test]
    fn a_kernel_that_keeps_no_times_says_nothing() {
        assert_eq!(times("123 45 6\n"), Some(Times { cpu: 123, queued: 45 }));
        assert_eq!(times("0 0 0\n"), None);
        assert_eq!(times(""), None);
    }
}
