//! Who started a process, where that decides whose it is.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Processes that commands of root's runs have started as somebody else, as `su` does: the run, by
/// pid and start. Found while they stand at the door, because they may live for a moment only.
#[derive(Debug, Clone, Default)]
pub struct Started(Arc<Mutex<HashMap<(u32, u64), String>>>);

impl Started {
    /// Empty for none.
    pub fn run_of(&self, pid: u32, start: u64) -> String {
        let mut started = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        started.remove(&(pid, start)).unwrap_or_default()
    }

    pub fn add(&self, pid: u32, start: u64, run: &str) {
        let mut started = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        started.insert((pid, start), run.to_owned());
    }
}
