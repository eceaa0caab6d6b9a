//! The process page: who a traced process is and what it lost.

use serde::{Deserialize, Serialize};

use crate::memory::Memory;
use crate::schema::{
    PROCESS_CLASS_LOADING, PROCESS_COST_COLLECTOR, PROCESS_COST_HOOKS, PROCESS_COST_THREAD,
    PROCESS_COUNTERS, PROCESS_CPU, PROCESS_CPU_COMPILERS, PROCESS_CPU_JVM, PROCESS_CPU_START,
    PROCESS_DISK_READ, PROCESS_DISK_WRITTEN, PROCESS_IO_READ, PROCESS_IO_WRITTEN, PROCESS_LOOKED,
    PROCESS_MAX_POINTS, PROCESS_NATIVE, PROCESS_OVER, PROCESS_PID, PROCESS_PID_START,
    PROCESS_POINTS, PROCESS_POINTS_HASH, PROCESS_PROC, PROCESS_QUEUED, PROCESS_SEEN_CONTROL,
    PROCESS_START, PROCESS_STATE, PROCESS_TEXT, PROCESS_TEXT_CAPACITY, PROCESS_TEXT_SIZE,
    PROCESS_THROTTLED, PROCESS_UID,
};

pub const COUNTERS: usize = 7;
/// `state` of a page whose process ended by itself.
pub const ENDED: u32 = 2;
/// `state` of a page whose process lives on without an agent.
pub const DETACHED: u32 = 3;
/// `state` of a page whose process has become another program, by `exec`.
pub const REPLACED: u32 = 4;

/// What never changes once the page is ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessIdentity {
    pub proc: u64,
    pub pid: u32,
    pub uid: u32,
    /// Field 22 of `/proc/PID/stat`, clock ticks.
    pub pid_start: u64,
    /// `CLOCK_MONOTONIC` ns.
    pub start: u64,
    pub points_hash: u64,
    /// Lines key=value.
    pub text: String,
}

/// What changes while the process runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Account {
    pub state: u32,
    pub counters: [u64; COUNTERS],
    pub cost: Cost,
    pub moved: Moved,
    pub scheduled: Scheduled,
    pub startup: Startup,
    /// When `cost.cpu` and `moved` were last read, `CLOCK_MONOTONIC` ns; 0: not known.
    pub looked: u64,
    /// By point id.
    pub points: Vec<PointState>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PointState {
    /// A code of `point_state`.
    pub state: u8,
    /// Seconds in which its calls were only summed for the budget.
    pub summed: u16,
    pub faults: u32,
}

/// What tracing has cost, ns of CPU while something was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Cost {
    /// Estimated.
    pub hooks: u64,
    pub thread: u64,
    /// Estimated.
    pub collector: u64,
    /// Of the whole process.
    pub cpu: u64,
    /// Time in which it cost more than allowed, with all summed that may be.
    pub over: u64,
}

impl Cost {
    /// What has come since.
    #[must_use]
    pub fn since(self, before: Cost) -> Cost {
        Cost {
            hooks: self.hooks.saturating_sub(before.hooks),
            thread: self.thread.saturating_sub(before.thread),
            collector: self.collector.saturating_sub(before.collector),
            cpu: self.cpu.saturating_sub(before.cpu),
            over: self.over.saturating_sub(before.over),
        }
    }
}

/// What the kernel counted of the I/O of a process while something was recorded, bytes: see
/// `[process]` of events.toml.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Moved {
    /// 0: not known, and neither is the rest.
    pub read: u64,
    pub written: u64,
    pub disk_read: u64,
    pub disk_written: u64,
    /// Bits of `[native_code]`.
    pub native: u64,
}

impl Moved {
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.read != 0
    }

    /// What has come since; native code that was seen stays.
    #[must_use]
    pub fn since(self, before: Moved) -> Moved {
        Moved {
            read: self.read.saturating_sub(before.read),
            written: self.written.saturating_sub(before.written),
            disk_read: self.disk_read.saturating_sub(before.disk_read),
            disk_written: self.disk_written.saturating_sub(before.disk_written),
            native: self.native,
        }
    }

    /// Both, one after the other.
    #[must_use]
    pub fn and(self, more: Moved) -> Moved {
        Moved {
            read: self.read.saturating_add(more.read),
            written: self.written.saturating_add(more.written),
            disk_read: self.disk_read.saturating_add(more.disk_read),
            disk_written: self.disk_written.saturating_add(more.disk_written),
            native: self.native | more.native,
        }
    }
}

/// What the scheduler said of the threads of a process while something was recorded, ns: see
/// `[process]` of events.toml.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Scheduled {
    /// CPU time of the JVM's own threads. 0: not known, and neither is the rest.
    pub jvm: u64,
    /// Of it that of its compilers.
    #[serde(default)]
    pub compilers: u64,
    /// All other threads could have run, and waited for a CPU.
    pub queued: u64,
    /// Over all CPUs: the limit of its cgroup kept threads from running.
    #[serde(default)]
    pub throttled: u64,
}

impl Scheduled {
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.jvm != 0
    }

    /// What has come since.
    #[must_use]
    pub fn since(self, before: Scheduled) -> Scheduled {
        Scheduled {
            jvm: self.jvm.saturating_sub(before.jvm),
            compilers: self.compilers.saturating_sub(before.compilers),
            queued: self.queued.saturating_sub(before.queued),
            throttled: self.throttled.saturating_sub(before.throttled),
        }
    }
}

/// What a JVM took to get going, ns: see `[process]` of events.toml. 0: not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Startup {
    /// CPU time before its program began.
    pub cpu: u64,
    /// Loading classes while something was recorded.
    pub class_loading: u64,
}

/// The page's fixed part, `None` before its writer has finished it.
pub fn who(memory: &impl Memory) -> Option<ProcessIdentity> {
    if memory.acquire_u32(PROCESS_STATE) == 0 {
        return None;
    }
    Some(ProcessIdentity {
        proc: memory.relaxed_u64(PROCESS_PROC),
        pid: memory.relaxed_u32(PROCESS_PID),
        uid: memory.relaxed_u32(PROCESS_UID),
        pid_start: memory.relaxed_u64(PROCESS_PID_START),
        start: memory.relaxed_u64(PROCESS_START),
        points_hash: memory.relaxed_u64(PROCESS_POINTS_HASH),
        text: text(memory),
    })
}

pub fn state(memory: &impl Memory) -> u32 {
    memory.acquire_u32(PROCESS_STATE)
}

pub fn account(memory: &impl Memory) -> Account {
    Account {
        state: state(memory),
        counters: std::array::from_fn(|i| memory.relaxed_u64(PROCESS_COUNTERS + i * 8)),
        cost: Cost {
            hooks: memory.relaxed_u64(PROCESS_COST_HOOKS),
            thread: memory.relaxed_u64(PROCESS_COST_THREAD),
            collector: memory.relaxed_u64(PROCESS_COST_COLLECTOR),
            cpu: memory.relaxed_u64(PROCESS_CPU),
            over: memory.relaxed_u64(PROCESS_OVER),
        },
        moved: Moved {
            read: memory.relaxed_u64(PROCESS_IO_READ),
            written: memory.relaxed_u64(PROCESS_IO_WRITTEN),
            disk_read: memory.relaxed_u64(PROCESS_DISK_READ),
            disk_written: memory.relaxed_u64(PROCESS_DISK_WRITTEN),
            native: memory.relaxed_u64(PROCESS_NATIVE),
        },
        scheduled: Scheduled {
            jvm: memory.relaxed_u64(PROCESS_CPU_JVM),
            compilers: memory.relaxed_u64(PROCESS_CPU_COMPILERS),
            queued: memory.relaxed_u64(PROCESS_QUEUED),
            throttled: memory.relaxed_u64(PROCESS_THROTTLED),
        },
        startup: Startup {
            cpu: memory.relaxed_u64(PROCESS_CPU_START),
            class_loading: memory.relaxed_u64(PROCESS_CLASS_LOADING),
        },
        looked: memory.relaxed_u64(PROCESS_LOOKED),
        points: (0..PROCESS_MAX_POINTS)
            .map(|point| point_state(memory.relaxed_u64(PROCESS_POINTS + point * 8)))
            .collect(),
    }
}

fn point_state(word: u64) -> PointState {
    PointState { state: word as u8, summed: (word >> 16) as u16, faults: (word >> 32) as u32 }
}

/// The last `word` of the control page that the process acted on.
pub fn seen_control(memory: &impl Memory) -> u32 {
    memory.acquire_u32(PROCESS_SEEN_CONTROL)
}

fn text(memory: &impl Memory) -> String {
    let size = (memory.relaxed_u32(PROCESS_TEXT_SIZE) as usize).min(PROCESS_TEXT_CAPACITY);
    let mut bytes = Vec::with_capacity(size + 4);
    for at in (PROCESS_TEXT..PROCESS_TEXT + size).step_by(4) {
        bytes.extend_from_slice(&memory.relaxed_u32(at).to_le_bytes());
    }
    bytes.truncate(size);
    String::from_utf8_lossy(&bytes).into_owned()
}
