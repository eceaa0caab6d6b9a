//! Calls that make no others leave what any calls leave, but that handlers of signals are not inside.

use super::*;
use crate::row::Values;

/// What calls leave: one that moves bytes, one that fails, one without a target of its own; within
/// a call on a file, and each a quarter of its requests if they are sampled.
fn left(
    site: &Site,
    sampling: u32,
    calls: impl Fn(&mut Thread, &Entry, Result<i64, i32>),
) -> Found {
    site.process.detail.sampling(sampling);
    let mut thread = site.thread();
    let entry = |target, bytes| Entry { point: JAVA_READ, target, asked: 8, offset: 3, bytes };
    for _ in 0..3 {
        calls(&mut thread, &entry(site.file, 0), Ok(100));
        calls(&mut thread, &entry(site.file, 5), Ok(2));
        calls(&mut thread, &entry(site.file, 7), Err(2));
        enter(&mut thread, HDFS_READ, site.file);
        calls(&mut thread, &entry(0, 0), Ok(50));
        thread.exit(HDFS_READ, 1, 0);
    }
    thread.end();
    site.one()
}

fn spans(thread: &mut Thread, entry: &Entry, moved: Result<i64, i32>) {
    thread.enter(entry, None);
    match moved {
        Ok(bytes) => thread.exit(entry.point, bytes, 0),
        Err(errno) => thread.failed(entry.point, errno, FLAG_ERRNO),
    }
}

fn leaves(thread: &mut Thread, entry: &Entry, moved: Result<i64, i32>) {
    let leaf = thread.enter_leaf(entry);
    thread.exit_leaf(entry, leaf, moved);
}

#[test]
fn slots_and_rows_are_those_of_spans() {
    for (level, sampling) in [(0, 0), (LEVEL_JOB, 0), (0, QUARTER as u32), (LEVEL_JOB, 7)] {
        let found = [spans, leaves].map(|calls| {
            let site = Site::new(Options::default());
            site.process.detail.level(level);
            left(&site, sampling, calls)
        });
        let [expected, is] = found.map(|Found { slots, rows, open, .. }| {
            let kinds: Vec<_> =
                slots.iter().map(|slot| (slot.kind, slot.bytes, slot.ret)).collect();
            let rows: Vec<_> = rows
                .iter()
                .map(|CounterRow { key, values }| {
                    let Values { count, bytes, asked, errors, .. } = *values;
                    (*key, [count, bytes as u64, asked, errors])
                })
                .collect();
            (kinds, rows, open.len())
        });
        assert_eq!(is, expected, "level {level}, sampling {sampling}");
    }
}

#[test]
fn a_summed_one_is_timed_now_and_then_and_handlers_are_not_inside() {
    let site = small(u64::MAX);
    site.process.detail.level(LEVEL_JOB);
    site.process.detail.summed(JAVA_READ, true);
    let mut thread = site.thread();
    let entry = Entry { point: JAVA_READ, target: site.file, offset: -1, ..Entry::default() };
    let outer = thread.enter_leaf(&entry);
    assert!(matches!(outer, Leaf::Sum(since) if since > 0));
    // a handler of a signal reads, too, while the call waits
    assert_eq!(thread.enter_leaf(&entry), Leaf::Sum(0));
    thread.exit_leaf(&entry, Leaf::Sum(0), Ok(1));
    thread.exit_leaf(&entry, outer, Ok(10));
    thread.end();
    let rows = site.one().rows;
    let seen: Vec<_> = rows
        .iter()
        .map(|row| (row.key.flags, row.key.size_class, row.values.count, row.values.timed))
        .collect();
    assert_eq!(seen, [(0, 1, 1, 0), (0, 4, 1, 1)]);
    assert_eq!(site.counter(PROCESS_COUNTER_UNBALANCED), 0);
}

#[test]
fn one_that_ends_in_another_recording_is_not_its() {
    let site = small(u64::MAX);
    site.process.detail.level(LEVEL_JOB);
    site.process.detail.summed(JAVA_READ, true);
    let mut thread = site.thread();
    let entry = Entry { point: JAVA_READ, target: site.file, offset: -1, ..Entry::default() };
    leaves(&mut thread, &entry, Ok(1));
    let leaf = thread.enter_leaf(&entry);
    site.process.begin_recording();
    thread.exit_leaf(&entry, leaf, Ok(1));
    assert_eq!(site.count(), 1);
    // AND the next one is timed again
    assert!(matches!(thread.enter_leaf(&entry), Leaf::Sum(since) if since > 0));
}
