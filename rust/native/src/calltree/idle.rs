/*!
The part of own time of tasks and processes, which is outside of calls, in which nobody worked: what
is longer there than the process had CPU. Of a task that shares its process with others, each in a
thread of its own, it is what is longer than that thread had CPU.
*/

use std::collections::HashMap;

use serde::Deserialize;

use super::forest::Forest;
use super::roots;
use super::spans::Spans;
use super::tables::Tables;

/// ns in which a thread worked at the most, or waited for a CPU.
#[derive(Deserialize)]
pub struct ThreadWork {
    proc: i64,
    tid: i64,
    worked: i64,
}

/// `worked` by process and tid, of the threads that are told apart.
pub type Work = HashMap<(i64, i64), i64>;

impl ThreadWork {
    pub fn by_thread(&self) -> ((i64, i64), i64) {
        ((self.proc, self.tid), self.worked)
    }
}

/// Whose time outside of calls it is: of a process, or of one of its threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Outside {
    pub proc: i64,
    pub tid: Option<i64>,
}

/// Of processes that `worked` for so long, the idle part of these times.
pub fn of_processes(
    times: impl Iterator<Item = (Outside, i64)>,
    worked: &HashMap<i64, i64>,
) -> HashMap<Outside, f64> {
    shares(times.filter(|(of, _)| of.tid.is_none()), |of| worked.get(&of.proc).copied())
}

/// Of threads, the idle part of all their time outside of calls, whether the way leads there or not:
/// what a thread worked is of all its tasks.
pub fn of_threads(
    spans: &Spans,
    tables: &Tables,
    forest: &Forest,
    work: &Work,
) -> HashMap<Outside, f64> {
    if work.is_empty() {
        return HashMap::new();
    }
    let times = (0..spans.len() as u32).filter_map(|row| {
        let thread = &tables.threads[spans.thread[row as usize] as usize];
        let (proc, tid) = (tables.procs[thread.proc as usize], thread.tid);
        let (layer, _) = tables.name(spans.what[row as usize].function);
        let is_outside = layer == "task" && work.contains_key(&(proc, tid));
        is_outside.then(|| (Outside { proc, tid: Some(tid) }, own(spans, forest, row)))
    });
    shares(times, |of| work.get(&(of.proc, of.tid?)).copied())
}

fn shares(
    times: impl Iterator<Item = (Outside, i64)>,
    worked: impl Fn(&Outside) -> Option<i64>,
) -> HashMap<Outside, f64> {
    let mut sums: HashMap<Outside, i64> = HashMap::new();
    for (of, time) in times {
        *sums.entry(of).or_default() += time;
    }
    let share = |(of, time): (Outside, i64)| {
        let idle = (time - worked(&of)?).max(0);
        Some((of, idle as f64 / time.max(1) as f64))
    };
    sums.into_iter().filter_map(share).collect()
}

/// The time of a call in which its thread was in no call below it.
fn own(spans: &Spans, forest: &Forest, row: u32) -> i64 {
    let (start, end) = (|row: u32| spans.start[row as usize], |row| roots::end(spans, row));
    let (from, until) = (start(row), end(row));
    let is_own = |below: &u32| spans.thread[*below as usize] == spans.thread[row as usize];
    let below = forest.below(row).iter().copied().filter(is_own);
    let within = |below| (end(below).min(until) - start(below).max(from)).max(0);
    until - from - below.map(within).sum::<i64>()
}
