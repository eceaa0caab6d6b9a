/*!
A truncated file must not end the collector.

Touching a page of a mapping beyond the end of its file raises SIGBUS. The handler finds the mapping
in a fixed table, maps zeros over what is left of it and marks it, so that the interrupted load
gives 0 and the reader gives the segment up. Any other SIGBUS gets its default action.
*/

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

/// Mappings at one time; the kernel's own limit is 65,530 by default.
pub const CAPACITY: usize = 32_768;

struct GuardedRange {
    /// Address, 0 while the place is free.
    start: AtomicUsize,
    size: AtomicUsize,
    hit: AtomicBool,
}

static TABLE: [GuardedRange; CAPACITY] = [const {
    GuardedRange {
        start: AtomicUsize::new(0),
        size: AtomicUsize::new(0),
        hit: AtomicBool::new(false),
    }
}; CAPACITY];
/// Places of the table that were ever used: the handler looks no further.
static USED: AtomicUsize = AtomicUsize::new(0);
/// Places below that which are free again. The handler knows nothing of it.
static FREE: Mutex<Vec<usize>> = Mutex::new(Vec::new());
static INSTALL: Once = Once::new();
/// Bytes of a page: 64 KiB on some systems of aarch64. Asked once, for the handler.
static PAGE: AtomicUsize = AtomicUsize::new(4096);

/// A place in the table; free again when dropped.
#[derive(Debug)]
pub struct Guard(usize);

impl Guard {
    /// Registers a mapping; `None` when [`CAPACITY`] mappings are guarded already.
    #[must_use]
    pub fn new(start: usize, size: usize) -> Option<Guard> {
        INSTALL.call_once(install);
        let place = Guard::place()?;
        let guarded = &TABLE[place];
        guarded.hit.store(false, Ordering::Relaxed);
        guarded.size.store(size, Ordering::Relaxed);
        guarded.start.store(start, Ordering::Release);
        Some(Guard(place))
    }

    fn place() -> Option<usize> {
        let mut free = free();
        let used = USED.load(Ordering::Relaxed);
        if let Some(place) = free.pop() {
            return Some(place);
        }
        USED.store((used + 1).min(CAPACITY), Ordering::Release);
        (used < CAPACITY).then_some(used)
    }

    /// Whether a page of the mapping was missing when it was touched.
    #[must_use]
    pub fn hit(&self) -> bool {
        TABLE[self.0].hit.load(Ordering::Acquire)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        TABLE[self.0].size.store(0, Ordering::Relaxed);
        TABLE[self.0].start.store(0, Ordering::Release);
        free().push(self.0);
    }
}

fn free() -> MutexGuard<'static, Vec<usize>> {
    FREE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn install() {
    PAGE.store(rustix::param::page_size(), Ordering::Relaxed);
    // SAFETY: an all-zero sigaction is a valid value; the handler only uses atomics and mmap
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
            on_sigbus;
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER;
        libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut());
    }
}

extern "C" fn on_sigbus(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid siginfo for SA_SIGINFO handlers
    let address = unsafe { (*info).si_addr() } as usize;
    if !cover(address) {
        // SAFETY: back to the default action; the faulting load runs again and ends the process
        unsafe { libc::signal(libc::SIGBUS, libc::SIG_DFL) };
    }
}

/// Maps zeros from the page of `address` to the end of its mapping; false if it is none of ours.
fn cover(address: usize) -> bool {
    let used = USED.load(Ordering::Acquire);
    let range = TABLE[..used].iter().find(|guarded| {
        let start = guarded.start.load(Ordering::Acquire);
        start > 0 && address >= start && address < start + guarded.size.load(Ordering::Relaxed)
    });
    let Some(guarded) = range else { return false };
    guarded.hit.store(true, Ordering::Release);
    let end = guarded.start.load(Ordering::Relaxed) + guarded.size.load(Ordering::Relaxed);
    let page = address & !(PAGE.load(Ordering::Relaxed) - 1);
    // SAFETY: the range lies in a mapping that its owner keeps until the guard is dropped
    let zeros = unsafe {
        libc::mmap(
            page as *mut libc::c_void,
            end - page,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
            -1,
            0,
        )
    };
    zeros != libc::MAP_FAILED
}
