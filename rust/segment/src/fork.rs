/*!
A child that a traced process forks, and that calls no exec, must not write into what its parent
records: the kernel gives it the same shared pages.

So, before `fork` returns in the child, its mappings of them become memory of its own that nobody
reads, and from then on it makes no files. No call pays for that, neither the parent's nor the
child's. `vfork`, `posix_spawn` and a bare `clone`, by which JVMs start programs, call no handlers and
need none: what they start calls exec.
*/

use std::cell::UnsafeCell;
use std::os::raw::c_void;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};

#[derive(Debug, Clone, Copy)]
struct Range {
    start: usize,
    size: usize,
}

type Ranges = MutexGuard<'static, Vec<Range>>;

/// Of the mappings that a producer writes to.
static WRITTEN: Mutex<Vec<Range>> = Mutex::new(Vec::new());
/// How many forks lie between the traced process and this one.
static GENERATION: AtomicU32 = AtomicU32::new(0);
/// How often this process has forked.
static MADE: AtomicU32 = AtomicU32::new(0);
static INSTALL: Once = Once::new();

/// The lock of [`WRITTEN`] while a fork is under way: no other thread may be half through with it.
struct Held(UnsafeCell<Option<Ranges>>);
// SAFETY: only the thread that has the lock touches it
unsafe impl Sync for Held {}
static HELD: Held = Held(UnsafeCell::new(None));

/// Differs between a process and what it has forked.
#[must_use]
pub fn generation() -> u32 {
    GENERATION.load(Ordering::Relaxed)
}

/// Differs before and after this process forks.
#[must_use]
pub fn made() -> u32 {
    MADE.load(Ordering::Relaxed)
}

/// From here on a child gets memory of its own in the place of this mapping.
pub(crate) fn keep(start: *mut c_void, size: usize) {
    INSTALL.call_once(|| {
        // SAFETY: functions of this library, which is never unloaded while it records
        unsafe { libc::pthread_atfork(Some(prepare), Some(in_parent), Some(in_child)) };
    });
    written().push(Range { start: start as usize, size });
}

/// The mapping is about to go.
pub(crate) fn forget(start: *mut c_void) {
    let mut written = written();
    if let Some(place) = written.iter().position(|range| range.start == start as usize) {
        written.swap_remove(place);
    }
}

/// Maps zeros of this process alone over a mapping, which stays readable and writable throughout.
///
/// # Safety
/// It is a mapping of ours.
pub(crate) unsafe fn make_private(start: *mut c_void, size: usize) {
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    let flags = MapFlags::PRIVATE | MapFlags::FIXED | MapFlags::NORESERVE;
    // SAFETY: the caller's
    let _ = unsafe { mmap_anonymous(start, size, protection, flags) };
}

fn written() -> Ranges {
    WRITTEN.lock().unwrap_or_else(PoisonError::into_inner)
}

unsafe extern "C" fn prepare() {
    MADE.fetch_add(1, Ordering::Relaxed);
    let ranges = written();
    // SAFETY: this thread has the lock
    unsafe { *HELD.0.get() = Some(ranges) };
}

unsafe extern "C" fn in_parent() {
    // SAFETY: this thread has taken the lock in `prepare`
    drop(unsafe { (*HELD.0.get()).take() });
}

/// Only what may be called between fork and exec: the other threads' locks stay locked for ever.
unsafe extern "C" fn in_child() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
    // SAFETY: the child's only thread is the one that has taken the lock
    let Some(ranges) = (unsafe { (*HELD.0.get()).take() }) else { return };
    for range in ranges.iter() {
        // SAFETY: kept until `forget`
        unsafe { make_private(range.start as *mut c_void, range.size) };
    }
}
