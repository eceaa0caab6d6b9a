//! What rows say of targets: of calls that are not recorded individually, no call twice.

use std::collections::BTreeMap;

use super::super::targets::MOST_ROWS;
use super::super::thread::AS_ENTERED;
use super::*;

fn counted(thread: &mut Thread, target: u64, bytes: i64) {
    thread.enter_counted(COUNTED, target, 0, bytes);
    thread.exit_counted(COUNTED, AS_ENTERED, false);
}

/// Calls by target of the rows of all segments; 0: on any.
fn by_target(site: &Site) -> BTreeMap<u32, u64> {
    let mut found = BTreeMap::new();
    for row in site.read(false).iter().flat_map(|found| &found.rows) {
        *found.entry(row.key.target).or_default() += row.values.count;
    }
    found
}

#[test]
fn a_call_is_in_the_row_of_its_target_unless_it_has_a_slot() {
    let site = Site::new(Options::default());
    let mut thread = site.thread();
    let other = handle(&site.process, CATEGORY_FILE, "/c");
    counted(&mut thread, site.file, 10);
    counted(&mut thread, other, 20);
    counted(&mut thread, 0, 1);
    call(&mut thread, JAVA_READ, other, 5);
    enter(&mut thread, HDFS_READ, other);
    counted(&mut thread, 0, 40); // on what the call around it acts on
    thread.exit(HDFS_READ, 0, 0);
    let (file, other) = (site.file as u32, other as u32);
    assert_eq!(by_target(&site), BTreeMap::from([(0, 3), (file, 1), (other, 2)]));
    let rows = site.one().rows;
    let bytes =
        |target| rows.iter().filter(move |r| r.key.target == target).map(|r| r.values.bytes);
    assert_eq!(bytes(other).sum::<i64>(), 60);
}

#[test]
fn a_call_that_fails_takes_its_bytes_back_where_they_were_counted() {
    let site = Site::new(Options::default());
    let mut thread = site.thread();
    while thread.count(COUNTED, site.file, 0, 100) {
        thread.exit_counted(COUNTED, AS_ENTERED, false);
    }
    thread.fail_counted(COUNTED);
    let rows = site.one().rows;
    let of_file = rows.iter().filter(|row| row.key.target == site.file as u32);
    let moved: i64 = of_file.clone().map(|row| row.values.bytes).sum();
    let calls: u64 = of_file.map(|row| row.values.count).sum();
    assert_eq!(moved, 100 * (calls as i64 - 1));
}

#[test]
fn a_heavy_target_has_its_calls_among_more_targets_than_there_is_room_for() {
    let site = Site::new(Options::default());
    let mut thread = site.thread();
    let heavy = handle(&site.process, CATEGORY_FILE, "/heavy");
    for light in 0..5000 {
        let light = handle(&site.process, CATEGORY_FILE, &format!("/light-{light}"));
        counted(&mut thread, light, 1);
        counted(&mut thread, heavy, 1);
    }
    let calls = by_target(&site);
    let with_target = calls.keys().filter(|target| **target != 0).count();
    assert!(with_target <= MOST_ROWS as usize / 2, "{with_target}");
    assert_eq!(calls.values().sum::<u64>(), 10_000);
    assert_eq!(calls[&(heavy as u32)], 5000);
    // a thread that ends makes room for the rows of others
    let rows = |site: &Site| site.process.target_rows.load(Ordering::Relaxed);
    assert!(rows(&site) > 0);
    thread.end();
    assert_eq!(rows(&site), 0);
}
