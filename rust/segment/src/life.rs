//! The life of a segment: made, active, sealed, drained, used again with the next epoch.

use crate::memory::Memory;
use crate::schema::{
    SEGMENT_CHAIN, SEGMENT_DRAINED_EPOCH, SEGMENT_EPOCH, SEGMENT_FOLDED, SEGMENT_GAPS,
    SEGMENT_HEAD, SEGMENT_OPEN_DEPTH, SEGMENT_ROWS, SEGMENT_STATE, SEGMENT_TAIL,
    SEGMENT_THREAD_NAME, SEGMENT_TID, STATE_ACTIVE, STATE_SEALED,
};

/// Whose events a segment holds during one epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SegmentIdentity {
    pub epoch: u32,
    /// Java thread id.
    pub tid: u64,
    /// Dictionary id of the thread's name.
    pub thread_name: u32,
    /// Position in the thread's chain.
    pub chain: u32,
}

/// Collector: the identity once the producer has finished it, `None` while it is being (re)made.
pub fn identity(memory: &impl Memory) -> Option<SegmentIdentity> {
    // epoch before state: the new epoch is released after state = 0, so a `sealed` seen after
    // the new epoch is never the old one
    let epoch = memory.acquire_u32(SEGMENT_EPOCH);
    let state = memory.acquire_u32(SEGMENT_STATE);
    if state != STATE_ACTIVE && state != STATE_SEALED {
        return None;
    }
    let identity = SegmentIdentity {
        epoch,
        tid: memory.relaxed_u64(SEGMENT_TID),
        thread_name: memory.relaxed_u32(SEGMENT_THREAD_NAME),
        chain: memory.relaxed_u32(SEGMENT_CHAIN),
    };
    memory.acquire_fence();
    (memory.relaxed_u32(SEGMENT_EPOCH) == epoch).then_some(identity)
}

/// Collector: whether the producer is done with this epoch. Check it before `head`: what is
/// published before the seal is then seen by a later look at `head`.
pub fn is_sealed(memory: &impl Memory) -> bool {
    memory.acquire_u32(SEGMENT_STATE) == STATE_SEALED
}

/// Collector: whether the producer is not done with this epoch.
pub fn is_active_in(memory: &impl Memory, epoch: u32) -> bool {
    memory.acquire_u32(SEGMENT_EPOCH) == epoch && memory.acquire_u32(SEGMENT_STATE) == STATE_ACTIVE
}

/// Collector: nothing more is needed from this epoch; the producer may use the file again.
pub fn release_epoch(memory: &impl Memory, epoch: u32) {
    memory.release_u32(SEGMENT_DRAINED_EPOCH, epoch);
}

/// Producer: nothing more will come in this epoch.
pub fn seal(memory: &impl Memory) {
    memory.release_u32(SEGMENT_STATE, STATE_SEALED);
}

/// Producer: takes a sealed and drained segment into its next epoch, for any thread.
///
/// Returns the ring position to go on from, or `None` while the collector still needs the segment.
pub fn reuse(memory: &impl Memory, next: &SegmentIdentity) -> Option<u64> {
    if memory.acquire_u32(SEGMENT_DRAINED_EPOCH) != next.epoch.wrapping_sub(1) {
        return None;
    }
    memory.set_u32(SEGMENT_STATE, 0);
    memory.set_u32(SEGMENT_ROWS, 0);
    memory.set_u32(SEGMENT_OPEN_DEPTH, 0);
    memory.set_u64(SEGMENT_GAPS, 0);
    memory.set_u64(SEGMENT_FOLDED, 0);
    memory.release_u32(SEGMENT_EPOCH, next.epoch);
    memory.release_fence();
    memory.set_u64(SEGMENT_TID, next.tid);
    memory.set_u32(SEGMENT_THREAD_NAME, next.thread_name);
    memory.set_u32(SEGMENT_CHAIN, next.chain);
    memory.release_u32(SEGMENT_STATE, STATE_ACTIVE);
    debug_assert_eq!(memory.acquire_u64(SEGMENT_TAIL), memory.relaxed_u64(SEGMENT_HEAD));
    Some(memory.relaxed_u64(SEGMENT_HEAD))
}
