//! `io_uring`, as programs use it by liburing, version 2.
//!
//! A program writes what it asks for into a ring that it shares with the kernel, and takes results
//! from another one, both without a call. So requests are noted when a function of the library hands
//! them in, and what has ended since is recorded whenever a function of the library is called: each
//! as a call with what it has moved, which takes no time itself. Whoever hands in or waits does so in
//! `io_uring_enter`.

use std::cell::Cell;
use std::ffi::{c_int, c_uint, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::loaded::{Hook, Loaded, file_of, loaded};
use crate::log::{self, Call, Kind, traced};
use crate::rings::{Done, Followed, MOST, Request, Ring, of};
use crate::session::{self, Session};

thread_local! {
    /// A function of the library is at work, which may call another one.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

struct Inside;

impl Inside {
    /// `None` inside of another one.
    fn begins() -> Option<Inside> {
        (!INSIDE.replace(true)).then_some(Inside)
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.set(false);
    }
}

/// Whether the library that the program means has rings as [`Ring`] has them.
fn is_known() -> bool {
    static SUBMIT: Loaded = Loaded::new(c"io_uring_submit");
    static KNOWN: AtomicUsize = AtomicUsize::new(0);
    let function = SUBMIT.get();
    if function as usize == KNOWN.load(Ordering::Relaxed) {
        return !function.is_null();
    }
    let file = file_of(function);
    let is_known = file.contains("liburing") && file.contains(".so.2");
    if is_known {
        KNOWN.store(function as usize, Ordering::Relaxed);
    }
    is_known
}

/// Does something with what is known of a ring, where something is recorded.
fn with<T>(ring: *const Ring, work: impl FnOnce(&Session, &mut Followed, &Ring) -> T) -> Option<T> {
    let done = log::ours(|| {
        let session = session::current().filter(|_| is_known())?;
        // SAFETY: the library is about to use it, or has just done so
        let ring = unsafe { ring.as_ref() }?;
        session.rings.with(ring, session.word(), |followed| work(session, followed, ring))
    });
    done.flatten()
}

/// Records the requests whose results have come.
fn ended(ring: *const Ring) {
    if !session::is_on() {
        return;
    }
    for (Request { call, moves }, result) in
        with(ring, |_, followed, ring| followed.take(ring)).unwrap_or_default()
    {
        traced(&call, || Done { result, moves });
    }
}

/// A function that hands in what stands in the ring, waits for results, or both.
fn enters(ring: *const Ring, real: impl FnOnce() -> c_int) -> c_int {
    if !session::is_on() {
        return real();
    }
    let Some(_inside) = Inside::begins() else { return real() };
    ended(ring);
    let call = Call { kind: Kind::Leaf, ..Call::around(const { of("io_uring_enter") }) };
    let done = traced(&call, || Done { result: real(), moves: false }).result;
    ended(ring);
    done
}

/// Functions that call the kernel; those that hand in what the program has asked for are named so.
macro_rules! enters {
    ($($how:ident $name:ident($($argument:ident: $type:ty),*);)*) => {$(
        /// # Safety
        /// As of liburing's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name(ring: *mut Ring $(, $argument: $type)*) -> c_int {
            let _hook = Hook::begins();
            $how(ring, || {
                let done = loaded!($name(ring $(, $argument)*) as fn(*mut Ring $(, $type)*) -> c_int);
                done.unwrap_or(-libc::ENOSYS)
            })
        }
    )*};
}

fn submits(ring: *mut Ring, real: impl FnOnce() -> c_int) -> c_int {
    // before: another thread may see a result at once
    if session::is_on() && !INSIDE.get() {
        with(ring, |session, followed, ring| followed.note(session, ring));
    }
    enters(ring, real)
}

type Results = *mut *mut c_void;
type Bytes = *mut c_void;

enters! {
    submits io_uring_submit();
    submits io_uring_submit_and_wait(least: c_uint);
    submits io_uring_submit_and_wait_timeout(to: Results, least: c_uint, most: Bytes,
        signals: Bytes);
    submits io_uring_submit_and_wait_min_timeout(to: Results, least: c_uint, most: Bytes,
        min: c_uint, signals: Bytes);
    submits io_uring_submit_and_wait_reg(to: Results, least: c_uint, place: c_int);
    submits io_uring_submit_and_get_events();
    enters io_uring_wait_cqes(to: Results, least: c_uint, most: Bytes, signals: Bytes);
    enters io_uring_wait_cqes_min_timeout(to: Results, least: c_uint, most: Bytes, min: c_uint,
        signals: Bytes);
    enters io_uring_wait_cqe_timeout(to: Results, most: Bytes);
    enters io_uring_get_events();
}

/// # Safety
/// As of liburing's.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __io_uring_get_cqe(
    ring: *mut Ring,
    to: Results,
    submitted: c_uint,
    least: c_uint,
    signals: Bytes,
) -> c_int {
    let _hook = Hook::begins();
    let real = || {
        let done = loaded!(__io_uring_get_cqe(ring, to, submitted, least, signals)
            as fn(*mut Ring, Results, c_uint, c_uint, Bytes) -> c_int);
        done.unwrap_or(-libc::ENOSYS)
    };
    if (submitted, least) != (0, 0) {
        return enters(ring, real);
    }
    let done = real(); // it only looks, and does so again and again
    ended(ring);
    done
}

/// # Safety
/// As of liburing's.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn io_uring_peek_batch_cqe(
    ring: *mut Ring,
    to: Results,
    most: c_uint,
) -> c_uint {
    let _hook = Hook::begins();
    let done = loaded!(
        io_uring_peek_batch_cqe(ring, to, most) as fn(*mut Ring, Results, c_uint) -> c_uint
    );
    ended(ring);
    done.unwrap_or(0)
}

/// # Safety
/// As of liburing's.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn io_uring_queue_exit(ring: *mut Ring) {
    let _hook = Hook::begins();
    ended(ring);
    log::ours(|| session::current().map(|session| session.rings.forget(ring)));
    loaded!(io_uring_queue_exit(ring) as fn(*mut Ring) -> ());
}

/// # Safety
/// As of liburing's.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn io_uring_register_files(
    ring: *mut Ring,
    files: *const c_int,
    many: c_uint,
) -> c_int {
    let _hook = Hook::begins();
    let done =
        loaded!(io_uring_register_files(ring, files, many)
            as fn(*mut Ring, *const c_int, c_uint) -> c_int);
    let done = done.unwrap_or(-libc::ENOSYS);
    if done >= 0 && session::is_on() {
        registers(ring, 0, files, many);
    }
    done
}

/// # Safety
/// As of liburing's.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn io_uring_register_files_update(
    ring: *mut Ring,
    from: c_uint,
    files: *const c_int,
    many: c_uint,
) -> c_int {
    let _hook = Hook::begins();
    let done = loaded!(io_uring_register_files_update(ring, from, files, many)
        as fn(*mut Ring, c_uint, *const c_int, c_uint) -> c_int);
    let done = done.unwrap_or(-libc::ENOSYS);
    if session::is_on() {
        registers(ring, from, files, c_uint::try_from(done).unwrap_or(0).min(many));
    }
    done
}

fn registers(ring: *const Ring, from: c_uint, files: *const c_int, many: c_uint) {
    let (from, many) = (from as usize, many as usize);
    if files.is_null() || from + many > MOST {
        return;
    }
    // SAFETY: the kernel has just read as many
    let files = unsafe { std::slice::from_raw_parts(files, many) };
    with(ring, |session, followed, _| followed.register(session, from, files));
}
