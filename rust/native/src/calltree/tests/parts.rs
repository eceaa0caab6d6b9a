//! One run read in one pass or in several, by one thread or by several, here or in pieces elsewhere:
//! the same bytes.

use proptest::prelude::*;

use super::made::{Row, call, part_of, sum};
use crate::calltree::document::Document;
use crate::calltree::patterns::FunctionFilter;
use crate::calltree::shape::Order;

const ORDERS: [Order; 3] = [Order::Sets, Order::Runs, Order::Paths];
const OPS: [&str; 3] = ["call", "serve", "write"];

/// Trees that go through three processes on hosts of their own, with sums of some calls and more.
fn any_run() -> impl Strategy<Value = Vec<Row>> {
    let row = (any::<prop::sample::Index>(), 0..3usize, 0..20i64, 0..20i64, 0..9i64);
    let sums = (0..40i64, 0..3usize, 1..9i64, 1..4i64);
    let sums = prop::collection::vec(sums, 0..20);
    (prop::collection::vec(row, 1..60), sums, any::<bool>()).prop_map(|(rows, sums, drawn)| {
        let mut made: Vec<Row> = Vec::new();
        for (at, (parent, op, start, dur, of)) in rows.into_iter().enumerate() {
            let above = (of > 1 && at > 0).then(|| made[parent.index(at)].clone());
            let row = Row {
                layer: if op < 2 { "rpc" } else { "hdfs" },
                tid: of % 2,
                bytes: of,
                error: of == 3,
                inclusion: (drawn && of % 3 == 0).then_some(0.25),
                ..call(OPS[op], at as i64 + 1, 0, start + of * 1000, dur)
            };
            made.push(match above {
                None => Row { trace: Some(row.span), ..of_process(row, 1 + of % 3) },
                Some(above) => Row {
                    parent: above.span,
                    parent_proc: Some(above.proc),
                    trace: above.trace,
                    ..of_process(row, if of > 4 { above.proc } else { 1 + of % 3 })
                },
            });
        }
        let point = |hot: i64| if hot == 0 { HOT } else { 1 };
        made.extend(sums.into_iter().map(|(scope, op, count, proc)| Row {
            layer: if op < 2 { "rpc" } else { "hdfs" },
            point: point(scope % 2),
            ..of_process(sum(OPS[op], count, scope), proc)
        }));
        made
    })
}

/// The number of a point that is never recorded individually.
const HOT: i32 = 61;

fn of_process(row: Row, proc: i64) -> Row {
    Row { proc, host: format!("host-{proc}"), role: ["map", "dn", "nn"][proc as usize - 1], ..row }
}

fn bytes(document: &Document) -> String {
    serde_json::to_string(document).unwrap()
}

/// By trace; sums go where the calls are that they name as scopes.
fn split(rows: &[Row], dealt: &[u8]) -> [Vec<Row>; 3] {
    let mut parts = [const { Vec::new() }; 3];
    for row in rows {
        let scope = row.sum.map_or(0, |sum| sum[4]);
        let is_scope = |call: &&Row| (call.proc, call.span) == (row.proc, scope);
        let trace = row.trace.or_else(|| rows.iter().find(is_scope)?.trace);
        let of = trace.unwrap_or(row.proc) as usize;
        parts[usize::from(dealt.get(of).copied().unwrap_or(0) % 3)].push(row.clone());
    }
    parts
}

/// The bytes of the whole, or why there is none.
fn completed(mut document: Document) -> Result<String, String> {
    document.complete().map_err(|error| error.to_string())?;
    Ok(bytes(&document))
}

/// Rows enough for several pieces of each kind of work.
#[test]
fn many_rows_are_cut_into_pieces_and_nothing_is_lost_between_them() {
    let rows = (0..50_000).flat_map(|number| {
        let (span, start) = (3 * number + 1, 100 * number);
        let served = of_process(call("serve", span + 1, span, start + 10, 50), 2);
        let late = of_process(call("write", span + 2, span, start + 5, 1), 1);
        let parent_proc = Some(1);
        [of_process(call("call", span, 0, start, 90), 1), Row { parent_proc, ..served }, late]
    });
    let rows: Vec<Row> = rows.collect();
    let wanted = FunctionFilter::default();
    let actual = [1, 2, 4]
        .map(|threads| completed(part_of(&[&rows], Order::Runs, &wanted, None, threads)).unwrap());
    assert!(actual[0] == actual[1] && actual[0] == actual[2]);
    let actual: Document = serde_json::from_str(&actual[0]).unwrap();
    let counts: Vec<_> = actual.nodes.iter().map(|node| (&*node.op, node.stats.count)).collect();
    assert_eq!(counts, [("call", 50_000), ("write", 50_000), ("serve", 50_000)]);
}

proptest! {
    #[test]
    fn threads_change_nothing(rows in any_run()) {
        let wanted = FunctionFilter::new(&[], &["rpc.serve".into()]).unwrap();
        for order in ORDERS {
            let actual = [1, 2, 4].map(|threads| part_of(&[&rows], order, &wanted, None, threads));
            prop_assert_eq!(bytes(&actual[0]), bytes(&actual[1]));
            prop_assert_eq!(bytes(&actual[0]), bytes(&actual[2]));
        }
    }

    #[test]
    fn passes_change_nothing(rows in any_run(), dealt: Vec<u8>) {
        let wanted = FunctionFilter::default();
        let (sums, calls): (Vec<Row>, Vec<Row>) =
            rows.iter().cloned().partition(|row| row.kind == "sum");
        let mut parts = split(&calls, &dealt);
        parts[0].splice(0..0, sums); // the first pass reads those of all processes
        let passes: Vec<&[Row]> = parts.iter().map(Vec::as_slice).collect();
        for order in ORDERS {
            let whole = part_of(&[&rows], order, &wanted, None, 1);
            let offsets = whole.evidence.offsets();
            let actual = part_of(&passes, order, &wanted, Some(&offsets), 2);
            prop_assert_eq!(completed(actual), completed(whole));
        }
    }

    #[test]
    fn parts_merge_to_the_whole_in_whatever_order(
        rows in any_run(), dealt: Vec<u8>, drops: bool,
    ) {
        let drop = if drops { vec!["rpc.serve".to_owned()] } else { Vec::new() };
        let wanted = FunctionFilter::new(&[], &drop).unwrap();
        for order in ORDERS {
            let whole = part_of(&[&rows], order, &wanted, None, 1);
            let offsets = whole.evidence.offsets();
            let [a, b, c] = split(&rows, &dealt)
                .map(|rows| bytes(&part_of(&[&rows], order, &wanted, Some(&offsets), 1)));
            let read = |text: &str| serde_json::from_str::<Document>(text).unwrap();
            let mut merged = read(&a);
            merged.add(read(&b)).unwrap();
            merged.add(read(&c)).unwrap();
            let mut other_way = read(&c);
            other_way.add(read(&a)).unwrap();
            other_way.add(read(&b)).unwrap();
            let whole = completed(whole);
            prop_assert_eq!(&completed(merged), &whole);
            prop_assert_eq!(&completed(other_way), &whole);
        }
    }
}
