//! How many bytes of a process were traced where the kernel counts them, too.

use serde::{Deserialize, Serialize};

/// Bytes of calls of layer `java`, whatever run they belong to: the kernel does not know runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Traced {
    pub read: u64,
    pub written: u64,
    pub mapped: u64,
}

impl Traced {
    /// What has come since.
    #[must_use]
    pub fn since(self, before: Traced) -> Traced {
        Traced {
            read: self.read.saturating_sub(before.read),
            written: self.written.saturating_sub(before.written),
            mapped: self.mapped.saturating_sub(before.mapped),
        }
    }

    /// Adds the bytes of calls of layer `java`.
    pub fn add(&mut self, op: &str, method: &str, bytes: u64) {
        // of Netty's native sockets: recv() and send() are in no count of the kernel
        if matches!(method, "recv" | "recvAddress" | "send" | "sendAddress") {
            return;
        }
        // the kernel may copy by itself: it counts in both directions, and no call of ours is inside
        let copies = matches!(method, "transferTo" | "transferFrom" | "sendFile");
        if copies || matches!(op, "read" | "receive") {
            self.read = self.read.saturating_add(bytes);
        }
        if copies || matches!(op, "write" | "send") {
            self.written = self.written.saturating_add(bytes);
        }
        if op == "map" {
            self.mapped = self.mapped.saturating_add(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_counts_both_ways_and_a_map_neither() {
        let mut traced = Traced::default();
        for (op, method) in [
            ("read", "read"),
            ("receive", "read"),
            ("write", "write"),
            ("transfer", "transferTo"),
            ("write", "transferFrom"),
            ("map", "map"),
            ("sync", "force"),
            ("transfer", "sendFile"),
            ("receive", "recvAddress"),
            ("send", "sendAddress"),
            ("send", "writevAddresses"),
        ] {
            traced.add(op, method, 10);
        }
        assert_eq!(traced, Traced { read: 50, written: 50, mapped: 10 });
    }
}
