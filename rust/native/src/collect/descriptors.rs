//! How many files this process may have open: a traced process takes two or three.

use std::os::fd::BorrowedFd;

use rustix::process::{Resource, getrlimit, setrlimit};

/// So many stay free for what is open for a moment: segments, names, parts that are published.
const SPARE: usize = 8;
/// Why a process is not read.
pub const NONE_LEFT: &str =
    "not read: the collector has no descriptors left, raise its ulimit -n (LimitNOFILE)";

/// As many as the kernel allows without a privilege: the usual limit, 1024, is that of programs
/// that call `select`.
pub fn raise_limit() {
    let limit = getrlimit(Resource::Nofile);
    // it is no fault where a sandbox forbids it
    let _ =
        setrlimit(Resource::Nofile, rustix::process::Rlimit { current: limit.maximum, ..limit });
}

/// Whether there are enough for one process more; `of`: any that is open.
pub fn are_left(of: BorrowedFd<'_>) -> bool {
    let spare: Vec<_> = (0..SPARE).map_while(|_| of.try_clone_to_owned().ok()).collect();
    spare.len() == SPARE
}
