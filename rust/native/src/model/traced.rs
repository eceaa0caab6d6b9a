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

    /// Adds the bytes of calls of layer `java` or `posix`.
    pub fn add(&mut self, op: &str, method: &str, bytes: u64) {
        // recv() and send() are in no count of the kernel, those of Netty's native sockets neither,
        // nor is splice()
        let is_uncounted = matches!(
            method,
            "recv" | "recvAddress" | "recvmsg" | "send" | "sendAddress" | "sendmsg" | "splice"
        );
        if is_uncounted {
            return;
        }
        // the kernel may copy by itself: it counts in both directions, and no call of ours is inside
        let copies = matches!(
            method,
            "transferTo" | "transferFrom" | "sendFile" | "sendfile" | "copy_file_range"
        );
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
            ("transfer", "copy_file_range"),
            ("transfer", "splice"),
            ("receive", "recvmsg"),
        ] {
            traced.add(op, method, 10);
        }
        assert_eq!(traced, Traced { read: 60, written: 60, mapped: 10 });
    }
}
