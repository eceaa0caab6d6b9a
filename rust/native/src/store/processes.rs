//! `processes/host=….parquet`: which processes a run had, and how complete their picture is.

use std::collections::HashSet;
use std::io::Write;

use iostrata_segment::process::{Cost, Moved, Scheduled};
use iostrata_segment::schema::{
    PROCESS_COLUMNS, PROCESS_COUNTER_LOST_CALLS, PROCESS_COUNTER_REFUSED_BY,
    PROCESS_COUNTER_REFUSED_ENTRIES, PROCESS_COUNTER_REFUSED_SEGMENTS, native_code_name,
    point_state_name,
};
use iostrata_segment::writer::files::remedy;
use parquet::data_type::ByteArray;
use parquet::errors::Result;
use rustix::io::Errno;

use super::table::{self, Column};
use crate::model::names::text;
use crate::model::owners::Owners;
use crate::model::process::{Process, Tally, UserPoint};
use crate::model::run::{Run, UntracedProcess};
use crate::model::state::State;
use crate::model::traced::Traced;

/// One row; times in `CLOCK_MONOTONIC` ns, 0 where unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProcessRow {
    /// If not that of the collector.
    pub host: Option<String>,
    pub proc: Option<u64>,
    pub pid: u32,
    pub uid: u32,
    pub role: String,
    pub main: String,
    pub job: String,
    pub task: String,
    pub container: String,
    /// Of a recorded command that runs several programs, which it is of.
    pub part: String,
    /// `proc` of the traced process that has started it.
    pub parent: Option<u64>,
    pub agent: String,
    pub jvm: String,
    pub traced: bool,
    pub reason: String,
    pub points_woven: u32,
    pub points_faulted: String,
    pub user_points: String,
    pub tally: Tally,
    pub lost: u64,
    pub rejected: u64,
    /// `None` for a process that was not traced.
    pub cost: Option<Cost>,
    pub summed: String,
    /// `None` where the kernel did not say.
    pub moved: Option<Moved>,
    pub scheduled: Option<Scheduled>,
    pub cpu_start: Option<u64>,
    pub class_loading: Option<u64>,
    /// `None` for a process that was not traced.
    pub traced_bytes: Option<Traced>,
    pub start: u64,
    pub end: u64,
    pub exit: &'static str,
}

/// `host`: of the collector.
pub fn write<W: Write + Send>(
    out: W,
    run: &str,
    host: &str,
    anchor: i64,
    rows: &[ProcessRow],
) -> Result<()> {
    table::write(out, PROCESS_COLUMNS, rows.len(), |name, range| {
        column(name, run, host, anchor, &rows[range])
    })
}

fn column(name: &str, run: &str, host: &str, anchor: i64, rows: &[ProcessRow]) -> Column {
    let text = |cell: &dyn Fn(&ProcessRow) -> &str| {
        Column::Text(rows.iter().map(|row| Some(ByteArray::from(cell(row)))).collect())
    };
    let same =
        |value: &str| Column::Text(rows.iter().map(|_| Some(ByteArray::from(value))).collect());
    let filled = |cell: &dyn Fn(&ProcessRow) -> &str| {
        let cells = rows.iter().map(|row| Some(cell(row)).filter(|text| !text.is_empty()));
        Column::Text(cells.map(|text| text.map(ByteArray::from)).collect())
    };
    let long = |cell: &dyn Fn(&ProcessRow) -> Option<u64>| {
        Column::Long(rows.iter().map(|row| Some(cell(row)? as i64)).collect())
    };
    let int = |cell: &dyn Fn(&ProcessRow) -> u32| {
        Column::Int(rows.iter().map(|row| Some(cell(row) as i32)).collect())
    };
    let time = |time: u64| (time != 0).then(|| (time as i64).wrapping_add(anchor) as u64);
    match name {
        "run" => same(run),
        "host" => {
            let name = |row: &ProcessRow| ByteArray::from(row.host.as_deref().unwrap_or(host));
            Column::Text(rows.iter().map(|row| Some(name(row))).collect())
        }
        "proc" => long(&|row| row.proc),
        "pid" => int(&|row| row.pid),
        "uid" => int(&|row| row.uid),
        "role" => text(&|row| &row.role),
        "main" => filled(&|row| &row.main),
        "job" => filled(&|row| &row.job),
        "task" => filled(&|row| &row.task),
        "container" => filled(&|row| &row.container),
        "part" => filled(&|row| &row.part),
        "parent" => long(&|row| row.parent),
        "agent" => filled(&|row| &row.agent),
        "jvm" => filled(&|row| &row.jvm),
        "traced" => Column::Bool(rows.iter().map(|row| Some(row.traced)).collect()),
        "reason" => text(&|row| &row.reason),
        "points_woven" => int(&|row| row.points_woven),
        "points_faulted" => text(&|row| &row.points_faulted),
        "user_points" => filled(&|row| &row.user_points),
        "calls" => long(&|row| Some(row.tally.calls)),
        "detail" => long(&|row| Some(row.tally.detail)),
        "dropped" => long(&|row| Some(row.tally.dropped)),
        "folded" => long(&|row| Some(row.tally.collapsed)),
        "lost" => long(&|row| Some(row.lost)),
        "refused" => long(&|row| Some(row.rejected)),
        "cpu" => long(&|row| Some(row.cost?.cpu)),
        "cost_hooks" => long(&|row| Some(row.cost?.hooks)),
        "cost_thread" => long(&|row| Some(row.cost?.thread)),
        "cost_collector" => long(&|row| Some(row.cost?.collector)),
        "over" => long(&|row| Some(row.cost?.over)),
        "summed" => filled(&|row| &row.summed),
        "start" => long(&|row| time(row.start)),
        "end" => long(&|row| time(row.end)),
        "exit" => text(&|row| row.exit),
        "io_read" => long(&|row| Some(row.moved?.read)),
        "io_written" => long(&|row| Some(row.moved?.written)),
        "disk_read" => long(&|row| Some(row.moved?.disk_read)),
        "disk_written" => long(&|row| Some(row.moved?.disk_written)),
        "traced_read" => long(&|row| Some(row.traced_bytes?.read)),
        "traced_written" => long(&|row| Some(row.traced_bytes?.written)),
        "mapped" => long(&|row| Some(row.traced_bytes?.mapped)),
        "cpu_compilers" => long(&|row| Some(row.scheduled?.compilers)),
        "cpu_jvm" => long(&|row| Some(row.scheduled?.jvm)),
        "cpu_start" => long(&|row| row.cpu_start),
        "class_loading" => long(&|row| row.class_loading),
        "queued" => long(&|row| Some(row.scheduled?.queued)),
        "throttled" => long(&|row| Some(row.scheduled?.throttled)),
        "native" => {
            let cells = rows.iter().map(|row| row.moved.map(|moved| native(moved.native)));
            Column::Text(cells.map(|text| Some(ByteArray::from(text?.as_str()))).collect())
        }
        unknown => unreachable!("column {unknown} of events.toml is not written"),
    }
}

/// The processes of a run: its own, the daemons that served it, and those that should be traced
/// and are not. Nothing of another user's run.
pub fn of_run(state: &State, run: &Run) -> Vec<ProcessRow> {
    let mut rows = Vec::new();
    let mut traced = HashSet::new();
    for process in state.processes.values().filter(|process| is_of_run(state, process, run)) {
        traced.insert((process.info.pid, process.info.pid_start));
        rows.push(of_process(state, process, run));
    }
    let untraced = run.untraced.values().filter(|p| !traced.contains(&(p.pid, p.pid_start)));
    rows.extend(untraced.map(of_untraced));
    rows.sort_by_key(|row| (row.start, row.pid));
    rows
}

/// Whether it is the run's own, or a daemon that served it.
pub(super) fn is_of_run(state: &State, process: &Process, run: &Run) -> bool {
    let name = run.order.run.as_str();
    let is_own = state.owners.run_of_process(process).is_some_and(|own| own.order.run == name);
    let served = process.tallies.contains_key(name);
    // the recorder may name a daemon that has died since it was started
    let expected = run.order.expect.iter().any(|(_, pid)| *pid == process.info.pid);
    let is_daemon = expected || Owners::is_served_by(run, process);
    is_own || served || is_daemon && was_there(process, run)
}

fn was_there(process: &Process, run: &Run) -> bool {
    process.end.as_ref().is_none_or(|end| end.at >= run.began)
}

fn of_process(state: &State, process: &Process, run: &Run) -> ProcessRow {
    let name = run.order.run.as_str();
    let info = &process.info;
    let page = process.page.as_ref();
    let counter =
        |index: usize| page.and_then(|page| page.counters.get(index)).copied().unwrap_or_default();
    let identity = state.identify(process, 0);
    let field = |cell: &Option<ByteArray>| {
        cell.as_ref().map_or_else(String::new, |name| text(name).to_owned())
    };
    let rejection = process.end.as_ref().map_or("", |end| end.rejection.as_str());
    let mut tally = process.tallies.get(name).cloned().unwrap_or_default();
    if let Some(unowned) = process.tallies.get("").filter(|_| Owners::is_served_by(run, process)) {
        // whose the lost calls of a daemon were is not known: every run reports them
        tally.dropped += unowned.dropped;
        tally.collapsed += unowned.collapsed;
    }
    let rejected = counter(PROCESS_COUNTER_REFUSED_SEGMENTS)
        + counter(PROCESS_COUNTER_REFUSED_ENTRIES)
        + process.names_rejected;
    let is_own = identity.run == name;
    let baseline = run.baselines.get(&info.proc).cloned().unwrap_or_default();
    ProcessRow {
        host: info.host.clone(),
        proc: Some(info.proc),
        pid: info.pid,
        uid: info.uid,
        role: process.role.to_owned(),
        main: info.get("main").to_owned(),
        job: if is_own { field(&identity.job) } else { String::new() },
        task: if is_own { process.own_task().to_owned() } else { String::new() },
        container: if is_own { info.get("container").to_owned() } else { String::new() },
        part: if is_own { state.owners.part_of(process).to_owned() } else { String::new() },
        parent: info.parent.as_ref().map(|parent| parent.proc),
        agent: info.get("agent").to_owned(),
        jvm: info.get("jvm").to_owned(),
        traced: rejection.is_empty(),
        reason: if rejection.is_empty() && rejected > 0 {
            why_rejected(counter(PROCESS_COUNTER_REFUSED_BY))
        } else {
            rejection.to_owned()
        },
        points_woven: page.map_or(0, |page| page.woven),
        points_faulted: page.map_or_else(String::new, |page| point_names(process, &page.faulted)),
        user_points: user_points(process),
        tally,
        lost: counter(PROCESS_COUNTER_LOST_CALLS),
        rejected,
        cost: page.map(|page| page.cost.since(baseline.cost)),
        summed: page
            .map_or_else(String::new, |page| summed(process, &page.summed, &baseline.summed)),
        moved: page
            .filter(|page| page.moved.is_known())
            .map(|page| page.moved.since(baseline.moved)),
        scheduled: page
            .filter(|page| page.scheduled.is_known())
            .map(|page| page.scheduled.since(baseline.scheduled)),
        cpu_start: page
            .filter(|_| is_own && info.start >= run.began)
            .map(|page| page.startup.cpu)
            .filter(|nanos| *nanos > 0),
        class_loading: page
            .map(|page| page.startup.class_loading)
            .filter(|nanos| *nanos > 0)
            .map(|nanos| nanos.saturating_sub(baseline.class_loading)),
        traced_bytes: rejection.is_empty().then(|| process.traced.since(baseline.traced)),
        start: info.start,
        end: process.end.as_ref().filter(|_| rejection.is_empty()).map_or(0, |end| end.at),
        exit: match (&process.end, page) {
            (Some(end), _) if !end.rejection.is_empty() => "running",
            (Some(_), Some(page)) if page.ended => "ended",
            (Some(_), Some(page)) if page.detached => "detached",
            (Some(_), _) => "killed",
            (None, _) => "running",
        },
    }
}

/// Why files of a process could not be made; empty where that was the cap of its memory.
fn why_rejected(errno: u64) -> String {
    let Some(errno) = i32::try_from(errno).ok().filter(|errno| *errno != 0) else {
        return String::new();
    };
    let errno = Errno::from_raw_os_error(errno);
    remedy(errno).map_or_else(|| errno.to_string(), str::to_owned)
}

fn of_untraced(process: &UntracedProcess) -> ProcessRow {
    ProcessRow {
        host: process.host.clone(),
        pid: process.pid,
        uid: process.uid,
        role: process.role.clone(),
        main: process.main.clone(),
        job: process.job.clone(),
        task: process.task.clone(),
        container: process.container.clone(),
        reason: process.reason.clone(),
        start: process.now,
        end: process.end,
        exit: if process.end == 0 { "running" } else { "ended" },
        ..ProcessRow::default()
    }
}

/// Names of `[native_code]`, comma separated.
fn native(bits: u64) -> String {
    let seen = (0..u64::BITS as u8).filter(|code| bits >> code & 1 != 0);
    seen.filter_map(native_code_name).collect::<Vec<_>>().join(",")
}

/// `Class#method` of points, comma separated.
fn point_names(process: &Process, ids: &[u16]) -> String {
    ids.iter().map(|id| process.method(*id)).collect::<Vec<_>>().join(",")
}

/// `Class#method seconds` of points that were only summed since the run began, comma separated.
fn summed(process: &Process, now: &[(u16, u16)], before: &[(u16, u16)]) -> String {
    let grown = now.iter().filter_map(|(id, seconds)| {
        let was = before.iter().find(|(other, _)| other == id).map_or(0, |(_, seconds)| *seconds);
        let more = seconds.saturating_sub(was);
        (more > 0).then(|| format!("{} {more}", process.method(*id)))
    });
    grown.collect::<Vec<_>>().join(",")
}

/// `id state name` of the points of users, comma separated.
fn user_points(process: &Process) -> String {
    let states = process.page.as_ref().map_or(&[][..], |page| page.user_points.as_slice());
    let line = |(id, point): (&u16, &UserPoint)| {
        let state = states.iter().find(|(other, _)| other == id).map_or(0, |(_, state)| *state);
        let state = point_state_name(state).unwrap_or("absent");
        format!("{id} {state} {}", point.name)
    };
    process.points.iter().map(line).collect::<Vec<_>>().join(",")
}
