//! `progress.json` of a run: how far it is, for who recorded it.

use std::collections::BTreeSet;

use iostrata_segment::schema::level_name;
use serde_json::{Value, json};

use super::sources::Sources;
use crate::model::run::Outline;
use crate::model::state::State;
use crate::store::processes::{self, ProcessRow};

/// Bytes of a coverage that is told; who wants a longer one reads the files of the run.
const MOST_COVERAGE: usize = 1 << 19;

/// What the collector knows at this moment.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub state: &'a State,
    pub sources: &'a Sources,
    /// Name of the collector's host.
    pub host: &'a str,
    /// What the control page says.
    pub control: u32,
    /// Number of the parts that are not published yet.
    pub part: u32,
    /// Added to monotonic times to get ns since the epoch.
    pub anchor: i64,
    pub now: u64,
}

/// The text of the file; `phase`: where the run is.
pub fn text(view: View<'_>, run: &str, phase: &str, message: &str) -> Vec<u8> {
    let View { state, sources, control, .. } = view;
    let Some(run) = state.owners.runs.get(run) else { return Vec::new() };
    let name = &run.order.run;
    let rows = processes::of_run(state, run);
    let pending = if phase == "done" { 0 } else { state.output.rows_of(name) as u64 };
    let dropped: u64 = rows.iter().map(|row| row.tally.dropped).sum();
    let mut text = json!({
        "state": phase,
        "run": name,
        "events": run.rows + pending,
        "bytes": run.bytes,
        "dropped": dropped + run.left_out,
        "processes": rows.len(),
        "level": level_name(run.order.level),
        "budget": run.order.budget,
        "sampling": run.order.sampling,
        "behind": sources.behind(control, run.order.uid, false).len(),
        "jobs": state.owners.claims.jobs_of(name),
        "message": message,
    });
    if let Some(outline) = run.outline.as_ref().filter(|_| phase == "done") {
        let coverage = coverage(&rows, outline, view.host);
        if coverage.to_string().len() <= MOST_COVERAGE {
            text["coverage"] = coverage;
        }
    }
    format!("{text}\n").into_bytes()
}

/// What a recorder needs to say how complete a run is without reading it: an empty text, a zero
/// and false are left out.
fn coverage(rows: &[ProcessRow], outline: &Outline, host: &str) -> Value {
    let faulted = rows.iter().flat_map(|row| row.points_faulted.split(','));
    let faulted: BTreeSet<&str> = faulted.filter(|name| !name.is_empty()).collect();
    let processes: Vec<Value> = rows.iter().map(|row| process(row, host)).collect();
    json!({
        "processes": processes,
        "tasks": outline.tasks,
        "layers": outline.layers,
        "of_jobs": outline.of_jobs,
        "faulted_points": faulted,
        "unfinished": outline.unfinished,
    })
}

fn process(row: &ProcessRow, host: &str) -> Value {
    let mut fields = json!({
        "host": row.host.as_deref().unwrap_or(host),
        "role": row.role,
        "pid": row.pid,
        "task": row.task,
        "traced": row.traced,
        "reason": row.reason,
        "dropped": row.tally.dropped,
        "collapsed": row.tally.collapsed,
        "lost": row.lost,
        "rejected": row.rejected,
    });
    let is_said =
        |value: &Value| *value != json!("") && *value != json!(0) && *value != json!(false);
    if let Some(fields) = fields.as_object_mut() {
        fields.retain(|_, value| is_said(value));
    }
    fields
}

/// Whether a run of which this is the `progress.json` was published to its end.
pub fn is_done(text: &str) -> bool {
    let value: Option<serde_json::Value> = serde_json::from_str(text).ok();
    value.is_some_and(|progress| progress["state"] == "done")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::process::Tally;

    #[test]
    fn a_coverage_names_what_is_not_as_it_should_be() {
        let traced = ProcessRow {
            pid: 7,
            role: "map".into(),
            task: "attempt_1_0001_m_000001_0".into(),
            traced: true,
            points_faulted: "B#b,A#a".into(),
            tally: Tally { dropped: 3, ..Tally::default() },
            ..ProcessRow::default()
        };
        let host = Some("other".into());
        let untraced = ProcessRow { pid: 8, host, reason: "no agent".into(), ..traced.clone() };
        let untraced = ProcessRow { traced: false, tally: Tally::default(), ..untraced };
        let layers = BTreeSet::from(["fs".to_owned()]);
        let outline = Outline { layers, of_jobs: true, ..Outline::default() };

        let told = coverage(&[traced, untraced], &outline, "node");

        let task = "attempt_1_0001_m_000001_0";
        assert_eq!(
            told["processes"],
            json!([
                {"host": "node", "role": "map", "pid": 7, "task": task, "traced": true,
                    "dropped": 3},
                {"host": "other", "role": "map", "pid": 8, "task": task, "reason": "no agent"},
            ])
        );
        assert_eq!((&told["layers"], &told["of_jobs"]), (&json!(["fs"]), &json!(true)));
        assert_eq!(told["faulted_points"], json!(["A#a", "B#b"]));
    }
}
