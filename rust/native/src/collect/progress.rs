//! `progress.json` of a run: how far it is, for who recorded it.

use iostrata_segment::schema::level_name;
use serde_json::json;

use super::sources::Sources;
use crate::model::state::State;
use crate::store::processes;

/// What the collector knows at this moment.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub state: &'a State,
    pub sources: &'a Sources,
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
    let text = json!({
        "state": phase,
        "run": name,
        "events": run.rows + pending,
        "bytes": run.bytes,
        "dropped": dropped,
        "processes": rows.len(),
        "level": level_name(run.order.level),
        "budget": run.order.budget,
        "sampling": run.order.sampling,
        "behind": sources.behind(control).count(),
        "jobs": state.owners.claims.jobs_of(name),
        "message": message,
    });
    format!("{text}\n").into_bytes()
}

/// Whether a run of which this is the `progress.json` was published to its end.
pub fn is_done(text: &str) -> bool {
    let value: Option<serde_json::Value> = serde_json::from_str(text).ok();
    value.is_some_and(|progress| progress["state"] == "done")
}
