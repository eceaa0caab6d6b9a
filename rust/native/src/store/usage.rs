//! `usage/host=…/part-NNNNNN.parquet`: what the processes of a run took over time.

use std::io::Write;

use iostrata_segment::process::Moved;
use iostrata_segment::schema::USAGE_COLUMNS;
use parquet::data_type::ByteArray;
use parquet::errors::Result;

use super::processes;
use super::table::{self, Column};
use crate::model::run::Run;
use crate::model::spent::Spent;
use crate::model::state::State;

/// What a process took in an interval.
#[derive(Debug, PartialEq, Eq)]
pub struct UsageRow<'a> {
    /// If not that of the collector.
    host: Option<&'a str>,
    proc: u64,
    spent: Spent,
}

/// `host`: of the collector; `anchor` is added to monotonic times.
pub fn write<W: Write + Send>(
    out: W,
    host: &str,
    anchor: i64,
    rows: &[UsageRow<'_>],
) -> Result<()> {
    table::write(out, USAGE_COLUMNS, rows.len(), |name, range| {
        column(name, host, anchor, &rows[range])
    })
}

fn column(name: &str, host: &str, anchor: i64, rows: &[UsageRow<'_>]) -> Column {
    let long = |cell: &dyn Fn(&UsageRow<'_>) -> i64| {
        Column::Long(rows.iter().map(|row| Some(cell(row))).collect())
    };
    let moved = |cell: &dyn Fn(&Moved) -> u64| {
        let cells = rows.iter().map(|row| row.spent.moved.as_ref().map(cell));
        Column::Long(cells.map(|bytes| bytes.map(signed)).collect())
    };
    match name {
        "host" => {
            let cells = rows.iter().map(|row| ByteArray::from(row.host.unwrap_or(host)));
            Column::Text(cells.map(Some).collect())
        }
        "proc" => long(&|row| row.proc as i64),
        "time" => long(&|row| (row.spent.begin as i64).wrapping_add(anchor)),
        "interval" => long(&|row| signed(row.spent.end.saturating_sub(row.spent.begin))),
        "cpu" => long(&|row| signed(row.spent.cpu)),
        "io_read" => moved(&|moved| moved.read),
        "io_written" => moved(&|moved| moved.written),
        "disk_read" => moved(&|moved| moved.disk_read),
        "disk_written" => moved(&|moved| moved.disk_written),
        unknown => unreachable!("column {unknown} of events.toml is not written"),
    }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Of the processes of a run, from its begin to its end. What a process had counted before the
/// collector knew it begins with the run.
pub fn of_run<'a>(state: &'a State, run: &Run) -> Vec<UsageRow<'a>> {
    let end = if run.order.ended { run.order.now } else { u64::MAX };
    let is_within = |spent: &&Spent| spent.end > run.began && spent.end <= end;
    let of_run =
        state.processes.values().filter(|process| processes::is_of_run(state, process, run));
    let rows = of_run.flat_map(|process| {
        let (host, proc) = (process.info.host.as_deref(), process.info.proc);
        let rows = process.spending.rows.iter().filter(is_within);
        rows.map(move |spent| {
            let spent = Spent { begin: spent.begin.max(run.began), ..*spent };
            UsageRow { host, proc, spent }
        })
    });
    let mut rows: Vec<UsageRow<'_>> = rows.collect();
    rows.sort_by_key(|row| (row.spent.begin, row.proc));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::process::{Process, ProcessInfo};
    use crate::model::run::RunOrder;

    fn spent(begin: u64, end: u64) -> Spent {
        Spent { begin, end, cpu: end - begin, moved: None }
    }

    fn process(proc: u64, run: &str, rows: &[(u64, u64)]) -> (u64, Process) {
        let text = [("run".to_owned(), run.to_owned())].into();
        let mut process = Process::new(ProcessInfo { proc, text, ..ProcessInfo::default() });
        process.spending.rows = rows.iter().map(|(begin, end)| spent(*begin, *end)).collect();
        (proc, process)
    }

    #[test]
    fn a_run_has_the_rows_of_its_own_processes_from_its_begin_to_its_end() {
        let order = RunOrder { run: "r".into(), ended: true, now: 90, ..RunOrder::default() };
        let run = Run { order, began: 10, ..Run::default() };
        let mut state = State::default();
        state.owners.runs.insert("r".into(), run.clone());
        let rows = [(1, 10), (5, 20), (20, 90), (90, 95)];
        state.processes.extend([process(7, "r", &rows), process(8, "other", &rows)]);

        let row = |begin, end, cpu| {
            let spent = Spent { cpu, ..spent(begin, end) };
            UsageRow { host: None, proc: 7, spent }
        };
        assert_eq!(of_run(&state, &run), [row(10, 20, 15), row(20, 90, 70)]);
    }

    #[test]
    fn no_count_is_negative() {
        let moved = Some(Moved { read: u64::MAX, ..Moved::default() });
        let spent = Spent { begin: 0, end: u64::MAX, cpu: u64::MAX, moved };
        let rows = [UsageRow { host: None, proc: 1, spent }];
        for (name, _) in USAGE_COLUMNS.iter().filter(|(_, kind)| *kind == "i64") {
            let Column::Long(cells) = column(name, "h", 0, &rows) else { panic!("{name}") };
            assert!(cells.values().iter().all(|cell| *cell >= 0), "{name}");
        }
    }
}
