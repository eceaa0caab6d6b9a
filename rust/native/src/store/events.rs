//! The columns of `events/…/part-NNNNNN.parquet`: how each is actual for a row.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Write;

use bytes::Bytes;

use iostrata_segment::points::POINTS;
use iostrata_segment::schema::{
    CATEGORY_RPC, CATEGORY_SOCKET, COLUMNS, CONTROL_ALL_REQUESTS, FLAG_ERRNO, FLAG_ERROR,
    KIND_BEGIN, KIND_CALL, KIND_GAP, KIND_LINK, KIND_SUM, KIND_UNFINISHED, LAYER_TASK, LEVEL_JOB,
    LEVEL_RECORD, LEVEL_TASK, PROCESS_FIRST_USER_POINT, category_name, kind_name, layer_name,
};
use parquet::data_type::ByteArray;
use parquet::errors::Result;

use super::errno;
use super::table::{self, Column};
use crate::model::context::Cause;
use crate::model::names::Name;
use crate::model::process::Process;
use crate::model::rows::{EventRow, Identity, Output, Part, SumValues, ThreadRef};
use crate::model::state::State;

/// The rows of a part by host; `own`: that of the collector.
pub fn by_host<'a>(
    state: &'a State,
    part: &'a Part,
    own: &'a str,
) -> BTreeMap<&'a str, Cow<'a, [EventRow]>> {
    let host = |thread: &ThreadRef| state.processes.get(&thread.proc)?.info.host.as_deref();
    let threads = state.output.threads.iter();
    let hosts: Vec<&str> = threads.map(|thread| host(thread).unwrap_or(own)).collect();
    if hosts.iter().all(|host| *host == own) {
        return BTreeMap::from([(own, Cow::Borrowed(part.rows.as_slice()))]);
    }
    let mut by_host: BTreeMap<_, Vec<EventRow>> = BTreeMap::new();
    for row in &part.rows {
        by_host.entry(hosts[row.thread as usize]).or_default().push(*row);
    }
    by_host.into_iter().map(|(host, rows)| (host, Cow::Owned(rows))).collect()
}

/// Writes `rows` of a part, which are of one host, thread by thread.
///
/// `anchor` is added to monotonic times.
pub fn write<W: Write + Send>(
    out: W,
    state: &State,
    part: &Part,
    rows: &[EventRow],
    host: &str,
    anchor: i64,
) -> Result<()> {
    let rows = by_thread(rows, state.output.threads.len());
    let table = Table::new(state, part, host, anchor);
    table::write(out, COLUMNS, rows.len(), |name, range| column(name, &table, &rows[range]))
}

/// The rows of the first thread, of the second, …: each thread's sums, then its calls in the order
/// of their start. Neighbours are alike, which halves what times and spans take.
fn by_thread(rows: &[EventRow], threads: usize) -> Vec<EventRow> {
    let mut ends = vec![0; threads + 1];
    for row in rows {
        ends[row.thread as usize + 1] += 1;
    }
    for thread in 0..threads {
        ends[thread + 1] += ends[thread];
    }
    let mut next = ends.clone();
    let mut sorted = vec![EventRow::default(); rows.len()];
    for row in rows {
        let place = &mut next[row.thread as usize];
        sorted[*place] = *row;
        *place += 1;
    }
    for pair in ends.windows(2) {
        sorted[pair[0]..pair[1]].sort_by_key(|row| (row.kind != KIND_SUM, row.start));
    }
    sorted
}

/// What rows refer to.
struct Table<'a> {
    output: &'a Output,
    part: &'a Part,
    anchor: i64,
    run: ByteArray,
    host: ByteArray,
    /// By number in the output's table of threads.
    threads: Vec<ThreadColumns<'a>>,
    /// Layer and operation by point.
    points: Vec<Option<(ByteArray, ByteArray)>>,
    categories: Vec<Option<ByteArray>>,
    kinds: Vec<Option<ByteArray>>,
    /// Of the run: what its rows are grouped by.
    level: u8,
    /// The layer whose calls are in no request.
    task: ByteArray,
}

struct ThreadColumns<'a> {
    process: Option<&'a Process>,
    role: ByteArray,
    name: Option<&'a ByteArray>,
    tid: u64,
}

impl<'a> Table<'a> {
    fn new(state: &'a State, part: &'a Part, host: &str, anchor: i64) -> Table<'a> {
        let columns = |thread: &ThreadRef| {
            let process = state.processes.get(&thread.proc);
            ThreadColumns {
                process,
                role: fixed(process.map_or("", |process| process.role)),
                name: process
                    .and_then(|process| process.names.get(thread.name))
                    .map(|name| &name.text),
                tid: thread.tid,
            }
        };
        let mut points = vec![None; usize::from(u16::MAX) + 1];
        for point in POINTS {
            points[usize::from(point.id)] = Some((fixed(point.layer), fixed(point.op)));
        }
        let named = |name: fn(u8) -> Option<&'static str>| {
            (0..=u8::MAX).map(|code| name(code).map(fixed)).collect()
        };
        let order = state.owners.runs.get(&part.run).map(|run| &run.order);
        let run = if part.run.is_empty() { "_background" } else { &part.run };
        Table {
            output: &state.output,
            part,
            anchor,
            run: ByteArray::from(run),
            host: ByteArray::from(host),
            threads: state.output.threads.iter().map(columns).collect(),
            points,
            categories: named(category_name),
            kinds: named(kind_name),
            level: order.map_or(LEVEL_RECORD, |order| order.level),
            task: fixed(layer_name(LAYER_TASK).unwrap_or_default()),
        }
    }

    fn thread(&self, row: &EventRow) -> &ThreadColumns<'a> {
        &self.threads[row.thread as usize]
    }

    fn identity(&self, row: &EventRow) -> &'a Identity {
        &self.output.identities[row.identity as usize].0
    }

    fn target(&self, row: &EventRow) -> Option<&'a Name> {
        self.thread(row).process?.names.get(row.target)
    }

    fn sum(&self, row: &EventRow) -> Option<&'a SumValues> {
        (row.kind == KIND_SUM).then(|| &self.part.sums[row.sum as usize])
    }

    fn peer(&self, row: &EventRow) -> Option<&'a ByteArray> {
        let parent = self.thread(row).process?.names.get(self.target(row)?.parent)?;
        matches!(parent.category, CATEGORY_SOCKET | CATEGORY_RPC).then_some(&parent.text)
    }

    /// Layer and operation.
    fn point(&self, row: &EventRow) -> Option<(ByteArray, ByteArray)> {
        if usize::from(row.point) < PROCESS_FIRST_USER_POINT {
            return self.points[usize::from(row.point)].clone();
        }
        let point = self.thread(row).process?.points.get(&row.point)?;
        Some((fixed(point.layer), point.op.clone()))
    }

    /// What the row was done for; none for what an open call of its own thread encloses.
    fn cause(&self, row: &EventRow) -> Option<&'a Cause> {
        (row.cause != 0).then(|| &self.output.causes[row.cause as usize])
    }

    fn parent(&self, row: &EventRow) -> i64 {
        let cause = self.cause(row).filter(|_| row.parent == 0);
        cause.map_or(row.parent, |cause| cause.span) as i64
    }

    fn parent_proc(&self, row: &EventRow) -> Option<i64> {
        let cause = self.cause(row).filter(|_| row.parent == 0)?;
        let own = self.thread(row).process.map_or(0, |process| process.info.proc);
        (cause.proc != own).then_some(cause.proc as i64)
    }

    fn trace(&self, row: &EventRow) -> Option<i64> {
        if matches!(row.kind, KIND_SUM | KIND_GAP) {
            return None;
        }
        let own = || self.thread(row).process.map(|process| process.info.proc);
        self.cause(row).map(|cause| cause.trace).or_else(own).map(|trace| trace as i64)
    }

    /// Probability that the row's request is in the sample; none for what is always recorded.
    fn inclusion(&self, row: &EventRow) -> Option<f64> {
        let drawn = matches!(row.kind, KIND_CALL | KIND_BEGIN | KIND_LINK | KIND_UNFINISHED)
            && row.sampling != 0
            && self.point(row).is_none_or(|(layer, _)| layer != self.task);
        drawn.then(|| f64::from(row.sampling) / CONTROL_ALL_REQUESTS as f64)
    }

    fn category(&self, row: &EventRow) -> Option<&ByteArray> {
        let code = match row.kind {
            KIND_SUM => self.sum(row)?.category,
            KIND_CALL | KIND_BEGIN | KIND_UNFINISHED => {
                self.target(row).map_or(0, |target| target.category)
            }
            _ => return None,
        };
        self.categories[usize::from(code)].as_ref()
    }

    fn error(&self, row: &EventRow) -> Option<ByteArray> {
        if row.kind != KIND_CALL {
            return None;
        }
        if row.flags & FLAG_ERRNO != 0 {
            return Some(ByteArray::from(errno::name(row.ret).as_ref()));
        }
        let exception = self.thread(row).process?.names.get(row.ret as u32);
        (row.flags & FLAG_ERROR != 0)
            .then(|| exception.map_or_else(|| ByteArray::from("?"), |name| name.text.clone()))
    }
}

/// A name that need not be counted.
fn fixed(name: &'static str) -> ByteArray {
    ByteArray::from(Bytes::from_static(name.as_bytes()))
}

fn column(name: &str, table: &Table<'_>, rows: &[EventRow]) -> Column {
    let text = |cell: &dyn Fn(&EventRow) -> Option<ByteArray>| {
        Column::Text(rows.iter().map(cell).collect())
    };
    let long =
        |cell: &dyn Fn(&EventRow) -> Option<i64>| Column::Long(rows.iter().map(cell).collect());
    let int =
        |cell: &dyn Fn(&EventRow) -> Option<i32>| Column::Int(rows.iter().map(cell).collect());
    let sum = |value: fn(&SumValues) -> u64| long(&|row| Some(value(table.sum(row)?) as i64));
    match name {
        "run" => text(&|_| Some(table.run.clone())),
        "host" => text(&|_| Some(table.host.clone())),
        "proc" => long(&|row| Some(table.thread(row).process?.info.proc as i64)),
        "role" => text(&|row| Some(table.thread(row).role.clone())),
        "pid" => int(&|row| Some(table.thread(row).process?.info.pid as i32)),
        "tid" => long(&|row| Some(table.thread(row).tid as i64)),
        "thread" => text(&|row| table.thread(row).name.cloned()),
        "start" => long(&|row| Some((row.start as i64).wrapping_add(table.anchor))),
        "dur" => long(&|row| has_dur(row.kind).then_some(row.dur as i64)),
        "layer" => text(&|row| Some(table.point(row)?.0)),
        "op" => text(&|row| Some(table.point(row)?.1)),
        "point" => int(&|row| (row.point != 0).then_some(i32::from(row.point))),
        "category" => text(&|row| table.category(row).cloned()),
        "target" => text(&|row| Some(table.target(row)?.text.clone())),
        "block" => long(&|row| table.target(row).map(|t| t.block).filter(|block| *block != -1)),
        "peer" => text(&|row| table.peer(row).cloned()),
        "offset" => long(&|row| (row.offset != -1 && is_call(row.kind)).then_some(row.offset)),
        "bytes" => long(&|row| has_bytes(row.kind).then_some(row.bytes)),
        "asked" => long(&|row| {
            let differs = has_bytes(row.kind) && row.asked as i64 != row.bytes;
            differs.then_some(row.asked as i64)
        }),
        "count" => long(&|row| match row.kind {
            KIND_GAP => Some(row.bytes),
            _ => Some(table.sum(row)?.count as i64),
        }),
        "error" => text(&|row| table.error(row)),
        "span" => long(&|row| (row.span != 0).then_some(row.span as i64)),
        "parent" => long(&|row| Some(table.parent(row)).filter(|span| *span != 0)),
        "parent_proc" => long(&|row| table.parent_proc(row)),
        "trace" => long(&|row| table.trace(row)),
        "owner" => text(&|row| table.identity(row).owner.clone()),
        "job" => text(&|row| table.identity(row).job.clone()),
        "task" => text(&|row| table.identity(row).task.clone().filter(|_| table.level < LEVEL_JOB)),
        "phase" => {
            text(&|row| table.identity(row).phase.clone().filter(|_| table.level < LEVEL_TASK))
        }
        "kind" => text(&|row| table.kinds[usize::from(row.kind)].clone()),
        "flags" => int(&|row| Some(i32::from(row.flags))),
        "errors" => sum(|sum| sum.errors),
        "timed" => sum(|sum| sum.timed),
        "timed_dur" => sum(|sum| sum.timed_dur),
        "weight" => long(&|row| {
            let sum = table.sum(row)?;
            (sum.weight != sum.timed).then_some(sum.weight as i64)
        }),
        "spread" => {
            let spread =
                |row: &EventRow| table.sum(row).map(|sum| sum.spread).filter(|s| *s != 0.0);
            Column::Double(rows.iter().map(spread).collect())
        }
        "inside" => {
            long(&|row| table.sum(row).map(|sum| sum.inside as i64).filter(|inside| *inside != 0))
        }
        "min" => sum(|sum| sum.min),
        "max" => sum(|sum| sum.max),
        "size_class" => int(&|row| Some(i32::from(table.sum(row)?.size_class))),
        "anchor" => {
            long(&|row| table.sum(row).map(|sum| sum.scope as i64).filter(|scope| *scope != 0))
        }
        "inclusion" => Column::Double(rows.iter().map(|row| table.inclusion(row)).collect()),
        unknown => unreachable!("column {unknown} of events.toml is not written"),
    }
}

fn has_dur(kind: u8) -> bool {
    kind != KIND_BEGIN
}

fn is_call(kind: u8) -> bool {
    matches!(kind, KIND_CALL | KIND_BEGIN)
}

fn has_bytes(kind: u8) -> bool {
    matches!(kind, KIND_CALL | KIND_SUM)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::process::ProcessInfo;

    #[test]
    fn a_call_is_in_the_sample_with_the_probability_of_its_request_and_a_task_always() {
        let (state, part) = (State::default(), Part::default());
        let table = Table::new(&state, &part, "here", 0);
        let of_layer = |layer| POINTS.iter().find(|point| point.layer == layer).unwrap().id;
        let quarter = 250_000_000;
        let inclusion = |kind, layer, sampling| {
            table.inclusion(&EventRow {
                kind,
                sampling,
                point: of_layer(layer),
                ..EventRow::default()
            })
        };
        for kind in [KIND_CALL, KIND_BEGIN, KIND_LINK, KIND_UNFINISHED] {
            assert_eq!(inclusion(kind, "java", quarter), Some(0.25));
            assert_eq!(inclusion(kind, "java", 0), None);
            assert_eq!(inclusion(kind, "task", quarter), None);
        }
        assert_eq!(inclusion(KIND_SUM, "java", quarter), None);
        assert_eq!(inclusion(KIND_GAP, "java", quarter), None);
    }

    #[test]
    fn rows_are_parted_by_the_host_of_their_process() {
        let mut state = State::default();
        for (proc, host) in [(1, None), (2, Some("node-2")), (3, Some("here"))] {
            let known =
                ProcessInfo { proc, host: host.map(str::to_owned), ..ProcessInfo::default() };
            state.processes.insert(proc, Process::new(known));
            state.output.add_thread(ThreadRef { proc, tid: proc, name: 0 });
        }
        let row = |thread| EventRow { thread, ..EventRow::default() };
        let part = Part { rows: [2, 0, 1, 2].map(row).to_vec(), ..Part::default() };
        let actual = by_host(&state, &part, "here");
        let counts: Vec<_> = actual.iter().map(|(host, rows)| (*host, rows.len())).collect();
        assert_eq!(counts, [("here", 3), ("node-2", 1)]);

        state.processes.values_mut().for_each(|process| process.info.host = None);
        let actual = by_host(&state, &part, "here");
        assert_eq!(actual.keys().collect::<Vec<_>>(), [&"here"]);
        assert!(matches!(&actual["here"], Cow::Borrowed(rows) if rows.len() == 4));
    }

    #[test]
    fn every_column_of_the_schema_is_written() {
        let state = State::default();
        let part = Part::default();
        let mut file = Vec::new();
        write(&mut file, &state, &part, &part.rows, "here", 0).unwrap();
        assert!(file.starts_with(b"PAR1") && file.ends_with(b"PAR1"));
    }
}
