//! Calls of the kernel by their numbers: `syscall()` of the C library.

use std::ffi::{c_char, c_int, c_long};

use libc::{iovec, msghdr};

use crate::changes::{self, becomes, copied, copies};
use crate::hooks::{
    CWD, along, at, at_or_along, below, between, nothing, on, opens, point, room, room_of,
};
use crate::log::{self, Call, traced};
use crate::real::real;
use crate::session;

/// After the number.
type Arguments = [c_long; 6];

macro_rules! of {
    ($method:literal) => {
        const { point("libc", $method) }
    };
}

/// # Safety
/// As of the C library's. Arguments that a call does not have are passed on as they stand there.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn syscall(
    number: c_long,
    first: c_long,
    second: c_long,
    third: c_long,
    fourth: c_long,
    fifth: c_long,
    sixth: c_long,
) -> c_long {
    let real = || {
        real!(
            syscall(number, first, second, third, fourth, fifth, sixth)
                as fn(c_long, c_long, c_long, c_long, c_long, c_long, c_long) -> c_long,
            else -1
        )
    };
    if !session::is_on() {
        return real();
    }
    let arguments = [first, second, third, fourth, fifth, sixth];
    if let Some(call) = moves(number, &arguments) {
        return traced(&call, || real() as isize) as c_long;
    }
    let call = does(number, &arguments);
    let call = call.or_else(|| names(number, &arguments)).or_else(|| old_names(number, &arguments));
    match call {
        Some(call) => c_long::from(traced(&call, || {
            if number == libc::SYS_close {
                // before: another thread may get the same number at once
                log::ours(|| session::forget(first as c_int));
            }
            real() as c_int
        })),
        None => changes(number, &arguments, real),
    }
}

fn path(address: c_long) -> *const c_char {
    address as *const c_char
}

/// What returns how many bytes it has moved.
fn moves(number: c_long, arguments: &Arguments) -> Option<Call<'static>> {
    let &[first, second, third, fourth, fifth, _] = arguments;
    let (fd, size) = (first as c_int, third as usize);
    let vector = || room(second as *const iovec, third as c_int);
    let message = || room_of(second as *const msghdr);
    Some(match number {
        libc::SYS_read => along(of!("read"), fd, size),
        libc::SYS_write => along(of!("write"), fd, size),
        libc::SYS_pread64 => at(of!("pread"), fd, size, fourth),
        libc::SYS_pwrite64 => at(of!("pwrite"), fd, size, fourth),
        libc::SYS_readv => along(of!("readv"), fd, vector()),
        libc::SYS_writev => along(of!("writev"), fd, vector()),
        libc::SYS_preadv => at(of!("preadv"), fd, vector(), fourth),
        libc::SYS_pwritev => at(of!("pwritev"), fd, vector(), fourth),
        libc::SYS_preadv2 => at_or_along(of!("preadv2"), fd, vector(), fourth),
        libc::SYS_pwritev2 => at_or_along(of!("pwritev2"), fd, vector(), fourth),
        libc::SYS_sendfile => between(of!("sendfile"), [fd, second as c_int], fd, fourth as usize),
        libc::SYS_copy_file_range => {
            between(of!("copy_file_range"), [fd, third as c_int], third as c_int, fifth as usize)
        }
        libc::SYS_splice => between(of!("splice"), [fd, third as c_int], fd, fifth as usize),
        libc::SYS_sendto => on(of!("send"), fd, size),
        libc::SYS_recvfrom => on(of!("recv"), fd, size),
        libc::SYS_sendmsg => on(of!("sendmsg"), fd, message()),
        libc::SYS_recvmsg => on(of!("recvmsg"), fd, message()),
        _ => return None,
    })
}

/// What acts on a descriptor.
fn does(number: c_long, arguments: &Arguments) -> Option<Call<'static>> {
    let &[first, second, third, ..] = arguments;
    let fd = first as c_int;
    Some(match number {
        libc::SYS_close => on(of!("close"), fd, 0),
        libc::SYS_fsync => on(of!("fsync"), fd, 0),
        libc::SYS_fdatasync => on(of!("fdatasync"), fd, 0),
        libc::SYS_sync_file_range => at(of!("sync_file_range"), fd, 0, second),
        libc::SYS_msync => nothing(of!("msync")),
        libc::SYS_ftruncate => at(of!("ftruncate"), fd, 0, second),
        libc::SYS_fallocate => at(of!("fallocate"), fd, 0, third),
        libc::SYS_fstat => on(of!("fstat"), fd, 0),
        _ => return None,
    })
}

/// What acts on a name below the folder of a descriptor.
fn names(number: c_long, arguments: &Arguments) -> Option<Call<'static>> {
    let &[first, second, third, fourth, ..] = arguments;
    let folder = first as c_int;
    Some(match number {
        libc::SYS_openat | libc::SYS_openat2 => opens(of!("open"), folder, path(second)),
        libc::SYS_truncate => below(of!("truncate"), CWD, path(first)),
        libc::SYS_newfstatat => below(of!("fstatat"), folder, path(second)),
        libc::SYS_statx => below(of!("statx"), folder, path(second)),
        libc::SYS_faccessat | libc::SYS_faccessat2 => below(of!("access"), folder, path(second)),
        libc::SYS_unlinkat => below(of!("unlink"), folder, path(second)),
        libc::SYS_mkdirat => below(of!("mkdir"), folder, path(second)),
        libc::SYS_renameat2 => below(of!("rename"), third as c_int, path(fourth)),
        _ => return None,
    })
}

/// Those that newer processors' kernels no longer have.
#[cfg(target_arch = "x86_64")]
fn old_names(number: c_long, arguments: &Arguments) -> Option<Call<'static>> {
    let &[first, second, third, fourth, ..] = arguments;
    Some(match number {
        libc::SYS_open | libc::SYS_creat => opens(of!("open"), CWD, path(first)),
        libc::SYS_stat => below(of!("stat"), CWD, path(first)),
        libc::SYS_lstat => below(of!("lstat"), CWD, path(first)),
        libc::SYS_access => below(of!("access"), CWD, path(first)),
        libc::SYS_unlink => below(of!("unlink"), CWD, path(first)),
        libc::SYS_rmdir => below(of!("rmdir"), CWD, path(first)),
        libc::SYS_mkdir => below(of!("mkdir"), CWD, path(first)),
        libc::SYS_rename => below(of!("rename"), CWD, path(second)),
        libc::SYS_renameat => below(of!("rename"), third as c_int, path(fourth)),
        _ => return None,
    })
}

#[cfg(not(target_arch = "x86_64"))]
fn old_names(_: c_long, _: &Arguments) -> Option<Call<'static>> {
    None
}

/// What changes a descriptor, or this process.
fn changes(number: c_long, arguments: &Arguments, real: impl FnOnce() -> c_long) -> c_long {
    let &[first, second, third, ..] = arguments;
    let fd = first as c_int;
    match number {
        libc::SYS_lseek => {
            let at = traced(&on(of!("lseek"), fd, 0), real);
            log::ours(|| session::sought(fd, at));
            at
        }
        libc::SYS_dup | libc::SYS_dup3 => c_long::from(copied(fd, real() as c_int)),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_dup2 => c_long::from(copied(fd, real() as c_int)),
        libc::SYS_fcntl if copies(second as c_int) => c_long::from(copied(fd, real() as c_int)),
        libc::SYS_execve | libc::SYS_execveat => becomes(real),
        libc::SYS_exit_group => {
            log::ours(|| session::end_here(false));
            real()
        }
        libc::SYS_seccomp if forbids(first, third) => {
            log::ours(session::leave);
            real()
        }
        libc::SYS_prctl if changes::forbids(first as c_int) => {
            log::ours(session::leave);
            real()
        }
        _ => real(),
    }
}

/// Who asks what the kernel can do passes no filter, or another operation.
fn forbids(operation: c_long, filter: c_long) -> bool {
    const STRICT: c_long = libc::SECCOMP_SET_MODE_STRICT as c_long;
    const FILTER: c_long = libc::SECCOMP_SET_MODE_FILTER as c_long;
    operation == STRICT || operation == FILTER && filter != 0
}
