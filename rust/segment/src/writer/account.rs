//! What a process says of itself: what tracing costs, and what the kernel counted.

use super::{Process, locked};
use crate::memory::Memory;
use crate::schema::{
    PROCESS_CLASS_LOADING, PROCESS_COST_COLLECTOR, PROCESS_COST_HOOKS, PROCESS_COST_THREAD,
    PROCESS_CPU, PROCESS_CPU_COMPILERS, PROCESS_CPU_JVM, PROCESS_DISK_READ, PROCESS_DISK_WRITTEN,
    PROCESS_IO_READ, PROCESS_IO_WRITTEN, PROCESS_LOOKED, PROCESS_NATIVE, PROCESS_OVER,
    PROCESS_QUEUED, PROCESS_THROTTLED,
};

impl Process {
    /// What tracing costs, ns since the process started, while something was recorded: hooks, own
    /// thread, collector, CPU of the whole process, and the time in which it cost more than allowed.
    pub fn account(&self, [hooks, thread, collector, cpu, over]: [u64; 5]) {
        self.page.set_u64(PROCESS_COST_HOOKS, hooks);
        self.page.set_u64(PROCESS_COST_THREAD, thread);
        self.page.set_u64(PROCESS_COST_COLLECTOR, collector);
        self.page.set_u64(PROCESS_CPU, cpu);
        self.page.set_u64(PROCESS_OVER, over);
        // last: who sees it sees the rest, and what the kernel counted just before
        self.page.set_u64(PROCESS_LOOKED, self.now());
    }

    /// A window of a recording ends, and the next one begins if `records`: what the kernel counted
    /// in it of the I/O and the threads of this process is added to the page, and times of threads
    /// to the names.
    pub fn look_at_kernel(&self, records: bool) {
        let (moved, loading) = {
            let mut kernel = locked(&self.kernel);
            (kernel.look(records), kernel.loading(records))
        };
        self.page.set_u64(PROCESS_CLASS_LOADING, loading);
        if moved.is_known() {
            self.page.set_u64(PROCESS_IO_READ, moved.read);
            self.page.set_u64(PROCESS_IO_WRITTEN, moved.written);
            self.page.set_u64(PROCESS_DISK_READ, moved.disk_read);
            self.page.set_u64(PROCESS_DISK_WRITTEN, moved.disk_written);
            self.page.set_u64(PROCESS_NATIVE, moved.native);
        }
        let (scheduled, times) = locked(&self.scheduler).look(records, &self.named_threads);
        self.write_thread_times(times);
        self.page.set_u64(PROCESS_CPU_JVM, scheduled.jvm);
        self.page.set_u64(PROCESS_CPU_COMPILERS, scheduled.compilers);
        self.page.set_u64(PROCESS_QUEUED, scheduled.queued);
        self.page.set_u64(PROCESS_THROTTLED, scheduled.throttled);
    }
}
