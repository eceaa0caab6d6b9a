//! The functions that ours stand before.

use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

/// The next function of a name, looked up once.
#[derive(Debug)]
pub struct Real {
    name: &'static CStr,
    at: AtomicPtr<c_void>,
}

impl Real {
    pub const fn new(name: &'static CStr) -> Real {
        Real { name, at: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// Null where the C library has none of this name: it is an older one.
    #[inline]
    pub fn get(&self) -> *mut c_void {
        let at = self.at.load(Ordering::Relaxed);
        if at.is_null() { self.look_up() } else { at }
    }

    #[cold]
    fn look_up(&self) -> *mut c_void {
        // SAFETY: a name that ends with 0
        let at = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        self.at.store(at, Ordering::Relaxed);
        at
    }
}

/// `real!(name as fn(types) -> type, else value)(arguments)`: what the function of the C library
/// returns, or `value` with `ENOSYS` where it has none.
macro_rules! real {
    ($name:ident($($value:expr),*) as fn($($type:ty),*) -> $returned:ty, else $none:expr) => {{
        static REAL: $crate::real::Real = $crate::real::Real::new(
            // SAFETY: a name that ends with 0, and has no other
            unsafe {
                std::ffi::CStr::from_bytes_with_nul_unchecked(
                    concat!(stringify!($name), "\0").as_bytes(),
                )
            },
        );
        let at = REAL.get();
        if at.is_null() {
            // SAFETY: a place of this thread
            unsafe { *libc::__errno_location() = libc::ENOSYS };
            $none
        } else {
            type Function = unsafe extern "C-unwind" fn($($type),*) -> $returned;
            // SAFETY: the C library's function of this name has these types
            let function = unsafe { std::mem::transmute::<*mut std::ffi::c_void, Function>(at) };
            // SAFETY: the program's own arguments
            unsafe { function($($value),*) }
        }
    }};
}

pub(crate) use real;
