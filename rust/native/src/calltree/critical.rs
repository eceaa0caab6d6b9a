/*!
What a job's wall time went into: from the end of each window back, always to what ended last.

A window is a stretch of time of one process, or one in which it is known what was waited for. In a
process the way back goes through the call that covers the moment, or else the one that ended last
before it; within a call through those that it enclosed, and through those it caused elsewhere that
ended before it did: only these can have been waited for. What no call below covers is the call's
own. Each moment of each window belongs to exactly one part.

Own time of tasks and processes is outside of calls, where [`super::idle`] says how much of it nobody
worked.
*/

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet};
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::forest::{Forest, NONE};
use super::idle::{self, Outside, ThreadWork, Work};
use super::progress::Progress;
use super::roots::{Kind, MAIN, Roots, Within};
use super::source::RowSource;
use super::spans::Spans;
use super::sums::Sums;
use super::tables::{Grouping, Site, Tables};

/// Parts that are shown at most; shorter ones are shown as part of their neighbours.
const MOST: usize = 400;

#[derive(Deserialize)]
pub struct Question {
    windows: Vec<Window>,
    /// Functions (`layer.op`) whose own time is waiting for a peer.
    waiting: Vec<String>,
    /// Process and span of calls that wait, whatever their function: reads of pipes.
    #[serde(default)]
    waiting_calls: HashSet<(i64, i64)>,
    /// By host: ns to add to its times.
    #[serde(default)]
    offsets: BTreeMap<String, i64>,
    /// By process: ns in which its threads worked at the most, or waited for a CPU.
    #[serde(default)]
    worked: HashMap<i64, i64>,
    /// Likewise single threads of processes that run several tasks.
    #[serde(default)]
    threads: Vec<ThreadWork>,
}

/// In the clock of the reference host, ns.
#[derive(Deserialize)]
pub struct Window {
    start: i64,
    end: i64,
    #[serde(flatten)]
    of: WindowContent,
}

#[derive(Deserialize)]
#[serde(untagged)]
pub enum WindowContent {
    Process {
        proc: i64,
        /// Only this call; 0: all of the process.
        #[serde(default)]
        span: i64,
        /// Without its tasks, and without its reads of pipes: whoever controls a driver of Spark is
        /// at the other end for as long as it lives.
        #[serde(default)]
        driver: bool,
    },
    Known(Activity),
}

/// Who did what.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Activity {
    pub layer: String,
    pub op: String,
    pub role: String,
    pub host: String,
    pub waiting: bool,
}

#[derive(Serialize)]
pub struct PathPart {
    pub start: i64,
    pub end: i64,
    #[serde(flatten)]
    pub activity: Activity,
    /// Whose time it was, where that was outside of calls.
    #[serde(skip)]
    outside: Option<Outside>,
}

#[derive(Serialize)]
pub struct FunctionTime {
    #[serde(flatten)]
    pub activity: Activity,
    pub time: i64,
    /// Of it outside of calls while nobody worked, as far as `worked` says.
    pub idle: i64,
    times: u64,
}

#[derive(Serialize)]
pub struct Answer {
    pub wall: i64,
    /// In order of time, one after the other.
    pub parts: Vec<PathPart>,
    /// Exact, whatever parts were put together; longest first.
    pub by_function: Vec<FunctionTime>,
    /// Of each window.
    pub windows: Vec<WindowTime>,
}

/// What of a window was waiting, and what was idle ([`FunctionTime::idle`]).
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct WindowTime {
    pub waiting: i64,
    pub idle: i64,
}

pub fn of_run(
    source: &RowSource,
    file: &Path,
    threads: usize,
    progress: &mut Progress,
) -> Result<Answer> {
    let text = std::fs::read(file).with_context(|| file.display().to_string())?;
    let question: Question =
        serde_json::from_slice(&text).with_context(|| file.display().to_string())?;
    let processes = question.windows.iter().filter_map(|window| match window.of {
        WindowContent::Process { proc, .. } => Some(proc),
        WindowContent::Known(_) => None,
    });
    let processes: HashSet<i64> = processes.collect();
    let mut tables = Tables::new(Grouping::Op);
    let mut spans = Spans::default();
    // what a process did, for another one maybe, and what others did for it
    let is_wanted = |trace: i64, of: i64| processes.contains(&trace) || processes.contains(&of);
    progress.begin(source.rows()?);
    source.read(threads, |batch| {
        progress.add(batch.num_rows() as u64);
        spans.push(batch, &mut tables, &is_wanted, None)
    })?;
    Ok(answer(spans, &tables, &question, threads))
}

pub fn answer(mut spans: Spans, tables: &Tables, question: &Question, threads: usize) -> Answer {
    let forest = Forest::grow(&mut spans, tables, &Sums::default(), threads);
    let offset = |host| question.offsets.get(tables.names.text(host)).copied().unwrap_or(0);
    spans.shift(tables, offset);
    let work = question.threads.iter().map(ThreadWork::by_thread).collect();
    let walk = Walk { spans: &spans, tables, forest: &forest, question, work };
    let by_window = walk.windows();
    let time_outside = |part: &PathPart| part.outside.map(|of| (of, part.end - part.start));
    let outside = by_window.iter().flatten().filter_map(time_outside);
    let mut idle = idle::of_processes(outside, &question.worked);
    idle.extend(idle::of_threads(walk.spans, tables, &forest, &walk.work));
    let windows = by_window.iter().map(|parts| window_time(parts, &idle)).collect();
    let mut parts = Vec::new();
    for part in by_window.into_iter().rev().flatten() {
        add(&mut parts, part);
    }
    parts.reverse();
    Answer {
        wall: parts.iter().map(|part| part.end - part.start).sum(),
        by_function: by_function(&parts, &idle),
        windows,
        parts: shown(parts),
    }
}

/// A call, or a process, on the way back.
struct Step {
    /// `NONE`: the process itself.
    row: u32,
    from: i64,
    /// What lies between `from` and here is still to be said.
    until: i64,
    /// By end, the latest last.
    ended: Vec<u32>,
    /// Those that cover `until`: of the own thread first, then those that began first.
    covering: BinaryHeap<Reverse<(bool, i64, u32)>>,
    thread: u32,
}

/// A process, and where it ran.
#[derive(Clone, Copy)]
struct Place {
    proc: i64,
    site: Site,
}

struct Walk<'a> {
    spans: &'a Spans,
    tables: &'a Tables,
    forest: &'a Forest,
    question: &'a Question,
    /// Of threads that are told apart, by process and tid: how long each worked.
    work: Work,
}

impl Walk<'_> {
    /// The parts of each window, the last first.
    fn windows(&self) -> Vec<Vec<PathPart>> {
        let waiting: Vec<bool> = (0..self.tables.functions.len())
            .map(|function| {
                let (layer, op) = self.tables.name(function as u16);
                self.question.waiting.contains(&format!("{layer}.{op}"))
            })
            .collect();
        let kind = |row| {
            let is_waiting_call = self.is_waiting_call(row);
            Kind { waits: self.waits(row, &waiting), is_waiting_call }
        };
        let roots = Roots::new(self.spans, self.tables, self.forest, kind);
        self.question.windows.iter().map(|window| self.window(window, &roots, &waiting)).collect()
    }

    fn window(&self, window: &Window, roots: &Roots, waiting: &[bool]) -> Vec<PathPart> {
        let (start, end) = (window.start, window.end);
        let mut parts = Vec::new();
        match &window.of {
            WindowContent::Known(activity) => {
                add(&mut parts, PathPart { start, end, activity: activity.clone(), outside: None });
            }
            WindowContent::Process { proc, span, driver } => {
                let known = self.tables.known_proc(*proc);
                let within = match (*span, driver) {
                    (0, false) => Within::Process,
                    (0, true) => Within::Driver,
                    (span, _) => Within::Span(span),
                };
                let site = known.map(|known| self.site_of(known)).unwrap_or_default();
                let place = Place { proc: *proc, site };
                self.back(window, &roots.of(known, within, start, end), place, waiting, &mut parts);
            }
        }
        parts
    }

    fn is_waiting_call(&self, row: u32) -> bool {
        let proc = self.tables.threads[self.spans.thread[row as usize] as usize].proc;
        let call = (self.tables.procs[proc as usize], self.spans.span[row as usize] as i64);
        self.question.waiting_calls.contains(&call)
    }

    /// Whether the own time of a call is waiting for a peer; `functions`: of all calls of one.
    fn waits(&self, row: u32, functions: &[bool]) -> bool {
        functions[usize::from(self.spans.what[row as usize].function)] || self.is_waiting_call(row)
    }

    fn site_of(&self, proc: u32) -> Site {
        let thread = self.tables.threads.iter().find(|thread| thread.proc == proc);
        thread.map(|thread| self.tables.sites[usize::from(thread.site)]).unwrap_or_default()
    }

    /// Adds what filled the window, the last first.
    fn back(
        &self,
        window: &Window,
        roots: &[u32],
        place: Place,
        waiting: &[bool],
        parts: &mut Vec<PathPart>,
    ) {
        let main = roots.iter().map(|row| self.spans.thread[*row as usize]);
        let main =
            main.into_iter().find(|thread| self.tables.threads[*thread as usize].tid == MAIN);
        let mut steps =
            vec![self.step(NONE, roots, main.unwrap_or(NONE), window.start, window.end)];
        while let Some(step) = steps.last_mut() {
            let (row, until) = (step.row, step.until);
            let Some(next) = self.next(step) else {
                add(parts, self.part(step.from, until, row, place, waiting));
                steps.pop();
                continue;
            };
            let end = self.end(next).min(until).max(step.from);
            step.until = self.start(next).max(step.from);
            let (begin, thread) = (step.until, self.spans.thread[next as usize]);
            add(parts, self.part(end, until, row, place, waiting));
            let ended_before = |below: &u32| {
                self.spans.thread[*below as usize] == thread || self.end(*below) <= self.end(next)
            };
            let below = self.forest.below(next).iter().copied().filter(ended_before);
            let below: Vec<u32> = below.collect();
            steps.push(self.step(next, &below, thread, begin, end));
        }
    }

    fn step(&self, row: u32, below: &[u32], thread: u32, from: i64, until: i64) -> Step {
        let mut ended: Vec<u32> = if from < until { below.to_vec() } else { Vec::new() };
        ended.sort_by_key(|row| (self.end(*row), *row));
        Step { row, from, until, ended, covering: BinaryHeap::new(), thread }
    }

    /// The call that covers the moment, else the one that ended last before it.
    fn next(&self, step: &mut Step) -> Option<u32> {
        if step.until <= step.from {
            return None;
        }
        while let Some(row) = step.ended.pop_if(|row| self.end(*row) >= step.until) {
            let elsewhere = self.spans.thread[row as usize] != step.thread;
            step.covering.push(Reverse((elsewhere, self.start(row), row)));
        }
        while let Some(Reverse((_, start, row))) = step.covering.pop() {
            if start < step.until {
                return Some(row);
            }
        }
        step.ended.pop().filter(|row| self.end(*row) > step.from)
    }

    fn start(&self, row: u32) -> i64 {
        self.spans.start[row as usize]
    }

    fn end(&self, row: u32) -> i64 {
        super::roots::end(self.spans, row)
    }

    fn part(&self, start: i64, end: i64, row: u32, process: Place, waiting: &[bool]) -> PathPart {
        let (layer, op, place, waiting, tid) = if row == NONE {
            ("task", "process", process, false, None)
        } else {
            let function = self.spans.what[row as usize].function;
            let thread = &self.tables.threads[self.spans.thread[row as usize] as usize];
            let (layer, op) = self.tables.name(function);
            let proc = self.tables.procs[thread.proc as usize];
            let place = Place { proc, site: self.tables.sites[usize::from(thread.site)] };
            let tid = self.work.contains_key(&(proc, thread.tid)).then_some(thread.tid);
            (layer, op, place, self.waits(row, waiting), tid)
        };
        let text = |number| self.tables.names.text(number).to_owned();
        let (role, host) = (text(place.site.role), text(place.site.host));
        let outside = (layer == "task" && !waiting).then_some(Outside { proc: place.proc, tid });
        let activity = Activity { layer: layer.to_owned(), op: op.to_owned(), role, host, waiting };
        PathPart { start, end, activity, outside }
    }
}

/// Parts come from the last to the first; equal neighbours are one.
fn add(parts: &mut Vec<PathPart>, part: PathPart) {
    if part.start >= part.end {
        return;
    }
    let is_same = |after: &PathPart| {
        after.activity == part.activity && after.outside == part.outside && after.start == part.end
    };
    match parts.last_mut() {
        Some(after) if is_same(after) => after.start = part.start,
        _ => parts.push(part),
    }
}

fn idle_time(part: &PathPart, shares: &HashMap<Outside, f64>) -> f64 {
    let share = part.outside.and_then(|of| shares.get(&of)).unwrap_or(&0.0);
    (part.end - part.start) as f64 * share
}

fn window_time(parts: &[PathPart], shares: &HashMap<Outside, f64>) -> WindowTime {
    let waiting = parts.iter().filter(|part| part.activity.waiting);
    WindowTime {
        waiting: waiting.map(|part| part.end - part.start).sum(),
        idle: parts.iter().map(|part| idle_time(part, shares)).sum::<f64>() as i64,
    }
}

fn by_function(parts: &[PathPart], idle: &HashMap<Outside, f64>) -> Vec<FunctionTime> {
    let mut times: BTreeMap<&Activity, (i64, f64, u64)> = BTreeMap::new();
    for part in parts {
        let (time, idle_sum, number) = times.entry(&part.activity).or_default();
        *time += part.end - part.start;
        *idle_sum += idle_time(part, idle);
        *number += 1;
    }
    let function = |(activity, (time, idle, times)): (&Activity, (i64, f64, u64))| FunctionTime {
        activity: activity.clone(),
        time,
        idle: (idle as i64).min(time),
        times,
    };
    let mut functions: Vec<FunctionTime> = times.into_iter().map(function).collect();
    functions.sort_by_key(|function| Reverse(function.time));
    functions
}

/// Too many parts are put together by stretches of equal length, named after what took longest.
fn shown(parts: Vec<PathPart>) -> Vec<PathPart> {
    let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return parts };
    if parts.len() <= MOST {
        return parts;
    }
    let (begin, stretch) = (first.start, (last.end - first.start) / MOST as i64 + 1);
    let place = |part: &PathPart| (part.start.midpoint(part.end) - begin) / stretch;
    let together = parts.chunk_by(|a, b| place(a) == place(b) && a.end == b.start);
    let part = |same: &[PathPart]| {
        let activity = by_function(same, &HashMap::new()).swap_remove(0).activity;
        PathPart { start: same[0].start, end: same[same.len() - 1].end, activity, outside: None }
    };
    together.map(part).collect()
}
