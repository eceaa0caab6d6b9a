//! What one thread's calls leave in slots, rows and open spans. The clock says 1010, 1020, …

use std::cell::Cell;
use std::fs::File;
use std::os::fd::AsFd;
use std::sync::Arc;

use super::overflow::RETRY_CALLS;
use super::*;
use crate::process::Account;
use crate::ring::Event;
use crate::row::CounterRow;
use crate::schema::{
    CATEGORY_FILE, CATEGORY_SPILL, FLAG_COVERED, FLAG_ERRNO, FLAG_INNER, KIND_BEGIN, KIND_CALL,
    KIND_CONTEXT, KIND_GAP, LAYER_DATANODE, LAYER_FS, LAYER_HDFS, LAYER_JAVA, LAYER_TASK,
    LEVEL_JOB, PROCESS_COUNTER_FAULTS, PROCESS_COUNTER_LOST_CALLS, PROCESS_COUNTER_UNBALANCED,
    SEGMENT_OPEN_CAPACITY, SIZE_CLASS_FOLD,
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
    let (open, tid, epoch) = (segment.open_spans(), identity.tid, identity.epoch);
    Found { slots, rows, open, gaps, collapsed, tid, epoch }
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
fn a_full_ring_grows_and_then_says_what_it_lost() {
    let site = small(2 * FIRST * 8 / 7 + 16);
    let mut thread = site.thread();
    let context = site.process.context(["r", "", "", "", ""]);
    site.process.process_context(context);
    calls(&mut thread, 60);
    let all = site.read(true);
    // no room for one of 128 slots: all but context and the slot that is kept back
    assert_eq!((all.len(), all[0].gaps, of(&all[0].slots, KIND_CALL, |_| ()).len()), (1, 30, 30));
    calls(&mut thread, 2);
    let slots = &site.read(true)[0].slots;
    assert_eq!(
        slots.iter().map(|slot| slot.kind).collect::<Vec<_>>(),
        [KIND_GAP, KIND_CONTEXT, KIND_CALL, KIND_CALL]
    );
    let gap = slots[0];
    assert_eq!((gap.bytes, gap.dur), (30, 30 * 20 - 10));
    assert_eq!(slots[1].target, context);
    assert_eq!(site.count(), 62);
}

#[test]
fn a_growing_thread_loses_nothing_and_goes_on_in_its_chain() {
    let site = small(1 << 20);
    let mut thread = site.thread();
    enter(&mut thread, HDFS_READ, 0);
    calls(&mut thread, 300);
    thread.exit(HDFS_READ, 1, 0);
    let all = site.read(false);
    let slots: Vec<Event> = all.iter().flat_map(|found| found.slots.clone()).collect();
    assert_eq!(slots.len(), 301);
    assert!(slots[..300].iter().all(|slot| slot.parent == slots[300].span));
    assert_eq!((site.count(), all.len()), (301, 3));
    assert_eq!(all.iter().map(|found| found.gaps).sum::<u64>(), 0);
}

#[test]
fn calls_without_room_for_a_row_are_collapsed_for_the_whole_process() {
    let site = small(FIRST * 8 / 7 + 8);
    let mut thread = site.thread();
    for class in 0..8 {
        call(&mut thread, JAVA_READ, site.file, 1 << class);
    }
    enter(&mut thread, HDFS_READ, site.file);
    for class in 8..30 {
        call(&mut thread, JAVA_READ, site.file, 1 << class);
    }
    call(&mut thread, HDFS_OTHER, site.file, 1);
    thread.exit(HDFS_READ, 1, 0);
    let all = site.read(false);
    let rows: Vec<_> = all[1]
        .rows
        .iter()
        .map(|row| (row.key.point, row.key.flags, row.values.count, row.values.bytes))
        .collect();
    let bytes = (1 << 30) - (1 << 8);
    assert_eq!(
        rows,
        [(JAVA_READ, 0, 22, bytes), (HDFS_OTHER, FLAG_INNER, 1, 1), (HDFS_READ, 0, 1, 1)]
    );
    assert!(all[1].rows.iter().all(|row| usize::from(row.key.size_class) == SIZE_CLASS_FOLD));
    assert_eq!((all[1].collapsed, all[1].tid, site.count()), (24, 0, 32));
}

#[test]
fn three_thousand_threads_at_once_lose_no_count() {
    let site = small(16 * FIRST);
    let mut threads: Vec<Thread> =
        (1..=3000).map(|tid| site.process.thread(tid, "worker")).collect();
    for _ in 0..3 {
        for thread in &mut threads {
            call(thread, JAVA_READ, site.file, 1);
            thread.enter_counted(COUNTED, site.file, 0, 1);
            thread.exit_counted(COUNTED, Thread::AS_ENTERED, false);
        }
    }
    assert_eq!(site.count(), 3000 * 6);
    let all = site.read(false);
    let kept: usize = all.iter().map(|found| of(&found.slots, KIND_CALL, |_| ()).len()).sum();
    let gaps: u64 = all.iter().map(|found| found.gaps).sum();
    assert_eq!(kept as u64 + gaps, 3000 * 3, "detail is kept or counted as lost");
    assert_eq!(site.counter(PROCESS_COUNTER_LOST_CALLS), 0);
}

#[test]
fn a_thread_without_a_segment_gets_one_later_in_the_middle_of_a_call() {
    let site = small(FIRST * 8 / 7 + 8);
    let mut first = site.process.thread(1, "first");
    call(&mut first, JAVA_READ, 0, 1);
    let mut thread = site.process.thread(2, "second");
    enter(&mut thread, HDFS_READ, 0);
    calls(&mut thread, 10);
    first.end();
    site.read(true);
    for _ in 0..RETRY_CALLS {
        calls(&mut thread, 1);
        site.read(true);
    }
    thread.exit(HDFS_READ, 1, 0);
    let all = site.read(true);
    let outer = all[0].slots.last().unwrap();
    assert_eq!((outer.point, outer.span == 0, all[0].tid, all[0].epoch), (HDFS_READ, false, 2, 2));
    let counted = |found: &Found| found.rows.iter().map(|row| row.values.count).sum::<u64>();
    assert_eq!(counted(&all[0]) + counted(&all[1]), 10 + u64::from(RETRY_CALLS) + 1);
}

#[test]
fn segments_of_ended_threads_serve_others() {
    let site = small(4 * FIRST);
    for tid in 1..=50 {
        let mut thread = site.process.thread(tid, "worker");
        calls(&mut thread, 10);
        thread.end();
        let all = site.read(true);
        assert_eq!((all.len(), all[0].tid, u64::from(all[0].epoch)), (1, tid, tid));
        assert_eq!(site.count(), 10, "its own rows only");
    }
    assert_eq!(site.process.slots(), 500);
}

#[test]
fn a_recording_begins_without_the_rows_and_the_calls_of_the_one_before() {
    let site = small(1 << 20);
    let mut thread = site.thread();
    for class in 0..60 {
        call(&mut thread, JAVA_READ, site.file, 1 << class);
    }
    enter(&mut thread, HDFS_READ, 0);
    let before = site.read(true).len();
    site.process.begin_recording();
    calls(&mut thread, 1);
    let last = site.read(true);
    let slots: Vec<Event> = last.iter().flat_map(|found| found.slots.clone()).collect();
    assert_eq!((slots.len(), slots[0].flags, slots[0].parent), (1, 0, 0));
    assert!(last.len() > before || last[0].epoch == 2);
    assert!(last.iter().all(|found| found.open.is_empty()));
}

#[test]
fn a_request_is_kept_with_all_that_it_causes() {
    let site = Site::new(Options::default());
    let mut thread = site.thread();
    site.process.detail.sampling(QUARTER as u32);
    let mut kept = 0;
    for _ in 0..1000 {
        enter(&mut thread, READ_BLOCK, site.file);
        let cause = thread.cause();
        call(&mut thread, JAVA_READ, 0, 1);
        thread.exit(READ_BLOCK, 0, 0);
        let carried = Cause { proc: 0x8888, since: 0, context: 0, ..cause };
        thread.push_context(HDFS_READ, 0, Some(carried));
        call(&mut thread, HDFS_READ, site.file, 1);
        thread.pop_context();
        kept += usize::from(cause.sampling > 0);
    }
    // 5 deviations of a binomial
    assert!((182..=318).contains(&kept), "{kept}");
    let slots: Vec<Event> = site.read(false).iter().flat_map(|found| found.slots.clone()).collect();
    assert_eq!(of(&slots, KIND_CALL, |_| ()).len(), 3 * kept);
    assert_eq!(site.count(), 3000);
    let told = of(&slots, KIND_CONTEXT, |slot| slot.asked);
    assert!(told.iter().all(|asked| [0, QUARTER as u32].contains(asked)));
}

#[test]
fn below_a_task_each_call_begins_a_request_and_the_task_is_kept() {
    let site = Site::new(Options::default());
    let mut thread = site.thread();
    site.process.detail.sampling(QUARTER as u32);
    site.process.detail.level(LEVEL_JOB);
    enter(&mut thread, TASK, 0);
    assert_eq!(thread.cause().sampling, 0);
    for _ in 0..1000 {
        call(&mut thread, HDFS_READ, site.file, 1);
    }
    thread.exit(TASK, 0, 0);
    let slots: Vec<Event> = site.read(false).iter().flat_map(|found| found.slots.clone()).collect();
    let points = of(&slots, KIND_CALL, |slot| slot.point);
    let reads = points.iter().filter(|point| **point == HDFS_READ).count();
    assert!((182..=318).contains(&reads), "{reads}");
    assert_eq!(points.len(), reads + 1);
}

#[test]
fn first_draws_of_threads_are_independent() {
    let site = Site::new(Options::default());
    let draw = |tid| {
        let drawn = detail::drawn(QUARTER, site.process.thread(tid, "").draw());
        drawn > 0
    };
    let drawn: Vec<bool> = (1..=2000).map(draw).collect();
    // five deviations of binomials with 1/4 and 1/16
    let one = drawn.iter().filter(|is| **is).count();
    assert!((403..=597).contains(&one), "{one}");
    for apart in 1..9 {
        let both = drawn.iter().zip(&drawn[apart..]).filter(|(a, b)| **a && **b).count();
        assert!((70..=180).contains(&both), "{both} of a pair {apart} apart");
    }
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
