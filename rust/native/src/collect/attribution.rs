//! Whom an event belongs to: its thread, its run, the call it was done for.

use crate::model::context::CallContext;
use crate::model::process::{Origin, Tally};
use crate::model::rows::ThreadRef;
use crate::model::state::State;

/// Whom an event belongs to and what it was done for, as numbers in the output.
#[derive(Debug, Clone, Copy)]
pub struct Attribution {
    pub context: CallContext,
    pub identity: u32,
    pub cause: u32,
}

impl State {
    pub(super) fn attribution(&mut self, proc: u64, context: CallContext) -> Attribution {
        let identity = self.identity(proc, context.id);
        let cause = context.cause.map(|cause| self.output.add_cause(cause));
        let cause = cause.unwrap_or_else(|| self.parents_cause(proc));
        Attribution { context, identity, cause }
    }

    /// Number of the call of another process that all of this one works for; 0 none.
    pub(super) fn parents_cause(&mut self, proc: u64) -> u32 {
        let parent = self.processes.get(&proc).and_then(|process| process.info.parent.as_ref());
        let cause = parent.and_then(|parent| parent.cause);
        cause.map_or(0, |cause| self.output.add_cause(cause))
    }

    /// The thread's number in the output.
    pub(super) fn thread(&mut self, at: &Origin) -> Option<u32> {
        let info = &self.processes.get(&at.proc)?.info;
        let has_memory = self.memory_left(info.uid, info.serves) > 0;
        let process = self.processes.get_mut(&at.proc)?;
        if !has_memory && !process.threads.has(at.tid) {
            process.spare_threads();
        }
        let thread = process.threads.known_or_new(at.tid);
        thread.seen = thread.seen.max(at.now);
        let rotation = self.output.rotation;
        if let Some((given, number)) = thread.number
            && given == rotation
            && thread.name == at.thread_name
        {
            return Some(number);
        }
        thread.name = at.thread_name;
        let reference = ThreadRef { proc: at.proc, tid: at.tid, name: at.thread_name };
        let number = self.output.add_thread(reference);
        thread.number = Some((rotation, number));
        Some(number)
    }

    /// Number of the identity of a process's events in `context`.
    pub(super) fn identity(&mut self, proc: u64, context: u32) -> u32 {
        let Some(process) = self.processes.get(&proc) else { return 0 };
        if let Some((generation, number)) = process.identities.get(&context)
            && *generation == self.owners.generation
        {
            return *number;
        }
        let identity = self.identify(process, context);
        let number = self.output.add_identity(identity);
        if let Some(process) = self.processes.get_mut(&proc) {
            process.identities.insert(context, (self.owners.generation, number));
        }
        number
    }

    pub(super) fn tally(&mut self, proc: u64, identity: u32) -> &mut Tally {
        let process = self.processes.get_mut(&proc).expect("an event's process is known");
        process.tally(self.output.run_of(identity))
    }
}
