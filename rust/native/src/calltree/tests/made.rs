//! Batches with exactly the rows a test states.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray};

use crate::calltree::clocks::Offsets;
use crate::calltree::document::Document;
use crate::calltree::patterns::FunctionFilter;
use crate::calltree::run::Trees;
use crate::calltree::shape::Order;
use crate::calltree::spans::Spans;
use crate::calltree::tables::Grouping;

/// A call of process 1 and thread 1 unless it says otherwise; `parent` 0: none.
#[derive(Debug, Clone)]
pub struct Row {
    pub kind: &'static str,
    pub host: String,
    pub role: &'static str,
    pub layer: &'static str,
    pub op: String,
    pub point: i32,
    pub proc: i64,
    pub tid: i64,
    pub span: i64,
    pub parent: i64,
    pub parent_proc: Option<i64>,
    pub trace: Option<i64>,
    pub start: i64,
    pub dur: i64,
    pub bytes: i64,
    pub flags: i32,
    pub error: bool,
    pub inclusion: Option<f64>,
    /// Of sums: count, errors, timed, their time, scope.
    pub sum: Option<[i64; 5]>,
}

pub fn call(op: &str, span: i64, parent: i64, start: i64, dur: i64) -> Row {
    Row {
        kind: "call",
        host: "node".into(),
        role: "map",
        layer: "java",
        op: op.into(),
        point: 1,
        proc: 1,
        tid: 1,
        span,
        parent,
        parent_proc: None,
        trace: Some(1),
        start,
        dur,
        bytes: 0,
        flags: 0,
        error: false,
        inclusion: None,
        sum: None,
    }
}

/// So many calls, each of 10 ns and a byte, below a scope (0: none).
pub fn sum(op: &str, count: i64, scope: i64) -> Row {
    Row {
        kind: "sum",
        trace: None,
        bytes: count,
        sum: Some([count, 0, count, 10 * count, scope]),
        ..call(op, 0, 0, 0, 0)
    }
}

pub fn batch(rows: &[Row]) -> RecordBatch {
    let text = |cell: &dyn Fn(&Row) -> Option<String>| -> ArrayRef {
        Arc::new(rows.iter().map(cell).collect::<StringArray>())
    };
    let long = |cell: &dyn Fn(&Row) -> Option<i64>| -> ArrayRef {
        Arc::new(rows.iter().map(cell).collect::<Int64Array>())
    };
    let int = |cell: &dyn Fn(&Row) -> i32| -> ArrayRef {
        Arc::new(rows.iter().map(|row| Some(cell(row))).collect::<Int32Array>())
    };
    let of_sum = |place: usize| long(&|row| row.sum.map(|sum| sum[place]));
    let set = |span: i64| (span != 0).then_some(span);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("kind", text(&|row| Some(row.kind.into()))),
        ("host", text(&|row| Some(row.host.clone()))),
        ("role", text(&|row| Some(row.role.into()))),
        ("layer", text(&|row| Some(row.layer.into()))),
        ("op", text(&|row| Some(row.op.clone()))),
        ("error", text(&|row| row.error.then(|| "EIO".into()))),
        ("point", int(&|row| row.point)),
        ("flags", int(&|row| row.flags)),
        ("proc", long(&|row| Some(row.proc))),
        ("tid", long(&|row| Some(row.tid))),
        ("span", long(&|row| set(row.span))),
        ("parent", long(&|row| set(row.parent))),
        ("parent_proc", long(&|row| row.parent_proc)),
        ("trace", long(&|row| row.trace)),
        ("start", long(&|row| Some(row.start))),
        ("dur", long(&|row| Some(row.dur))),
        ("bytes", long(&|row| Some(row.bytes))),
        ("inclusion", Arc::new(rows.iter().map(|row| row.inclusion).collect::<Float64Array>())),
        ("count", of_sum(0)),
        ("errors", of_sum(1)),
        ("timed", of_sum(2)),
        ("timed_dur", of_sum(3)),
        ("anchor", of_sum(4)),
        ("weight", long(&|_| None)),
        ("inside", long(&|_| None)),
        ("min", long(&|row| row.sum.map(|_| 10))),
        ("max", long(&|row| row.sum.map(|_| 10))),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, a)| (name, a, true)))
        .unwrap()
}

pub fn spans(trees: &mut Trees, rows: &[Row]) -> Spans {
    let mut spans = Spans::default();
    spans.push(&batch(rows), &mut trees.tables, &|_, _| true, Some(&mut trees.sums)).unwrap();
    spans
}

/// What the rows say as a part of a run; each slice is read in a pass of its own.
pub fn part_of(
    passes: &[&[Row]],
    order: Order,
    wanted: &FunctionFilter,
    offsets: Option<&Offsets>,
    threads: usize,
) -> Document {
    let mut trees = Trees::new(order, Grouping::Op, threads);
    trees.is_part = true;
    for rows in passes {
        let spans = spans(&mut trees, rows);
        trees.add(spans, wanted, offsets);
    }
    trees.finish(wanted)
}

pub fn document_of(
    rows: &[Row],
    order: Order,
    wanted: &FunctionFilter,
    threads: usize,
) -> Document {
    let mut document = part_of(&[rows], order, wanted, None, threads);
    document.complete().unwrap();
    document
}

pub fn document(rows: &[Row], order: Order) -> Document {
    document_of(rows, order, &FunctionFilter::default(), 2)
}

/// A line for each node, indented: operation, calls, bytes, total and self.
pub fn lines(document: &Document) -> Vec<String> {
    let mut actual = Vec::new();
    let mut open = vec![None];
    let mut seen = vec![false; document.nodes.len()];
    while let Some(parent) = open.last().copied() {
        let next = document
            .nodes
            .iter()
            .enumerate()
            .find(|(place, node)| !seen[*place] && node.parent == parent);
        let Some((place, node)) = next else {
            open.pop();
            continue;
        };
        seen[place] = true;
        let stats = &node.stats;
        let indent = "  ".repeat(node.depth as usize);
        actual.push(format!(
            "{indent}{} {} {} {} {}",
            node.op, stats.count, stats.bytes, stats.total, stats.own
        ));
        open.push(Some(node.id));
    }
    actual
}
