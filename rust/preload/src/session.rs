//! The recording in this process: whether there is one, what it may cost, and its end.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use iostrata_segment::fork;
use iostrata_segment::points::{POINTS, POINTS_HASH, Point};
use iostrata_segment::schema::{
    CONTROL_BUDGET, CONTROL_EVENT_COST, CONTROL_LEVEL, CONTROL_SAMPLING, CONTROL_WORD, LAYER_FS,
    LAYER_POSIX, LAYER_RECORD, POINT_STATE_WOVEN,
};
use iostrata_segment::writer::{Options, PointFacts, Process, nanos_of};
use rustix::time::ClockId;

use crate::aio::Submitted;
use crate::control::{self, Control};
use crate::descriptors::Descriptors;
use crate::environment::{Rank, Wanted, text};
use crate::hdf5::Datasets;
use crate::log;
use crate::mpi_file::Files;
use crate::rings::Rings;

/// Nobody asks for anything, for good.
const OFF: u8 = 0;
/// Nothing is recorded now.
const WATCHES: u8 = 1;
const RECORDS: u8 = 2;
/// From one look at the control page to the next, and from one account to the next.
const LOOK_NANOS: u64 = 100_000_000;
const WINDOW_NANOS: u64 = 1_000_000_000;
/// What a call costs beside the real one, and what it costs more when it is recorded individually,
/// without the collector's part, as bench/micro/native.py has measured it.
const CALL_NANOS: u64 = 96;
const KEPT_NANOS: u64 = 124;
/// Of one core, a share that counts as used even if it is not.
const LEAST_CPU: f64 = 0.1;

static MODE: AtomicU8 = AtomicU8::new(OFF);
static SESSION: AtomicPtr<Session> = AtomicPtr::new(std::ptr::null_mut());
static WANTED: AtomicPtr<Wanted> = AtomicPtr::new(std::ptr::null_mut());
/// `CLOCK_MONOTONIC_COARSE` ns.
static NEXT_LOOK: AtomicU64 = AtomicU64::new(0);
/// The program forbids itself system calls: ours would end it.
static FORBIDDEN: AtomicBool = AtomicBool::new(false);
static LOOKS: AtomicBool = AtomicBool::new(false);
/// Of all threads, in lots.
pub static CALLS: AtomicU64 = AtomicU64::new(0);

/// A recording, from its begin until this process ends or forks.
#[derive(Debug)]
pub struct Session {
    pub process: Arc<Process>,
    pub descriptors: Descriptors,
    pub files: Files,
    pub datasets: Datasets,
    pub submitted: Submitted,
    pub rings: Rings,
    pid: u32,
    generation: u32,
    word: AtomicU32,
    /// When the recording began, `CLOCK_MONOTONIC` ns.
    since: AtomicU64,
    account: Mutex<Account>,
}

/// What tracing has cost while something was recorded, and what stood at the last look; ns.
#[derive(Debug, Default)]
struct Account {
    hooks: u64,
    collector: u64,
    cpu: u64,
    over: u64,
    at: At,
}

#[derive(Debug, Default, Clone, Copy)]
struct At {
    records: bool,
    time: u64,
    cpu: u64,
    calls: u64,
    slots: u64,
}

/// The points of this library.
fn points() -> impl Iterator<Item = &'static Point> {
    POINTS.iter().filter(|point| layer(point).is_some())
}

/// Layer of what programs call of a library, if it is one that is recorded here: as those of the
/// file systems of Hadoop and of the records of a job, which call what is below.
fn layer(point: &Point) -> Option<u8> {
    match point.class {
        "libc" | "libaio" | "liburing" => Some(LAYER_POSIX),
        "mpi" => Some(LAYER_FS),
        "hdf5" => Some(LAYER_RECORD),
        _ => None,
    }
}

/// The library has been loaded.
pub fn begin(wanted: Wanted) {
    WANTED.store(Box::into_raw(Box::new(wanted)), Ordering::Release);
    MODE.store(WATCHES, Ordering::Release);
    look();
}

/// The recording, if there is one now. Whether another one, or none, is asked for is at hand once
/// a page has been read; whether there is another page is looked up once in a while.
#[inline]
pub fn current() -> Option<&'static Session> {
    match MODE.load(Ordering::Relaxed) {
        OFF => return None,
        RECORDS if !control::has_changed(true) => {}
        WATCHES if !control::has_changed(false) => look_if_due(coarse_nanos()),
        _ => look(),
    }
    if MODE.load(Ordering::Relaxed) != RECORDS {
        return None;
    }
    // SAFETY: made by `start`, and never freed
    let session = unsafe { SESSION.load(Ordering::Acquire).as_ref() }?;
    if session.generation == fork::generation() { Some(session) } else { forked() }
}

/// ns, of a clock that costs hardly anything and ticks every few milliseconds.
#[inline]
pub fn coarse_nanos() -> u64 {
    nanos_of(ClockId::MonotonicCoarse)
}

/// Looks at the control page, and accounts for what tracing costs, if that is due `now`.
#[inline]
pub fn look_if_due(now: u64) {
    if now >= NEXT_LOOK.load(Ordering::Relaxed) {
        look();
    }
}

/// Whether anything may ever be recorded.
#[inline]
pub fn is_on() -> bool {
    MODE.load(Ordering::Relaxed) != OFF
}

/// This is a child, of which nothing is known yet. The locks of its parent may be held for ever.
#[cold]
fn forked() -> Option<&'static Session> {
    LOOKS.store(false, Ordering::Release);
    begin_again();
    look();
    // SAFETY: made by `start`, and never freed
    unsafe { SESSION.load(Ordering::Acquire).as_ref() }
}

#[cold]
fn look() {
    if LOOKS.swap(true, Ordering::AcqRel) {
        return; // another thread does
    }
    NEXT_LOOK.store(coarse_nanos() + LOOK_NANOS, Ordering::Relaxed);
    // SAFETY: made by `begin`, and never freed
    if let Some(wanted) = unsafe { WANTED.load(Ordering::Acquire).as_ref() } {
        follow(wanted);
    }
    LOOKS.store(false, Ordering::Release);
}

fn follow(wanted: &Wanted) {
    let control = Control::read(&wanted.directory);
    let word = control.as_ref().map_or(0, |control| control.u32(CONTROL_WORD));
    // SAFETY: made by `start`, and never freed
    let mut session = unsafe { SESSION.load(Ordering::Acquire).as_ref() };
    // One that serves others is there when they come: the collector waits for its answer.
    let serves = wanted.run.is_empty() && control.is_some();
    if session.is_none() && (word != 0 || serves) {
        session = start(wanted);
    }
    let Some(session) = session else { return };
    session.follow(word, control.as_ref());
    MODE.store(if word == 0 { WATCHES } else { RECORDS }, Ordering::Release);
}

fn start(wanted: &Wanted) -> Option<&'static Session> {
    let rank = Rank::here();
    let text = text(&wanted.run, &rank);
    let options = Options { text, points_hash: POINTS_HASH, ..Options::here() };
    let Ok(process) = Process::create(&wanted.directory, random(), options) else {
        MODE.store(OFF, Ordering::Release); // the program goes on, and nobody counts it
        return None;
    };
    for point in points() {
        process.points.set(point.id, facts(point));
        process.point_state(point.id, POINT_STATE_WOVEN);
    }
    let whose = [&wanted.run, &rank.job, &rank.task, "", ""];
    if whose.iter().any(|field| !field.is_empty()) {
        process.process_context(process.context(whose));
    }
    let session = Box::into_raw(Box::new(Session {
        process,
        descriptors: Descriptors::default(),
        files: Files::default(),
        datasets: Datasets::default(),
        submitted: Submitted::default(),
        rings: Rings::default(),
        pid: std::process::id(),
        generation: fork::generation(),
        word: AtomicU32::new(0),
        since: AtomicU64::new(0),
        account: Mutex::default(),
    }));
    SESSION.store(session, Ordering::Release);
    // SAFETY: made above, and never freed
    unsafe { session.as_ref() }
}

fn facts(point: &Point) -> PointFacts {
    PointFacts {
        layer: layer(point).unwrap_or(LAYER_POSIX),
        direction: point.direction,
        summable: point.summable,
        ..PointFacts::default()
    }
}

/// A positive number that no other process has.
fn random() -> u64 {
    let mut bytes = [0; 8];
    // SAFETY: a buffer of that size
    let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    let seed = if got == 8 { u64::from_le_bytes(bytes) } else { nanos_of(ClockId::Monotonic) };
    seed >> 1 | 1
}

impl Session {
    /// Does what the control page says, and accounts for what it cost.
    fn follow(&self, word: u32, control: Option<&Control>) {
        let is_new = self.word.swap(word, Ordering::AcqRel) != word;
        if let Some(control) = control.filter(|_| is_new && word != 0) {
            self.process.begin_recording();
            self.descriptors.share_all(); // nobody has followed them meanwhile
            self.since.store(nanos_of(ClockId::Monotonic), Ordering::Relaxed);
            self.process.detail.level(control.u32(CONTROL_LEVEL) as u8);
            self.process.detail.sampling(control.u32(CONTROL_SAMPLING));
            self.process.detail.budgeted(control.u32(CONTROL_BUDGET) != 0);
            for point in points() {
                self.process.points.switch(point.id, control.is_off(point.id));
            }
        }
        let mut account = self.account.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = nanos_of(ClockId::Monotonic) - account.at.time >= WINDOW_NANOS;
        if is_new || is_due && account.at.records {
            self.process.look_at_kernel(word != 0);
            self.account(&mut account, word != 0, control);
        }
        if is_new {
            self.process.saw_control(word);
        }
    }

    fn account(&self, account: &mut Account, records: bool, control: Option<&Control>) {
        let before = account.at;
        let at = At {
            records,
            time: nanos_of(ClockId::Monotonic),
            cpu: nanos_of(ClockId::ProcessCPUTime),
            calls: CALLS.load(Ordering::Relaxed),
            slots: self.process.slots(),
        };
        let [budget, event] = [CONTROL_BUDGET, CONTROL_EVENT_COST]
            .map(|at| control.map_or(0, |control| u64::from(control.u32(at))));
        let (mut hooks, mut cpu, mut wall) = (0, 0, WINDOW_NANOS);
        if before.records {
            wall = at.time - before.time;
            cpu = at.cpu - before.cpu;
            let slots = at.slots - before.slots;
            hooks = (at.calls - before.calls) * CALL_NANOS + slots * KEPT_NANOS;
            account.hooks += hooks;
            account.collector += slots * event;
            account.cpu += cpu;
        }
        if budget == 0 {
            self.process.detail.allow(-1);
        } else {
            // As the JVM agent's Budget.java, but that points are not told apart: a share of what
            // the process takes, less what its calls cost even if they are only summed.
            let whole = (cpu as f64).max(LEAST_CPU * wall as f64) * budget as f64 / 1e6;
            let left = (whole - hooks as f64).max(0.0);
            self.process.detail.allow((left / (KEPT_NANOS + event) as f64) as i64);
            let is_over = before.records && hooks as f64 > whole;
            account.over += if is_over { wall } else { 0 };
        }
        account.at = at;
        let Account { hooks, collector, cpu, over, .. } = *account;
        self.process.account([hooks, 0, collector, cpu, over]);
    }

    /// Another one: another recording.
    pub fn word(&self) -> u32 {
        self.word.load(Ordering::Acquire)
    }

    /// Whether this is the process itself, and none that shares its memory until it calls exec.
    pub fn is_here(&self) -> bool {
        self.pid == std::process::id()
    }
}

/// The process ends.
pub fn end() {
    end_by(Process::end);
}

fn end_by(end: fn(&Process)) {
    if MODE.swap(OFF, Ordering::AcqRel) == OFF {
        return;
    }
    // SAFETY: made by `start`, and never freed
    let Some(session) = (unsafe { SESSION.load(Ordering::Acquire).as_ref() }) else { return };
    if session.generation != fork::generation() {
        return; // of its parent
    }
    log::end();
    let mut account = session.account.lock().unwrap_or_else(PoisonError::into_inner);
    if account.at.records {
        session.process.look_at_kernel(false);
        session.account(&mut account, false, None);
    }
    end(&session.process);
}

/// The process ends, or becomes another program; false: nothing has ended, since this is a child that
/// shares the memory of its parent until it calls exec.
pub fn end_here(is_replaced: bool) -> bool {
    // SAFETY: made by `start`, and never freed
    let session = unsafe { SESSION.load(Ordering::Acquire).as_ref() };
    let is_here = !is_forbidden() && session.is_some_and(Session::is_here);
    if is_here {
        end_by(if is_replaced { Process::replaced } else { Process::end });
    }
    is_here
}

/// The process is about to forbid itself system calls: what was recorded until now stays, and from
/// now on it is left alone, its threads and the children that it forks, too.
pub fn leave() {
    // SAFETY: made by `start`, and never freed
    let session = unsafe { SESSION.load(Ordering::Acquire).as_ref() };
    let is_own = |session: &Session| session.generation == fork::generation();
    if session.is_some_and(|session| is_own(session) && !session.is_here()) {
        return; // a child that shares the memory of its parent until it calls exec
    }
    FORBIDDEN.store(true, Ordering::Release);
    end_by(Process::end);
}

/// Whether no system call may be made but the program's own.
pub fn is_forbidden() -> bool {
    FORBIDDEN.load(Ordering::Acquire)
}

/// What there was is over, since an `exec` has failed or this is a child: from the next call on, the
/// program is a process of its own.
pub fn begin_again() {
    if is_forbidden() {
        return;
    }
    SESSION.store(std::ptr::null_mut(), Ordering::Release);
    CALLS.store(0, Ordering::Relaxed);
    NEXT_LOOK.store(0, Ordering::Relaxed);
    MODE.store(WATCHES, Ordering::Release);
}

/// A child has ended, and its parent does not know yet; `exit`: less than 0: the signal.
pub fn child_ended(pid: u32, exit: i32) {
    if let Some(session) = current().filter(|session| session.is_here()) {
        session.process.child_ended(pid, exit, session.since.load(Ordering::Relaxed));
    }
}

/// A descriptor has become what another one is.
pub fn copied(from: c_int, to: c_int) {
    let Some(session) = current() else { return };
    if session.is_here() {
        session.descriptors.copy(from, to);
    } else {
        session.descriptors.share(from); // with a child that has our memory until it calls exec
    }
}

/// The next read or write of a descriptor begins there; less than 0: as before.
pub fn sought(fd: c_int, at: i64) {
    if let Some(session) = current().filter(|_| at >= 0) {
        session.descriptors.sought(fd, at);
    }
}

/// Where the next read or write of a descriptor begins is not followed from now on.
pub fn shared(fd: c_int) {
    if let Some(session) = current() {
        session.descriptors.share(fd);
    }
}

/// A descriptor is about to be closed, or has become something else.
pub fn forget(fd: c_int) {
    if let Some(session) = current().filter(|session| session.is_here()) {
        session.descriptors.forget(fd);
    }
}
