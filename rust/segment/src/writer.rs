/*!
The producer: what a traced process writes, whatever language it is in.

[`Process`] is the directory of one process with its page, its names and its segments; [`Thread`]
takes the calls of one thread. Nothing here throws or waits for anybody but for a short lock at what
is rare; every failure is counted in the page and costs detail at most. Code of the host runs around
ours: the files are reserved before they are touched, and stay mapped as long as anybody may write.
*/

mod account;
mod cgroup;
mod chain;
mod children;
mod chunk;
mod context;
mod counted;
mod detail;
pub mod files;
mod kernel;
mod leaf;
mod loading;
mod names;
mod overflow;
mod point;
mod pool;
mod rows;
mod sampler;
mod scheduler;
mod spans;
mod targets;
#[cfg(test)]
mod tests;
mod thread;
mod thread_times;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};

use self::chunk::Chunk;
use self::kernel::KernelAccount;
use self::names::{Names, cut};
use self::overflow::Overflow;
use self::pool::Pool;
use self::rows::{Outcome, Packed};
use self::scheduler::SchedulerAccount;
use self::thread_times::NamedThreads;
use crate::fork;
use crate::mapping::Mapping;
use crate::memory::Memory;
use crate::process::{DETACHED, ENDED, REPLACED};
use crate::ring::{self, Layout};
use crate::schema::{
    CATEGORY_CONTEXT, FILE_KIND_PROCESS, POINT_STATE_FAULTED, PROCESS_COUNTER_REFUSED_BY,
    PROCESS_COUNTER_REFUSED_ENTRIES, PROCESS_COUNTERS, PROCESS_CPU_START, PROCESS_MAX_POINTS,
    PROCESS_PID, PROCESS_PID_START, PROCESS_POINTS, PROCESS_POINTS_HASH, PROCESS_PROC,
    PROCESS_SEEN_CONTROL, PROCESS_SIZE, PROCESS_START, PROCESS_STATE, PROCESS_TEXT,
    PROCESS_TEXT_CAPACITY, PROCESS_TEXT_SIZE, PROCESS_UID,
};

pub use self::context::Cause;
pub use self::detail::{ALL_REQUESTS, Detail};
pub use self::leaf::Leaf;
pub use self::names::{MAX_NAME, Named};
pub use self::point::{PointFacts, PointTable};
pub use self::spans::Entry;
pub use self::thread::Thread;

/// Dictionary files may take so much of the cap.
const DICTIONARY_SHARE: u64 = 4;
const MAX_DICTIONARIES: u64 = 1 << 16;
const MOST_BYTES: u64 = 64 << 20;
const READY: u32 = 1;
/// In the text of a process whose program has not begun yet.
const LOADED_AT_START: &str = "loaded=start";

/// How to record. Sizes are what a thread begins with.
#[derive(Debug, Clone)]
pub struct Options {
    /// Lines key=value about the process; cut at 12,000 bytes.
    pub text: String,
    /// Identity of the point table: what producer and collector must agree on.
    pub points_hash: u64,
    /// 0: as the collector sees this process, which may be in a pid namespace of its own.
    pub pid: u32,
    /// Bytes of all segments.
    pub cap: u64,
    /// Of a first ring, and of the largest; a thread whose ring of that size is full drops detail.
    pub ring_slots: u32,
    pub most_slots: u32,
    /// Of a first counter table; it may become 64 times as large.
    pub table_rows: u32,
    /// Bytes of records in a dictionary file before the next one begins.
    pub dictionary: u32,
    /// `CLOCK_MONOTONIC` in ns; None: the kernel's.
    pub clock: Option<fn() -> u64>,
    /// Of what is drawn at random.
    pub seed: u64,
}

impl Options {
    /// As much memory as the cgroup of this process can spare.
    #[must_use]
    pub fn here() -> Options {
        let cap = MOST_BYTES.min(cgroup::memory_limit() / 100);
        Options { cap, seed: now(), ..Options::default() }
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            text: String::new(),
            points_hash: 0,
            pid: 0,
            cap: MOST_BYTES,
            ring_slots: 1024,
            most_slots: ring::MAX_RING_SLOTS,
            table_rows: 128,
            dictionary: 256 << 10,
            clock: None,
            seed: 1,
        }
    }
}

/// `CLOCK_MONOTONIC` in ns.
#[must_use]
#[inline]
pub fn now() -> u64 {
    nanos_of(ClockId::Monotonic)
}

/// What a clock says, in ns.
#[must_use]
#[inline]
pub fn nanos_of(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[derive(Debug)]
pub struct Process {
    /// `DIR/UID/PID-PROC`.
    pub path: PathBuf,
    pub proc: u64,
    pub points: PointTable,
    /// Which calls are recorded individually.
    pub detail: Detail,
    options: Options,
    /// ns that a clock adds to what it measures.
    clock_cost: u64,
    /// See [`fork::generation`].
    generation: u32,
    detached: AtomicBool,
    page: Mapping,
    names: Mutex<Names>,
    pool: Mutex<Pool>,
    overflow: Mutex<Overflow>,
    kernel: Mutex<KernelAccount>,
    scheduler: Mutex<SchedulerAccount>,
    named_threads: Mutex<NamedThreads>,
    /// Base context of all threads; dictionary id.
    base_context: AtomicU32,
    /// Recordings so far: calls that were open in an earlier one never say how they went on.
    recording: AtomicU32,
    closed: AtomicBool,
    /// Counter rows of one target each, in all segments that are written to.
    target_rows: AtomicU32,
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Process {
    /// Makes the files of this process in `directory`. The error is one line for people.
    ///
    /// `proc` must be unique in the directory.
    pub fn create(directory: &Path, proc: u64, options: Options) -> io::Result<Arc<Process>> {
        let names_run = options.text.lines().any(|line| line.starts_with("run=") && line.len() > 4);
        let place = files::Place::of(directory, options.pid, names_run);
        let place = place.map_err(io::Error::other)?;
        let (pid, uid) = (place.pid, place.uid);
        let path = place.make(&format!("{pid}-{proc:016x}")).map_err(io::Error::other)?;
        let page = files::make(&path, "process", PROCESS_SIZE, FILE_KIND_PROCESS)
            .map_err(|why| io::Error::other(files::cannot_make(&path.join("process"), why)))?;
        let room = u64::from(options.dictionary).max(64);
        let most = (options.cap / DICTIONARY_SHARE / room).clamp(2, MAX_DICTIONARIES);
        let first = Layout { ring_slots: options.ring_slots, table_rows: options.table_rows };
        let process = Process {
            path,
            proc,
            points: PointTable::default(),
            detail: Detail::default(),
            clock_cost: if options.clock.is_none() { clock_cost() } else { 0 },
            generation: fork::generation(),
            detached: AtomicBool::new(false),
            page,
            names: Mutex::new(Names::new(proc, room as usize, most as u32)),
            pool: Mutex::new(Pool::new(proc, options.cap, first)),
            overflow: Mutex::default(),
            kernel: Mutex::default(),
            scheduler: Mutex::default(),
            named_threads: Mutex::default(),
            base_context: AtomicU32::new(0),
            recording: AtomicU32::new(1),
            closed: AtomicBool::new(false),
            target_rows: AtomicU32::new(0),
            options,
        };
        process.fill_page(uid, pid);
        Ok(Arc::new(process))
    }

    fn fill_page(&self, uid: u32, pid: u32) {
        let page = &self.page;
        page.set_u64(PROCESS_PROC, self.proc);
        page.set_u32(PROCESS_PID, pid);
        page.set_u32(PROCESS_UID, uid);
        page.set_u64(PROCESS_PID_START, start_of("self").unwrap_or(0));
        page.set_u64(PROCESS_START, self.now());
        page.set_u64(PROCESS_POINTS_HASH, self.options.points_hash);
        if self.options.text.lines().any(|line| line == LOADED_AT_START) {
            page.set_u64(PROCESS_CPU_START, nanos_of(ClockId::ProcessCPUTime));
        }
        let text = cut(&self.options.text, PROCESS_TEXT_CAPACITY);
        page.set_u32(PROCESS_TEXT_SIZE, text.len() as u32);
        for (i, bytes) in text.as_bytes().chunks(4).enumerate() {
            let mut word = [0; 4];
            word[..bytes.len()].copy_from_slice(bytes);
            page.set_u32(PROCESS_TEXT + i * 4, u32::from_le_bytes(word));
        }
        page.release_u32(PROCESS_STATE, READY);
    }

    /// What one thread writes. `tid`: the id that readers shall know it by.
    #[must_use]
    pub fn thread(self: &Arc<Self>, tid: u64, name: &str) -> Thread {
        Thread::new(Arc::clone(self), tid, name)
    }

    /// [`Process::named`] of a name that says nothing more.
    pub fn name(&self, category: u8, name: &str) -> u32 {
        self.named(Named::of(category), name)
    }

    /// The id of a name, written to the dictionary at first sight; 0, and counted, when there is no
    /// room for it.
    pub fn named(&self, named: Named, name: &str) -> u32 {
        let id = self.directory().and_then(|at| locked(&self.names).id(at, named, name));
        id.unwrap_or_else(|why| {
            self.count(PROCESS_COUNTER_REFUSED_ENTRIES, 1);
            self.refused_by(why);
            0
        })
    }

    /// Dictionary id of a context: run, job, task, phase and client, empty where there is none.
    pub fn context(&self, fields: [&str; 5]) -> u32 {
        self.name(CATEGORY_CONTEXT, &fields.map(|field| field.replace('\t', " ")).join("\t"))
    }

    /// Base context of every thread, from its next call on.
    pub fn process_context(&self, id: u32) {
        self.base_context.store(id, Ordering::Release);
    }

    /// A recording begins: what was open in an earlier one is forgotten.
    pub fn begin_recording(&self) {
        self.recording.fetch_add(1, Ordering::AcqRel);
    }

    /// Slots written so far.
    #[must_use]
    pub fn slots(&self) -> u64 {
        self.pool().slots()
    }

    /// Adds to a `process_counter`. Any thread may: rare, but from many at once.
    pub fn count(&self, counter: usize, more: u64) {
        self.page.update_u64(PROCESS_COUNTERS + counter * 8, |count| count + more);
    }

    /// Says why a file could not be made; of a process that is detached, nobody asks.
    fn refused_by(&self, why: Errno) {
        if why != Errno::SHUTDOWN {
            let errno = u64::from(why.raw_os_error().unsigned_abs());
            self.page.update_u64(PROCESS_COUNTERS + PROCESS_COUNTER_REFUSED_BY * 8, |_| errno);
        }
    }

    /// Stores a `point_state`.
    pub fn point_state(&self, point: u16, state: usize) {
        self.update_point(point, |word| word & !0xFF | state as u64);
    }

    /// A fault inside a point of ours: its state is faulted from now on.
    pub fn fault(&self, point: u16) {
        self.update_point(point, |word| (word & !0xFF | POINT_STATE_FAULTED as u64) + (1 << 32));
    }

    fn update_point(&self, point: u16, change: impl Fn(u64) -> u64) {
        if usize::from(point) < PROCESS_MAX_POINTS {
            self.page.update_u64(PROCESS_POINTS + usize::from(point) * 8, change);
        }
    }

    /// For so many seconds the calls of the point were only summed for the budget.
    pub fn summed_for(&self, point: u16, seconds: u16) {
        self.update_point(point, |word| word & !0xFFFF_0000 | u64::from(seconds) << 16);
    }

    /// ns that a clock adds to what it measures.
    #[must_use]
    pub fn clock_cost(&self) -> u64 {
        self.clock_cost
    }

    /// Tells the collector that this word of the control page has been acted on.
    pub fn saw_control(&self, word: u32) {
        self.page.release_u32(PROCESS_SEEN_CONTROL, word);
    }

    /// The process ends: segments without an open call are complete.
    pub fn end(&self) {
        self.close(ENDED);
    }

    /// [`Process::end`] of one that becomes another program.
    pub fn replaced(&self) {
        self.close(REPLACED);
    }

    /// The recording ends, the process goes on: files are let go but those of threads that have not
    /// been ended.
    pub fn detach(&self) {
        if self.is_forked() {
            return;
        }
        self.close(DETACHED);
        self.pool().release();
        locked(&self.names).release();
        *locked(&self.overflow) = Overflow::default();
        self.detached.store(true, Ordering::Release);
        self.page.abandon();
    }

    fn close(&self, state: u32) {
        if self.is_forked() {
            return;
        }
        self.closed.store(true, Ordering::Release);
        self.pool().seal_idle();
        self.page.release_u32(PROCESS_STATE, state);
    }

    /// Where files are made; an error once the process is detached, and in what it has forked.
    fn directory(&self) -> Result<&Path, Errno> {
        let over = self.is_forked() || self.detached.load(Ordering::Acquire);
        if over { Err(Errno::SHUTDOWN) } else { Ok(&self.path) }
    }

    /// Whether this is a child of the process that records. Another thread of the parent may have
    /// had any lock when it was forked: it takes none.
    fn is_forked(&self) -> bool {
        self.generation != fork::generation()
    }

    /// A thread needs its segment no more.
    fn seal(&self, chunk: Chunk) {
        if !self.is_forked() {
            self.pool().seal(chunk);
        }
    }

    /// Counts a call that has no row of its own.
    fn add_to_overflow(&self, key: Packed, call: &Outcome, gap: bool) {
        if !self.is_forked() {
            locked(&self.overflow).add(self, key, call, gap);
        }
    }

    fn pool(&self) -> MutexGuard<'_, Pool> {
        locked(&self.pool)
    }

    #[inline]
    fn now(&self) -> u64 {
        self.options.clock.map_or_else(now, |clock| clock())
    }
}

/// The least of several: any may be interrupted.
fn clock_cost() -> u64 {
    let one = |_| {
        let start = now();
        now() - start
    };
    (0..64).map(one).min().unwrap_or(0)
}

/// Field 22 of `/proc/PID/stat`: clock ticks between boot and the start of the process.
#[must_use]
pub fn pid_start(pid: u32) -> Option<u64> {
    start_of(&pid.to_string())
}

/// `process`: a pid, or `self`, which is right also where `/proc` counts pids otherwise.
fn start_of(process: &str) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // the command's name may hold spaces and brackets
    let (_, fields) = stat.rsplit_once(") ")?;
    fields.split(' ').nth(19)?.parse().ok()
}
