//! One call: what is written around the real one, in the log of its thread.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use iostrata_segment::writer::{Entry, Leaf, Thread};

use crate::descriptors;
use crate::returned::Returned;
use crate::session::{self, CALLS, Session};

/// Calls that a thread adds to the count of all at once, and the most between two looks at a clock.
const LOT: u32 = 64;
/// Such looks are to be so far apart, ns, if the calls are close enough.
const NEAR: u64 = 8_000_000;
const FAR: u64 = 100_000_000;

/// What a call acts on.
#[derive(Debug, Clone, Copy)]
pub enum Target<'a> {
    None,
    Descriptor(c_int),
    /// Below a folder, see `openat()`.
    Path(c_int, &'a Path),
    /// Dictionary id | category << 32; 0 none.
    Known(u64),
}

/// What a call does beside moving bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It makes no other call that is recorded.
    Leaf,
    /// What it returns is a descriptor of its target.
    Opens,
    /// It is of a library above the C library, which it calls.
    Around,
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
    pub kind: Kind,
    /// It begins where the one before on its descriptor has ended.
    pub goes_on: bool,
}

impl Call<'_> {
    /// A call of a library above the C library.
    pub const fn around(point: u16) -> Self {
        Call {
            point,
            target: Target::None,
            asked: 0,
            offset: -1,
            bytes: 0,
            kind: Kind::Around,
            goes_on: false,
        }
    }

    /// The descriptor that it moves along.
    #[inline]
    fn along(&self) -> Option<c_int> {
        match self.target {
            Target::Descriptor(fd) if self.goes_on => Some(fd),
            _ => None,
        }
    }
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
    /// Calls from one look at a clock to the next; those that are left, and when the last one was.
    patience: u32,
    left: u32,
    looked: u64,
    /// Calls that have not returned.
    open: Vec<Open>,
}

struct Open {
    /// Its address in the stack.
    frame: usize,
    entry: Entry,
    leaf: Leaf,
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
        let errno = errno();
        let enter = |session| Some(enter(mine, session, call));
        let Some(log) = inside(mine, errno, enter) else { return real() };
        let returned = real();
        // SAFETY: a place of this thread
        let why = unsafe { *errno };
        inside(mine, errno, |session| {
            let is_there = mine.log.get() == log; // an `exec` that failed may have ended it
            is_there.then(|| exit(log, session, call, returned, why))
        });
        returned
    })
}

/// Runs what is ours: `errno` stays, a fault ends the log of the thread, and what is called on the
/// way is not recorded.
#[inline]
fn inside<T>(
    mine: &Mine,
    errno: *mut c_int,
    work: impl FnOnce(&'static Session) -> Option<T>,
) -> Option<T> {
    // SAFETY: a place of this thread
    let before = unsafe { *errno };
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
    unsafe { *errno = before };
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
    let frame = std::ptr::from_ref(call) as usize;
    log.close_left(frame);
    log.calls += 1;
    if log.calls == LOT {
        CALLS.fetch_add(u64::from(LOT), Ordering::Relaxed);
        log.calls = 0;
    }
    // of what is opened, the kernel says the name when it is open
    let target = if call.kind == Kind::Opens { 0 } else { target(session, call.target) };
    let Call { point, asked, bytes, kind, .. } = *call;
    let offset = call.along().map_or(call.offset, |fd| session.descriptors.next(fd));
    let entry = Entry { point, target, asked: asked as u64, offset, bytes: bytes as i64 };
    // glibc calls none of its functions by a name that could be ours
    let leaf = if kind == Kind::Leaf {
        log.thread.enter_leaf(&entry)
    } else {
        log.thread.enter(&entry, None);
        Leaf::Span
    };
    log.open.push(Open { frame, entry, leaf });
    at
}

#[inline]
fn exit<R: Returned>(
    log: *mut Log,
    session: &'static Session,
    call: &Call<'_>,
    returned: R,
    why: c_int,
) {
    // SAFETY: of this thread; a child that was forked meanwhile has its own copy
    let log = unsafe { &mut *log };
    if !std::ptr::eq(log.session, session) {
        return; // it began in the parent
    }
    let frame = std::ptr::from_ref(call) as usize;
    log.close_left(frame - 1);
    let open = log.open.pop_if(|open| open.frame == frame);
    let moved = if returned.has_failed() { Err(returned.why(why)) } else { Ok(returned.bytes()) };
    let opens = call.kind == Kind::Opens;
    if let (Some(fd), Ok(bytes)) = (call.along(), moved) {
        session.descriptors.moved(fd, bytes);
    }
    match (open, moved) {
        (Some(Open { entry, leaf, .. }), _) if call.kind == Kind::Leaf => {
            log.thread.exit_leaf(&entry, leaf, moved.map_err(|(errno, _)| errno));
        }
        // where none is open, a handler on a stack of its own took it for left; its end without a
        // begin is counted
        (_, Ok(bytes)) => {
            let opened = || session.descriptors.opened(&session.process, returned.descriptor());
            log.thread.exit(call.point, bytes, if opens { opened() } else { 0 });
        }
        (_, Err((why, flags))) => {
            if opens {
                log.thread.acts_on(target(session, call.target));
            }
            log.thread.failed(call.point, why, flags);
        }
    }
    log.look_now_and_then();
}

impl Log {
    /// Calls may be less far apart than a clock is worth.
    #[inline]
    fn look_now_and_then(&mut self) {
        self.left -= 1;
        if self.left == 0 {
            self.look();
        }
    }

    fn look(&mut self) {
        let now = session::coarse_nanos();
        self.patience = match now - self.looked {
            passed if passed < NEAR => LOT.min(2 * self.patience),
            passed if passed > FAR => 1,
            _ => self.patience,
        };
        (self.left, self.looked) = (self.patience, now);
        session::look_if_due(now);
    }

    /// Ends calls that never returned: a handler of a signal has jumped out of them (a shell that
    /// is interrupted). Their frames lay where the stack has been given up since, at `here` and below.
    #[inline]
    fn close_left(&mut self, here: usize) {
        while let Some(Open { entry, leaf, .. }) = self.open.pop_if(|open| open.frame <= here) {
            self.thread.exit_leaf(&entry, leaf, Err(libc::EINTR));
        }
    }
}

#[inline]
pub fn target(session: &Session, target: Target<'_>) -> u64 {
    match target {
        Target::None => 0,
        Target::Known(target) => target,
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
    let (calls, patience, left, looked, open) = (0, 1, 1, 0, Vec::new());
    let log = Log { thread, session, calls, patience, left, looked, open };
    let log = Box::into_raw(Box::new(log));
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
    if session::is_forbidden() {
        return;
    }
    // SAFETY: a place of this thread
    let before = unsafe { *errno() };
    end();
    // SAFETY: a place of this thread
    unsafe { *errno() = before };
}
