use super::made::{Row, call};
use crate::calltree::clocks::{Clock, Evidence};
use crate::calltree::forest::Forest;
use crate::calltree::run::Trees;
use crate::calltree::shape::Order;
use crate::calltree::tables::Grouping;

fn rpc(op: &str, span: i64, parent: i64, start: i64, dur: i64) -> Row {
    Row { layer: "rpc", ..call(op, span, parent, start, dur) }
}

fn server(row: Row) -> Row {
    Row { host: "server".into(), proc: 2, ..row }
}

fn clocks(rows: &[Row]) -> Vec<Clock> {
    let mut trees = Trees::new(Order::Sets, Grouping::Op, 2);
    let mut spans = super::made::spans(&mut trees, rows);
    let forest = Forest::grow(&mut spans, &trees.tables, &trees.sums, 2);
    let mut evidence = Evidence::default();
    evidence.gather(&spans, &trees.tables, &forest, 2);
    evidence.clocks()
}

/// The server's clock is 1000 ahead; each call takes 10 there and back, and 80 in between.
fn calls() -> Vec<Row> {
    let mut rows: Vec<Row> = (90..99).map(|span| call("idle", span, 0, 0, 1)).collect();
    for (number, start) in [(1, 5000), (2, 6000)] {
        let up = if number == 1 { 10 } else { 4 };
        rows.push(rpc("call", number, 0, start, 100));
        let handled = server(rpc("handle", 10 + number, number, start + 1000 + up, 85));
        rows.push(Row { parent_proc: Some(1), ..handled });
        rows.push(server(rpc("serve", 20 + number, 10 + number, start + 1000 + up, 80)));
    }
    rows
}

#[test]
fn offsets_are_bounded_by_what_caused_what() {
    let expected = Clock {
        host: "server".into(),
        reference: "node".into(),
        offset: -999,
        low: Some(-1004),
        high: Some(-990),
        calls: 4,
    };
    let actual = clocks(&calls());
    assert_eq!(actual, [Clock { offset: actual[0].offset, ..expected }]);
    assert_eq!(actual[0].offset, (-1004_i64).midpoint(-990));
}

#[test]
fn what_failed_or_never_ended_bounds_no_end() {
    let mut rows = calls();
    for row in rows.iter_mut().filter(|row| row.op == "call") {
        row.error = true;
    }
    assert_eq!(clocks(&rows)[0].high, None);
    assert_eq!(clocks(&rows)[0].offset, 0); // a child began after its parent: nothing says more
}

#[test]
fn one_host_has_no_offsets() {
    assert_eq!(clocks(&[call("a", 1, 0, 0, 9), call("b", 2, 1, 0, 1)]), []);
}
