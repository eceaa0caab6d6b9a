//! What the collector knows. It changes only by applying blocks, so that a spool file rebuilds it.

use std::collections::{BTreeMap, HashMap, VecDeque};

use iostrata_segment::process::Who;
use iostrata_segment::row::Row;
use iostrata_segment::schema::{PROCESS_FIRST_USER_POINT, PROCESS_MAX_POINTS, layer_name};
use parquet::data_type::ByteArray;
use serde::{Deserialize, Serialize};

use super::block::Page;
use super::ids;
use super::names::Names;
use super::order::Run;
use super::owner::Claims;
use crate::host::Reading;
use crate::store::rows::Output;

/// Contexts kept per thread: far more than a call lies back.
const HISTORY: usize = 4096;
#[derive(Debug, Default)]
pub struct State {
    pub processes: BTreeMap<u64, Process>,
    pub runs: BTreeMap<String, Run>,
    pub claims: Claims,
    /// Last reading of the host while a run records.
    pub host: Option<Reading>,
    /// Raised by all that may change who owns what; cached answers of an older one are void.
    pub generation: u64,
    /// Slots applied.
    pub slots: u64,
    /// Rows since the last rotation, made while blocks are applied.
    pub output: Output,
    pub refused: Refused,
}

/// What was read and made no sense, since the collector started.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Refused {
    pub slots: u64,
    pub names: u64,
    pub rows: u64,
    pub blocks: u64,
}

/// A process found in the directory.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Known {
    pub proc: u64,
    pub pid: u32,
    pub uid: u32,
    /// Name of the user behind `uid`, or its number.
    pub user: String,
    pub pid_start: u64,
    /// `CLOCK_MONOTONIC` ns.
    pub start: u64,
    pub points_hash: u64,
    pub text: BTreeMap<String, String>,
    /// Where it runs, if not on the collector's own host.
    #[serde(default)] // of a version that did not ask
    pub host: Option<String>,
    /// When it was found.
    pub now: u64,
}

impl Known {
    pub fn new(who: Who, user: String, host: Option<String>, now: u64) -> Known {
        let lines = who.text.lines().filter_map(|line| line.split_once('='));
        let text = lines.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        let Who { proc, pid, uid, pid_start, start, points_hash, .. } = who;
        Known { proc, pid, uid, user, pid_start, start, points_hash, text, host, now }
    }

    pub fn get(&self, key: &str) -> &str {
        self.text.get(key).map_or("", String::as_str)
    }
}

#[derive(Debug)]
pub struct Process {
    pub known: Known,
    pub role: &'static str,
    pub names: Names,
    /// Dictionary file being read and bytes of it already known.
    pub names_read: (u32, u32),
    /// Entries that were not kept, and rows whose name was forgotten: they have none.
    pub names_refused: u64,
    pub segments: BTreeMap<u32, Segment>,
    pub threads: HashMap<u64, Thread>,
    pub page: Option<Page>,
    /// When it was found dead, and why it was refused if it was.
    pub gone: Option<(u64, String)>,
    /// Calls and losses by run; "" is the background.
    pub tallies: BTreeMap<String, Tally>,
    /// Points of users by the id that this process gave them.
    pub points: BTreeMap<u16, UserPoint>,
    /// Identity of each context, with the generation it was found in.
    pub identities: HashMap<u32, (u64, u32)>,
}

/// A point that a user has added: `class#method` and descriptor as `name`.
#[derive(Debug, Clone)]
pub struct UserPoint {
    pub layer: &'static str,
    pub op: ByteArray,
    pub name: String,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Segment {
    pub epoch: u32,
    pub tid: u64,
    pub chain: u32,
    /// Events read.
    pub position: u64,
    pub drained: bool,
    pub gaps: u64,
    /// Lost calls that a gap slot of this epoch told of.
    pub told: u64,
    pub folded: u64,
    #[serde(skip)]
    pub rows: Vec<Row>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Thread {
    pub name: u32,
    /// Position of the chain's segment to be read.
    pub chain: u32,
    /// Contexts by the time from which they hold.
    pub history: VecDeque<(u64, Context)>,
    /// Span of its last call: after a kill it may stand among the open ones still.
    pub last_span: u64,
    /// When a segment of it was last seen.
    pub seen: u64,
    /// Place in the output's table of threads, and the rotation that gave it.
    #[serde(skip)]
    pub place: Option<(u64, u32)>,
}

/// Whom calls of a thread belong to, and why they happen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Context {
    /// Dictionary id, 0 none.
    pub id: u32,
    pub cause: Option<Cause>,
    /// Of a billion requests, how many are in the sample of which its calls are; 0: all.
    #[serde(default)]
    pub sampling: u32,
}

/// The span, of another thread or process, that calls without an enclosing one are done for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cause {
    /// `proc` of the process where it all began.
    pub trace: u64,
    pub proc: u64,
    /// 0: the process as a whole.
    pub span: u64,
}

/// Calls of a process that one run owns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// From sums.
    pub calls: u64,
    pub detail: u64,
    pub dropped: u64,
    pub folded: u64,
}

/// Everything but names and rows, which follow the snapshot as blocks of their own.
#[derive(Debug, Serialize, Deserialize)]
pub struct Snapshot {
    pub processes: Vec<ProcessSnapshot>,
    pub runs: BTreeMap<String, Run>,
    pub claims: Claims,
    #[serde(default)] // of a version that did not read it
    pub host: Option<Reading>,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct ProcessSnapshot {
    known: Known,
    segments: BTreeMap<u32, Segment>,
    threads: Vec<(u64, Thread)>,
    page: Option<Page>,
    gone: Option<(u64, String)>,
    tallies: BTreeMap<String, Tally>,
    #[serde(default)] // of a version that did not count them
    names_refused: u64,
}

impl State {
    pub fn snapshot(&self) -> Snapshot {
        let processes = self.processes.values().map(|process| ProcessSnapshot {
            known: process.known.clone(),
            segments: process.segments.clone(),
            threads: process.threads.iter().map(|(tid, thread)| (*tid, thread.clone())).collect(),
            page: process.page.clone(),
            gone: process.gone.clone(),
            tallies: process.tallies.clone(),
            names_refused: process.names_refused,
        });
        Snapshot {
            processes: processes.collect(),
            runs: self.runs.clone().into_iter().filter(|(_, run)| !run.order.ended).collect(),
            claims: self.claims.clone(),
            host: self.host.clone(),
        }
    }

    pub fn restore(&mut self, snapshot: Snapshot) {
        *self = State {
            runs: snapshot.runs,
            claims: snapshot.claims,
            host: snapshot.host,
            generation: self.generation + 1,
            ..State::default()
        };
        for saved in snapshot.processes {
            let mut process = Process::new(saved.known);
            process.segments = saved.segments;
            process.threads = saved.threads.into_iter().collect();
            process.page = saved.page;
            process.gone = saved.gone;
            process.tallies = saved.tallies;
            process.names_refused = saved.names_refused;
            self.processes.insert(process.known.proc, process);
        }
    }

    /// Forgets what no later block can refer to; `is_there`: a process's directory still exists.
    /// Call it when the output is empty.
    pub fn forget(&mut self, is_there: impl Fn(u64) -> bool) {
        self.runs.retain(|_, run| !run.order.ended);
        let runs = &self.runs;
        self.claims.retain(|run| runs.contains_key(run));
        for process in self.processes.values_mut() {
            process.tallies.retain(|run, _| run.is_empty() || runs.contains_key(run));
            process.identities.clear();
            process.names.forget();
            if process.gone.is_some() {
                process.names = Names::default();
                process.segments.clear();
                process.threads.clear();
            }
        }
        // runs list who was there during their time
        let oldest = runs.values().map(|run| run.began).min().unwrap_or(u64::MAX);
        self.processes.retain(|proc, process| {
            process.gone.as_ref().is_none_or(|(end, _)| *end >= oldest || is_there(*proc))
        });
        self.generation += 1;
    }
}

impl Process {
    pub fn new(known: Known) -> Process {
        let role = ids::role(known.get("main"), known.get("attempt"));
        Process {
            known,
            role,
            names: Names::default(),
            names_read: (0, 0),
            names_refused: 0,
            segments: BTreeMap::new(),
            threads: HashMap::new(),
            page: None,
            gone: None,
            tallies: BTreeMap::new(),
            points: BTreeMap::new(),
            identities: HashMap::new(),
        }
    }
}

impl UserPoint {
    /// An entry `id TAB layer TAB op TAB name`; `None` for one that is not so.
    pub fn parse(text: &str) -> Option<(u16, UserPoint)> {
        let mut fields = text.splitn(4, '\t');
        let id: u16 = fields.next()?.parse().ok()?;
        let layer = layer_name(fields.next()?.parse().ok()?)?;
        let (op, name) = (ByteArray::from(fields.next()?), fields.next()?.to_owned());
        let range = PROCESS_FIRST_USER_POINT..PROCESS_MAX_POINTS;
        range.contains(&usize::from(id)).then_some((id, UserPoint { layer, op, name }))
    }
}

impl Thread {
    /// From `start` on the thread's calls belong to `context`.
    pub fn enter(&mut self, start: u64, context: Context) {
        if self.history.len() == HISTORY {
            self.history.pop_front();
        }
        self.history.push_back((start, context));
    }

    /// The context of a call that began at `start`.
    pub fn context_at(&self, start: u64) -> Context {
        let entered = self.history.iter().rev().find(|(from, _)| *from <= start);
        entered.map_or_else(Context::default, |(_, context)| *context)
    }
}

impl Segment {
    pub fn begin(epoch: u32, tid: u64, chain: u32, position: u64) -> Segment {
        Segment { epoch, tid, chain, position, ..Segment::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::rows::text;

    #[test]
    fn a_call_belongs_to_the_context_in_which_it_began() {
        let mut thread = Thread::default();
        let context = |id| Context { id, ..Context::default() };
        thread.enter(100, context(7));
        thread.enter(200, context(9));
        thread.enter(200, context(8));
        thread.enter(300, context(0));

        let at = [99, 100, 199, 200, 299, 300, 1000].map(|start| thread.context_at(start).id);

        assert_eq!(at, [0, 7, 7, 8, 8, 0, 0]);
    }

    #[test]
    fn a_point_of_a_user_says_what_it_is() {
        let (id, point) = UserPoint::parse("896\t8\tread\ta.B#c(I)V").unwrap();
        assert_eq!((id, point.layer, point.name.as_str()), (896, "java", "a.B#c(I)V"));
        assert_eq!(text(&point.op), "read");
        for bad in ["", "896", "895\t8\tread\tx", "1024\t8\tread\tx", "896\t99\tread\tx"] {
            assert!(UserPoint::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn a_history_is_bounded() {
        let mut thread = Thread::default();
        for time in 0..=(HISTORY as u64) {
            thread.enter(time, Context { id: time as u32, ..Context::default() });
        }
        assert_eq!(thread.history.len(), HISTORY);
        assert_eq!(thread.context_at(0).id, 0);
        assert_eq!(thread.context_at(1).id, 1);
    }
}
