//! The threads of a process, and in which contexts each has worked.

use std::collections::{HashMap, HashSet, VecDeque};

use serde::{Deserialize, Serialize};

use super::context::CallContext;

/// Contexts per thread: far more than a call lies back.
pub const HISTORY: usize = 4096;
/// The same of a user who has used up their memory.
pub const SHORT_HISTORY: usize = 64;
/// Threads without a segment are forgotten after this long, ns.
const KEPT: u64 = 10_000_000_000;
/// Bytes of memory that a thread and a context take, as text in a snapshot, too.
const THREAD_SIZE: u64 = 256;
const CONTEXT_SIZE: u64 = 128;

/// By tid.
#[derive(Debug, Default)]
pub struct Threads {
    by_tid: HashMap<u64, ThreadState>,
    /// In all histories.
    contexts: usize,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ThreadState {
    pub name: u32,
    /// Position of the chain's segment to be read.
    pub chain: u32,
    /// Contexts by the time from which they hold.
    history: VecDeque<(u64, CallContext)>,
    /// Span of its last call: after a kill it may stand among the open ones still.
    pub last_span: u64,
    /// When a segment of it was last seen.
    pub seen: u64,
    /// Number in the output's table of threads, and the rotation that gave it.
    #[serde(skip)]
    pub number: Option<(u64, u32)>,
}

impl Threads {
    pub fn get(&self, tid: u64) -> Option<&ThreadState> {
        self.by_tid.get(&tid)
    }

    pub fn get_mut(&mut self, tid: u64) -> Option<&mut ThreadState> {
        self.by_tid.get_mut(&tid)
    }

    pub fn has(&self, tid: u64) -> bool {
        self.by_tid.contains_key(&tid)
    }

    pub fn known_or_new(&mut self, tid: u64) -> &mut ThreadState {
        self.by_tid.entry(tid).or_default()
    }

    pub fn len(&self) -> usize {
        self.by_tid.len()
    }

    pub fn all(&self) -> impl Iterator<Item = (u64, &ThreadState)> {
        self.by_tid.iter().map(|(tid, thread)| (*tid, thread))
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> u64 {
        self.len() as u64 * THREAD_SIZE + self.contexts as u64 * CONTEXT_SIZE
    }

    /// From `start` on the thread's calls belong to `context`; of its contexts the last `most` stay.
    pub fn enter(&mut self, tid: u64, start: u64, context: CallContext, most: usize) {
        let Some(thread) = self.by_tid.get_mut(&tid) else { return };
        let surplus = (thread.history.len() + 1).saturating_sub(most);
        thread.history.drain(..surplus);
        thread.history.push_back((start, context));
        self.contexts = self.contexts + 1 - surplus;
    }

    /// The context of a call of a thread that began at `start`.
    pub fn context_at(&self, tid: u64, start: u64) -> CallContext {
        self.get(tid).map_or_else(CallContext::default, |thread| thread.context_at(start))
    }

    /// Forgets those without a segment, except the ones that were seen lately; `live`: with one.
    pub fn forget(&mut self, live: &HashSet<u64>, now: u64) {
        self.retain(|tid, thread| live.contains(&tid) || thread.seen + KEPT > now);
    }

    /// Forgets those without a segment.
    pub fn forget_all_but(&mut self, live: &HashSet<u64>) {
        self.retain(|tid, _| live.contains(&tid));
    }

    fn retain(&mut self, is_kept: impl Fn(u64, &ThreadState) -> bool) {
        self.by_tid.retain(|tid, thread| is_kept(*tid, thread));
        self.contexts = self.by_tid.values().map(|thread| thread.history.len()).sum();
    }
}

impl FromIterator<(u64, ThreadState)> for Threads {
    fn from_iter<T: IntoIterator<Item = (u64, ThreadState)>>(threads: T) -> Threads {
        let by_tid: HashMap<u64, ThreadState> = threads.into_iter().collect();
        let contexts = by_tid.values().map(|thread| thread.history.len()).sum();
        Threads { by_tid, contexts }
    }
}

impl ThreadState {
    /// The context of a call that began at `start`.
    pub fn context_at(&self, start: u64) -> CallContext {
        let entered = self.history.iter().rev().find(|(from, _)| *from <= start);
        entered.map_or_else(CallContext::default, |(_, context)| *context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(id: u64) -> CallContext {
        CallContext { id: id as u32, ..CallContext::default() }
    }

    fn one() -> Threads {
        [(1, ThreadState::default())].into_iter().collect()
    }

    #[test]
    fn a_call_belongs_to_the_context_in_which_it_began() {
        let mut threads = one();
        for (start, id) in [(100, 7), (200, 9), (200, 8), (300, 0)] {
            threads.enter(1, start, context(id), HISTORY);
        }

        let at = [99, 100, 199, 200, 299, 300, 1000].map(|start| threads.context_at(1, start).id);

        assert_eq!(at, [0, 7, 7, 8, 8, 0, 0]);
    }

    #[test]
    fn a_history_is_bounded_and_what_it_takes_is_known() {
        let mut threads = one();
        let without = threads.bytes();
        for time in 0..=HISTORY as u64 {
            threads.enter(1, time, context(time), HISTORY);
        }
        assert_eq!([0, 1].map(|start| threads.context_at(1, start).id), [0, 1]);
        assert_eq!(threads.bytes(), without + HISTORY as u64 * CONTEXT_SIZE);

        threads.enter(1, 5000, context(5000), SHORT_HISTORY);
        assert_eq!(threads.bytes(), without + SHORT_HISTORY as u64 * CONTEXT_SIZE);
        assert_eq!(threads.context_at(1, 9999).id, 5000);

        threads.forget_all_but(&HashSet::from([1]));
        assert_eq!(threads.len(), 1);
        threads.forget_all_but(&HashSet::new());
        assert_eq!(threads.bytes(), 0);
    }
}
