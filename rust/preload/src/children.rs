//! Children that the program waits for. Those that are not recorded themselves, since they are linked
//! statically, setuid, or of another C library, have what the kernel counted of them.

use std::ffi::{c_int, c_uint, c_void};

use libc::{id_t, pid_t, siginfo_t};

use crate::log;
use crate::real::real;
use crate::session;

/// The program is about to wait for a child: what has ended is left for it to see, a moment later.
/// False: a handler of a signal has interrupted that, which is what the program is to hear.
///
/// It waits outside of what is ours: a handler may do what it likes meanwhile.
fn has_ended(kind: c_uint, id: id_t, options: c_int) -> bool {
    if !session::is_on() || options & libc::WNOWAIT != 0 {
        return true;
    }
    // SAFETY: a place of this thread
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: likewise
    let before = unsafe { *errno };
    // SAFETY: a structure of integers and pointers
    let mut info: siginfo_t = unsafe { std::mem::zeroed() };
    let options = options | libc::WEXITED | libc::WNOWAIT;
    // by the C library, which lets a thread be cancelled meanwhile
    if theirs(kind, id, &raw mut info, options) < 0 {
        // SAFETY: a place of this thread
        if unsafe { *errno } == libc::EINTR {
            return false;
        }
        // SAFETY: likewise
        unsafe { *errno = before };
        return true; // what is wrong the real call says, too
    }
    // SAFETY: what the kernel has just written, or zeros where none has ended
    let (pid, status) = unsafe { (info.si_pid(), info.si_status()) };
    let exit = match info.si_code {
        libc::CLD_EXITED => status,
        libc::CLD_KILLED | libc::CLD_DUMPED => -status,
        _ => return true, // stopped, or none
    };
    if pid > 0 {
        log::ours(|| session::child_ended(pid.cast_unsigned(), exit));
    }
    true
}

fn theirs(kind: c_uint, id: id_t, info: *mut siginfo_t, options: c_int) -> c_int {
    real!(
        waitid(kind, id, info, options) as fn(c_uint, id_t, *mut siginfo_t, c_int) -> c_int,
        else -1
    )
}

/// As `waitpid()` names children.
fn whom(pid: pid_t) -> (c_uint, id_t) {
    match pid {
        -1 => (libc::P_ALL, 0),
        1.. => (libc::P_PID, pid.cast_unsigned()),
        _ => (libc::P_PGID, pid.unsigned_abs()),
    }
}

/// Functions that wait: for `$pid`, with `$options`.
macro_rules! waits {
    ($(fn $name:ident($($argument:ident: $type:ty),*): $pid:expr, $options:expr;)*) => {$(
        /// # Safety
        /// As of the C library's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name($($argument: $type),*) -> pid_t {
            let (kind, id) = whom($pid);
            if !has_ended(kind, id, $options) {
                return -1;
            }
            real!($name($($argument),*) as fn($($type),*) -> pid_t, else -1)
        }
    )*};
}

waits! {
    fn wait(status: *mut c_int): -1, 0;
    fn waitpid(pid: pid_t, status: *mut c_int, options: c_int): pid, options;
    fn wait3(status: *mut c_int, options: c_int, usage: *mut c_void): -1, options;
    fn wait4(pid: pid_t, status: *mut c_int, options: c_int, usage: *mut c_void): pid, options;
}

/// # Safety
/// As of the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn waitid(
    kind: c_uint,
    id: id_t,
    info: *mut siginfo_t,
    options: c_int,
) -> c_int {
    let waits_for_ends = options & libc::WEXITED != 0;
    if waits_for_ends && !has_ended(kind, id, options) {
        return -1;
    }
    theirs(kind, id, info, options)
}
