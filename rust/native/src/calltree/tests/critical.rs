use super::made::{Row, call};
use crate::calltree::critical::{Answer, Question, answer};
use crate::calltree::spans::Spans;
use crate::calltree::tables::{Grouping, Tables};

fn walk(rows: &[Row], windows: &str) -> Answer {
    walk_of(rows, windows, "{}")
}

/// `worked`: ns by process.
fn walk_of(rows: &[Row], windows: &str, worked: &str) -> Answer {
    walk_with(rows, windows, worked, "[]")
}

/// `threads`: ns by process and tid.
fn walk_with(rows: &[Row], windows: &str, worked: &str, threads: &str) -> Answer {
    let mut tables = Tables::new(Grouping::Op);
    let mut spans = Spans::default();
    spans.push(&super::made::batch(rows), &mut tables, &|_, _| true, None).unwrap();
    let text = format!(
        r#"{{"waiting": ["java.call", "java.idle", "rpc.call"], "waiting_calls": [[1, 90020], [1, 90021]],
        "windows": [{windows}], "worked": {worked}, "threads": {threads}}}"#
    );
    let question: Question = serde_json::from_str(&text).unwrap();
    answer(spans, &tables, &question, 2)
}

fn lines(answer: &Answer) -> Vec<String> {
    let line = |part: &crate::calltree::critical::PathPart| {
        let waiting = if part.activity.waiting { " waits" } else { "" };
        format!("{}-{} {}{waiting}", part.start, part.end, part.activity.op)
    };
    answer.parts.iter().map(line).collect()
}

#[test]
fn the_way_goes_through_what_ended_last() {
    let server = |op: &str, span, parent, start, dur| Row {
        proc: 2,
        parent_proc: Some(1),
        ..call(op, span, parent, start, dur)
    };
    let beside = Row { tid: 7, ..call("beside", 3, 1, 10, 15) };
    let after = Row { tid: 7, ..call("after", 4, 1, 30, 500) };
    let idle = Row { tid: 9, ..call("idle", 8, 0, 0, 100) };
    let rows = [
        call("write", 1, 0, 10, 80), // 10 to 90
        call("call", 2, 1, 50, 30),  // 50 to 80: waits, but for what is served from 60 to 70
        server("serve", 5, 2, 60, 10),
        beside, // ended before the write did, and before the call
        after,  // ended long after: nobody waited for it
        idle,   // a thread that waits for work
    ];
    let actual = walk(&rows, r#"{"start": 0, "end": 100, "proc": 1}"#);
    let expected = [
        "0-10 process",
        "10-25 beside",
        "25-50 write",
        "50-60 call waits",
        "60-70 serve",
        "70-80 call waits",
        "80-90 write",
        "90-100 process",
    ];
    assert_eq!(lines(&actual), expected);
    assert_eq!(actual.wall, 100);
    let times = actual.by_function.iter().map(|function| function.time);
    assert_eq!(times.sum::<i64>(), 100);
}

#[test]
fn single_calls_wait_where_others_of_their_function_do_not() {
    let beside = Row { tid: 9, ..call("read", 90021, 0, 0, 100) };
    let rows = [call("read", 19, 0, 10, 20), call("read", 90020, 0, 40, 30), beside];
    let actual = walk(&rows, r#"{"start": 0, "end": 100, "proc": 1}"#);
    let expected =
        ["0-10 process", "10-30 read", "30-40 process", "40-70 read waits", "70-100 process"];
    assert_eq!(lines(&actual), expected);
}

#[test]
fn a_driver_is_without_its_tasks_and_a_task_is_alone() {
    let on = |tid, row: Row| Row { tid, ..row };
    let task = |span, start, dur| on(30, Row { layer: "task", ..call("run", span, 0, start, dur) });
    let rows = [
        call("read", 90020, 0, 0, 100), // of standard input, by the main thread
        on(5, Row { layer: "rpc", ..call("call", 1, 0, 10, 10) }),
        on(5, call("idle", 2, 0, 20, 70)),
        task(3, 30, 20),
        on(30, call("write", 4, 3, 35, 5)),
        on(30, call("write", 5, 0, 60, 5)),
        task(6, 70, 20),
    ];
    let windows = r#"{"start": 0, "end": 30, "proc": 1, "driver": true},
        {"start": 30, "end": 50, "proc": 1, "span": 3},
        {"start": 50, "end": 100, "proc": 1, "driver": true}"#;
    let actual = walk(&rows, windows);
    let expected = [
        "0-10 process",
        "10-20 call waits",
        "20-30 process",
        "30-35 run",
        "35-40 write",
        "40-50 run",
        "50-60 process",
        "60-65 write",
        "65-100 process",
    ];
    assert_eq!(lines(&actual), expected);
    let waiting: Vec<i64> = actual.windows.iter().map(|window| window.waiting).collect();
    assert_eq!(waiting, [10, 0, 0]);
}

#[test]
fn windows_follow_each_other() {
    let known = r#"{"start": 5, "end": 9, "layer": "task", "op": "start", "role": "map", "host": "h",
        "waiting": true}, {"start": 9, "end": 12, "proc": 77}"#;
    assert_eq!(lines(&walk(&[], known)), ["5-9 start waits", "9-12 process"]);
}

#[test]
fn what_is_outside_of_calls_and_longer_than_the_cpu_time_is_idle() {
    let rows = [call("write", 1, 0, 10, 30)];
    let window = r#"{"start": 0, "end": 100, "proc": 1}"#;
    let idle = |worked: &str| {
        let answer = walk_of(&rows, window, worked);
        let of = |op: &str| answer.by_function.iter().find(|f| f.activity.op == op).unwrap().idle;
        (of("process"), of("write"))
    };
    let two = r#"{"start": 0, "end": 40, "proc": 1}, {"start": 40, "end": 100, "proc": 1}"#;
    let windows = walk_of(&rows, two, r#"{"1": 14}"#).windows;
    assert_eq!(windows.iter().map(|window| window.idle).collect::<Vec<_>>(), [8, 48]);
    // 10 before the write and 60 after it are of the process
    assert_eq!(idle(r#"{"1": 14}"#), (56, 0));
    assert_eq!(idle(r#"{"1": 80}"#), (0, 0));
    assert_eq!(idle(r#"{"2": 14}"#), (0, 0), "nothing is known of it");
}

#[test]
fn many_parts_are_put_together_and_their_times_are_not_lost() {
    let reads = (0..5000).map(|n| call(if n % 3 == 0 { "a" } else { "b" }, n + 1, 0, 10 * n, 7));
    let rows: Vec<Row> = reads.collect();
    let actual = walk(&rows, r#"{"start": 0, "end": 50000, "proc": 1}"#);
    assert!(actual.parts.len() <= 401);
    assert_eq!(actual.parts.iter().map(|part| part.end - part.start).sum::<i64>(), 50_000);
    assert!(actual.parts.windows(2).all(|pair| pair[0].end == pair[1].start));
    let times: Vec<_> =
        actual.by_function.iter().map(|f| (f.activity.op.as_str(), f.time)).collect();
    assert_eq!(times, [("b", 23_331), ("process", 15_000), ("a", 11_669)]);
}

proptest::proptest! {
    #[test]
    fn parts_fill_the_window_whatever_the_calls(
        calls in proptest::collection::vec((0..30i64, 0..100i64, 0..100i64, 1..3i64, 1..3i64), 0..30),
    ) {
        let rows: Vec<Row> = calls
            .into_iter()
            .enumerate()
            .map(|(at, (parent, start, dur, tid, proc))| Row {
                tid,
                proc,
                parent_proc: Some(1),
                ..call("op", at as i64 + 1, parent, start, dur)
            })
            .collect();
        let actual = walk(&rows, r#"{"start": 20, "end": 90, "proc": 1}"#);
        proptest::prop_assert_eq!(actual.wall, 70);
        proptest::prop_assert_eq!(actual.parts.first().map(|part| part.start), Some(20));
        proptest::prop_assert!(actual.parts.windows(2).all(|pair| pair[0].end == pair[1].start));
    }
}

#[test]
fn a_task_among_others_is_idle_where_its_own_thread_is() {
    let task =
        |span, tid, start, dur| Row { tid, layer: "task", ..call("run", span, 0, start, dur) };
    let rows = [
        task(1, 30, 0, 40),
        call("read", 2, 1, 10, 30), // of another thread: its own is in no call meanwhile
        Row { tid: 30, ..call("write", 3, 1, 5, 10) },
        task(4, 30, 50, 20), // not on the way
        task(5, 31, 40, 40),
    ];
    let windows = r#"{"start": 0, "end": 40, "proc": 1, "span": 1},
        {"start": 40, "end": 80, "proc": 1, "span": 5}"#;
    let idle = |answer: &Answer| answer.windows.iter().map(|one| one.idle).collect::<Vec<_>>();
    // thread 30 was in no call below its tasks for 30 + 20 ns, 20 of which it worked; nothing is
    // known of thread 31, and the process worked for long enough
    let threads = r#"[{"proc": 1, "tid": 30, "worked": 20}]"#;
    let answer = walk_with(&rows, windows, r#"{"1": 1000}"#, threads);
    assert_eq!(lines(&answer), ["0-5 run", "5-10 write", "10-40 read", "40-80 run"]);
    assert_eq!(idle(&answer), [3, 0]);
    assert_eq!(idle(&walk_of(&rows, windows, r#"{"1": 1000}"#)), [0, 0]);
}
