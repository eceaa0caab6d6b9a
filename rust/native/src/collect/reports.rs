//! What whoever waits for a run is given to read.

use super::collector::Collector;
use super::live;
use super::orders;
use super::progress::{self, View};
use super::trouble::log;

impl Collector<'_> {
    /// What a run lacks for want of space, to be added to its message.
    pub(super) fn unread(&self, uid: u32) -> String {
        match self.sources.unread(uid) {
            events if events > 0 && !self.pipeline.has_room() => {
                format!("; {events} events at least were not read: the spool has no room for them")
            }
            _ => String::new(),
        }
    }

    fn view(&self, now: u64) -> View<'_> {
        View {
            state: self.pipeline.state(),
            sources: &self.sources,
            host: &self.publisher.host,
            control: self.directory.control.word(),
            part: self.pipeline.number(),
            anchor: self.directory.anchor,
            now,
        }
    }

    /// Writes `progress.json` and `live-HOST.json`.
    pub(super) fn report(&mut self, name: &str, now: u64) {
        let mut live = std::mem::take(&mut self.live);
        let live_text = live.text(self.view(now), name);
        self.live = live;
        let Some(active) = self.runs.active.get(name) else { return };
        let progress = progress::text(self.view(now), name, active.phase.name(), &active.said());
        let Some(active) = self.runs.active.get_mut(name) else { return };
        let live_name = live::file_name(&self.publisher.host);
        match active.report(progress, &live_name, &live_text, now) {
            Ok(()) => self.progress_trouble.end(),
            Err(error) => self
                .progress_trouble
                .begin(&format!("run {name}: cannot write progress.json: {error}")),
        }
    }

    /// Whoever waits for a run that has ended hears at once that it cannot be published now.
    pub(super) fn report_stuck(&self, why: &str, now: u64) {
        let state = self.pipeline.state();
        for run in state.owners.runs.values().filter(|run| run.order.ended) {
            let name = &run.order.run;
            let rows = state.output.rows_of(name);
            let unread = self.sources.unread(run.order.uid);
            let message = format!("{rows} rows and {unread} unread events are lacking: {why}");
            let text = progress::text(self.view(now), name, "stuck", &message);
            let directory = self.publisher.store.enter(name, run.order.uid);
            let _ = directory.and_then(|directory| directory.replace("progress.json", &text));
        }
    }

    /// Ended runs, once published: the last word to the recorder, and their files go.
    pub(super) fn conclude_runs(&self, now: u64) {
        let runs = self.pipeline.state().owners.runs.values();
        for run in runs.filter(|run| run.order.ended) {
            let name = &run.order.run;
            let message = [run.order.message.as_str(), &left_out(run.left_out)].join("");
            let text = progress::text(self.view(now), name, "done", &message);
            let said = self.publisher.store.enter(name, run.order.uid).and_then(|directory| {
                let _ = directory.remove(&live::file_name(&self.publisher.host));
                directory.publish_bytes("progress.json", &text)
            });
            if let Err(error) = said {
                log(&format!("run {name}: cannot write progress.json: {error}"));
            }
            orders::remove(&self.directory.runs, name, &["run", "stop"]);
            log(&format!("run {name} done: rows={} bytes={}", run.rows, run.bytes));
        }
    }
}

/// Rows of a run that are not in the store, to be added to its message.
fn left_out(rows: u64) -> String {
    if rows == 0 { String::new() } else { format!("; {rows} rows that came later were left out") }
}
