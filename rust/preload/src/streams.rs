//! The C library's own streams (`fopen`, `fprintf`, …), which call the kernel by functions inside of
//! it, where no other library can stand before them.
//!
//! Of glibc, each stream has a table of functions, `_IO_file_jumps`: those that call the kernel are
//! replaced there by ours. Code is not touched; a table whose functions are not those that are
//! expected stays as it is, and what its streams do is not seen.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

use libc::{FILE, off_t, ssize_t};
use rustix::mm::{MprotectFlags, mprotect};

use crate::hooks::{CWD, along, on, opens, point};
use crate::log::{self, Call, traced};
use crate::real::real;
use crate::session;

/// Of bytes, and of wide characters.
const TABLES: [&CStr; 2] = [c"_IO_file_jumps", c"_IO_wfile_jumps"];

/// Place in a table (libioP.h), the function that stands there, and ours.
const FUNCTIONS: [(usize, &CStr, *const c_void); 5] = [
    (14, c"_IO_file_read", file_read as *const c_void),
    (15, c"_IO_file_write", file_write as *const c_void),
    (16, c"_IO_file_seek", file_seek as *const c_void),
    (17, c"_IO_file_close", file_close as *const c_void),
    (18, c"_IO_file_stat", file_stat as *const c_void),
];

static THEIRS: [AtomicPtr<c_void>; 5] = [const { AtomicPtr::new(std::ptr::null_mut()) }; 5];

/// While no other thread is there: the library has been loaded.
pub fn begin() {
    let expected = FUNCTIONS.map(|(_, name, _)| symbol(name));
    if expected.iter().any(|function| function.is_null()) {
        return;
    }
    for (theirs, function) in THEIRS.iter().zip(expected) {
        theirs.store(function, Ordering::Release);
    }
    for table in TABLES.map(|name| symbol(name).cast::<*const c_void>()) {
        // SAFETY: a table of glibc has more entries than these
        let is_known = !table.is_null()
            && FUNCTIONS
                .iter()
                .zip(expected)
                .all(|((at, ..), function)| unsafe { *table.add(*at) } == function.cast_const());
        if is_known {
            replace(table);
        }
    }
}

/// The process ends: what is left in buffers is written now, by ours; a moment later the C library
/// would do so. It does not wait for a thread that reads from a stream meanwhile, so we must not be
/// there, either.
pub fn end() {
    let is_alone = log::ours(|| session::is_on() && threads() == Some(1)) == Some(true);
    if is_alone {
        // SAFETY: no condition
        unsafe { libc::fflush(std::ptr::null_mut()) };
    }
}

fn threads() -> Option<usize> {
    Some(std::fs::read_dir("/proc/self/task").ok()?.count())
}

fn symbol(name: &CStr) -> *mut c_void {
    // SAFETY: a name that ends with 0
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }
}

fn replace(table: *mut *const c_void) {
    let page = rustix::param::page_size();
    let (first, last) = (FUNCTIONS[0].0, FUNCTIONS[FUNCTIONS.len() - 1].0 + 1);
    let (begin, end) = (table.wrapping_add(first) as usize, table.wrapping_add(last) as usize);
    let start = begin / page * page;
    let size = end.next_multiple_of(page) - start;
    let allow = |flags| {
        // SAFETY: pages of glibc's data, which stay readable
        unsafe { mprotect(start as *mut c_void, size, flags) }
    };
    if allow(MprotectFlags::READ | MprotectFlags::WRITE).is_err() {
        return;
    }
    for (at, _, ours) in FUNCTIONS {
        // SAFETY: an entry of the table, which may be written now
        unsafe { table.add(at).write(ours) };
    }
    let _ = allow(MprotectFlags::READ);
}

fn theirs(place: usize) -> *mut c_void {
    THEIRS[place].load(Ordering::Relaxed)
}

fn descriptor(stream: *mut FILE) -> c_int {
    // SAFETY: the C library's own
    unsafe { libc::fileno(stream) }
}

unsafe extern "C-unwind" fn file_read(
    stream: *mut FILE,
    to: *mut c_void,
    size: ssize_t,
) -> ssize_t {
    const POINT: u16 = point("libc", "file_read");
    type Function = unsafe extern "C-unwind" fn(*mut FILE, *mut c_void, ssize_t) -> ssize_t;
    let call = along(POINT, descriptor(stream), size.max(0) as usize);
    // SAFETY: `_IO_file_read`, with its own arguments
    traced(&call, || unsafe {
        std::mem::transmute::<*mut c_void, Function>(theirs(0))(stream, to, size)
    })
}

unsafe extern "C-unwind" fn file_write(
    stream: *mut FILE,
    from: *const c_void,
    size: ssize_t,
) -> ssize_t {
    const POINT: u16 = point("libc", "file_write");
    type Function = unsafe extern "C-unwind" fn(*mut FILE, *const c_void, ssize_t) -> ssize_t;
    let call = along(POINT, descriptor(stream), size.max(0) as usize);
    // SAFETY: `_IO_file_write`, with its own arguments
    traced(&call, || unsafe {
        std::mem::transmute::<*mut c_void, Function>(theirs(1))(stream, from, size)
    })
}

unsafe extern "C-unwind" fn file_seek(stream: *mut FILE, offset: off_t, whence: c_int) -> off_t {
    const POINT: u16 = point("libc", "file_seek");
    type Function = unsafe extern "C-unwind" fn(*mut FILE, off_t, c_int) -> off_t;
    let fd = descriptor(stream);
    // SAFETY: `_IO_file_seek`, with its own arguments
    let at = traced(&on(POINT, fd, 0), || unsafe {
        std::mem::transmute::<*mut c_void, Function>(theirs(2))(stream, offset, whence)
    });
    log::ours(|| session::sought(fd, at));
    at
}

unsafe extern "C-unwind" fn file_close(stream: *mut FILE) -> c_int {
    const POINT: u16 = point("libc", "file_close");
    type Function = unsafe extern "C-unwind" fn(*mut FILE) -> c_int;
    let fd = descriptor(stream);
    traced(&on(POINT, fd, 0), || {
        log::ours(|| session::forget(fd));
        // SAFETY: `_IO_file_close`, with its own argument
        unsafe { std::mem::transmute::<*mut c_void, Function>(theirs(3))(stream) }
    })
}

unsafe extern "C-unwind" fn file_stat(stream: *mut FILE, to: *mut c_void) -> c_int {
    const POINT: u16 = point("libc", "file_stat");
    type Function = unsafe extern "C-unwind" fn(*mut FILE, *mut c_void) -> c_int;
    let call = on(POINT, descriptor(stream), 0);
    // SAFETY: `_IO_file_stat`, with its own arguments
    traced(&call, || unsafe { std::mem::transmute::<*mut c_void, Function>(theirs(4))(stream, to) })
}

/// Functions that open a stream: they open its file inside of the C library.
macro_rules! opens_streams {
    ($(fn $name:ident($path:ident $(, $argument:ident: $type:ty)*);)*) => {$(
        /// # Safety
        /// As of the C library's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name($path: *const c_char $(, $argument: $type)*) -> *mut FILE {
            const POINT: u16 = point("libc", "fopen");
            let call: Call<'_> = opens(POINT, CWD, $path);
            traced(&call, || {
                real!(
                    $name($path $(, $argument)*) as fn(*const c_char $(, $type)*) -> *mut FILE,
                    else std::ptr::null_mut()
                )
            })
        }
    )*};
}

opens_streams! {
    fn fopen(path, mode: *const c_char);
    fn fopen64(path, mode: *const c_char);
    fn freopen(path, mode: *const c_char, stream: *mut FILE);
    fn freopen64(path, mode: *const c_char, stream: *mut FILE);
}
