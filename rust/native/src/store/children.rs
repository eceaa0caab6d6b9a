//! `children/host=….parquet`: child processes that a run's own processes have waited for.

use std::collections::HashMap;
use std::io::Write;

use iostrata_segment::process::Moved;
use iostrata_segment::schema::CHILD_COLUMNS;
use parquet::data_type::ByteArray;
use parquet::errors::Result;

use super::table::{self, Column};
use crate::model::children::Child;
use crate::model::process::{Process, ProcessInfo};
use crate::model::run::Run;
use crate::model::state::State;

/// A child, and the process that started it.
#[derive(Debug)]
pub struct ChildRow<'a> {
    host: Option<&'a str>,
    parent: u64,
    child: &'a Child,
}

/// `host`: of the collector; `anchor` is added to monotonic times.
pub fn write<W: Write + Send>(
    out: W,
    run: &str,
    host: &str,
    anchor: i64,
    rows: &[ChildRow<'_>],
) -> Result<()> {
    table::write(out, CHILD_COLUMNS, rows.len(), |name, range| {
        column(name, run, host, anchor, &rows[range])
    })
}

fn column(name: &str, run: &str, host: &str, anchor: i64, rows: &[ChildRow<'_>]) -> Column {
    let text = |cell: &dyn Fn(&ChildRow<'_>) -> ByteArray| {
        Column::Text(rows.iter().map(|row| Some(cell(row))).collect())
    };
    let long = |cell: &dyn Fn(&ChildRow<'_>) -> u64| {
        Column::Long(rows.iter().map(|row| Some(cell(row) as i64)).collect())
    };
    let moved = |cell: &dyn Fn(&Moved) -> u64| {
        let cells = rows.iter().map(|row| row.child.moved.as_ref().map(cell));
        Column::Long(cells.map(|bytes| bytes.map(|bytes| bytes as i64)).collect())
    };
    let int = |cell: &dyn Fn(&ChildRow<'_>) -> i32| {
        Column::Int(rows.iter().map(|row| Some(cell(row))).collect())
    };
    let time = |time: u64| (time as i64).wrapping_add(anchor) as u64;
    match name {
        "run" => text(&|_| ByteArray::from(run)),
        "host" => text(&|row| ByteArray::from(row.host.unwrap_or(host))),
        "parent" => long(&|row| row.parent),
        "pid" => int(&|row| row.child.pid as i32),
        "start" => long(&|row| time(row.child.start)),
        "end" => long(&|row| time(row.child.end)),
        "cpu" => long(&|row| row.child.cpu),
        "io_read" => moved(&|moved| moved.read),
        "io_written" => moved(&|moved| moved.written),
        "disk_read" => moved(&|moved| moved.disk_read),
        "disk_written" => moved(&|moved| moved.disk_written),
        "exit" => int(&|row| row.child.exit),
        "name" => text(&|row| ByteArray::from(row.child.name.as_str())),
        unknown => unreachable!("column {unknown} of events.toml is not written"),
    }
}

/// Children of the run's own processes that ended while it was on. Those that are traced processes
/// themselves are left out: they are in `processes`.
pub fn of_run<'a>(state: &'a State, run: &Run) -> Vec<ChildRow<'a>> {
    let own = state.processes_of(run);
    let mut traced: HashMap<_, Vec<u64>> = HashMap::new();
    // what has become another program may be one that is not traced
    let stayed = |process: &&Process| process.page.as_ref().is_none_or(|page| !page.replaced);
    for process in state.processes.values().filter(stayed) {
        let ProcessInfo { host, pid, start, .. } = &process.info;
        traced.entry((host.as_deref(), *pid)).or_default().push(*start);
    }
    let is_traced = |host: Option<&str>, child: &Child| {
        let starts = traced.get(&(host, child.pid));
        starts.is_some_and(|starts| starts.iter().any(|at| (child.start..=child.end).contains(at)))
    };
    let rows = own.flat_map(|process| {
        let (host, parent) = (process.info.host.as_deref(), process.info.proc);
        process.listed.children.iter().map(move |child| ChildRow { host, parent, child })
    });
    let mut rows: Vec<ChildRow<'_>> =
        rows.filter(|row| row.child.end >= run.began && !is_traced(row.host, row.child)).collect();
    rows.sort_by_key(|row| (row.child.start, row.child.pid));
    rows
}
