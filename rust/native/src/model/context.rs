//! Whom a call belongs to, and what it was done for.

use iostrata_segment::ring::Event;
use iostrata_segment::schema::{CONTROL_ALL_REQUESTS, FLAG_REMOTE};
use serde::{Deserialize, Serialize};

/// Whom calls of a thread belong to, and why they happen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CallContext {
    /// Dictionary id, 0 none.
    pub id: u32,
    pub cause: Option<Cause>,
    /// Of a billion requests, how many are in the sample of which its calls are; 0: all.
    #[serde(default)]
    pub sampling: u32,
}

/// The span, of another thread or process, that calls without an enclosing one are done for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cause {
    /// `proc` of the process where it all began.
    pub trace: u64,
    pub proc: u64,
    /// 0: the process as a whole.
    pub span: u64,
}

/// The process that has started another one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    pub proc: u64,
    /// What a native program is done for, of that process or of one above it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// The task attempt or rank that a native program does a part of; empty: none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub task: String,
}

impl CallContext {
    /// What a context slot says.
    pub fn from_event(event: &Event) -> CallContext {
        let Event { offset, parent: proc, span, .. } = *event;
        let cause = Cause { trace: offset as u64, proc, span };
        let cause = (event.flags & FLAG_REMOTE != 0).then_some(cause);
        // a share above one means nothing
        let is_share = |sampling: &u32| (*sampling as usize) < CONTROL_ALL_REQUESTS;
        let sampling = Some(event.asked).filter(is_share).unwrap_or(0);
        CallContext { id: event.target, cause, sampling }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_says_of_how_many_requests_its_calls_are() {
        let sampling =
            |asked| CallContext::from_event(&Event { asked, ..Event::default() }).sampling;
        assert_eq!([0, 1, 999_999_999].map(sampling), [0, 1, 999_999_999]);
        // more than all is none of ours: as if all were recorded
        assert_eq!([1_000_000_000, u32::MAX].map(sampling), [0, 0]);
    }
}
