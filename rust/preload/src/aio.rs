//! Asynchronous calls: those of the C library (`aio_read`, …) and those of libaio (`io_submit`, …).
//!
//! What one has moved is known when its result is asked for: then it is recorded, as a call that
//! takes as long as the asking. Who waits for it does so in `aio_suspend` and `io_getevents`.

use std::collections::HashMap;
use std::ffi::{c_int, c_long, c_void};
use std::sync::{Mutex, PoisonError};

use iostrata_segment::schema::FLAG_ERRNO;
use libc::{aiocb, sigset_t, ssize_t, timespec};

use crate::hooks::{at, point};
use crate::loaded::{Hook, loaded};
use crate::log::{self, Call, Kind, Target, traced};
use crate::returned::Returned;
use crate::session;

/// Operations of `aiocb` (glibc's `aio_misc.h`); a bit tells that its offset has 64 bits.
const WITHOUT_WIDTH: c_int = 127;
const AIO_READ: c_int = 0;
const AIO_WRITE: c_int = 1;

/// A result, and why there is none: errno.
#[derive(Debug, Clone, Copy)]
struct Outcome {
    moved: ssize_t,
    errno: c_int,
}

impl Returned for Outcome {
    fn bytes(self) -> i64 {
        self.moved.max(0) as i64
    }

    fn has_failed(self) -> bool {
        self.moved < 0
    }

    fn descriptor(self) -> c_int {
        -1
    }

    fn why(self, _: c_int) -> (i32, u8) {
        (self.errno, FLAG_ERRNO)
    }
}

macro_rules! results {
    ($($name:ident asks $error:ident;)*) => {$(
        /// # Safety
        /// As of the C library's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name(asked: *mut aiocb) -> ssize_t {
            let _hook = Hook::begins();
            let real = || {
                let errno = loaded!($error(asked) as fn(*mut aiocb) -> c_int);
                let moved = loaded!($name(asked) as fn(*mut aiocb) -> ssize_t);
                Outcome { moved: moved.unwrap_or(-1), errno: errno.unwrap_or(libc::ENOSYS) }
            };
            // SAFETY: the C library is about to write to it
            let Some(known) = (unsafe { asked.as_ref() }) else { return real().moved };
            let point = match known.aio_lio_opcode & WITHOUT_WIDTH {
                AIO_READ => const { point("libc", "aio_read") },
                AIO_WRITE => const { point("libc", "aio_write") },
                _ => const { point("libc", "aio_fsync") },
            };
            let call = at(point, known.aio_fildes, known.aio_nbytes, known.aio_offset);
            traced(&call, real).moved
        }
    )*};
}

results! {
    aio_return asks aio_error;
    aio_return64 asks aio_error64;
}

/// Functions that wait for some of those that go on; the results that they bring are recorded.
macro_rules! waits {
    ($(fn $name:ident($($argument:ident: $type:ty),*), as $point:expr $(, brings $events:ident)?;)*) => {$(
        /// # Safety
        /// As of the library's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name($($argument: $type),*) -> c_int {
            const POINT: u16 = $point;
            let _hook = Hook::begins();
            let call = Call { kind: Kind::Leaf, ..Call::around(POINT) };
            let done = traced(&call, || {
                loaded!($name($($argument),*) as fn($($type),*) -> c_int).unwrap_or(-libc::ENOSYS)
            });
            $(ended($events, done);)?
            done
        }
    )*};
}

waits! {
    fn aio_suspend(list: *const *const aiocb, count: c_int, most: *const timespec),
        as point("libc", "aio_suspend");
    fn aio_suspend64(list: *const *const aiocb, count: c_int, most: *const timespec),
        as point("libc", "aio_suspend");
    fn io_getevents(context: usize, least: c_long, most: c_long, to: *mut Event,
        wait: *mut timespec), as point("libaio", "io_getevents"), brings to;
    fn io_pgetevents(context: usize, least: c_long, most: c_long, to: *mut Event,
        wait: *mut timespec, signals: *mut sigset_t), as point("libaio", "io_getevents"), brings to;
}

/// `struct iocb` of the kernel.
#[repr(C)]
#[derive(Debug)]
pub struct Asked {
    data: u64,
    key: [u32; 2],
    operation: u16,
    priority: i16,
    fd: c_int,
    buffer: u64,
    size: u64,
    offset: i64,
}

/// `struct io_event` of the kernel.
#[repr(C)]
#[derive(Debug)]
pub struct Event {
    data: u64,
    asked: *const c_void,
    result: i64,
    second: i64,
}

/// What has been asked of the kernel, by the address that an event will have.
#[derive(Debug, Default)]
pub struct Submitted(Mutex<HashMap<usize, Known>>);

#[derive(Debug, Clone, Copy)]
struct Known {
    point: u16,
    target: u64,
    size: usize,
    offset: i64,
}

/// So many that are forgotten by who asked for them take no more memory.
const MOST: usize = 1 << 16;

impl Submitted {
    fn with<T>(&self, work: impl FnOnce(&mut HashMap<usize, Known>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn of_operation(operation: u16) -> Option<u16> {
    match operation {
        0 | 7 => Some(const { point("libaio", "io_pread") }),
        1 | 8 => Some(const { point("libaio", "io_pwrite") }),
        2 | 3 => Some(const { point("libaio", "io_fsync") }),
        _ => None, // a poll
    }
}

/// # Safety
/// As of libaio's.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn io_submit(
    context: usize,
    count: c_long,
    list: *mut *mut Asked,
) -> c_int {
    let _hook = Hook::begins();
    let many = usize::try_from(count).unwrap_or(0).min(MOST);
    let all: &[*mut Asked] = if list.is_null() || !session::is_on() {
        &[]
    } else {
        // SAFETY: the kernel is about to read as many
        unsafe { std::slice::from_raw_parts(list, many) }
    };
    // before: another thread may see the event at once
    log::ours(|| submits(all));
    let done =
        loaded!(io_submit(context, count, list) as fn(usize, c_long, *mut *mut Asked) -> c_int);
    let done = done.unwrap_or(-libc::ENOSYS);
    log::ours(|| forget(all.get(usize::try_from(done).unwrap_or(0)..).unwrap_or_default()));
    done
}

fn submits(all: &[*mut Asked]) {
    let Some(session) = session::current() else { return };
    for at in all {
        // SAFETY: the kernel is about to read it
        let Some(asked) = (unsafe { at.as_ref() }) else { continue };
        let Some(point) = of_operation(asked.operation) else { continue };
        let target = log::target(session, Target::Descriptor(asked.fd));
        // of a vector, `size` is how many buffers it has
        let size = if asked.operation < 7 { asked.size as usize } else { 0 };
        let known = Known { point, target, size, offset: asked.offset };
        session.submitted.with(|submitted| {
            if submitted.len() < MOST {
                submitted.insert(*at as usize, known);
            }
        });
    }
}

fn forget(all: &[*mut Asked]) {
    let Some(session) = session::current() else { return };
    for at in all {
        session.submitted.with(|submitted| submitted.remove(&(*at as usize)));
    }
}

/// Records the calls whose results have come.
fn ended(events: *const Event, count: c_int) {
    let count = usize::try_from(count).unwrap_or(0);
    if count == 0 || events.is_null() || !session::is_on() {
        return;
    }
    // SAFETY: the kernel has just written as many
    for event in unsafe { std::slice::from_raw_parts(events, count) } {
        let known = log::ours(|| {
            session::current()?.submitted.with(|all| all.remove(&(event.asked as usize)))
        });
        let Some(Known { point, target, size, offset }) = known.flatten() else { continue };
        let call = Call { target: Target::Known(target), ..at(point, -1, size, offset) };
        let errno = i32::try_from(-event.result).unwrap_or(0);
        traced(&call, || Outcome { moved: event.result as ssize_t, errno });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_are_as_large_as_the_kernels() {
        assert_eq!(std::mem::size_of::<Event>(), 32);
        assert_eq!(std::mem::offset_of!(Asked, operation), 16);
        assert_eq!(std::mem::offset_of!(Asked, offset), 40);
    }
}
