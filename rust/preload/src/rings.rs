//! The rings of `io_uring`: what stands in them, and what has come of it.

use std::collections::{HashMap, VecDeque};
use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use iostrata_segment::schema::FLAG_ERRNO;

use crate::hooks::{at, on, opens, point, room, room_of};
use crate::log::{self, Call, Kind, Target};
use crate::returned::Returned;
use crate::session::Session;

/// Of a ring, requests whose results have not come; more are not followed.
pub const MOST: usize = 1 << 16;
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

/// The kernel's `enum io_uring_op`, of what is recorded.
const READV: u8 = 1;
const WRITEV: u8 = 2;
const FSYNC: u8 = 3;
const READ_FIXED: u8 = 4;
const WRITE_FIXED: u8 = 5;
const SYNC_FILE_RANGE: u8 = 8;
const SENDMSG: u8 = 9;
const RECVMSG: u8 = 10;
const OPENAT: u8 = 18;
const CLOSE: u8 = 19;
const READ: u8 = 22;
const WRITE: u8 = 23;
const SEND: u8 = 26;
const RECV: u8 = 27;
const OPENAT2: u8 = 28;
const SEND_ZC: u8 = 47;
const SENDMSG_ZC: u8 = 48;
const READ_MULTISHOT: u8 = 49;
const READV_FIXED: u8 = 60;
const WRITEV_FIXED: u8 = 61;

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

impl Entry {
    /// The call that it stands for, and whether its result is how many bytes it has moved; `None` of
    /// what is not recorded.
    fn call(&self) -> Option<(Call<'_>, bool)> {
        let &Entry { operation, fd, offset, .. } = self;
        let size = self.size()?;
        Some(match operation {
            READ | READV | READ_FIXED | READV_FIXED | READ_MULTISHOT => {
                (at(const { of("io_uring_read") }, fd, size, offset), true)
            }
            WRITE | WRITEV | WRITE_FIXED | WRITEV_FIXED => {
                (at(const { of("io_uring_write") }, fd, size, offset), true)
            }
            FSYNC | SYNC_FILE_RANGE => (on(const { of("io_uring_fsync") }, fd, 0), false),
            SEND | SENDMSG | SEND_ZC | SENDMSG_ZC => {
                (on(const { of("io_uring_send") }, fd, size), true)
            }
            RECV | RECVMSG => (on(const { of("io_uring_recv") }, fd, size), true),
            OPENAT | OPENAT2 => {
                let path = self.address as *const c_char;
                (opens(const { of("io_uring_openat") }, fd, path), false)
            }
            CLOSE => (on(const { of("io_uring_close") }, fd, 0), false),
            _ => return None,
        })
    }

    /// Bytes that it asks for.
    fn size(&self) -> Option<usize> {
        let &Entry { address, length, .. } = self;
        Some(match self.operation {
            READV | WRITEV | READV_FIXED | WRITEV_FIXED => {
                room(address as *const libc::iovec, length.try_into().ok()?)
            }
            SENDMSG | SENDMSG_ZC | RECVMSG => room_of(address as *const libc::msghdr),
            _ => length as usize,
        })
    }

    fn opens(&self) -> bool {
        matches!(self.operation, OPENAT | OPENAT2)
    }

    /// Where among registered descriptors the one is that it acts on; `None`: it is none of them.
    fn place(&self) -> Option<u32> {
        if self.opens() || self.operation == CLOSE {
            self.place.checked_sub(1)
        } else {
            (self.flags & FIXED_FILE != 0).then_some(self.fd as u32)
        }
    }
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
pub struct Done {
    pub result: c_int,
    pub moves: bool,
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

impl Rings {
    /// Does something with what is known of a ring in a recording; `None` where nobody can follow it.
    pub fn with<T>(
        &self,
        ring: &Ring,
        word: u32,
        work: impl FnOnce(&mut Followed) -> T,
    ) -> Option<T> {
        if ring.flags & SETUP_MIXED != 0 {
            return None;
        }
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = std::ptr::from_ref(ring) as usize;
        let followed = all.entry(at).or_insert_with(|| Followed::new(ring, word));
        if followed.word != word {
            followed.begin_again(ring, word);
        }
        Some(work(followed))
    }

    /// It is no more.
    pub fn forget(&self, ring: *const Ring) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&(ring as usize));
    }
}

/// What is known of a ring.
#[derive(Debug)]
pub struct Followed {
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
pub struct Request {
    pub call: Call<'static>,
    /// Its result is how many bytes it has moved.
    pub moves: bool,
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
    pub fn note(&mut self, session: &Session, ring: &Ring) {
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

    fn request(&self, session: &Session, entry: &Entry) -> Option<Request> {
        let (call, moves) = entry.call()?;
        let (place, fd) = (entry.place(), entry.fd);
        let target = match place {
            _ if entry.opens() => log::target(session, call.target),
            Some(place) => self.registered(place),
            None => log::target(session, Target::Descriptor(fd)),
        };
        if moves && entry.offset < 0 && place.is_none() {
            session.descriptors.share(fd); // goes on where the one before has ended
        }
        if entry.operation == CLOSE && place.is_none() && session.is_here() {
            session.descriptors.forget(fd);
        }
        // a place that is opened is no descriptor
        let kind = if place.is_some() { Kind::Leaf } else { call.kind };
        let Call { point, asked, .. } = call;
        let (target, offset) = (Target::Known(target), call.offset.max(-1));
        let call = Call { target, asked, offset, kind, ..Call::around(point) };
        Some(Request { call, moves })
    }

    /// Descriptors have places from `from` on; the program may close them while the ring still has
    /// their files.
    pub fn register(&mut self, session: &Session, from: usize, files: &[c_int]) {
        let end = from + files.len();
        if self.registered.len() < end {
            self.registered.resize(end, 0);
        }
        for (fd, target) in files.iter().zip(&mut self.registered[from..]) {
            let is_there = *fd >= 0;
            *target = if is_there { log::target(session, Target::Descriptor(*fd)) } else { 0 };
        }
    }

    fn registered(&self, place: u32) -> u64 {
        self.registered.get(place as usize).copied().unwrap_or(0)
    }

    /// The results that have come since the last look.
    pub fn take(&mut self, ring: &Ring) -> Vec<(Request, c_int)> {
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

/// The point of a function, or of what a request does.
pub const fn of(method: &str) -> u16 {
    point("liburing", method)
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
