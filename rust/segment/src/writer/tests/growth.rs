//! Segments that are full, refused, replaced and used again: no count is lost.

use super::*;

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
fn a_renamed_thread_goes_on_under_its_name_and_loses_nothing() {
    let site = small(1 << 20);
    let mut thread = site.thread();
    enter(&mut thread, HDFS_READ, 0);
    calls(&mut thread, 10);
    thread.rename("main");
    thread.rename("xceiver");
    calls(&mut thread, 5);
    thread.exit(HDFS_READ, 1, 0);
    let all = site.read(false);
    let name = |name| site.process.name(CATEGORY_THREAD_NAME, name);
    let found = |found: &Found| (found.thread_name, found.chain, found.slots.len());
    let expected = [(name("main"), 0, 10), (name("xceiver"), 1, 6)];
    assert_eq!(all.iter().map(found).collect::<Vec<_>>(), expected);
    let span = all[1].slots[5].span;
    assert!(all.iter().flat_map(|found| &found.slots).take(15).all(|slot| slot.parent == span));
    assert_eq!(site.count(), 16);
}

#[test]
fn a_thread_that_is_renamed_without_a_segment_has_its_name_in_the_first() {
    let site = small(1 << 20);
    let mut thread = site.thread();
    thread.rename("xceiver");
    calls(&mut thread, 1);
    assert_eq!(site.one().thread_name, site.process.name(CATEGORY_THREAD_NAME, "xceiver"));
}

#[test]
fn a_thread_keeps_its_name_where_there_is_no_room_for_another_segment() {
    let site = small(FIRST * 8 / 7 + 8);
    let mut thread = site.thread();
    calls(&mut thread, 1);
    thread.rename("xceiver");
    calls(&mut thread, 1);
    let found = site.one();
    let main = site.process.name(CATEGORY_THREAD_NAME, "main");
    assert_eq!((found.thread_name, found.slots.len()), (main, 2));
}
