//! Clocks.

use rustix::time::{ClockId, clock_gettime};

/// In ns.
pub const SECOND: u64 = 1_000_000_000;
pub const MS: u64 = 1_000_000;

/// `CLOCK_MONOTONIC` in ns, the clock of all times in shared memory.
pub fn monotonic() -> u64 {
    ns(ClockId::Monotonic)
}

/// Ns since the epoch.
pub fn epoch() -> u64 {
    ns(ClockId::Realtime)
}

/// Ns since boot, in which the kernel says when processes began.
pub fn since_boot() -> u64 {
    ns(ClockId::Boottime)
}

/// Ns of CPU that this process has taken.
pub fn cpu() -> u64 {
    ns(ClockId::ProcessCPUTime)
}

/// What to add to a monotonic time to get ns since the epoch, as it is now.
pub fn offset() -> i64 {
    // the closest of a few pairs: between two calls the process may have waited
    let pair = || {
        let before = monotonic();
        let epoch = epoch();
        let after = monotonic();
        (after - before, epoch as i64 - (before + (after - before) / 2) as i64)
    };
    (0..5).map(|_| pair()).min().map_or(0, |(_, offset)| offset)
}

fn ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
