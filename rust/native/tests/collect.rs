//! Real processes write, the real collector drains them, and the published Parquet is compared.

mod common;

use std::collections::BTreeMap;
use std::time::Duration;

use common::{Row, Site, is_true, long, of_kind, text, total};

/// Spans of each process and thread in the order they are stored.
fn spans(rows: &[Row]) -> BTreeMap<(i64, i64), Vec<i64>> {
    let mut found: BTreeMap<_, Vec<i64>> = BTreeMap::new();
    for row in of_kind(rows, "call") {
        found.entry((long(row, "proc"), long(row, "tid"))).or_default().push(long(row, "span"));
    }
    found
}

#[track_caller]
fn assert_numbered(rows: &[Row], last: Option<i64>) {
    for (thread, spans) in spans(rows) {
        let wrong = spans.iter().zip(1..).find(|(span, expected)| **span != *expected);
        assert_eq!(wrong, None, "thread {thread:?}: found, expected");
        assert!(last.is_none_or(|last| last == spans.len() as i64), "{thread:?}: {}", spans.len());
    }
}

#[test]
fn a_process_becomes_parquet() {
    let site = Site::new();
    let collector = site.collector();
    site.begin("r1");

    let text_of = ["--text", "main=org.example.Main", "--text", "run=r1"];
    let context = ["--context", "r1|job_17_0001|attempt_17_0001_m_000000_0|MAP|"];
    let writer = site.writer(0xabc, &[&text_of[..], &context, &["--events", "3"]].concat());
    let pid = i64::from(writer.pid());
    assert_eq!(writer.finish(), (3, 3));
    site.end("r1");
    collector.terminate();

    let rows = site.events("r1");
    let cells = |row: &Row| {
        ["thread", "kind", "job", "task", "phase", "target", "category", "role", "host"]
            .map(|column| text(row, column).to_owned())
            .join(" ")
    };
    let calls = of_kind(&rows, "call");
    let task = "job_17_0001 attempt_17_0001_m_000000_0 MAP";
    let expected = format!("writer-0 call {task} /data/0/0 file client here");
    assert_eq!(calls.iter().map(|row| cells(row)).collect::<Vec<_>>(), vec![expected; 3]);
    let numbers = |column: &str| calls.iter().map(|row| long(row, column)).collect::<Vec<_>>();
    assert_eq!(numbers("span"), [1, 2, 3]);
    assert_eq!(numbers("bytes"), [0, 1, 2]);
    assert_eq!(numbers("offset"), [0, 1, 2]);
    assert_eq!(numbers("dur"), [100, 101, 102]);
    assert_eq!(numbers("pid"), [pid; 3]);
    let sums = of_kind(&rows, "sum");
    assert_eq!((total(&sums, "count"), total(&sums, "bytes")), (3, 3));
    let processes = site.processes("r1");
    assert_eq!(processes.len(), 1);
    let process = &processes[0];
    assert_eq!(
        ["main", "role", "exit", "reason"].map(|column| text(process, column)),
        ["org.example.Main", "client", "ended", ""]
    );
    assert!(is_true(process, "traced"));
    assert_eq!((long(process, "calls"), long(process, "detail")), (3, 3));
    assert!(!site.dir.join("collector").exists());
}

#[test]
fn ten_million_numbered_events_arrive_in_order() {
    let events: i64 = if std::env::var_os("SOAK").is_some() { 500_000_000 } else { 5_000_000 };
    let site = Site::new();
    let collector = site.collector();
    site.begin("r1");

    let count = events.to_string();
    let arguments = ["--text", "run=r1", "--threads", "2", "--events", &count, "--wait"];
    let (written, bytes) = site.writer(1, &arguments).finish();
    site.end("r1");
    collector.terminate();

    assert_eq!(written, 2 * events);
    assert_eq!(site.progress("r1")["dropped"], 0);
    assert_eq!(site.long_columns("r1"), [written, bytes, written, bytes]);
}

#[test]
fn a_killed_collector_loses_and_repeats_nothing() {
    let rounds = if std::env::var_os("SOAK").is_some() { 200 } else { 12 };
    let mut site = Site::new();
    // many rotations: most restarts begin from a snapshot, some between two files
    site.options = ["--part-rows", "5000"].map(str::to_owned).to_vec();
    let mut collector = site.collector();
    site.begin("r1");
    let arguments = ["--text", "run=r1", "--threads", "2", "--events", "150000", "--wait"];
    let paced = [&arguments[..], &["--pause-us", "8000", "--dictionary", "16384"]].concat();
    let writer = site.writer(1, &paced);

    for round in 0..rounds {
        // points in time that have nothing to do with the collector's own rhythm
        std::thread::sleep(Duration::from_micros(20_000 + round * 7919 % 70_000));
        collector.kill();
        collector = site.collector();
    }
    let (events, bytes) = writer.finish();
    site.end("r1");
    collector.terminate();

    let rows = site.events("r1");
    assert_numbered(&rows, Some(150_000));
    let sums = of_kind(&rows, "sum");
    assert_eq!((total(&sums, "count"), total(&sums, "bytes")), (events, bytes));
    assert_eq!(of_kind(&rows, "gap").len(), 0);
    let misnamed = of_kind(&rows, "call").into_iter().find(|row| {
        let name = format!("/data/{}/{}", long(row, "tid"), (long(row, "span") - 1) / 64 % 4096);
        text(row, "target") != name
    });
    assert_eq!(misnamed, None);
    let last = std::fs::read_dir(site.store.join("r1/events/host=here")).unwrap().count();
    assert!(last > 20, "{last} parts");
}

#[test]
fn a_killed_writer_loses_nothing_published() {
    let rounds: u64 = if std::env::var_os("SOAK").is_some() { 500 } else { 25 };
    let site = Site::new();
    let collector = site.collector();
    site.begin("r1");
    for round in 0..rounds {
        let arguments = ["--text", "run=r1", "--threads", "2", "--events", "0", "--wait"];
        let writer = site.writer(round + 1, &arguments);
        std::thread::sleep(Duration::from_micros(3_000 + round * 7919 % 20_000));
        writer.kill();
    }
    site.end("r1");
    collector.terminate();

    let rows = site.events("r1");
    assert_numbered(&rows, None);
    assert_eq!(of_kind(&rows, "gap").len(), 0);
    for ((proc, tid), spans) in spans(&rows) {
        let of_thread = |row: &&Row| long(row, "proc") == proc && long(row, "tid") == tid;
        let sums: Vec<_> = of_kind(&rows, "sum").into_iter().filter(of_thread).collect();
        let (counted, logged) = (total(&sums, "count"), spans.len() as i64);
        // a call is added to its row before it gets its slot
        assert!((0..=1).contains(&(counted - logged)), "counted={counted} logged={logged}");
    }
    let processes = site.processes("r1");
    assert_eq!(processes.len() as u64, rounds);
    assert!(processes.iter().all(|process| text(process, "exit") == "killed"));
}

#[test]
fn what_a_full_ring_drops_is_counted() {
    let site = Site::new();
    let collector = site.collector();
    site.begin("r1");
    let arguments = ["--text", "run=r1", "--events", "2000000", "--cap", "131072"];
    let (events, bytes) = site.writer(1, &arguments).finish();
    site.end("r1");
    collector.terminate();

    let rows = site.events("r1");
    let gaps = of_kind(&rows, "gap");
    let calls = of_kind(&rows, "call").len() as i64;
    let dropped = total(&gaps, "count");
    assert!(dropped > 0, "128 KB took {events} events at full speed");
    assert_eq!(calls + dropped, events);
    let sums = of_kind(&rows, "sum");
    assert_eq!((total(&sums, "count"), total(&sums, "bytes")), (events, bytes));
    assert_eq!(long(&site.processes("r1")[0], "dropped"), dropped);
    assert_eq!(site.progress("r1")["dropped"], dropped);
}

#[test]
fn what_was_open_at_the_end_is_unfinished() {
    let site = Site::new();
    let collector = site.collector();
    site.begin("r1");
    let arguments = ["--text", "run=r1", "--events", "10", "--open", "2", "--abrupt"];
    site.writer(1, &arguments).finish();
    site.end("r1");
    collector.terminate();

    let rows = site.events("r1");
    let open: Vec<_> = of_kind(&rows, "unfinished").iter().map(|row| long(row, "span")).collect();
    assert_eq!(open, [1 << 40 | 1, 1 << 40 | 2]);
    assert_eq!(text(of_kind(&rows, "unfinished")[0], "target"), "/data/0/0");
}

#[test]
fn a_daemons_events_go_to_the_run_that_caused_them() {
    let site = Site::new();
    let collector = site.collector();
    site.begin("r1");
    site.begin("r2");
    let daemon = ["--text", "main=org.apache.hadoop.hdfs.server.datanode.DataNode", "--linger-ms"];
    let linger = [&daemon[..], &["8000"]].concat();
    let submit = ["--text", "run=r1", "--job", "job_17_0001", "--client", "DFSClient_A_1"];
    site.writer(1, &[&submit[..], &["--events", "1"]].concat()).finish();
    let submit = ["--text", "run=r2", "--client", "DFSClient_B_1", "--events", "1"];
    site.writer(2, &submit).finish();
    let of_client = |proc, client: &str, events| {
        let context = format!("||||{client}");
        site.writer(proc, &[&linger[..], &["--context", &context, "--events", events]].concat())
    };
    let mut daemons = vec![
        of_client(11, "DFSClient_A_1", "10"),
        of_client(12, "DFSClient_B_1", "20"),
        of_client(13, "DFSClient_attempt_17_0001_m_000004_0_-9_1", "30"),
        of_client(14, "DFSClient_attempt_18_0001_m_000004_0_-9_1", "40"),
        site.writer(15, &[&linger[..], &["--events", "50"]].concat()),
    ];
    let task = ["--text", "attempt=attempt_17_0001_r_000001_0", "--events", "60"];
    site.writer(16, &task).finish();
    for daemon in &mut daemons {
        daemon.written();
    }
    site.end("r1");
    site.end("r2");
    drop(daemons);
    collector.terminate();

    let calls = |run: &str| {
        let mut counts: BTreeMap<i64, i64> = BTreeMap::new();
        for row in of_kind(&site.events(run), "call") {
            *counts.entry(long(row, "proc")).or_default() += 1;
        }
        counts.into_iter().collect::<Vec<_>>()
    };
    assert_eq!(calls("r1"), [(1, 1), (11, 10), (13, 30), (16, 60)]);
    assert_eq!(calls("r2"), [(2, 1), (12, 20)]);
    assert_eq!(calls("_background"), [(14, 40), (15, 50)]);
    let rows = site.events("r1");
    let mut who: Vec<_> = of_kind(&rows, "call")
        .iter()
        .map(|row| (long(row, "proc"), text(row, "job"), text(row, "task")))
        .collect();
    who.dedup();
    let job = "job_17_0001";
    who.sort_unstable();
    let expected = [
        (1, "", ""),
        (11, "", ""),
        (13, job, "attempt_17_0001_m_000004_0"),
        (16, job, "attempt_17_0001_r_000001_0"),
    ];
    assert_eq!(who, expected);
}

#[test]
fn sigterm_publishes_and_a_restart_counts_nothing_twice() {
    let site = Site::new();
    let collector = site.collector();
    site.begin("r1");
    let daemon = ["--text", "main=x.DataNode", "--context", "r1||||", "--linger-ms", "20000"];
    let mut writer = site.writer(1, &[&daemon[..], &["--events", "1000"]].concat());
    let (events, _) = writer.written();
    collector.terminate();
    assert_eq!(site.progress("r1")["state"], "done");
    assert_eq!(site.progress("r1")["message"], "the collector was stopped");
    assert_eq!(of_kind(&site.events("r1"), "call").len() as i64, events);

    let collector = site.collector();
    site.begin("r2");
    writer.kill();
    site.end("r2");
    collector.terminate();

    assert_eq!(of_kind(&site.events("r2"), "sum").len(), 0);
    let sums = site.events("r1");
    assert_eq!(total(&of_kind(&sums, "sum"), "count"), events);
}

#[test]
fn a_second_collector_says_who_the_first_is() {
    let site = Site::new();
    let collector = site.collector();
    let second = std::process::Command::new(env!("CARGO_BIN_EXE_iostrata-native"))
        .args(["collect", "--store", "/nonexistent/x", "--spool", "/nonexistent/y", "--dir"])
        .arg(&site.dir)
        .output()
        .unwrap();
    let expected = format!(
        "iostrata-native: {} is drained by another collector: pid={}\n",
        site.dir.display(),
        collector.pid()
    );
    assert_eq!(String::from_utf8(second.stderr).unwrap(), expected);
    assert_eq!(second.status.code(), Some(1));
}
