//! Whom an event belongs to: its thread, its run, the call it was done for.

use iostrata_segment::ring::Event;
use iostrata_segment::schema::{CONTROL_ALL_REQUESTS, FLAG_REMOTE};

use super::block::Place;
use super::state::{Cause, Context, State, Tally, Thread};
use crate::store::rows::Of;

/// Whom an event belongs to and what it was done for, as places in the output.
#[derive(Debug, Clone, Copy)]
pub(super) struct Whose {
    pub context: Context,
    pub identity: u32,
    pub cause: u32,
}

/// What a context slot says.
pub(super) fn context_of(event: &Event) -> Context {
    let Event { offset, parent: proc, span, .. } = *event;
    let cause = Cause { trace: offset as u64, proc, span };
    let cause = (event.flags & FLAG_REMOTE != 0).then_some(cause);
    // what is not of this world says nothing
    let sampling =
        Some(event.asked).filter(|of| (*of as usize) < CONTROL_ALL_REQUESTS).unwrap_or(0);
    Context { id: event.target, cause, sampling }
}

impl State {
    pub(super) fn whose(&mut self, proc: u64, context: Context) -> Whose {
        let identity = self.identity(proc, context.id);
        let cause = context.cause.map_or(0, |cause| self.output.add_cause(cause));
        Whose { context, identity, cause }
    }

    /// The thread's place in the output.
    pub(super) fn thread(&mut self, at: &Place) -> Option<u32> {
        let process = self.processes.get_mut(&at.proc)?;
        let thread = process.threads.entry(at.tid).or_insert_with(Thread::default);
        thread.seen = thread.seen.max(at.now);
        let rotation = self.output.rotation;
        if let Some((given, place)) = thread.place
            && given == rotation
            && thread.name == at.thread_name
        {
            return Some(place);
        }
        thread.name = at.thread_name;
        let of = Of { proc: at.proc, tid: at.tid, name: at.thread_name };
        let place = self.output.add_thread(of);
        thread.place = Some((rotation, place));
        Some(place)
    }

    /// Place of the identity of a process's events in `context`.
    pub(super) fn identity(&mut self, proc: u64, context: u32) -> u32 {
        let Some(process) = self.processes.get(&proc) else { return 0 };
        if let Some((generation, place)) = process.identities.get(&context)
            && *generation == self.generation
        {
            return *place;
        }
        let identity = self.identify(process, context);
        let place = self.output.add_identity(identity);
        if let Some(process) = self.processes.get_mut(&proc) {
            process.identities.insert(context, (self.generation, place));
        }
        place
    }

    pub(super) fn tally(&mut self, proc: u64, identity: u32) -> &mut Tally {
        let run = self.output.run_of(identity);
        let tallies = self.processes.get_mut(&proc).map(|process| &mut process.tallies);
        let tallies = tallies.expect("an event's process is known");
        if !tallies.contains_key(run) {
            tallies.insert(run.to_owned(), Tally::default());
        }
        tallies.get_mut(run).expect("inserted above")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_says_of_how_many_requests_its_calls_are() {
        let said = |asked| context_of(&Event { asked, ..Event::default() }).sampling;
        assert_eq!([0, 1, 999_999_999].map(said), [0, 1, 999_999_999]);
        // more than all is none of ours: as if all were kept
        assert_eq!([1_000_000_000, u32::MAX].map(said), [0, 0]);
    }
}
