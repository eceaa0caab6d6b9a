//! Calls that nothing encloses, by process and by what a window of the critical path looks into.

use super::forest::{Forest, NONE};
use super::hash::Map;
use super::spans::Spans;
use super::tables::Tables;

/// The thread that a JVM starts with.
pub const MAIN: i64 = 1;

/// Which calls a window looks into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Within {
    /// All of the process, without what waits in a thread beside the main one: that waits for work,
    /// and nothing waits for that.
    Process,
    /// Also requests of all threads, but no tasks, and no reads of pipes or sockets.
    Driver,
    /// One call.
    Span(i64),
}

/// What is to be known of a call here.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    pub waits: bool,
    /// Its own time is waiting, whatever its function: a read of a pipe.
    pub is_waiting_call: bool,
}

/// Rows by start; those of a stretch of time are found without looking at all others.
#[derive(Default)]
struct ByStart {
    rows: Vec<(i64, u32)>,
    /// The latest end of each row and all before it.
    latest: Vec<i64>,
}

impl ByStart {
    fn of(mut rows: Vec<(i64, u32)>, end: impl Fn(u32) -> i64) -> ByStart {
        rows.sort_unstable();
        let latest = rows.iter().scan(i64::MIN, |latest, (_, row)| {
            *latest = end(*row).max(*latest);
            Some(*latest)
        });
        ByStart { latest: latest.collect(), rows }
    }

    /// Those that were open at some time of the stretch.
    fn between(&self, start: i64, end: i64, end_of: impl Fn(u32) -> i64) -> Vec<u32> {
        let begun = self.rows.partition_point(|(at, _)| *at < end);
        let mut found: Vec<u32> = (0..begun)
            .rev()
            .take_while(|place| self.latest[*place] > start)
            .map(|place| self.rows[place].1)
            .filter(|row| end_of(*row) > start)
            .collect();
        found.reverse();
        found
    }
}

#[derive(Default)]
struct OfProcess {
    all: ByStart,
    driver: ByStart,
    by_span: Map<i64, u32>,
}

pub struct Roots<'a> {
    spans: &'a Spans,
    processes: Map<u32, OfProcess>,
}

impl<'a> Roots<'a> {
    pub fn new(
        spans: &'a Spans,
        tables: &Tables,
        forest: &Forest,
        kind: impl Fn(u32) -> Kind,
    ) -> Roots<'a> {
        let mut lists: Map<u32, [Vec<(i64, u32)>; 2]> = Map::default();
        let mut by_span: Map<u32, Map<i64, u32>> = Map::default();
        for row in forest.order.iter().copied() {
            let function = spans.what[row as usize].function;
            if forest.parent[row as usize] != NONE || tables.is(function, "task", "process") {
                continue;
            }
            let thread = &tables.threads[spans.thread[row as usize] as usize];
            let (kind, start) = (kind(row), spans.start[row as usize]);
            let beside = thread.tid != MAIN && kind.waits;
            let is_task = tables.is(function, "task", "run");
            let [all, driver] = lists.entry(thread.proc).or_default();
            if !beside {
                all.push((start, row));
            }
            let is_java = tables.name(function).0 == "java";
            let waits_for_work = kind.is_waiting_call || (beside && is_java);
            if !is_task && !waits_for_work {
                driver.push((start, row));
            }
            if is_task {
                let span = spans.span[row as usize] as i64;
                by_span.entry(thread.proc).or_default().insert(span, row);
            }
        }
        let end = |row| end(spans, row);
        let processes = lists.into_iter().map(|(proc, [all, driver])| {
            let by_span = by_span.remove(&proc).unwrap_or_default();
            let (all, driver) = (ByStart::of(all, end), ByStart::of(driver, end));
            (proc, OfProcess { all, driver, by_span })
        });
        Roots { spans, processes: processes.collect() }
    }

    /// Those of a process that were open at some time of the stretch.
    pub fn of(&self, proc: Option<u32>, within: Within, start: i64, end: i64) -> Vec<u32> {
        let Some(found) = proc.and_then(|proc| self.processes.get(&proc)) else {
            return Vec::new();
        };
        let end_of = |row| self::end(self.spans, row);
        match within {
            Within::Process => found.all.between(start, end, end_of),
            Within::Driver => found.driver.between(start, end, end_of),
            Within::Span(span) => found.by_span.get(&span).copied().into_iter().collect(),
        }
    }
}

pub fn end(spans: &Spans, row: u32) -> i64 {
    spans.start[row as usize].saturating_add(spans.dur[row as usize])
}
