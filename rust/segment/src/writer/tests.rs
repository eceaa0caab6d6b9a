//! What one thread's calls leave in slots, rows and open spans. The clock says 1010, 1020, …

mod growth;
mod leaves;
mod requests;
mod targets;

use std::cell::Cell;
use std::fs::File;
use std::os::fd::AsFd;
use std::sync::Arc;

use super::overflow::RETRY_CALLS;
use super::*;
use crate::life::SegmentIdentity;
use crate::process::Account;
use crate::ring::Event;
use crate::row::CounterRow;
use crate::schema::{
    CATEGORY_FILE, CATEGORY_SPILL, CATEGORY_THREAD_NAME, FLAG_COVERED, FLAG_ERRNO, FLAG_INNER,
    KIND_BEGIN, KIND_CALL, KIND_CONTEXT, KIND_GAP, LAYER_DATANODE, LAYER_FS, LAYER_HDFS,
    LAYER_JAVA, LAYER_TASK, LEVEL_JOB, PROCESS_COUNTER_FAULTS, PROCESS_COUNTER_LOST_CALLS,
    PROCESS_COUNTER_UNBALANCED, SEGMENT_OPEN_CAPACITY, SIZE_CLASS_FOLD,
};
use crate::scratch::ScratchDir;
use crate::segment::{OpenSpan, ProcessPage, Segment};

const JAVA_READ: u16 = 1;
const HDFS_READ: u16 = 2;
const READ_BLOCK: u16 = 3; // scope, begin
const COUNTED: u16 = 4;
const HDFS_OTHER: u16 = 5;
const TASK: u16 = 6;
const SPAN: u64 = 1 << 40;
const QUARTER: i32 = ALL_REQUESTS / 4;
/// The smallest segment of [`small`]: header, 8 rows, 32 slots.
const FIRST: u64 = 2048 + 8 * 128 + 32 * 64;

fn ticking() -> u64 {
    thread_local!(static TIME: Cell<u64> = const { Cell::new(990) });
    TIME.set(TIME.get() + 10);
    TIME.get()
}

struct Site {
    _dir: ScratchDir,
    process: Arc<Process>,
    file: u64,
}

/// One segment as a collector finds it.
struct Found {
    slots: Vec<Event>,
    rows: Vec<CounterRow>,
    open: Vec<OpenSpan>,
    gaps: u64,
    collapsed: u64,
    tid: u64,
    thread_name: u32,
    chain: u32,
    epoch: u32,
}

impl Site {
    fn new(options: Options) -> Site {
        let dir = ScratchDir::new();
        let options = Options { clock: Some(ticking), ..options };
        let process = Process::create(dir.path(), 7, options).unwrap();
        let set = |point, layer, direction| {
            process.points.set(point, PointFacts { layer, direction, ..PointFacts::default() });
        };
        set(JAVA_READ, LAYER_JAVA, 0);
        set(HDFS_READ, LAYER_HDFS, 1);
        set(COUNTED, LAYER_FS, 0);
        set(HDFS_OTHER, LAYER_HDFS, 2);
        let scope = PointFacts { scope: true, ..PointFacts::default() };
        process.points.set(TASK, PointFacts { layer: LAYER_TASK, ..scope });
        let block = PointFacts { layer: LAYER_DATANODE, begin: true, ..scope };
        process.points.set(READ_BLOCK, block);
        let file = handle(&process, CATEGORY_FILE, "/a/b");
        Site { _dir: dir, process, file }
    }

    fn thread(&self) -> Thread {
        self.process.thread(1, "main")
    }

    /// All segments in the order of their numbers. `drain`: as a collector does that has read them.
    fn read(&self, drain: bool) -> Vec<Found> {
        let folder = File::open(&self.process.path).unwrap();
        let own = rustix::process::geteuid().as_raw();
        let open =
            |serial| Segment::open(folder.as_fd(), &format!("{serial}.seg"), own, 7).ok().flatten();
        (1..).map_while(open).map(|segment| found(&segment, drain)).collect()
    }

    fn one(&self) -> Found {
        let mut all = self.read(false);
        assert_eq!(all.len(), 1);
        all.remove(0)
    }

    fn account(&self) -> Account {
        let folder = File::open(&self.process.path).unwrap();
        let own = rustix::process::geteuid().as_raw();
        ProcessPage::open(folder.as_fd(), own).unwrap().unwrap().0.account()
    }

    fn counter(&self, counter: usize) -> u64 {
        self.account().counters[counter]
    }

    /// Calls in all rows of all segments.
    fn count(&self) -> u64 {
        self.read(false).iter().flat_map(|found| &found.rows).map(|row| row.values.count).sum()
    }
}

fn found(segment: &Segment, drain: bool) -> Found {
    let identity = segment.identity().unwrap();
    let tail = segment.tail();
    let head = segment.published(tail).unwrap();
    let slots = (tail..head).map(|index| segment.slot(index).event()).collect();
    let rows = (0..segment.rows_in_use()).map(|index| segment.row(index).unwrap()).collect();
    let (gaps, collapsed) = segment.gaps_and_collapsed();
    if drain {
        segment.free(head);
        if segment.is_sealed() {
            segment.release_epoch(identity.epoch);
        }
    }
    let SegmentIdentity { epoch, tid, thread_name, chain } = identity;
    let open = segment.open_spans();
    Found { slots, rows, open, gaps, collapsed, tid, thread_name, chain, epoch }
}

fn handle(process: &Process, category: u8, name: &str) -> u64 {
    u64::from(category) << 32 | u64::from(process.name(category, name))
}

fn small(cap: u64) -> Site {
    Site::new(Options { ring_slots: 32, table_rows: 8, cap, ..Options::default() })
}

fn enter(thread: &mut Thread, point: u16, target: u64) {
    thread.enter(&Entry { point, target, offset: -1, ..Entry::default() }, None);
}

fn call(thread: &mut Thread, point: u16, target: u64, bytes: i64) {
    enter(thread, point, target);
    thread.exit(point, bytes, 0);
}

fn calls(thread: &mut Thread, count: usize) {
    (0..count).for_each(|_| call(thread, JAVA_READ, 0, 1));
}

fn of<T>(slots: &[Event], kind: u8, field: impl Fn(&Event) -> T) -> Vec<T> {
    slots.iter().filter(|slot| slot.kind == kind).map(field).collect()
}

#[test]
fn a_call_gets_a_slot_and_a_row() {
    let site = Site::new(Options::default());
    let mut thread = site.thread();
    let entry = Entry { point: JAVA_READ, target: site.file, asked: 4096, offset: 8192, bytes: 0 };
    thread.enter(&entry, None);
    thread.exit(JAVA_READ, 100, 0);
    let found = site.one();
    let expected = Event {
        start: 1010,
        dur: 10,
        bytes: 100,
        offset: 8192,
        target: site.file as u32,
        point: JAVA_READ,
        kind: KIND_CALL,
        asked: 4096,
        span: SPAN + 1,
        ..Event::default()
    };
    assert_eq!(found.slots, [expected]);
    let row = found.rows[0];
    assert_eq!((row.key.point, row.key.category, row.key.size_class), (1, CATEGORY_FILE, 7));
    let v = row.values;
    assert_eq!((v.count, v.bytes, v.asked, v.timed, v.timed_dur), (1, 100, 4096, 1, 10));
    assert_eq!((v.min, v.max, v.last_end, v.weight, found.open.len()), (10, 10, 1020, 1, 0));
}

#[test]
fn a_call_is_inner_by_layer_and_covered_by_direction() {
    let site = Site::new(Options::default());
    let mut thread = site.thread();
    enter(&mut thread, HDFS_READ, site.file);
    enter(&mut thread, JAVA_READ, 0);
    call(&mut thread, HDFS_READ, 0, 1);
    call(&mut thread, HDFS_OTHER, 0, 1);
    thread.exit(JAVA_READ, 1, 0);
    thread.exit(HDFS_READ, 1, 0);
    let slots = site.one().slots;
    let seen = of(&slots, KIND_CALL, |slot| (slot.point, slot.flags, slot.parent));
    let covered = FLAG_INNER | FLAG_COVERED;
    assert_eq!(
        seen,
        [
            (HDFS_READ, covered, SPAN + 2),
            (HDFS_OTHER, FLAG_INNER, SPAN + 2),
            (JAVA_READ, 0, SPAN + 1),
            (HDFS_READ, 0, 0)
        ]
    );
    assert!(slots.iter().all(|slot| slot.target == site.file as u32), "of the outermost call");
}

#[test]
fn the_target_may_be_known_at_the_end_only() {
    let site = Site::new(Options::default());
    let mut thread = site.thread();
    let spill = handle(&site.process, CATEGORY_SPILL, "/spill");
    enter(&mut thread, JAVA_READ, 0);
    thread.exit(JAVA_READ, 1, spill);
    let found = site.one();
    assert_eq!((found.slots[0].target, found.rows[0].key.category), (spill as u32, CATEGORY_SPILL));
}

#[test]
fn a_scope_is_named_by_what_it_encloses_and_writes_its_begin() {
    let site = Site::new(Options::default());
    let mut thread = site.thread();
    enter(&mut thread, READ_BLOCK, site.file);
    enter(&mut thread, HDFS_READ, 0);
    call(&mut thread, JAVA_READ, 0, 1);
    thread.exit(HDFS_READ, 1, 0);
    thread.enter_counted(COUNTED, 0, 1, 1);
    thread.exit_counted(COUNTED, Thread::AS_ENTERED, false);
    thread.exit(READ_BLOCK, 1, 0);
    call(&mut thread, JAVA_READ, 0, 1);
    let found = site.one();
    let begin = found.slots[0];
    assert_eq!((begin.kind, begin.span, begin.start), (KIND_BEGIN, SPAN + 1, 1010));
    let scopes: Vec<_> = found.rows.iter().map(|row| (row.key.point, row.key.scope)).collect();
    let within = SPAN + 1;
    assert_eq!(
        scopes,
        [
            (JAVA_READ, within),
            (HDFS_READ, within),
            (COUNTED, within),
            (READ_BLOCK, 0),
            (JAVA_READ, 0)
        ]
    );
}

#[test]
fn open_spans_are_mirrored_while_they_last_and_deeper_ones_counted() {
    let site = Site::new(Options::default());
    let mut thread = site.thread();
    enter(&mut thread, HDFS_READ, site.file);
    enter(&mut thread, JAVA_READ, 0);
    let open = site.one().open;
    assert_eq!(
        open.iter().map(|o| (o.span, o.parent)).collect::<Vec<_>>(),
        [(SPAN + 1, 0), (SPAN + 2, SPAN + 1)]
    );
    (0..100).for_each(|_| enter(&mut thread, JAVA_READ, 0));
    assert_eq!(site.one().open.len(), SEGMENT_OPEN_CAPACITY);
    (0..101).for_each(|_| thread.exit(JAVA_READ, 1, 0));
    thread.exit(HDFS_READ, 1, 0);
    assert_eq!((site.one().open.len(), site.count()), (0, 102));
}

#[test]
fn ends_without_a_begin_are_counted_and_what_lies_above_is_dropped() {
    let site = Site::new(Options::default());
    let mut thread = site.thread();
    thread.exit(JAVA_READ, 1, 0);
    thread.pop_context();
    thread.exit_counted(COUNTED, 1, false);
    assert_eq!(site.counter(PROCESS_COUNTER_UNBALANCED), 3);
    enter(&mut thread, HDFS_READ, 0);
    enter(&mut thread, JAVA_READ, 0);
    thread.enter_counted(COUNTED, 0, 0, 0);
    thread.exit(HDFS_READ, 1, 0);
    call(&mut thread, HDFS_READ, 0, 1);
    assert_eq!(site.counter(PROCESS_COUNTER_UNBALANCED), 4);
    let slots = site.one().slots;
    assert_eq!(of(&slots, KIND_CALL, |slot| (slot.point, slot.flags)), [(2, 0), (2, 0)]);
}

#[test]
fn a_failed_call_moves_what_the_calls_inside_have_moved() {
    let site = Site::new(Options::default());
    let facts = PointFacts { layer: LAYER_HDFS, ..PointFacts::default() };
    site.process.points.set(HDFS_READ, PointFacts { adds_up: 3, ..facts });
    site.process.points.set(JAVA_READ, PointFacts { added_up: 3, ..facts });
    let mut thread = site.thread();
    enter(&mut thread, HDFS_READ, 0);
    call(&mut thread, JAVA_READ, 0, 70);
    thread.add_up(3, 7);
    thread.failed(HDFS_READ, 5, FLAG_ERRNO);
    enter(&mut thread, JAVA_READ, 0);
    thread.failed(JAVA_READ, 5, FLAG_ERRNO);
    let slots = site.one().slots;
    let seen = of(&slots, KIND_CALL, |slot| (slot.point, slot.bytes, slot.ret, slot.flags));
    let failed = FLAG_ERRNO;
    assert_eq!(
        seen,
        [(JAVA_READ, 70, 0, FLAG_INNER), (HDFS_READ, 77, 5, failed), (JAVA_READ, 0, 5, failed)]
    );
    assert_eq!(site.one().rows.iter().map(|row| row.values.errors).sum::<u64>(), 2);
}

#[test]
fn a_call_belongs_to_the_context_that_it_started_in() {
    let site = Site::new(Options::default());
    let mut thread = site.thread();
    let process = &site.process;
    let [task, client] = [["r", "j", "t", "", ""], ["r", "", "", "", "a\tclient"]]
        .map(|fields| process.context(fields));
    process.process_context(task);
    enter(&mut thread, HDFS_READ, site.file);
    let cause = Cause { trace: 1, proc: 2, span: 3, ..Cause::default() };
    let entry = Entry { point: JAVA_READ, ..Entry::default() };
    thread.enter(&entry, Some((client, Some(cause))));
    thread.exit(JAVA_READ, 1, 0);
    thread.exit(HDFS_READ, 1, 0);
    let found = site.one();
    let told = of(&found.slots, KIND_CONTEXT, |slot| (slot.target, slot.point, slot.span));
    assert_eq!(told, [(task, 0, 0), (client, JAVA_READ, 3), (task, 0, 0)]);
    let whose: Vec<_> = found.rows.iter().map(|row| (row.key.point, row.key.context)).collect();
    assert_eq!(whose, [(JAVA_READ, client), (HDFS_READ, task)]);
    assert_eq!((thread.cause().trace, thread.cause().span), (7, 0));
}

#[test]
fn counted_only_calls_are_counted_exactly_and_timed_now_and_then() {
    let site = Site::new(Options::default());
    let mut thread = site.thread();
    for _ in 0..3000 {
        thread.enter_counted(COUNTED, site.file, 5, 4);
        thread.exit_counted(COUNTED, Thread::AS_ENTERED, false);
    }
    let found = site.one();
    assert_eq!((found.slots.len(), found.rows.len()), (0, 1));
    let v = found.rows[0].values;
    assert_eq!((v.count, v.bytes, v.asked), (3000, 12_000, 15_000));
    // the first 32, then one of each block of 128, standing for all of them; each takes 10
    assert!((32 + 2968 / 128..=32 + 2968 / 128 + 1).contains(&v.timed), "{}", v.timed);
    assert_eq!((v.weight, v.timed_dur), (32 + (v.timed - 32) * 128, v.weight * 10));
}

#[test]
fn calls_that_are_counted_as_they_begin_are_those_of_both_ends() {
    let site = Site::new(Options::default());
    let mut thread = site.thread();
    for number in 0..3000 {
        let open = thread.count(COUNTED, site.file, 5, 4);
        assert!(open || number >= 32, "the first are all timed");
        if open {
            thread.exit_counted(COUNTED, Thread::AS_ENTERED, false);
        }
    }
    let v = site.one().rows[0].values;
    assert_eq!((v.count, v.bytes, v.asked), (3000, 12_000, 15_000));
    assert!((32 + 2968 / 128..=32 + 2968 / 128 + 1).contains(&v.timed), "{}", v.timed);
    assert_eq!((v.weight, v.timed_dur), (32 + (v.timed - 32) * 128, v.weight * 10));
    // one fails, and one encloses a call
    while thread.count(COUNTED, site.file, 5, 4) {
        thread.exit_counted(COUNTED, Thread::AS_ENTERED, false);
    }
    thread.fail_counted(COUNTED);
    while thread.count(COUNTED, site.file, 5, 4) {
        thread.exit_counted(COUNTED, Thread::AS_ENTERED, false);
    }
    thread.open_counted(COUNTED);
    thread.enter_counted(COUNTED, site.file, 1, 1);
    call(&mut thread, JAVA_READ, site.file, 1); // 10 long
    thread.exit_counted(COUNTED, Thread::AS_ENTERED, false);
    thread.exit_counted(COUNTED, Thread::AS_ENTERED, true);
    let rows = site.one().rows;
    let inner = rows.iter().find(|row| row.key.flags == FLAG_INNER).unwrap();
    assert_eq!((inner.key.point, inner.values.count, inner.values.inside), (COUNTED, 1, 10));
    let w = rows[0].values;
    assert_eq!(w.count - w.timed, v.count - v.timed + 2, "neither was timed");
    assert_eq!((w.errors, w.inside, w.bytes as u64), (2, 10, (w.count - 2) * 4));
    assert_eq!(site.counter(PROCESS_COUNTER_UNBALANCED), 0);
}

#[test]
fn the_time_of_a_counted_only_call_is_its_own_and_that_of_the_calls_inside() {
    let site = Site::new(Options::default());
    let mut thread = site.thread();
    thread.enter_counted(COUNTED, site.file, 1, 1); // at 1010
    thread.enter_counted(COUNTED, site.file, 1, 1); // not timed: another one of the point is
    call(&mut thread, JAVA_READ, site.file, 1); // 10 long
    thread.exit_counted(COUNTED, Thread::AS_ENTERED, false);
    thread.exit_counted(COUNTED, Thread::AS_ENTERED, false); // at 1040
    let rows = site.one().rows.into_iter();
    let seen: Vec<_> =
        rows.map(|r| (r.key.point, r.key.flags, r.values.timed_dur, r.values.inside)).collect();
    assert_eq!(seen, [(JAVA_READ, 0, 10, 0), (COUNTED, FLAG_INNER, 0, 10), (COUNTED, 0, 20, 10)]);
}

#[test]
fn a_fault_inside_is_counted_and_the_thread_only_counts_from_then() {
    let site = Site::new(Options::default());
    let mut thread = site.thread();
    enter(&mut thread, JAVA_READ, 0);
    thread.fail();
    for _ in 0..5 {
        call(&mut thread, JAVA_READ, 0, 1);
        thread.enter_counted(COUNTED, 0, 1, 1);
        thread.exit_counted(COUNTED, 0, false);
        thread.push_context(0, 1, None);
        thread.pop_context();
    }
    assert_eq!(site.counter(PROCESS_COUNTER_LOST_CALLS), 10);
    assert_eq!(site.counter(PROCESS_COUNTER_FAULTS), 1);
    assert_eq!(site.counter(PROCESS_COUNTER_UNBALANCED), 0);
    assert_eq!(site.one().open, []);
}

#[test]
fn a_process_that_ends_leaves_only_what_is_open_unsealed() {
    let site = Site::new(Options::default());
    let (mut idle, mut busy) = (site.process.thread(1, "idle"), site.process.thread(2, "busy"));
    calls(&mut idle, 1);
    enter(&mut busy, JAVA_READ, 0);
    site.process.end();
    let folder = File::open(&site.process.path).unwrap();
    let own = rustix::process::geteuid().as_raw();
    let sealed = ["1.seg", "2.seg"]
        .map(|name| Segment::open(folder.as_fd(), name, own, 7).unwrap().unwrap().is_sealed());
    assert_eq!(sealed, [true, false]);
    calls(&mut site.process.thread(3, "late"), 5);
    assert_eq!((site.counter(PROCESS_COUNTER_LOST_CALLS), site.account().state), (5, ENDED));
}

#[test]
fn faults_and_states_of_points_share_their_words() {
    let site = Site::new(Options::default());
    site.process.point_state(3, 1);
    site.process.fault(3);
    site.process.fault(3);
    site.process.point_state(u16::MAX, 1);
    let point = site.account().points[3];
    assert_eq!((usize::from(point.state), point.faults, point.summed), (POINT_STATE_FAULTED, 2, 0));
}
