//! Who has started a process, and for which of its calls.

use iostrata_segment::segment::OpenSpan;

use super::procfs;
use super::source::Source;
use super::sources::Sources;
use crate::model::context::{Cause, Parent};
use crate::model::ids;
use crate::model::process::{Process, ProcessInfo};
use crate::model::state::State;

impl Sources {
    /// The traced process that has started this one, if it is of the same user; what a native program
    /// does is done for the call of that process which is open then.
    pub(super) fn parent_of(&self, state: &State, info: &ProcessInfo) -> Option<Parent> {
        let pid = parent_pid(info)?;
        let started = |source: &&Source| source.pid == pid && source.uid == info.uid;
        let processes = self.by_proc.values().filter(started).filter_map(|source| {
            let process = state.processes.get(&source.proc)?;
            was_there(process, info).then_some((source, process))
        });
        // one that has called exec is several, one after the other
        let (source, process) = processes.max_by_key(|(_, process)| process.info.start)?;
        if !info.is_native() || ids::is_daemon(process.role) {
            return Some(Parent { proc: process.info.proc, ..Parent::default() });
        }
        let above = process.info.parent.as_ref();
        let cause = cause(source, process, info.start);
        let task = Some(process.own_task()).filter(|task| !task.is_empty());
        let task = task.or_else(|| above.map(|above| above.task.as_str()));
        Some(Parent {
            proc: process.info.proc,
            cause: cause.or_else(|| above?.cause),
            task: task.unwrap_or_default().to_owned(),
        })
    }
}

/// As it said itself, or while it lives the kernel says.
fn parent_pid(info: &ProcessInfo) -> Option<u32> {
    let said = info.get("parent").parse().ok();
    let seen = || procfs::stat(info.pid).filter(|stat| stat.start == info.pid_start);
    said.or_else(|| seen().map(|stat| stat.parent)).filter(|pid| *pid > 1)
}

/// Whether a process was there, on the same host, when another one began.
fn was_there(process: &Process, child: &ProcessInfo) -> bool {
    let is_before = process.info.start <= child.start && process.info.host == child.host;
    is_before && process.end.as_ref().is_none_or(|end| end.at >= child.start)
}

/// The call of a task attempt that has the process for itself, or the JVM as a whole; none of a
/// native program, whose calls end before it starts another one.
fn cause(source: &Source, process: &Process, at: u64) -> Option<Cause> {
    let is_attempt = !process.info.get("attempt").is_empty();
    let is_whole = |open: &OpenSpan| match process.layer_and_op(open.point) {
        Some(("task", "process")) => true,
        Some(("task", "run")) => is_attempt,
        _ => false,
    };
    let open = source.readers.values().flat_map(|reader| reader.segment.open_now());
    let innermost =
        open.filter(|open| is_whole(open) && open.start <= at).max_by_key(|open| open.start)?;
    let proc = process.info.proc;
    let above = process.info.parent.as_ref().and_then(|above| above.cause);
    Some(Cause { trace: above.map_or(proc, |above| above.trace), proc, span: innermost.span })
}
