//! Classes that users have points in: no cache has them.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};

/// Names as in a class file. They only become more: what a class gets is for the agent to say.
#[derive(Debug, Default)]
pub struct Users {
    any: AtomicBool,
    names: RwLock<HashSet<Vec<u8>>>,
}

impl Users {
    pub fn add(&self, name: &str) {
        self.names.write().unwrap_or_else(PoisonError::into_inner).insert(name.into());
        self.any.store(true, Ordering::Release);
    }

    pub fn have(&self, name: &[u8]) -> bool {
        self.any.load(Ordering::Acquire)
            && self.names.read().unwrap_or_else(PoisonError::into_inner).contains(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_were_added_are_had() {
        let users = Users::default();
        assert!(!users.have(b"a/B"));
        users.add("a/B");
        assert!(users.have(b"a/B"));
        assert!(!users.have(b"a/Bc"));
    }
}
