//! Functions of libraries that a program may load at any time, or more than once: Python's modules
//! bring each their own MPI or HDF5, and see no other.
//!
//! Ours stand before all of them. Which one is meant is what the loader would have found without us:
//! the one that all see ([`RTLD_NEXT`](libc::RTLD_NEXT)), else that of the library that calls.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use libc::{Dl_info, dl_phdr_info, size_t};

/// In place of a function: each library that calls may mean another one.
const SEVERAL: *mut c_void = std::ptr::without_provenance_mut(1);
/// In place of [`loads`]: what is loaded later changes nothing.
const FOR_EVER: u64 = u64::MAX;

thread_local! {
    /// Of the library that calls the hook that is at work; 0: nobody has asked.
    static CALLER: Cell<usize> = const { Cell::new(0) };
}

/// A hook is at work: whoever asks meanwhile is told of the library that has called it.
#[derive(Debug)]
pub struct Hook {
    around: usize,
}

impl Hook {
    pub fn begins() -> Hook {
        Hook { around: CALLER.replace(0) }
    }
}

impl Drop for Hook {
    fn drop(&mut self) {
        CALLER.set(self.around);
    }
}

/// The function of a name, looked up again when a library has been loaded or has gone.
#[derive(Debug)]
pub struct Loaded {
    name: &'static CStr,
    at: AtomicPtr<c_void>,
    /// [`loads`] when it was looked up.
    loads: AtomicU64,
    /// Where there are several: by [`loads`], and the begin of the library that calls.
    known: Mutex<BTreeMap<(u64, usize), usize>>,
}

impl Loaded {
    pub const fn new(name: &'static CStr) -> Loaded {
        Loaded {
            name,
            at: AtomicPtr::new(std::ptr::null_mut()),
            loads: AtomicU64::new(0),
            known: Mutex::new(BTreeMap::new()),
        }
    }

    /// The one that the program means that is calling us; null where there is none.
    pub fn get(&self) -> *mut c_void {
        let known = self.loads.load(Ordering::Acquire);
        if known != FOR_EVER {
            let loads = loads();
            if known != loads {
                self.look_up(loads);
            }
        }
        let at = self.at.load(Ordering::Relaxed);
        if at == SEVERAL { self.of_caller() } else { at }
    }

    #[cold]
    fn look_up(&self, loads: u64) {
        // SAFETY: a name that ends with 0
        let all_see = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        let (at, until) =
            if all_see.is_null() { (self.of_any(), loads) } else { (all_see, FOR_EVER) };
        self.at.store(at, Ordering::Relaxed);
        self.loads.store(until, Ordering::Release);
    }

    fn of_any(&self) -> *mut c_void {
        let libraries = libraries();
        let mut found = libraries.iter().filter_map(|library| self.of(library));
        let Some(first) = found.next() else { return std::ptr::null_mut() };
        if found.all(|other| other == first) { first } else { SEVERAL }
    }

    fn of_caller(&self) -> *mut c_void {
        let mut base = CALLER.get();
        if base == 0 {
            let library = caller().and_then(|at| library_of(at as *const c_void));
            base = library.map_or(0, |library| library.dli_fbase as usize);
            CALLER.set(base);
        }
        // The lock of a parent that has forked may be held for ever.
        let Ok(mut known) = self.known.try_lock() else { return self.seen_from(base) };
        let key = (self.loads.load(Ordering::Relaxed), base);
        *known.entry(key).or_insert_with(|| self.seen_from(base) as usize) as *mut c_void
    }

    /// What the library sees that begins there; of one that is not known, what the first one sees.
    fn seen_from(&self, base: usize) -> *mut c_void {
        let library = library_of(base as *const c_void);
        // SAFETY: of a library that is running
        let name = library.map(|library| unsafe { CStr::from_ptr(library.dli_fname) });
        name.and_then(|name| self.of(name)).unwrap_or_else(|| {
            let any = libraries().iter().find_map(|library| self.of(library));
            any.unwrap_or(std::ptr::null_mut())
        })
    }

    /// What a library sees that is loaded; ours sees itself.
    fn of(&self, library: &CStr) -> Option<*mut c_void> {
        // SAFETY: names that end with 0; nothing is loaded
        let at = unsafe {
            let handle = libc::dlopen(library.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
            if handle.is_null() {
                return None;
            }
            let at = libc::dlsym(handle, self.name.as_ptr());
            libc::dlclose(handle);
            at
        };
        (!at.is_null() && !is_ours(at)).then_some(at)
    }
}

/// A number that changes when a library has been loaded or has gone.
fn loads() -> u64 {
    extern "C" fn first(info: *mut dl_phdr_info, _: size_t, found: *mut c_void) -> c_int {
        // SAFETY: both are there while the loader calls
        unsafe { *found.cast::<u64>() = ((*info).dlpi_adds << 32) ^ (*info).dlpi_subs };
        1
    }
    let mut found = 0_u64;
    // SAFETY: a number of that size
    unsafe { libc::dl_iterate_phdr(Some(first), (&raw mut found).cast()) };
    found
}

fn libraries() -> Vec<CString> {
    extern "C" fn each(info: *mut dl_phdr_info, _: size_t, found: *mut c_void) -> c_int {
        // SAFETY: both are there while the loader calls
        let (name, found) = unsafe { ((*info).dlpi_name, &mut *found.cast::<Vec<CString>>()) };
        // SAFETY: a name that ends with 0
        let name = if name.is_null() { c"" } else { unsafe { CStr::from_ptr(name) } };
        if !name.is_empty() {
            found.push(name.to_owned());
        }
        0
    }
    let mut found = Vec::<CString>::new();
    // SAFETY: a list of that type
    unsafe { libc::dl_iterate_phdr(Some(each), (&raw mut found).cast()) };
    found
}

/// The library that an address lies in.
fn library_of(at: *const c_void) -> Option<Dl_info> {
    let mut info = std::mem::MaybeUninit::<Dl_info>::zeroed();
    // SAFETY: a place of that size
    if unsafe { libc::dladdr(at, info.as_mut_ptr()) } == 0 {
        return None;
    }
    // SAFETY: written by the loader
    let info = unsafe { info.assume_init() };
    (!info.dli_fname.is_null()).then_some(info)
}

fn is_ours(at: *const c_void) -> bool {
    let base = |at| library_of(at).map(|library| library.dli_fbase);
    base(at) == base(is_ours as *const c_void)
}

/// Name of the file of the library that a function is of.
pub fn file_of(function: *const c_void) -> String {
    let Some(library) = library_of(function) else { return String::new() };
    // SAFETY: of a library that is loaded
    unsafe { CStr::from_ptr(library.dli_fname.cast::<c_char>()) }.to_string_lossy().into_owned()
}

unsafe extern "C" {
    fn _Unwind_Backtrace(
        each: extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
}

/// Where the innermost function is that is not of this library.
fn caller() -> Option<usize> {
    const GO_ON: c_int = 0; // _URC_NO_REASON
    const STOP: c_int = 4; // _URC_NORMAL_STOP
    extern "C" fn each(context: *mut c_void, found: *mut c_void) -> c_int {
        // SAFETY: both are there while the stack is walked
        let at = unsafe { _Unwind_GetIP(context) };
        if at == 0 || is_ours(at as *const c_void) {
            return GO_ON;
        }
        // SAFETY: as above
        unsafe { *found.cast::<usize>() = at };
        STOP
    }
    let mut found = 0_usize;
    // SAFETY: a number of that size
    unsafe { _Unwind_Backtrace(each, (&raw mut found).cast()) };
    (found != 0).then_some(found)
}

/// `loaded!(name(values) as fn(types) -> type)`: what the function returns that the program means;
/// `None` where it has none.
macro_rules! loaded {
    ($name:ident($($value:expr),*) as fn($($type:ty),*) -> $returned:ty) => {{
        static LOADED: $crate::loaded::Loaded = $crate::loaded::Loaded::new(
            // SAFETY: a name that ends with 0, and has no other
            unsafe {
                std::ffi::CStr::from_bytes_with_nul_unchecked(
                    concat!(stringify!($name), "\0").as_bytes(),
                )
            },
        );
        let at = LOADED.get();
        (!at.is_null()).then(|| {
            type Function = unsafe extern "C-unwind" fn($($type),*) -> $returned;
            // SAFETY: the library's function of this name has these types
            let function = unsafe { std::mem::transmute::<*mut std::ffi::c_void, Function>(at) };
            // SAFETY: the program's own arguments, or places of ours
            unsafe { function($($value),*) }
        })
    }};
}

pub(crate) use loaded;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_see_is_found_and_what_nobody_has_is_not() {
        // SAFETY: a name that ends with 0
        let real = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"getpid".as_ptr()) };
        assert_eq!(Loaded::new(c"getpid").get(), real);
        assert!(Loaded::new(c"iostrata_has_no_such").get().is_null());
    }

    #[test]
    fn a_library_that_only_its_loader_sees_is_found() {
        let lookup = Loaded::new(c"uncompress2");
        assert!(lookup.get().is_null());
        // SAFETY: names that end with 0
        let (handle, real) = unsafe {
            let flags = libc::RTLD_LAZY | libc::RTLD_LOCAL;
            let handle = libc::dlopen(c"libz.so.1".as_ptr(), flags);
            assert!(!handle.is_null());
            (handle, libc::dlsym(handle, c"uncompress2".as_ptr()))
        };
        assert_eq!(lookup.get(), real);
        assert!(file_of(real).contains("libz.so"));
        // SAFETY: opened above
        unsafe { libc::dlclose(handle) };
        assert!(lookup.get().is_null());
    }

    #[test]
    fn the_caller_is_outside_of_this_library() {
        // A test is part of it: the first one outside is the C library, which has started it.
        let at = caller().map(|at| file_of(at as *const c_void));
        assert!(at.is_some_and(|file| file.contains("libc")));
    }
}
