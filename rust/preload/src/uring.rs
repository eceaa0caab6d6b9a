//! `io_uring`, as programs use it by liburing, version 2.
//!
//! A program writes what it asks for into a ring that it shares with the kernel, and takes results
//! from another one, both without a call. So requests are noted when a function of the library hands
//! them in, and what has ended since is recorded whenever a function of the library is called: each
//! as a call with what it has moved, which takes no time itself. Whoever hands in or waits does so in
//! `io_uring_enter`.

use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use iostrata_segment::schema::FLAG_ERRNO;

use crate::hooks::{at, on, opens, point, room, room_of};
use crate::loaded::{Hook, Loaded, file_of, loaded};
use crate::log::{self, Call, Kind, Target, traced};
use crate::returned::Returned;
use crate::session::{self, Session};

/// Of a ring, requests whose results have not come; more are not followed.
const MOST: usize = 1 << 16;
/// Entries are twice as large.
const SETUP_SQE128: u32 = 1 << 10;
const SETUP_CQE32: u32 = 1 << 11;
/// Entries of both sizes in one ring, which nobody can step through from outside.
const SETUP_MIXED: u32 = 1 << 18 | 1 << 19;
/// The descriptor is a place among registered ones.
const FIXED_FILE: u8 = 1;
/// More results of the same request will come; this one only says that a buffer is free.
const MORE: u32 = 1 << 1;
const NOTIFICATION: u32 = 1 << 3;

/// `struct io_uring` of liburing since 2.0; what it shares with the kernel is behind pointers.
#[repr(C)]
#[derive(Debug)]
pub struct Ring {
    submission: SubmissionQueue,
    completion: CompletionQueue,
    flags: u32,
}

#[repr(C)]
#[derive(Debug)]
struct SubmissionQueue {
    head: *const AtomicU32,
    tail: *const AtomicU32,
    mask: *const u32,
    shared: [*const c_void; 4],
    entries: *const Entry,
    /// From what is handed in to what is not.
    own_head: u32,
    own_tail: u32,
    rest: [u64; 4],
}

#[repr(C)]
#[derive(Debug)]
struct CompletionQueue {
    head: *const AtomicU32,
    tail: *const AtomicU32,
    mask: *const u32,
    shared: [*const c_void; 3],
    entries: *const Completion,
    rest: [u64; 4],
}

/// `struct io_uring_sqe` of the kernel.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Entry {
    operation: u8,
    flags: u8,
    priority: u16,
    fd: c_int,
    offset: i64,
    address: u64,
    length: u32,
    operation_flags: u32,
    name: u64,
    buffer: [u16; 2],
    /// One more than its place among registered ones; 0: a descriptor.
    place: u32,
    rest: [u64; 2],
}

/// `struct io_uring_cqe` of the kernel.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Completion {
    name: u64,
    result: c_int,
    flags: u32,
}

/// What a request has come to, or a call of the library: a result, or less than 0, errno.
#[derive(Debug, Clone, Copy)]
struct Done {
    result: c_int,
    moves: bool,
}

impl Returned for Done {
    fn bytes(self) -> i64 {
        if self.moves { i64::from(self.result.max(0)) } else { 0 }
    }

    /// Who looks whether something has come, or waits for a time, does not fail.
    fn has_failed(self) -> bool {
        self.result < 0 && (self.moves || ![-libc::EAGAIN, -libc::ETIME].contains(&self.result))
    }

    fn descriptor(self) -> c_int {
        self.result
    }

    fn why(self, _: c_int) -> (i32, u8) {
        (-self.result, FLAG_ERRNO)
    }
}

/// The rings of a process, by their addresses.
#[derive(Debug, Default)]
pub struct Rings(Mutex<HashMap<usize, Followed>>);

#[derive(Debug)]
struct Followed {
    /// Of the recording in which it is.
    word: u32,
    /// Results before have been looked at.
    seen: u32,
    /// By the names that the program has given, in the order in which they were handed in.
    requests: HashMap<u64, VecDeque<Request>>,
    many: usize,
    /// Targets of registered descriptors.
    registered: Vec<u64>,
}

#[derive(Debug, Clone, Copy)]
struct Request {
    call: Call<'static>,
    moves: bool,
}

impl Followed {
    fn new(ring: &Ring, word: u32) -> Followed {
        // SAFETY: of a ring that is in use
        let seen = unsafe { &*ring.completion.head }.load(Ordering::Acquire);
        Followed { word, seen, requests: HashMap::new(), many: 0, registered: Vec::new() }
    }

    /// Another recording has begun: what was noted before is none of it.
    fn begin_again(&mut self, ring: &Ring, word: u32) {
        let registered = std::mem::take(&mut self.registered);
        *self = Followed { registered, ..Followed::new(ring, word) };
    }

    /// What the next call of the kernel hands in.
    fn note(&mut self, session: &Session, ring: &Ring) {
        let queue = &ring.submission;
        // SAFETY: of a ring that is in use
        let mask = unsafe { *queue.mask };
        let many = queue.own_tail.wrapping_sub(queue.own_head);
        if many > mask.wrapping_add(1) {
            return;
        }
        let shift = u32::from(ring.flags & SETUP_SQE128 != 0);
        for at in 0..many {
            let at = (queue.own_head.wrapping_add(at) & mask) << shift;
            // SAFETY: the kernel is about to read it
            let entry = unsafe { *queue.entries.add(at as usize) };
            if let Some(request) = self.request(session, &entry).filter(|_| self.many < MOST) {
                self.requests.entry(entry.name).or_default().push_back(request);
                self.many += 1;
            }
        }
    }

    /// Numbers are those of the kernel's `enum io_uring_op`.
    fn request(&self, session: &Session, entry: &Entry) -> Option<Request> {
        let &Entry { operation, fd, offset, address, length, .. } = entry;
        let size = match operation {
            1 | 2 | 60 | 61 => room(address as *const libc::iovec, length.try_into().ok()?),
            9 | 10 | 48 => room_of(address as *const libc::msghdr),
            _ => length as usize,
        };
        let (call, moves) = match operation {
            1 | 4 | 22 | 49 | 60 => (at(const { of("io_uring_read") }, fd, size, offset), true),
            2 | 5 | 23 | 61 => (at(const { of("io_uring_write") }, fd, size, offset), true),
            3 | 8 => (on(const { of("io_uring_fsync") }, fd, 0), false),
            9 | 26 | 47 | 48 => (on(const { of("io_uring_send") }, fd, size), true),
            10 | 27 => (on(const { of("io_uring_recv") }, fd, size), true),
            18 | 28 => {
                (opens(const { of("io_uring_openat") }, fd, address as *const c_char), false)
            }
            19 => (on(const { of("io_uring_close") }, fd, 0), false),
            _ => return None,
        };
        let is_registered = match operation {
            18 | 19 | 28 => entry.place != 0,
            _ => entry.flags & FIXED_FILE != 0,
        };
        let target = match operation {
            19 if is_registered => self.registered(entry.place - 1),
            18 | 28 => log::target(session, call.target),
            _ if is_registered => self.registered(fd as u32),
            _ => log::target(session, Target::Descriptor(fd)),
        };
        if moves && offset < 0 && !is_registered {
            session.descriptors.share(fd); // goes on where the one before has ended
        }
        if operation == 19 && !is_registered && session.is_here() {
            session.descriptors.forget(fd);
        }
        // a place that is opened is no descriptor
        let kind = if is_registered { Kind::Leaf } else { call.kind };
        let Call { point, asked, .. } = call;
        let (target, offset) = (Target::Known(target), call.offset.max(-1));
        let call = Call { target, asked, offset, kind, ..Call::around(point) };
        Some(Request { call, moves })
    }

    fn registered(&self, place: u32) -> u64 {
        self.registered.get(place as usize).copied().unwrap_or(0)
    }

    /// The results that have come since the last look.
    fn take(&mut self, ring: &Ring) -> Vec<(Request, c_int)> {
        let queue = &ring.completion;
        // SAFETY: of a ring that is in use
        let (mask, tail) = unsafe { (*queue.mask, (*queue.tail).load(Ordering::Acquire)) };
        if tail.wrapping_sub(self.seen) > mask.wrapping_add(1) {
            // another ring is at this address, or the kernel has written over what was here
            // SAFETY: as above
            self.seen = unsafe { &*queue.head }.load(Ordering::Acquire);
        }
        let shift = u32::from(ring.flags & SETUP_CQE32 != 0);
        let mut found = Vec::new();
        while self.seen != tail {
            let at = (self.seen & mask) << shift;
            self.seen = self.seen.wrapping_add(1);
            // SAFETY: the kernel has written it, and writes over it after a whole round
            let done = unsafe { queue.entries.add(at as usize).read_volatile() };
            if let Some(request) = self.ended(&done) {
                found.push((request, done.result));
            }
        }
        found
    }

    fn ended(&mut self, done: &Completion) -> Option<Request> {
        let waiting = self.requests.get_mut(&done.name)?;
        let request = if done.flags & MORE == 0 {
            self.many -= 1;
            waiting.pop_front()
        } else {
            waiting.front().copied()
        };
        if waiting.is_empty() {
            self.requests.remove(&done.name);
        }
        request.filter(|_| done.flags & NOTIFICATION == 0)
    }
}

const fn of(method: &str) -> u16 {
    point("liburing", method)
}

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
        let session = session::current()?;
        if !is_known() {
            return None;
        }
        // SAFETY: the library is about to use it, or has just done so
        let known = unsafe { ring.as_ref() }.filter(|ring| ring.flags & SETUP_MIXED == 0)?;
        let word = session.word();
        let mut rings = session.rings.0.lock().unwrap_or_else(PoisonError::into_inner);
        let followed = rings.entry(ring as usize).or_insert_with(|| Followed::new(known, word));
        if followed.word != word {
            followed.begin_again(known, word);
        }
        Some(work(session, followed, known))
    });
    done.flatten()
}

/// Records the requests whose results have come.
fn ended(ring: *const Ring) {
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
    // it only looks, and does so again and again
    let done = real();
    if session::is_on() {
        ended(ring);
    }
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
    if session::is_on() {
        ended(ring);
    }
    done.unwrap_or(0)
}

/// # Safety
/// As of liburing's.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn io_uring_queue_exit(ring: *mut Ring) {
    let _hook = Hook::begins();
    if session::is_on() {
        ended(ring);
    }
    log::ours(|| {
        let session = session::current()?;
        session.rings.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&(ring as usize))
    });
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

/// Descriptors that the program may close while the ring still has their files.
fn registers(ring: *const Ring, from: c_uint, files: *const c_int, many: c_uint) {
    let (from, many) = (from as usize, many as usize);
    if files.is_null() || from + many > MOST {
        return;
    }
    // SAFETY: the kernel has just read as many
    let files = unsafe { std::slice::from_raw_parts(files, many) };
    with(ring, |session, followed, _| {
        if followed.registered.len() < from + many {
            followed.registered.resize(from + many, 0);
        }
        for (fd, target) in files.iter().zip(&mut followed.registered[from..]) {
            let is_there = *fd >= 0;
            *target = if is_there { log::target(session, Target::Descriptor(*fd)) } else { 0 };
        }
    });
}

#[cfg(test)]
mod tests {
    use std::mem::{offset_of, size_of};

    use super::*;

    #[test]
    fn structures_are_as_the_library_and_the_kernel_have_them() {
        assert_eq!((size_of::<SubmissionQueue>(), size_of::<CompletionQueue>()), (104, 88));
        assert_eq!(offset_of!(SubmissionQueue, own_head), 64);
        assert_eq!(offset_of!(Ring, flags), 192);
        assert_eq!((size_of::<Entry>(), size_of::<Completion>()), (64, 16));
        assert_eq!((offset_of!(Entry, name), offset_of!(Entry, place)), (32, 44));
    }

    #[test]
    fn results_are_of_requests_in_the_order_of_their_names() {
        let request = |point| Request { call: Call::around(point), moves: true };
        let (seen, many, word) = (0, 3, 1);
        let requests = HashMap::from([
            (0, VecDeque::from([request(1), request(2)])),
            (7, VecDeque::from([request(3)])),
        ]);
        let mut followed = Followed { word, seen, requests, many, registered: Vec::new() };
        let mut ended = |name, flags| {
            let done = Completion { name, result: 1, flags };
            followed.ended(&done).map(|request| request.call.point)
        };
        assert_eq!([ended(0, 0), ended(7, MORE), ended(0, 0)], [Some(1), Some(3), Some(2)]);
        assert_eq!([ended(7, NOTIFICATION), ended(7, 0), ended(0, 0)], [None; 3]);
        assert_eq!((followed.many, followed.requests.len()), (0, 0));
    }
}
