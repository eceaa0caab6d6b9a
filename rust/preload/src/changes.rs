//! Functions that change what a descriptor is, or what this process is.

use std::ffi::{c_char, c_int, c_long, c_ulong, c_void};

use libc::{off_t, size_t, sockaddr, socklen_t};

use crate::hooks::{at, on, point};
use crate::log::{self, traced};
use crate::real::real;
use crate::session;

/// # Safety
/// As of the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn close(fd: c_int) -> c_int {
    const POINT: u16 = point("libc", "close");
    traced(&on(POINT, fd, 0), || {
        // before: another thread may get the same number at once
        log::ours(|| session::forget(fd));
        real!(close(fd) as fn(c_int) -> c_int, else -1)
    })
}

/// Functions that say where the next read or write begins.
macro_rules! seeks {
    ($($name:ident)*) => {$(
        /// # Safety
        /// As of the C library's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name(fd: c_int, offset: off_t, whence: c_int) -> off_t {
            const POINT: u16 = point("libc", "lseek");
            let at = traced(&on(POINT, fd, 0), || {
                real!($name(fd, offset, whence) as fn(c_int, off_t, c_int) -> off_t, else -1)
            });
            log::ours(|| session::sought(fd, at));
            at
        }
    )*};
}

seeks! { lseek lseek64 }

/// Mappings of files alone: memory is made so, too.
macro_rules! maps {
    ($($name:ident)*) => {$(
        /// # Safety
        /// As of the C library's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name(
            address: *mut c_void,
            size: size_t,
            protection: c_int,
            flags: c_int,
            fd: c_int,
            offset: off_t,
        ) -> *mut c_void {
            const POINT: u16 = point("libc", "mmap");
            let real = || {
                real!(
                    $name(address, size, protection, flags, fd, offset)
                        as fn(*mut c_void, size_t, c_int, c_int, c_int, off_t) -> *mut c_void,
                    else libc::MAP_FAILED
                )
            };
            if fd < 0 || flags & libc::MAP_ANONYMOUS != 0 {
                return real();
            }
            let call = log::Call { bytes: size, ..at(POINT, fd, size, offset) };
            traced(&call, real)
        }
    )*};
}

maps! { mmap mmap64 }

/// Functions that make a descriptor of another kind; those that fail leave what is known.
macro_rules! makes {
    ($(fn $name:ident($($argument:ident: $type:ty),*);)*) => {$(
        /// # Safety
        /// As of the C library's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name($($argument: $type),*) -> c_int {
            let made = real!($name($($argument),*) as fn($($type),*) -> c_int, else -1);
            log::ours(|| session::forget(made));
            made
        }
    )*};
}

makes! {
    fn socket(domain: c_int, kind: c_int, protocol: c_int);
    fn accept(fd: c_int, from: *mut sockaddr, length: *mut socklen_t);
    fn accept4(fd: c_int, from: *mut sockaddr, length: *mut socklen_t, flags: c_int);
    fn epoll_create1(flags: c_int);
    fn eventfd(count: std::ffi::c_uint, flags: c_int);
    fn memfd_create(name: *const c_char, flags: std::ffi::c_uint);
}

/// A socket has a peer from here on.
///
/// # Safety
/// As of the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn connect(
    fd: c_int,
    to: *const sockaddr,
    length: socklen_t,
) -> c_int {
    log::ours(|| session::forget(fd));
    real!(connect(fd, to, length) as fn(c_int, *const sockaddr, socklen_t) -> c_int, else -1)
}

/// Functions that make two descriptors, which they write to the place between their other
/// arguments.
macro_rules! makes_two {
    ($(fn $name:ident($($before:ident: $b:ty),*; $both:ident; $($after:ident: $a:ty),*);)*) => {$(
        /// # Safety
        /// As of the C library's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name(
            $($before: $b,)* $both: *mut c_int $(, $after: $a)*
        ) -> c_int {
            let done = real!(
                $name($($before,)* $both $(, $after)*) as fn($($b,)* *mut c_int $(, $a)*) -> c_int,
                else -1
            );
            if done == 0 {
                // SAFETY: the C library has just written both
                let [one, other] = unsafe { [*$both, *$both.add(1)] };
                log::ours(|| {
                    session::forget(one);
                    session::forget(other);
                });
            }
            done
        }
    )*};
}

makes_two! {
    fn pipe(; both;);
    fn pipe2(; both; flags: c_int);
    fn socketpair(domain: c_int, kind: c_int, protocol: c_int; both;);
}

/// # Safety
/// As of the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn dup(fd: c_int) -> c_int {
    copied(fd, real!(dup(fd) as fn(c_int) -> c_int, else -1))
}

/// # Safety
/// As of the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn dup2(fd: c_int, to: c_int) -> c_int {
    copied(fd, real!(dup2(fd, to) as fn(c_int, c_int) -> c_int, else -1))
}

/// # Safety
/// As of the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn dup3(fd: c_int, to: c_int, flags: c_int) -> c_int {
    copied(fd, real!(dup3(fd, to, flags) as fn(c_int, c_int, c_int) -> c_int, else -1))
}

/// # Safety
/// As of the C library's. Whatever its third argument is, it is as large as a long.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn fcntl(fd: c_int, what: c_int, argument: c_long) -> c_int {
    let done = real!(fcntl(fd, what, argument) as fn(c_int, c_int, c_long) -> c_int, else -1);
    if copies(what) { copied(fd, done) } else { done }
}

/// # Safety
/// As of the C library's. Whatever its third argument is, it is as large as a long.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn fcntl64(fd: c_int, what: c_int, argument: c_long) -> c_int {
    let done = real!(fcntl64(fd, what, argument) as fn(c_int, c_int, c_long) -> c_int, else -1);
    if copies(what) { copied(fd, done) } else { done }
}

/// Whether that of `fcntl()` makes a descriptor of another one.
pub fn copies(what: c_int) -> bool {
    matches!(what, libc::F_DUPFD | libc::F_DUPFD_CLOEXEC)
}

pub fn copied(from: c_int, to: c_int) -> c_int {
    if to >= 0 {
        log::ours(|| session::copied(from, to));
    }
    to
}

type Words = *const *const c_char;

/// The process becomes another program, which may record itself; if not, it begins anew.
pub fn becomes<T>(real: impl FnOnce() -> T) -> T {
    let has_ended = log::ours(|| session::end_here(true)).unwrap_or(false);
    let failed = real();
    if has_ended {
        log::ours(session::begin_again);
    }
    failed
}

macro_rules! becomes {
    ($(fn $name:ident($($argument:ident: $type:ty),*);)*) => {$(
        /// # Safety
        /// As of the C library's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name($($argument: $type),*) -> c_int {
            becomes(|| real!($name($($argument),*) as fn($($type),*) -> c_int, else -1))
        }
    )*};
}

becomes! {
    fn execve(path: *const c_char, words: Words, variables: Words);
    fn execv(path: *const c_char, words: Words);
    fn execvp(file: *const c_char, words: Words);
    fn execvpe(file: *const c_char, words: Words, variables: Words);
    fn fexecve(fd: c_int, words: Words, variables: Words);
}

/// Whether that of `prctl()` forbids the program system calls, or is what comes before.
pub fn forbids(option: c_int) -> bool {
    matches!(option, libc::PR_SET_NO_NEW_PRIVS | libc::PR_SET_SECCOMP)
}

/// Before a program forbids itself system calls it gives up the right to get more rights, unless it
/// is root: libseccomp does both.
///
/// # Safety
/// As of the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn prctl(
    option: c_int,
    first: c_ulong,
    second: c_ulong,
    third: c_ulong,
    fourth: c_ulong,
) -> c_int {
    if forbids(option) && session::is_on() {
        log::ours(session::leave);
    }
    real!(
        prctl(option, first, second, third, fourth)
            as fn(c_int, c_ulong, c_ulong, c_ulong, c_ulong) -> c_int,
        else -1
    )
}

/// The process ends without what else is done at its end.
macro_rules! ends {
    ($($name:ident)*) => {$(
        /// # Safety
        /// As of the C library's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name(code: c_int) -> ! {
            log::ours(|| session::end_here(false));
            real!($name(code) as fn(c_int) -> c_int, else -1);
            std::process::abort()
        }
    )*};
}

ends! { _exit _Exit quick_exit }
