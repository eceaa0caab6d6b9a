//! One call: what is written around the real one, in the log of its thread.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use iostrata_segment::schema::FLAG_ERRNO;
use iostrata_segment::writer::{Entry, Thread};

use crate::descriptors;
use crate::returned::Returned;
use crate::session::{self, CALLS, Session};

/// Calls that a thread adds to the count of all at once.
const LOT: u32 = 64;

/// What a call acts on.
#[derive(Debug, Clone, Copy)]
pub enum Target<'a> {
    None,
    Descriptor(c_int),
    /// Below a folder, see `openat()`.
    Path(c_int, &'a Path),
}

/// What is known of a call when it begins.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    pub point: u16,
    pub target: Target<'a>,
    pub asked: usize,
    pub offset: i64,
    /// Bytes that it moves if it does not fail; what it returns is added.
    pub bytes: usize,
    /// What it returns is a descriptor of its target.
    pub opens: bool,
}

struct Mine {
    /// A hook of this thread is at work: what is called now, we call ourselves.
    busy: Cell<bool>,
    log: Cell<*mut Log>,
}

struct Log {
    thread: Thread,
    session: *const Session,
    calls: u32,
    /// Calls that have not returned, with the address of each in the stack.
    open: Vec<(usize, u16)>,
}

thread_local! {
    // No destructor: a thread-local that has one may be gone while its thread still calls.
    static MINE: Mine = const { Mine { busy: Cell::new(false), log: Cell::new(std::ptr::null_mut()) } };
}

/// Key of the C library whose destructor ends a log; one more than it is, 0 none.
static KEY: AtomicU32 = AtomicU32::new(0);

/// The library has been loaded.
pub fn begin() {
    let mut key = 0;
    // SAFETY: a destructor of this library, which is never unloaded
    if unsafe { libc::pthread_key_create(&raw mut key, Some(thread_ends)) } == 0 {
        KEY.store(key + 1, Ordering::Release);
    }
}

#[inline]
fn errno() -> *mut c_int {
    // SAFETY: no condition
    unsafe { libc::__errno_location() }
}

/// Calls the real function and records it, where something is recorded.
#[inline]
pub fn traced<R: Returned>(call: &Call<'_>, real: impl FnOnce() -> R) -> R {
    if !session::is_on() {
        return real();
    }
    MINE.with(|mine| {
        if mine.busy.get() {
            return real();
        }
        let Some(log) = inside(mine, |session| Some(enter(mine, session, call))) else {
            return real();
        };
        let returned = real();
        inside(mine, |session| {
            let is_there = mine.log.get() == log; // an `exec` that failed may have ended it
            is_there.then(|| exit(log, session, call, returned))
        });
        returned
    })
}

/// Runs what is ours: `errno` stays, a fault ends the log of the thread, and what is called on the
/// way is not recorded.
#[inline]
fn inside<T>(mine: &Mine, work: impl FnOnce(&'static Session) -> Option<T>) -> Option<T> {
    // SAFETY: a place of this thread
    let before = unsafe { *errno() };
    mine.busy.set(true);
    let done = catch_unwind(AssertUnwindSafe(|| session::current().and_then(work)));
    if done.is_err() {
        // SAFETY: of this thread, see `log_of`
        if let Some(log) = unsafe { mine.log.get().as_mut() } {
            let _ = catch_unwind(AssertUnwindSafe(|| log.thread.fail()));
        }
    }
    mine.busy.set(false);
    // SAFETY: a place of this thread
    unsafe { *errno() = before };
    done.ok().flatten()
}

/// Runs what is ours and is no call; `None` where it is called by what is ours already, or failed.
pub fn ours<T>(work: impl FnOnce() -> T) -> Option<T> {
    MINE.with(|mine| {
        if mine.busy.replace(true) {
            return None;
        }
        // SAFETY: a place of this thread
        let before = unsafe { *errno() };
        let done = catch_unwind(AssertUnwindSafe(work));
        // SAFETY: a place of this thread
        unsafe { *errno() = before };
        mine.busy.set(false);
        done.ok()
    })
}

#[inline]
fn enter(mine: &Mine, session: &'static Session, call: &Call<'_>) -> *mut Log {
    let at = log_of(mine, session);
    // SAFETY: of this thread, and nobody else's
    let log = unsafe { &mut *at };
    let here = std::ptr::from_ref(call) as usize;
    log.close_left(here);
    log.open.push((here, call.point));
    log.calls += 1;
    if log.calls == LOT {
        CALLS.fetch_add(u64::from(LOT), Ordering::Relaxed);
        log.calls = 0;
    }
    // of what is opened, the kernel says the name when it is open
    let target = if call.opens { 0 } else { target(session, call.target) };
    let Call { point, asked, offset, bytes, .. } = *call;
    let entry = Entry { point, target, asked: asked as u64, offset, bytes: bytes as i64 };
    log.thread.enter(&entry, None);
    at
}

#[inline]
fn exit<R: Returned>(log: *mut Log, session: &'static Session, call: &Call<'_>, returned: R) {
    // SAFETY: a place of this thread
    let why = unsafe { *errno() };
    // SAFETY: of this thread; a child that was forked meanwhile has its own copy
    let log = unsafe { &mut *log };
    if !std::ptr::eq(log.session, session) {
        return; // it began in the parent
    }
    let here = std::ptr::from_ref(call) as usize;
    log.close_left(here - 1);
    // None: a handler on a stack of its own took it for left; its end without a begin is counted
    let _ = log.open.pop_if(|(frame, _)| *frame == here);
    if returned.has_failed() {
        if call.opens {
            log.thread.acts_on(target(session, call.target));
        }
        log.thread.failed(call.point, why, FLAG_ERRNO);
        return;
    }
    let opened =
        call.opens.then(|| session.descriptors.learn(&session.process, returned.descriptor()));
    log.thread.exit(call.point, returned.bytes(), opened.unwrap_or(0));
}

impl Log {
    /// Ends calls that never returned: a handler of a signal has jumped out of them (a shell that
    /// is interrupted). Their frames lay where the stack has been given up since, at `here` and below.
    #[inline]
    fn close_left(&mut self, here: usize) {
        while let Some((_, point)) = self.open.pop_if(|(frame, _)| *frame <= here) {
            self.thread.failed(point, libc::EINTR, FLAG_ERRNO);
        }
    }
}

#[inline]
fn target(session: &Session, target: Target<'_>) -> u64 {
    match target {
        Target::None => 0,
        Target::Descriptor(fd) => session.descriptors.target(&session.process, fd),
        Target::Path(folder, path) => descriptors::of_path(&session.process, folder, path),
    }
}

/// The log of this thread in this recording. One of a parent is left as it is: the lock that its
/// end would need may be held.
#[inline]
fn log_of(mine: &Mine, session: &'static Session) -> *mut Log {
    let log = mine.log.get();
    // SAFETY: null, or made below for this thread
    if unsafe { log.as_ref() }.is_some_and(|log| std::ptr::eq(log.session, session)) {
        return log;
    }
    make(mine, session)
}

#[cold]
fn make(mine: &Mine, session: &'static Session) -> *mut Log {
    let tid = rustix::thread::gettid().as_raw_nonzero().get();
    let name = std::fs::read_to_string(format!("/proc/self/task/{tid}/comm")).unwrap_or_default();
    let thread = session.process.thread(tid as u64, name.trim_end());
    let log = Box::into_raw(Box::new(Log { thread, session, calls: 0, open: Vec::new() }));
    mine.log.set(log);
    let key = KEY.load(Ordering::Acquire);
    if key != 0 {
        // SAFETY: a key that was made; its value is not used but by its destructor
        unsafe { libc::pthread_setspecific(key - 1, log.cast()) };
    }
    log
}

/// This thread ends, or the process does.
pub fn end() {
    MINE.with(|mine| {
        let log = mine.log.replace(std::ptr::null_mut());
        if log.is_null() {
            return;
        }
        let was_busy = mine.busy.replace(true);
        // SAFETY: made by `make` for this thread, which has let it go
        let Log { thread, calls, .. } = *unsafe { Box::from_raw(log) };
        CALLS.fetch_add(u64::from(calls), Ordering::Relaxed);
        let _ = catch_unwind(AssertUnwindSafe(|| thread.end()));
        mine.busy.set(was_busy);
    });
}

unsafe extern "C" fn thread_ends(_: *mut c_void) {
    // SAFETY: a place of this thread
    let before = unsafe { *errno() };
    end();
    // SAFETY: a place of this thread
    unsafe { *errno() = before };
}
