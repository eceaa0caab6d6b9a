use super::made::{Row, call, document, document_of, lines, sum};
use crate::calltree::patterns::FunctionFilter;
use crate::calltree::shape::Order;

/// A task with a write inside it, which had two packets, and 7 records and 5 packets in sums.
fn task() -> Vec<Row> {
    let packet = |span, start| Row { bytes: 1, ..call("packet", span, 2, start, 10) };
    vec![
        sum("run", 1, 0),
        sum("write", 1, 1),
        sum("packet", 5, 1),
        sum("record", 7, 1),
        Row { bytes: 1, ..call("run", 1, 0, 0, 1000) },
        Row { bytes: 1, ..call("write", 2, 1, 100, 500) },
        packet(3, 110),
        packet(4, 130),
    ]
}

#[test]
fn what_sums_have_more_hangs_from_their_anchor() {
    let rows = task();
    let expected = [
        "run 1 1 1000 500",
        "  write 1 1 500 480",
        "    packet 2 2 20 20",
        "  record 7 7 70 0",
        "  packet 3 3 30 0",
    ];
    for order in [Order::Sets, Order::Runs, Order::Paths] {
        let actual = document(&rows, order);
        assert_eq!(lines(&actual), expected);
        assert_eq!(actual.unsummed, 0);
    }
}

/// A child of the task: a read of its own was recorded individually, of 5.
#[test]
fn sums_of_a_child_hang_from_what_it_works_for() {
    let of_child = |row: Row| Row { proc: 2, parent: 1, parent_proc: Some(1), ..row };
    let mut rows = task();
    rows.push(of_child(sum("read", 5, 0)));
    rows.push(of_child(Row { bytes: 1, ..call("read", 11, 1, 300, 10) }));
    let of_task = [
        "run 1 1 1000 500",
        "  write 1 1 500 480",
        "    packet 2 2 20 20",
        "  record 7 7 70 0",
        "  packet 3 3 30 0",
    ];
    let merged = ["  read 5 5 50 10"].as_slice();
    let in_order = ["  read 1 1 10 10", "  read 4 4 40 0"].as_slice();
    for (order, reads) in [(Order::Sets, merged), (Order::Runs, in_order), (Order::Paths, merged)] {
        let mut actual = lines(&document(&rows, order));
        let mut expected = [&of_task, reads].concat();
        actual.sort();
        expected.sort_unstable();
        assert_eq!(actual, expected);
    }
}

/// The trace of what it works for is not there.
#[test]
fn sums_of_a_child_whose_cause_is_not_there_are_not_lost() {
    let read = Row { proc: 2, parent: 7, parent_proc: Some(9), ..sum("read", 5, 0) };
    assert_eq!(lines(&document(&[read], Order::Sets)), ["read 5 5 50 0"]);
}

#[test]
fn sums_of_rows_that_were_collapsed_have_their_calls_too() {
    let mut rows = task();
    rows[2] = sum("packet", 5, 0); // of no scope
    let actual = lines(&document(&rows, Order::Sets));
    assert!(actual.contains(&"packet 3 3 30 0".to_owned()), "{actual:#?}");
    assert!(actual.contains(&"    packet 2 2 20 20".to_owned()), "{actual:#?}");
}

#[test]
fn calls_that_no_sum_has_are_counted() {
    let rows = [sum("read", 1, 0), call("read", 1, 0, 0, 1), call("read", 2, 0, 5, 1)];
    assert_eq!(document(&rows, Order::Sets).unsummed, 1);
}

#[test]
fn a_leaf_hangs_from_what_is_left_when_its_anchor_is_dropped() {
    let rows =
        [call("job", 9, 0, 0, 2000), sum("job", 1, 0), sum("record", 7, 1), sum("run", 1, 0)];
    let rows = [rows.as_slice(), &[call("run", 1, 9, 0, 1000)]].concat();
    let wanted = FunctionFilter::new(&[], &["java.run".into()]).unwrap();
    let actual = document_of(&rows, Order::Sets, &wanted, 2);
    assert_eq!(lines(&actual), ["job 1 1 2000 2000", "  record 7 7 70 0"]);
}

#[test]
fn times_of_sampled_clocks_are_scaled_up_and_said_to_be() {
    let mut rows = task();
    rows[3].sum = Some([100, 0, 10, 50, 1]); // 10 of 100 were timed: 5 ns each
    let actual = document(&rows, Order::Sets);
    let record = actual.nodes.iter().find(|node| node.op == "record").unwrap();
    assert_eq!((record.stats.count, record.stats.total, record.stats.estimated), (100, 500, true));
}
