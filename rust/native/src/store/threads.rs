//! `threads/host=….parquet`: what threads of a run's own processes took.

use std::io::Write;

use iostrata_segment::schema::THREAD_COLUMNS;
use parquet::data_type::ByteArray;
use parquet::errors::Result;

use super::table::{self, Column};
use crate::model::run::Run;
use crate::model::state::State;
use crate::model::thread_time::ThreadTime;

/// A thread, and its process.
#[derive(Debug)]
pub struct ThreadRow<'a> {
    host: Option<&'a str>,
    proc: u64,
    time: &'a ThreadTime,
}

/// `host`: of the collector; `anchor` is added to monotonic times.
pub fn write<W: Write + Send>(
    out: W,
    run: &str,
    host: &str,
    anchor: i64,
    rows: &[ThreadRow<'_>],
) -> Result<()> {
    table::write(out, THREAD_COLUMNS, rows.len(), |name, range| {
        column(name, run, host, anchor, &rows[range])
    })
}

fn column(name: &str, run: &str, host: &str, anchor: i64, rows: &[ThreadRow<'_>]) -> Column {
    let text = |cell: &dyn Fn(&ThreadRow<'_>) -> ByteArray| {
        Column::Text(rows.iter().map(|row| Some(cell(row))).collect())
    };
    let long = |cell: &dyn Fn(&ThreadRow<'_>) -> i64| {
        Column::Long(rows.iter().map(|row| Some(cell(row))).collect())
    };
    match name {
        "run" => text(&|_| ByteArray::from(run)),
        "host" => text(&|row| ByteArray::from(row.host.unwrap_or(host))),
        "proc" => long(&|row| row.proc as i64),
        "tid" => long(&|row| row.time.tid as i64),
        "end" => long(&|row| (row.time.end as i64).wrapping_add(anchor)),
        "cpu" => long(&|row| row.time.cpu as i64),
        "queued" => long(&|row| row.time.queued as i64),
        "thread" => text(&|row| ByteArray::from(row.time.name.as_str())),
        unknown => unreachable!("column {unknown} of events.toml is not written"),
    }
}

/// Those that were counted since the run began.
pub fn of_run<'a>(state: &'a State, run: &Run) -> Vec<ThreadRow<'a>> {
    let began = run.began;
    let rows = state.processes_of(run).flat_map(|process| {
        let (host, proc) = (process.info.host.as_deref(), process.info.proc);
        let times = process.listed.thread_times.iter().filter(move |time| time.end >= began);
        times.map(move |time| ThreadRow { host, proc, time })
    });
    let mut rows: Vec<ThreadRow<'_>> = rows.collect();
    rows.sort_by_key(|row| (row.proc, row.time.tid, row.time.end));
    rows
}
