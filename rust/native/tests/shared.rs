//! Several users on one node: each gets what is theirs, whatever another one does.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::Path;
use std::time::Duration;

use common::{Site, Writer, is_root, is_true, long, of_kind, skip, text, total, wait};
use iostrata_segment::schema::{
    SEGMENT_HEAD, SEGMENT_HEADER, SEGMENT_RING_SLOTS, SEGMENT_ROWS, SEGMENT_SERIAL,
    SEGMENT_TABLE_ROWS,
};

/// An empty file of another user, which is theirs before the collector sees it.
fn order(site: &Site, name: &str, uid: u32) {
    let runs = site.dir.join("runs");
    let draft = runs.join(format!(".{name}.new"));
    std::fs::write(&draft, "").unwrap();
    chown(&draft, Some(uid), Some(uid)).unwrap();
    std::fs::rename(draft, runs.join(name)).unwrap();
}

#[test]
fn two_users_see_their_own_runs_only() {
    if !is_root() {
        return skip("two_users_see_their_own_runs_only", "needs root to act as two other users");
    }
    let site = Site::new();
    let collector = site.collector();
    for (run, uid) in [("ra", 20_001), ("rb", 20_002)] {
        order(&site, &format!("{run}.run"), uid);
        site.wait_for(run, "recording");
    }
    let events = |run: &str, events: &str| ["--text", run, "--events", events].map(str::to_owned);
    let write = |uid, proc, arguments: [String; 4]| {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        site.writer_as(uid, proc, &arguments).finish()
    };
    write(20_001, 1, events("run=ra", "10"));
    write(20_002, 2, events("run=rb", "20"));
    // a run's name alone opens nothing: this one is not of its owner
    write(20_002, 3, events("run=ra", "30"));
    for (run, uid) in [("ra", 20_001), ("rb", 20_002)] {
        order(&site, &format!("{run}.stop"), uid);
        site.wait_for(run, "done");
    }
    collector.terminate();

    let procs = |run: &str| {
        let rows = site.events(run);
        let mut procs: Vec<_> = rows.iter().map(|row| long(row, "proc")).collect();
        procs.dedup();
        procs
    };
    assert_eq!((procs("ra"), procs("rb"), procs("_background")), (vec![1], vec![2], vec![3]));
    let seen =
        |run: &str| site.processes(run).iter().map(|row| long(row, "uid")).collect::<Vec<_>>();
    assert_eq!((seen("ra"), seen("rb")), (vec![20_001], vec![20_002]));
    for (path, uid, mode) in [
        ("ra", 20_001, 0o40700),
        ("ra/events/host=here", 20_001, 0o40700),
        ("ra/processes/host=here.parquet", 20_001, 0o100_600),
        ("rb", 20_002, 0o40700),
        ("_background", 0, 0o40700),
        ("", 0, 0o40711),
    ] {
        let found = std::fs::metadata(site.store.join(path)).unwrap();
        assert_eq!((found.uid(), found.mode()), (uid, mode), "{path}");
    }
}

#[test]
fn only_accounts_that_serve_write_into_runs_of_others() {
    if !is_root() {
        return skip(
            "only_accounts_that_serve_write_into_runs_of_others",
            "needs root to be others",
        );
    }
    let mut site = Site::new();
    site.options = vec!["--daemons".into(), "20003,nobody-of-that-name".into()];
    let collector = site.collector();
    order(&site, "ra.run", 20_001);
    site.wait_for("ra", "recording");
    let claims = ["--text", "run=ra", "--job", "job_17_0001", "--client", "DFSClient_A_1"];
    site.writer_as(20_001, 1, &[&claims[..], &["--events", "10"]].concat()).finish();
    let daemon = ["--text", "main=org.apache.hadoop.hdfs.server.datanode.DataNode", "--context"];
    let proc_of_a = "||||#1";
    for (uid, first) in [(20_002, 20), (20_003, 30)] {
        let contexts = ["ra||||", "||||DFSClient_A_1", "|job_17_0001|||", proc_of_a];
        for (proc, context) in (first..).zip(contexts) {
            let arguments = [&daemon[..], &[context, "--events", "5"]].concat();
            site.writer_as(uid, proc, &arguments).finish();
        }
        let task = ["--text", "attempt=attempt_17_0001_r_000001_0", "--events", "5"];
        site.writer_as(uid, first + 4, &task).finish();
    }
    order(&site, "ra.stop", 20_001);
    site.wait_for("ra", "done");
    collector.terminate();

    let procs: BTreeSet<_> = site.events("ra").iter().map(|row| long(row, "proc")).collect();
    assert_eq!(procs, BTreeSet::from([1, 30, 31, 32, 33, 34]));
    let seen: BTreeSet<_> = site.processes("ra").iter().map(|row| long(row, "uid")).collect();
    assert_eq!(seen, BTreeSet::from([20_001, 20_003]));
}

#[test]
fn the_flood_of_one_user_takes_nothing_from_another() {
    if !is_root() {
        let name = "the_flood_of_one_user_takes_nothing_from_another";
        return skip(name, "needs root to be two users");
    }
    let site = Site::new();
    let collector = site.collector();
    site.begin("r1");
    // processes whose numbers come first, each of them with more than a batch holds
    let endless = ["--threads", "3", "--events", "0"];
    let flood: Vec<Writer> = (1..=2).map(|proc| site.writer_as(20_001, proc, &endless)).collect();
    std::thread::sleep(Duration::from_millis(500));
    let arguments = ["--text", "run=r1", "--threads", "4", "--events", "50000"];
    let (events, bytes) = site.writer(100, &arguments).finish();
    site.stop("r1");
    site.wait_for("r1", "done");
    for writer in flood {
        writer.kill();
    }
    collector.kill(); // what the flood left is nobody's
    let rows = site.events("r1");
    let sums = of_kind(&rows, "sum");
    assert_eq!((total(&sums, "count"), total(&sums, "bytes")), (events, bytes));
    let dropped = total(&of_kind(&rows, "gap"), "count");
    assert_eq!(of_kind(&rows, "call").len() as i64 + dropped, events);
}

/// A segment of one page that is as good as any, in so many copies.
fn copies(directory: &Path, uid: u32, count: u32) {
    let mut bytes = fs::read(directory.join("1.seg")).unwrap();
    bytes.truncate(SEGMENT_HEADER);
    let mut set = |at: usize, word: u32| bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
    set(SEGMENT_RING_SLOTS, 0);
    set(SEGMENT_TABLE_ROWS, 0);
    set(SEGMENT_HEAD, 0);
    set(SEGMENT_ROWS, 0);
    for serial in 100..100 + count {
        let at = SEGMENT_SERIAL;
        bytes[at..at + 4].copy_from_slice(&serial.to_le_bytes());
        let path = directory.join(format!("{serial}.seg"));
        fs::write(&path, &bytes).unwrap();
        chown(&path, Some(uid), Some(uid)).unwrap();
    }
}

#[test]
fn a_user_who_takes_all_mappings_takes_them_from_nobody_else() {
    if !is_root() {
        let name = "a_user_who_takes_all_mappings_takes_them_from_nobody_else";
        return skip(name, "needs root to be two users");
    }
    let site = Site::new();
    let collector = site.collector();
    for (run, uid) in [("ra", 20_001), ("rb", 20_002)] {
        order(&site, &format!("{run}.run"), uid);
        site.wait_for(run, "recording");
    }
    let hog = ["--text", "run=ra", "--events", "10", "--linger-ms", "60000"];
    let hog = site.writer_as(20_001, 1, &hog);
    let folder = site.dir.join(format!("20001/{}-{:016x}", hog.pid(), 1));
    wait("a segment", || folder.join("1.seg").exists());
    copies(&folder, 20_001, 32_700);
    wait("the rejection", || site.log().contains("has used up their share of the collector"));

    let arguments = ["--text", "run=rb", "--threads", "200", "--events", "100"];
    let (events, bytes) = site.writer_as(20_002, 2, &arguments).finish();
    hog.kill();
    for (run, uid) in [("ra", 20_001), ("rb", 20_002)] {
        order(&site, &format!("{run}.stop"), uid);
        site.wait_for(run, "done");
    }
    collector.terminate();

    let rows = site.events("rb");
    let sums = of_kind(&rows, "sum");
    assert_eq!((total(&sums, "count"), total(&sums, "bytes")), (events, bytes));
    let victim = &site.processes("rb")[0];
    assert!(is_true(victim, "traced") && long(victim, "dropped") == 0);
    let hog = &site.processes("ra")[0];
    let why = "of its segments at least were not read: its user has used up their share";
    assert!(!is_true(hog, "traced") && text(hog, "reason").contains(why), "{hog:?}");
    let said = site.log().matches("has used up their share").count();
    assert_eq!(said, 1, "{}", site.log());
}
