//! The outline of each run is kept up as its rows are published.

use std::collections::HashSet;

use iostrata_segment::schema::{KIND_SUM, LAYER_JVM, layer_name};

use super::ids;
use super::names::text;
use super::rows::Part;
use super::state::State;

impl State {
    /// Adds what the rows of all parts say to the outlines of their runs. To do so again changes
    /// nothing.
    pub fn outline(&mut self) {
        let pauses = layer_name(LAYER_JVM);
        for part in &self.output.parts {
            let Some(run) = self.owners.runs.get_mut(&part.run) else { continue };
            let Some(outline) = &mut run.outline else { continue };
            for (thread, identity, point) in summed(part) {
                let proc = self.output.threads[thread as usize].proc;
                let Some(process) = self.processes.get(&proc) else { continue };
                let Some((layer, _)) = process.layer_and_op(point) else { continue };
                if Some(layer) == pauses {
                    continue;
                }
                outline.layers.insert(layer.to_owned());
                let identity = &self.output.identities[identity as usize].0;
                // ranks have no history that could be asked
                let is_of_job = identity.job.is_some() || identity.task.is_some();
                outline.of_jobs |= is_of_job && process.role != ids::RANK;
                let task = identity.task.as_ref().filter(|_| !ids::is_daemon(process.role));
                if let Some(task) = task {
                    outline.tasks.insert(text(task).to_owned());
                }
            }
        }
    }

    /// A call of `point` was open when its process died; its rows have this identity.
    pub fn count_unfinished(&mut self, proc: u64, point: u16, identity: u32) {
        let process = self.processes.get(&proc);
        // its process itself is always open
        if process.and_then(|known| known.layer_and_op(point)).is_none_or(|(_, op)| op == "process")
        {
            return;
        }
        let run = self.owners.runs.get_mut(self.output.run_of(identity));
        if let Some(outline) = run.and_then(|run| run.outline.as_mut()) {
            outline.unfinished += 1;
        }
    }
}

/// Thread, identity and point of the sums of a part.
fn summed(part: &Part) -> HashSet<(u32, u32, u16)> {
    let sums = part.rows.iter().filter(|row| row.kind == KIND_SUM);
    sums.map(|row| (row.thread, row.identity, row.point)).collect()
}
