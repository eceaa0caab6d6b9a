//! A traced process: its threads, its segments, and what it said of itself.

use std::collections::{BTreeMap, HashMap, HashSet};

use iostrata_segment::dictionary;
use iostrata_segment::points::POINTS;
use iostrata_segment::process::ProcessIdentity;
use iostrata_segment::row::CounterRow;
use iostrata_segment::schema::{
    CATEGORY_CLIENT, CATEGORY_JOB, CATEGORY_POINT, FLAG_COVERED, LAYER_JAVA, LAYER_POSIX,
    PROCESS_FIRST_USER_POINT, PROCESS_MAX_POINTS, layer_name,
};
use parquet::data_type::ByteArray;
use serde::{Deserialize, Serialize};

use super::context::Parent;
use super::ids;
use super::listed::Listed;
use super::names::{Name, Names, text};
use super::page::PageReading;
use super::spent::Spending;
use super::threads::Threads;
use super::traced::Traced;

/// Bytes of memory that a process and a segment take, as text in a snapshot, too.
const PROCESS_SIZE: u64 = 4096;
const SEGMENT_SIZE: u64 = 256;

/// Who a process is, as it was when it was found in the directory.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ProcessInfo {
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
    /// The node's configuration says that its user's processes serve other users.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub serves: bool,
    /// The run of root's that has started it, as somebody else; empty: none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub started_by: String,
    /// If that is traced, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
}

impl ProcessInfo {
    pub fn new(who: ProcessIdentity, user: String, host: Option<String>, now: u64) -> ProcessInfo {
        let lines = who.text.lines().filter_map(|line| line.split_once('='));
        let text = lines.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        let ProcessIdentity { proc, pid, uid, pid_start, start, points_hash, .. } = who;
        ProcessInfo {
            proc,
            pid,
            uid,
            user,
            pid_start,
            start,
            points_hash,
            text,
            host,
            now,
            ..ProcessInfo::default()
        }
    }

    pub fn get(&self, key: &str) -> &str {
        self.text.get(key).map_or("", String::as_str)
    }

    /// Whether it is no JVM.
    pub fn is_native(&self) -> bool {
        self.get("loader") == "preload"
    }
}

#[derive(Debug)]
pub struct Process {
    pub info: ProcessInfo,
    pub role: &'static str,
    pub names: Names,
    /// Dictionary file being read and bytes of it already known.
    pub names_read: (u32, u32),
    /// Entries that were rejected, and rows whose name was forgotten: they have none.
    pub names_rejected: u64,
    pub segments: BTreeMap<u32, SegmentProgress>,
    pub threads: Threads,
    pub page: Option<PageReading>,
    pub end: Option<ProcessEnd>,
    /// Calls and losses by run; "" is the background.
    pub tallies: BTreeMap<String, Tally>,
    /// Whatever run owns the calls.
    pub traced: Traced,
    pub listed: Listed,
    pub spending: Spending,
    /// Points of users by the id that this process gave them.
    pub points: BTreeMap<u16, UserPoint>,
    /// Identity of each context, with the generation it was found in.
    pub identities: HashMap<u32, (u64, u32)>,
    /// What [`Process::bytes`] was when it was last asked.
    pub weight: u64,
}

/// A process was found dead, or it was rejected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u64, String)", into = "(u64, String)")]
pub struct ProcessEnd {
    /// `CLOCK_MONOTONIC` ns.
    pub at: u64,
    /// Why nothing of it was read; empty when it was.
    pub rejection: String,
}

impl From<(u64, String)> for ProcessEnd {
    fn from((at, rejection): (u64, String)) -> ProcessEnd {
        ProcessEnd { at, rejection }
    }
}

impl From<ProcessEnd> for (u64, String) {
    fn from(end: ProcessEnd) -> (u64, String) {
        (end.at, end.rejection)
    }
}

/// A point that a user has added: `class#method` and descriptor as `name`.
#[derive(Debug, Clone)]
pub struct UserPoint {
    pub layer: &'static str,
    pub op: ByteArray,
    pub name: String,
}

/// Which part of which segment something was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Origin {
    pub proc: u64,
    pub serial: u32,
    pub epoch: u32,
    pub tid: u64,
    pub thread_name: u32,
    pub chain: u32,
    /// Slots: number of the first event. Rows: the look before this one, ns.
    pub from: u64,
    /// When the collector looked, `CLOCK_MONOTONIC` ns.
    pub now: u64,
}

/// How far a segment was read.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct SegmentProgress {
    pub epoch: u32,
    pub tid: u64,
    pub chain: u32,
    /// Events read.
    pub position: u64,
    pub drained: bool,
    pub gaps: u64,
    /// Lost calls that a gap slot of this epoch reported.
    #[serde(rename = "told")]
    pub reported: u64,
    #[serde(rename = "folded")]
    pub collapsed: u64,
    #[serde(skip)]
    pub rows: Vec<CounterRow>,
}

/// Calls of a process that one run owns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// From sums.
    pub calls: u64,
    pub detail: u64,
    pub dropped: u64,
    #[serde(rename = "folded")]
    pub collapsed: u64,
}

/// What dictionary records of a process brought beside names.
#[derive(Debug, Default)]
pub struct Announcement {
    /// Category and name of the jobs and clients that the process says are its own.
    pub claims: Vec<(u8, String)>,
    /// Entries that made no sense or found no room.
    pub rejected: u64,
}

impl Process {
    pub fn new(info: ProcessInfo) -> Process {
        let role = if info.get("rank").is_empty() {
            ids::role(info.get("main"), info.get("attempt"))
        } else {
            ids::RANK
        };
        Process {
            info,
            role,
            names: Names::default(),
            names_read: (0, 0),
            names_rejected: 0,
            segments: BTreeMap::new(),
            threads: Threads::default(),
            page: None,
            end: None,
            tallies: BTreeMap::new(),
            traced: Traced::default(),
            listed: Listed::default(),
            spending: Spending::default(),
            points: BTreeMap::new(),
            identities: HashMap::new(),
            weight: 0,
        }
    }

    /// The task attempt or rank that the process is; empty: none.
    pub fn own_task(&self) -> &str {
        let own = ["attempt", "rank"].map(|name| self.info.get(name));
        own.into_iter().find(|task| !task.is_empty()).unwrap_or_default()
    }

    /// Of memory.
    pub fn bytes(&self) -> u64 {
        let text: usize = self.info.text.iter().map(|(key, value)| key.len() + value.len()).sum();
        let segments = self.segments.len() as u64 * SEGMENT_SIZE;
        let lists = self.listed.bytes() + self.spending.bytes();
        let text = text + self.info.parent.as_ref().map_or(0, |parent| parent.task.len());
        PROCESS_SIZE + text as u64 + self.names.bytes + self.threads.bytes() + segments + lists
    }

    /// Takes up records of the dictionary file `read.0`, of which `read.1` bytes are known then, as
    /// long as its names take no more than `most` bytes of memory.
    pub fn learn(&mut self, read: (u32, u32), records: &[u8], most: u64) -> Announcement {
        self.names_read = read;
        let (entries, bad) = dictionary::parse(records);
        let mut news = Announcement { rejected: u64::from(bad.is_some()), ..Default::default() };
        for entry in entries {
            if matches!(entry.category, CATEGORY_JOB | CATEGORY_CLIENT) {
                news.claims.push((entry.category, entry.name.clone()));
            }
            if entry.category == CATEGORY_POINT {
                let point = UserPoint::parse(&entry.name);
                news.rejected += u64::from(point.is_none());
                self.points.extend(point);
            }
            let is_listed = Listed::keeps(entry.category);
            if is_listed {
                let room = most.saturating_sub(self.names.bytes);
                news.rejected += u64::from(!self.listed.learn(entry.category, &entry.name, room));
            }
            let text = if is_listed { Vec::new() } else { entry.name.into_bytes() };
            let text = ByteArray::from(text);
            let (category, parent, block) = (entry.category, entry.parent, entry.block);
            let is_learned =
                self.names.learn(entry.id, Name { category, parent, block, text }, most);
            self.names_rejected += u64::from(!is_learned);
            news.rejected += u64::from(!is_learned);
        }
        news
    }

    /// The segment of an origin in its epoch; a new epoch begins at `position`.
    pub fn segment(&mut self, at: &Origin, position: u64) -> &mut SegmentProgress {
        let fresh = || SegmentProgress::begin(at.epoch, at.tid, at.chain, position);
        let segment = self.segments.entry(at.serial).or_insert_with(fresh);
        if segment.epoch != at.epoch {
            let position = segment.position; // head and tail go on
            *segment = SegmentProgress::begin(at.epoch, at.tid, at.chain, position);
        }
        segment
    }

    /// The segment was read to its end: its successor is next.
    pub fn pass_to_next(&mut self, at: &Origin) {
        if let Some(thread) = self.threads.get_mut(at.tid) {
            thread.chain = thread.chain.max(at.chain + 1);
            thread.seen = at.now;
        }
    }

    /// `records`: some run is on.
    pub fn read_page(&mut self, page: PageReading, records: bool) {
        let live = self.live_threads();
        self.threads.forget(&live, page.now);
        self.spending.look(page.look(), self.info.start, records);
        self.page = Some(page);
    }

    /// A run begins or ends now: no row of what the process took lies across.
    pub fn cut_spending(&mut self, now: u64) {
        if let Some(page) = &self.page {
            self.spending.cut(page.look(), now);
        }
    }

    pub fn begin_spending(&mut self, now: u64) {
        if let Some(page) = &self.page {
            self.spending.begin(page.look(), now);
        }
    }

    /// Forgets threads at once where their user has no memory left: one that names a new thread for
    /// each of its segments would have millions.
    pub fn spare_threads(&mut self) {
        if self.threads.len() > 2 * self.segments.len() {
            let live = self.live_threads();
            self.threads.forget_all_but(&live);
        }
    }

    fn live_threads(&self) -> HashSet<u64> {
        self.segments.values().filter(|segment| !segment.drained).map(|s| s.tid).collect()
    }

    pub fn tally(&mut self, run: &str) -> &mut Tally {
        if !self.tallies.contains_key(run) {
            self.tallies.insert(run.to_owned(), Tally::default());
        }
        self.tallies.get_mut(run).expect("inserted above")
    }

    /// Layer and operation of a point.
    pub fn layer_and_op(&self, point: u16) -> Option<(&'static str, &str)> {
        if let Some(user) = self.points.get(&point) {
            return Some((user.layer, text(&user.op)));
        }
        POINTS.iter().find(|known| known.id == point).map(|known| (known.layer, known.op))
    }

    /// Calls of a point have moved `bytes` more.
    pub fn count_traced(&mut self, point: u16, flags: u8, bytes: i64) {
        let bytes = u64::try_from(bytes).unwrap_or_default();
        if bytes == 0 || flags & FLAG_COVERED != 0 {
            return;
        }
        let Some((layer, op)) = self.layer_and_op(point) else { return };
        if [LAYER_JAVA, LAYER_POSIX].iter().any(|known| Some(layer) == layer_name(*known)) {
            let known = POINTS.iter().find(|known| known.id == point);
            let mut traced = self.traced; // `op` may be of the process
            traced.add(op, known.map_or("", |known| known.method), bytes);
            self.traced = traced;
        }
    }

    /// `Class#method` of a point, or its number.
    pub fn method(&self, point: u16) -> String {
        if let Some(user) = self.points.get(&point) {
            return user.name.clone();
        }
        let known = POINTS.iter().find(|known| known.id == point);
        known.map_or_else(|| point.to_string(), |p| format!("{}#{}", p.class, p.method))
    }

    /// Forgets what refers to rows that were published; of a process that has ended, all that
    /// only new events need.
    pub fn forget(&mut self, is_run: impl Fn(&str) -> bool) {
        self.tallies.retain(|run, _| run.is_empty() || is_run(run));
        self.identities.clear();
        self.names.forget();
        self.spending.rows.clear();
        if self.end.is_some() {
            self.names = Names::default();
            self.segments.clear();
            self.threads = Threads::default();
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

impl SegmentProgress {
    pub fn begin(epoch: u32, tid: u64, chain: u32, position: u64) -> SegmentProgress {
        SegmentProgress { epoch, tid, chain, position, ..SegmentProgress::default() }
    }
}

#[cfg(test)]
mod tests {
    use iostrata_segment::dictionary::Entry;
    use iostrata_segment::schema::CATEGORY_CHILD;

    use super::*;

    #[test]
    fn children_are_listed_and_cost_memory() {
        let mut process = Process::new(ProcessInfo::default());
        let entry = |id: u32, name: &str| {
            let name = name.to_owned();
            let whole =
                Entry { id, category: CATEGORY_CHILD, parent: 0, block: -1, generation: -1, name };
            let mut record = Vec::new();
            whole.append_to(&mut record);
            record
        };
        let before = process.bytes();
        let news = process.learn((1, 0), &entry(1, "12\t1\t2\t3\t\t\t\t\t0\tsh"), u64::MAX);
        assert_eq!((news.rejected, process.listed.children[0].name.as_str()), (0, "sh"));
        assert!(process.bytes() > before + 100);
        // of a snapshot, whose list has it
        assert_eq!(process.learn((1, 0), &entry(2, ""), u64::MAX).rejected, 0);
        assert_eq!(process.learn((1, 0), &entry(3, "no child"), u64::MAX).rejected, 1);
        let full = process.listed.bytes() + process.names.bytes;
        let record = entry(4, "13\t1\t2\t3\t\t\t\t\t0\tsh");
        assert!(process.learn((1, 0), &record, full).rejected > 0);
        assert_eq!(process.listed.children.len(), 1);
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
}
