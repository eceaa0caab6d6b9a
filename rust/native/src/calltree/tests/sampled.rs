use super::made::{Row, call, document, sum};
use crate::calltree::shape::Order;

#[test]
fn a_sample_is_scaled_back_by_request() {
    let mut rows = vec![sum("read", 9999, 0)];
    for request in 1..=200 {
        let drawn = |row: Row| Row { inclusion: Some(0.25), ..row };
        rows.push(drawn(call("write", 10 * request, 0, 0, 20)));
        rows.push(drawn(call("packet", 10 * request + 1, 10 * request, 0, 5)));
        rows.push(drawn(call("packet", 10 * request + 2, 10 * request, 5, 5)));
    }
    let actual = document(&rows, Order::Paths);
    assert!(actual.sampled);
    let of = |op: &str| actual.nodes.iter().find(|node| node.op == op).unwrap();
    let packets = of("packet").sample.as_ref().unwrap();
    assert_eq!((packets.requests, packets.calls.total, packets.total.total), (200, 1600.0, 8000.0));
    // 200 requests of 2 calls, each with (1 - p) / p² of its square
    assert!((packets.calls.variance - 200.0 * 12.0 * 4.0).abs() < 1e-6);
    assert!((of("write").sample.as_ref().unwrap().own.total - 8000.0).abs() < 1e-6);
    // `read` has a point that is recorded individually: its calls are estimated, not added from sums
    assert!(!actual.nodes.iter().any(|node| node.op == "read"));
}
