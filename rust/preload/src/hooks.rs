//! The functions that stand before those of the C library: one line for each of its names.

use std::ffi::{CStr, OsStr, c_char, c_int, c_uint, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use iostrata_segment::points::POINTS;
use libc::{iovec, mode_t, msghdr, off_t, size_t, sockaddr, socklen_t, ssize_t};

use crate::environment::Wanted;
use crate::log::{self, Call, Kind, Target, traced};
use crate::real::real;
use crate::{memory, session, streams};

/// The loader calls it before the program's own code, but for libraries that are loaded before.
#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;

#[used]
#[unsafe(link_section = ".fini_array")]
static END: extern "C" fn() = end;

extern "C" fn begin() {
    log::ours(|| {
        if let Some(wanted) = Wanted::here() {
            memory::prepare();
            log::begin();
            streams::begin();
            session::begin(wanted);
        }
    });
}

extern "C" fn end() {
    streams::end();
    log::ours(session::end);
}

/// Id of the point of a function of a library, as java/points has it.
pub const fn point(library: &str, method: &str) -> u16 {
    let mut at = 0;
    while at < POINTS.len() {
        let point = &POINTS[at];
        if is(point.class, library) && is(point.method, method) {
            return point.id;
        }
        at += 1;
    }
    panic!("no such point")
}

const fn is(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    a.len() == b.len()
}

pub const fn nothing(point: u16) -> Call<'static> {
    Call { kind: Kind::Leaf, ..Call::around(point) }
}

pub const fn on(point: u16, fd: c_int, asked: size_t) -> Call<'static> {
    Call { target: Target::Descriptor(fd), asked, ..nothing(point) }
}

pub const fn at(point: u16, fd: c_int, asked: size_t, offset: off_t) -> Call<'static> {
    Call { offset, ..on(point, fd, asked) }
}

/// A call that begins where the one before has ended.
pub const fn along(point: u16, fd: c_int, asked: size_t) -> Call<'static> {
    Call { goes_on: true, ..on(point, fd, asked) }
}

/// Of `preadv2` and `pwritev2`, -1 is no place.
pub const fn at_or_along(point: u16, fd: c_int, asked: size_t, offset: off_t) -> Call<'static> {
    if offset == -1 { along(point, fd, asked) } else { at(point, fd, asked, offset) }
}

/// A call that moves along two descriptors, or not, as its other arguments say.
pub fn between(point: u16, fds: [c_int; 2], on_: c_int, asked: size_t) -> Call<'static> {
    log::ours(|| fds.map(session::shared));
    on(point, on_, asked)
}

/// A call that opens a path, below the folder of a descriptor.
pub fn opens<'a>(point: u16, folder: c_int, path: *const c_char) -> Call<'a> {
    Call { kind: Kind::Opens, ..below(point, folder, path) }
}

/// A call on a path, below the folder of a descriptor.
pub fn below<'a>(point: u16, folder: c_int, path: *const c_char) -> Call<'a> {
    Call { target: named(folder, path), ..nothing(point) }
}

/// Whether something may be at an address. Programs ask with -1, or a small number, whether the kernel
/// says `EFAULT`, as it does and we could not.
fn may_be<T>(at: *const T) -> bool {
    const LEAST: usize = 1 << 16; // the kernel maps nothing below
    const END: usize = 1 << 56; // nor above, on any processor
    (LEAST..END).contains(&(at as usize))
}

/// A path as the program has given it; an empty one is the folder itself.
pub fn named<'a>(folder: c_int, path: *const c_char) -> Target<'a> {
    if !may_be(path) || !session::is_on() {
        return Target::None;
    }
    // SAFETY: the program passes it on to the C library, which reads it just so
    let bytes = unsafe { CStr::from_ptr(path) }.to_bytes();
    if bytes.is_empty() {
        Target::Descriptor(folder)
    } else {
        Target::Path(folder, Path::new(OsStr::from_bytes(bytes)))
    }
}

/// Bytes that a vector of buffers has room for.
pub fn room(vector: *const iovec, count: c_int) -> size_t {
    let count = usize::try_from(count).unwrap_or(0);
    if !may_be(vector) || count > libc::UIO_MAXIOV as usize || !session::is_on() {
        return 0;
    }
    // SAFETY: the program passes it on to the kernel, which reads it just so
    let vector = unsafe { std::slice::from_raw_parts(vector, count) };
    vector.iter().fold(0, |sum, each| sum.saturating_add(each.iov_len))
}

/// Likewise, of those of a message.
pub fn room_of(message: *const msghdr) -> size_t {
    if !may_be(message) {
        return 0;
    }
    // SAFETY: as above
    unsafe { message.as_ref() }.map_or(0, |message| {
        room(message.msg_iov, c_int::try_from(message.msg_iovlen).unwrap_or(0))
    })
}

/// `fn NAME(arguments) -> type, else VALUE, as POINT: CALL;` for each function: it is called, and
/// what it does is recorded as CALL, a function of the point of that name.
macro_rules! hooks {
    ($(fn $name:ident($($argument:ident: $type:ty),*) -> $returned:ty, as $point:literal:
        $call:expr;)*) => {$(
        /// See [`hooks`].
        ///
        /// # Safety
        /// As of the C library's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name($($argument: $type),*) -> $returned {
            const POINT: u16 = point("libc", $point);
            let call: Call<'_> = $call(POINT);
            traced(&call, || {
                real!($name($($argument),*) as fn($($type),*) -> $returned, else -1 as $returned)
            })
        }
    )*};
}

type Path_ = *const c_char;
type Bytes = *mut c_void;
type Const = *const c_void;
pub const CWD: c_int = libc::AT_FDCWD;

// open() has no third argument where it makes no file; what stands in its place is passed on.
hooks! {
    fn open(path: Path_, flags: c_int, mode: mode_t) -> c_int, as "open": |p| opens(p, CWD, path);
    fn open64(path: Path_, flags: c_int, mode: mode_t) -> c_int, as "open": |p| opens(p, CWD, path);
    fn __open_2(path: Path_, flags: c_int) -> c_int, as "open": |p| opens(p, CWD, path);
    fn __open64_2(path: Path_, flags: c_int) -> c_int, as "open": |p| opens(p, CWD, path);
    fn openat(at: c_int, path: Path_, flags: c_int, mode: mode_t) -> c_int, as "open": |p| opens(p, at, path);
    fn openat64(at: c_int, path: Path_, flags: c_int, mode: mode_t) -> c_int, as "open": |p| opens(p, at, path);
    fn __openat_2(at: c_int, path: Path_, flags: c_int) -> c_int, as "open": |p| opens(p, at, path);
    fn __openat64_2(at: c_int, path: Path_, flags: c_int) -> c_int, as "open": |p| opens(p, at, path);
    fn creat(path: Path_, mode: mode_t) -> c_int, as "open": |p| opens(p, CWD, path);
    fn creat64(path: Path_, mode: mode_t) -> c_int, as "open": |p| opens(p, CWD, path);

    fn read(fd: c_int, to: Bytes, size: size_t) -> ssize_t, as "read": |p| along(p, fd, size);
    fn __read_chk(fd: c_int, to: Bytes, size: size_t, room: size_t) -> ssize_t, as "read":
        |p| along(p, fd, size);
    fn pread(fd: c_int, to: Bytes, size: size_t, offset: off_t) -> ssize_t, as "pread":
        |p| at(p, fd, size, offset);
    fn pread64(fd: c_int, to: Bytes, size: size_t, offset: off_t) -> ssize_t, as "pread":
        |p| at(p, fd, size, offset);
    fn __pread_chk(fd: c_int, to: Bytes, size: size_t, offset: off_t, room: size_t) -> ssize_t,
        as "pread": |p| at(p, fd, size, offset);
    fn __pread64_chk(fd: c_int, to: Bytes, size: size_t, offset: off_t, room: size_t) -> ssize_t,
        as "pread": |p| at(p, fd, size, offset);
    fn readv(fd: c_int, to: *const iovec, count: c_int) -> ssize_t, as "readv":
        |p| along(p, fd, room(to, count));
    fn preadv(fd: c_int, to: *const iovec, count: c_int, offset: off_t) -> ssize_t, as "preadv":
        |p| at(p, fd, room(to, count), offset);
    fn preadv64(fd: c_int, to: *const iovec, count: c_int, offset: off_t) -> ssize_t, as "preadv":
        |p| at(p, fd, room(to, count), offset);
    fn preadv2(fd: c_int, to: *const iovec, count: c_int, offset: off_t, flags: c_int) -> ssize_t,
        as "preadv2": |p| at_or_along(p, fd, room(to, count), offset);
    fn preadv64v2(fd: c_int, to: *const iovec, count: c_int, offset: off_t, flags: c_int) -> ssize_t,
        as "preadv2": |p| at_or_along(p, fd, room(to, count), offset);

    fn write(fd: c_int, from: Const, size: size_t) -> ssize_t, as "write": |p| along(p, fd, size);
    fn pwrite(fd: c_int, from: Const, size: size_t, offset: off_t) -> ssize_t, as "pwrite":
        |p| at(p, fd, size, offset);
    fn pwrite64(fd: c_int, from: Const, size: size_t, offset: off_t) -> ssize_t, as "pwrite":
        |p| at(p, fd, size, offset);
    fn writev(fd: c_int, from: *const iovec, count: c_int) -> ssize_t, as "writev":
        |p| along(p, fd, room(from, count));
    fn pwritev(fd: c_int, from: *const iovec, count: c_int, offset: off_t) -> ssize_t,
        as "pwritev": |p| at(p, fd, room(from, count), offset);
    fn pwritev64(fd: c_int, from: *const iovec, count: c_int, offset: off_t) -> ssize_t,
        as "pwritev": |p| at(p, fd, room(from, count), offset);
    fn pwritev2(fd: c_int, from: *const iovec, count: c_int, offset: off_t, flags: c_int) -> ssize_t,
        as "pwritev2": |p| at_or_along(p, fd, room(from, count), offset);
    fn pwritev64v2(fd: c_int, from: *const iovec, count: c_int, offset: off_t, flags: c_int)
        -> ssize_t, as "pwritev2": |p| at_or_along(p, fd, room(from, count), offset);

    fn fsync(fd: c_int) -> c_int, as "fsync": |p| on(p, fd, 0);
    fn fdatasync(fd: c_int) -> c_int, as "fdatasync": |p| on(p, fd, 0);
    fn sync_file_range(fd: c_int, offset: off_t, size: off_t, flags: c_uint) -> c_int,
        as "sync_file_range": |p| at(p, fd, 0, offset);
    fn msync(address: Bytes, size: size_t, flags: c_int) -> c_int, as "msync": nothing;

    fn ftruncate(fd: c_int, size: off_t) -> c_int, as "ftruncate": |p| at(p, fd, 0, size);
    fn ftruncate64(fd: c_int, size: off_t) -> c_int, as "ftruncate": |p| at(p, fd, 0, size);
    fn truncate(path: Path_, size: off_t) -> c_int, as "truncate": |p| below(p, CWD, path);
    fn truncate64(path: Path_, size: off_t) -> c_int, as "truncate": |p| below(p, CWD, path);
    fn fallocate(fd: c_int, mode: c_int, offset: off_t, size: off_t) -> c_int, as "fallocate":
        |p| at(p, fd, 0, offset);
    fn fallocate64(fd: c_int, mode: c_int, offset: off_t, size: off_t) -> c_int, as "fallocate":
        |p| at(p, fd, 0, offset);

    fn stat(path: Path_, to: Bytes) -> c_int, as "stat": |p| below(p, CWD, path);
    fn stat64(path: Path_, to: Bytes) -> c_int, as "stat": |p| below(p, CWD, path);
    fn lstat(path: Path_, to: Bytes) -> c_int, as "lstat": |p| below(p, CWD, path);
    fn lstat64(path: Path_, to: Bytes) -> c_int, as "lstat": |p| below(p, CWD, path);
    fn fstat(fd: c_int, to: Bytes) -> c_int, as "fstat": |p| on(p, fd, 0);
    fn fstat64(fd: c_int, to: Bytes) -> c_int, as "fstat": |p| on(p, fd, 0);
    fn fstatat(folder: c_int, path: Path_, to: Bytes, flags: c_int) -> c_int, as "fstatat":
        |p| below(p, folder, path);
    fn fstatat64(folder: c_int, path: Path_, to: Bytes, flags: c_int) -> c_int, as "fstatat":
        |p| below(p, folder, path);
    fn __xstat(version: c_int, path: Path_, to: Bytes) -> c_int, as "stat": |p| below(p, CWD, path);
    fn __xstat64(version: c_int, path: Path_, to: Bytes) -> c_int, as "stat":
        |p| below(p, CWD, path);
    fn __lxstat(version: c_int, path: Path_, to: Bytes) -> c_int, as "lstat":
        |p| below(p, CWD, path);
    fn __lxstat64(version: c_int, path: Path_, to: Bytes) -> c_int, as "lstat":
        |p| below(p, CWD, path);
    fn __fxstat(version: c_int, fd: c_int, to: Bytes) -> c_int, as "fstat": |p| on(p, fd, 0);
    fn __fxstat64(version: c_int, fd: c_int, to: Bytes) -> c_int, as "fstat": |p| on(p, fd, 0);
    fn statx(folder: c_int, path: Path_, flags: c_int, mask: c_uint, to: Bytes) -> c_int,
        as "statx": |p| below(p, folder, path);
    fn access(path: Path_, mode: c_int) -> c_int, as "access": |p| below(p, CWD, path);
    fn faccessat(folder: c_int, path: Path_, mode: c_int, flags: c_int) -> c_int, as "access":
        |p| below(p, folder, path);

    fn unlink(path: Path_) -> c_int, as "unlink": |p| below(p, CWD, path);
    fn unlinkat(folder: c_int, path: Path_, flags: c_int) -> c_int, as "unlink":
        |p| below(p, folder, path);
    fn rmdir(path: Path_) -> c_int, as "rmdir": |p| below(p, CWD, path);
    fn mkdir(path: Path_, mode: mode_t) -> c_int, as "mkdir": |p| below(p, CWD, path);
    fn mkdirat(folder: c_int, path: Path_, mode: mode_t) -> c_int, as "mkdir":
        |p| below(p, folder, path);
    fn rename(from: Path_, to: Path_) -> c_int, as "rename": |p| below(p, CWD, to);
    fn renameat(folder: c_int, from: Path_, below_: c_int, to: Path_) -> c_int, as "rename":
        |p| below(p, below_, to);
    fn renameat2(folder: c_int, from: Path_, below_: c_int, to: Path_, flags: c_uint) -> c_int,
        as "rename": |p| below(p, below_, to);

    fn sendfile(to: c_int, from: c_int, offset: *mut off_t, size: size_t) -> ssize_t,
        as "sendfile": |p| between(p, [from, to], to, size);
    fn sendfile64(to: c_int, from: c_int, offset: *mut off_t, size: size_t) -> ssize_t,
        as "sendfile": |p| between(p, [from, to], to, size);
    fn copy_file_range(from: c_int, offset: *mut off_t, to: c_int, at: *mut off_t, size: size_t,
        flags: c_uint) -> ssize_t, as "copy_file_range": |p| between(p, [from, to], to, size);
    fn splice(from: c_int, offset: *mut off_t, to: c_int, at: *mut off_t, size: size_t,
        flags: c_uint) -> ssize_t, as "splice": |p| between(p, [from, to], from, size);

    fn send(fd: c_int, from: Const, size: size_t, flags: c_int) -> ssize_t, as "send":
        |p| on(p, fd, size);
    fn sendto(fd: c_int, from: Const, size: size_t, flags: c_int, to: *const sockaddr,
        length: socklen_t) -> ssize_t, as "send": |p| on(p, fd, size);
    fn sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t, as "sendmsg":
        |p| on(p, fd, room_of(message));
    fn recv(fd: c_int, to: Bytes, size: size_t, flags: c_int) -> ssize_t, as "recv":
        |p| on(p, fd, size);
    fn __recv_chk(fd: c_int, to: Bytes, size: size_t, room: size_t, flags: c_int) -> ssize_t,
        as "recv": |p| on(p, fd, size);
    fn recvfrom(fd: c_int, to: Bytes, size: size_t, flags: c_int, from: *mut sockaddr,
        length: *mut socklen_t) -> ssize_t, as "recv": |p| on(p, fd, size);
    fn __recvfrom_chk(fd: c_int, to: Bytes, size: size_t, room: size_t, flags: c_int,
        from: *mut sockaddr, length: *mut socklen_t) -> ssize_t, as "recv": |p| on(p, fd, size);
    fn recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t, as "recvmsg":
        |p| on(p, fd, room_of(message));
}
