use std::collections::BTreeMap;

use proptest::prelude::*;

use super::made::{Row, call, document, document_of, lines, part_of};
use crate::calltree::patterns::FunctionFilter;
use crate::calltree::run::Trees;
use crate::calltree::shape::Order;
use crate::calltree::tables::Grouping;

/// A write of two packets, and one of three, and one that read first.
fn writes() -> Vec<Row> {
    vec![
        call("write", 1, 0, 0, 100),
        call("packet", 2, 1, 10, 20),
        call("packet", 3, 1, 30, 20),
        call("write", 4, 0, 200, 100),
        call("packet", 5, 4, 210, 10),
        call("packet", 6, 4, 220, 10),
        call("packet", 7, 4, 230, 10),
        call("write", 8, 0, 300, 100),
        call("packet", 9, 8, 310, 10),
        call("read", 10, 8, 320, 10),
        call("packet", 11, 8, 330, 10),
    ]
}

#[test]
fn siblings_of_equal_structure_are_one_and_trees_of_equal_structure_too() {
    let expected = [
        "write 2 0 200 130",
        "  packet 5 0 70 70",
        "write 1 0 100 70",
        "  packet 2 0 20 20",
        "  read 1 0 10 10",
    ];
    assert_eq!(lines(&document(&writes(), Order::Sets)), expected);
}

#[test]
fn runs_keep_the_order() {
    let expected = [
        "write 2 0 200 130",
        "  packet 5 0 70 70",
        "write 1 0 100 70",
        "  packet 1 0 10 10",
        "  read 1 0 10 10",
        "  packet 1 0 10 10",
    ];
    assert_eq!(lines(&document(&writes(), Order::Runs)), expected);
}

#[test]
fn paths_merge_what_came_the_same_way() {
    let expected = ["write 3 0 300 200", "  packet 7 0 90 90", "  read 1 0 10 10"];
    assert_eq!(lines(&document(&writes(), Order::Paths)), expected);
}

#[test]
fn self_time_is_less_what_the_own_thread_covers_once() {
    let mut rows = vec![
        call("write", 1, 0, 0, 100),
        call("a", 2, 1, 10, 30),
        call("b", 3, 1, 20, 40),  // overlaps: 10 to 60 are covered
        call("c", 4, 1, 90, 500), // ends after its parent
        call("elsewhere", 5, 1, 0, 100),
    ];
    rows[4].tid = 2;
    assert_eq!(lines(&document(&rows, Order::Paths))[0], "write 1 0 100 40");
}

#[test]
fn what_is_dropped_leaves_what_it_called_and_its_time() {
    let rows = [
        call("write", 1, 0, 0, 100),
        call("between", 2, 1, 10, 50),
        call("packet", 3, 2, 20, 10),
        call("between", 4, 0, 500, 10),
        call("packet", 5, 4, 505, 1),
    ];
    let wanted = FunctionFilter::new(&[], &["java.betw*".into()]).unwrap();
    let actual = document_of(&rows, Order::Sets, &wanted, 2);
    let expected = ["write 1 0 100 90", "  packet 1 0 10 10", "packet 1 0 1 1"];
    assert_eq!(lines(&actual), expected);
    assert_eq!((actual.spans, actual.left_out), (3, 2));
    let wanted = FunctionFilter::new(&["java.write".into(), "java.packet".into()], &[]).unwrap();
    assert_eq!(lines(&document_of(&rows, Order::Sets, &wanted, 2)), expected);
}

#[test]
fn a_pattern_that_no_function_has_is_an_error() {
    let wanted = FunctionFilter::new(&["hdfs.*".into()], &[]).unwrap();
    let mut part = part_of(&[&writes()], Order::Sets, &wanted, None, 2);
    let error = part.complete().unwrap_err().to_string();
    assert_eq!(error, "no function is called hdfs.*; there are java.packet, java.read, java.write");
}

#[test]
fn what_has_no_place_is_counted() {
    let rows = [
        call("lost", 1, 99, 0, 10),
        call("itself", 2, 2, 0, 10),
        call("ring", 3, 4, 5, 10),
        call("ring", 4, 5, 4, 10),
        call("ring", 5, 3, 6, 10),
        call("below", 6, 5, 6, 1),
        call("twice", 1, 0, 0, 10),
    ];
    let actual = document(&rows, Order::Paths);
    assert_eq!(
        (actual.orphans.missing, actual.orphans.cycles, actual.orphans.twice, actual.spans),
        (1, 2, 1, 6)
    );
    // the ring is cut at 4, which began first
    assert_eq!(
        lines(&actual),
        [
            "itself 1 0 10 10",
            "lost 1 0 10 10",
            "ring 1 0 10 1",
            "  ring 1 0 10 1",
            "    ring 1 0 10 9",
            "      below 1 0 1 1",
        ]
    );
}

#[test]
fn a_call_that_never_ended_has_a_place_but_no_time() {
    let mut rows = [call("write", 1, 0, 0, 100), call("packet", 2, 1, 10, 20)];
    rows[0].kind = "unfinished";
    assert_eq!(lines(&document(&rows, Order::Sets)), ["write 0 0 0 0", "  packet 1 0 20 20"]);
}

#[test]
fn implementations_are_one_function_or_each_its_own() {
    let mut rows = [call("read", 1, 0, 0, 1), call("read", 2, 0, 5, 1)];
    rows[1].point = 4; // FileInputStream#readAllBytes
    let by = |by| {
        let mut trees = Trees::new(Order::Sets, by, 2);
        let spans = super::made::spans(&mut trees, &rows);
        trees.add(spans, &FunctionFilter::default(), None);
        let mut actual = trees.finish(&FunctionFilter::default());
        actual.complete().unwrap();
        lines(&actual)
    };
    assert_eq!(by(Grouping::Op), ["read 2 0 2 2"]);
    let points = ["FileInputStream#read 1 0 1 1", "FileInputStream#readAllBytes 1 0 1 1"];
    assert_eq!(by(Grouping::Point), points);
}

/// Calls of up to 4 processes and traces; a parent may be any number: earlier, later, itself, none.
fn any_rows() -> impl Strategy<Value = Vec<Row>> {
    let row = (0..40i64, 0..3usize, 0..4i64, 0..60i64, 0..60i64, 0..3i64, any::<bool>());
    prop::collection::vec(row, 1..40).prop_map(|rows| {
        let made =
            rows.into_iter().enumerate().map(|(at, (parent, op, bytes, start, dur, tid, e))| Row {
                bytes,
                tid,
                error: e,
                ..call(["a", "b", "c"][op], at as i64 + 1, parent, start, dur)
            });
        made.collect()
    })
}

/// Trees without cycles, each with a trace of its own.
fn any_trees() -> impl Strategy<Value = Vec<Row>> {
    let row = (any::<prop::sample::Index>(), 0..3usize, 0..20i64, 0..20i64, any::<bool>());
    prop::collection::vec(row, 1..60).prop_map(|rows| {
        let mut made: Vec<Row> = Vec::new();
        for (at, (parent, op, start, dur, is_root)) in rows.into_iter().enumerate() {
            let span = at as i64 + 1;
            let parent = if is_root || at == 0 { 0 } else { parent.index(at) as i64 + 1 };
            let trace = if parent == 0 { span } else { made[parent as usize - 1].trace.unwrap() };
            let row = call(["a", "b", "c"][op], span, parent, start, dur);
            made.push(Row { trace: Some(trace), ..row });
        }
        made
    })
}

/// Below a parent in order of start; of equal starts the first row first.
fn below(rows: &[Row], parent: i64) -> Vec<&Row> {
    let mut below: Vec<&Row> = rows.iter().filter(|row| row.parent == parent).collect();
    below.sort_by_key(|row| (row.start, row.span));
    below
}

/// The structure of a call, written out.
fn structure(rows: &[Row], row: &Row, order: Order) -> String {
    let mut parts: Vec<String> =
        below(rows, row.span).into_iter().map(|row| structure(rows, row, order)).collect();
    if order == Order::Sets {
        parts.sort();
    }
    parts.dedup();
    if order == Order::Paths { row.op.clone() } else { format!("{}({})", row.op, parts.join(",")) }
}

/// Calls and times by way, each step of which is a structure (of runs: and a place).
fn brute_force(rows: &[Row], order: Order) -> BTreeMap<String, (String, u64, i64)> {
    let mut actual = BTreeMap::new();
    let mut open: Vec<(String, Vec<&Row>)> = vec![(String::new(), below(rows, 0))];
    while let Some((way, siblings)) = open.pop() {
        let (mut last, mut place) = (None, 0);
        for row in siblings {
            let shape = structure(rows, row, order);
            place += usize::from(last.as_ref() != Some(&shape));
            let is_run = order == Order::Runs && !way.is_empty();
            let step =
                if is_run { format!("{way}/{place}{shape}") } else { format!("{way}/{shape}") };
            let node = actual.entry(step.clone()).or_insert((row.op.clone(), 0, 0));
            node.1 += 1;
            node.2 += row.dur;
            last = Some(shape);
            open.push((step, below(rows, row.span)));
        }
    }
    actual
}

const ORDERS: [Order; 3] = [Order::Sets, Order::Runs, Order::Paths];

proptest! {
    #[test]
    fn totals_are_those_of_the_rows_whatever_parents_they_claim(rows in any_rows()) {
        for order in ORDERS {
            let actual = document(&rows, order);
            prop_assert_eq!(actual.spans + actual.orphans.twice, rows.len() as u64);
            for op in ["a", "b", "c"] {
                let own = rows.iter().filter(|row| row.op == op);
                let expected = own.fold((0, 0, 0, 0), |(calls, bytes, total, errors), row| {
                    (calls + 1, bytes + row.bytes, total + row.dur, errors + u64::from(row.error))
                });
                let nodes = actual.nodes.iter().filter(|node| node.op == op).map(|node| &node.stats);
                let functions = actual.functions.iter().filter(|f| f.op == op).map(|f| &f.stats);
                for stats in [nodes.collect::<Vec<_>>(), functions.collect()] {
                    let sum = stats.iter().fold((0, 0, 0, 0), |(calls, bytes, total, errors), s| {
                        (calls + s.count, bytes + s.bytes, total + s.total, errors + s.errors)
                    });
                    prop_assert_eq!(sum, expected);
                    let counted = stats.iter().flat_map(|s| s.histogram.pairs());
                    prop_assert_eq!(counted.map(|(_, count)| count).sum::<u64>(), expected.0);
                }
            }
        }
    }

    #[test]
    fn nodes_are_those_of_written_out_structures(rows in any_trees()) {
        for order in ORDERS {
            let mut expected: Vec<_> = brute_force(&rows, order).into_values().collect();
            let nodes = document(&rows, order).nodes.into_iter();
            let mut actual: Vec<_> =
                nodes.map(|node| (node.op, node.stats.count, node.stats.total)).collect();
            expected.sort();
            actual.sort();
            prop_assert_eq!(actual, expected);
        }
    }

    #[test]
    fn runs_of_one_tree_stand_in_the_order_of_their_starts(rows in any_trees()) {
        let first: Vec<Row> = rows.iter().filter(|row| row.trace == Some(1)).cloned().collect();
        let actual = document(&first, Order::Runs);
        let root = &actual.nodes[0];
        let below_root = actual.nodes.iter().filter(|node| node.parent == Some(root.id));
        let actual: Vec<String> = below_root.map(|node| node.op.clone()).collect();
        let mut expected: Vec<(String, String)> = below(&first, 1)
            .into_iter()
            .map(|row| (structure(&first, row, Order::Runs), row.op.clone()))
            .collect();
        expected.dedup();
        prop_assert_eq!(actual, expected.into_iter().map(|(_, op)| op).collect::<Vec<_>>());
    }

    #[test]
    fn own_time_is_what_no_call_of_the_thread_covers(rows in any_trees(), tids: Vec<bool>) {
        let mut rows = rows;
        for (row, tid) in rows.iter_mut().zip(tids) {
            row.tid = i64::from(tid);
        }
        let own = |row: &Row| {
            let covers = |at: &i64| {
                let covering = rows.iter().filter(|below| below.parent == row.span && below.tid == row.tid);
                covering.clone().any(|below| (below.start..below.start + below.dur).contains(at))
            };
            (row.start..row.start + row.dur).filter(|at| !covers(at)).count() as i64
        };
        let actual: i64 = document(&rows, Order::Sets).nodes.iter().map(|n| n.stats.own).sum();
        prop_assert_eq!(actual, rows.iter().map(own).sum::<i64>());
    }

    #[test]
    fn hostile_values_end_in_a_document(
        rows in prop::collection::vec(
            (any::<[i64; 6]>(), any::<i32>(), prop::option::of(any::<i64>()), 0..3usize), 0..20),
    ) {
        let rows: Vec<Row> = rows
            .into_iter()
            .map(|([proc, tid, span, parent, start, dur], flags, other, kind)| Row {
                kind: ["call", "unfinished", "sum"][kind],
                proc: proc % 3,
                tid,
                flags,
                point: flags,
                parent_proc: other,
                trace: other,
                bytes: dur,
                sum: (kind == 2).then_some([dur, start, parent, tid, span]),
                ..call("op", span % 9, parent % 9, start, dur)
            })
            .collect();
        for order in ORDERS {
            let actual = document(&rows, order);
            let spans = rows.iter().filter(|row| row.kind != "sum").count();
            prop_assert_eq!(actual.spans + actual.orphans.twice, spans as u64);
            for threads in [1, 4] {
                prop_assert_eq!(&document_of(&rows, order, &FunctionFilter::default(), threads), &actual);
            }
        }
    }
}
