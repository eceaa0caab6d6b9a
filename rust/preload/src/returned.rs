//! What the functions of the C library return: how many bytes they moved, and whether they failed.

use std::ffi::{c_int, c_void};

use iostrata_segment::schema::FLAG_ERRNO;
use libc::FILE;

/// A value that one of them returns.
pub trait Returned: Copy {
    /// Bytes that were moved; 0 where the value says nothing of them.
    fn bytes(self) -> i64;
    fn has_failed(self) -> bool;
    /// The descriptor that it is, if the call opens one.
    fn descriptor(self) -> c_int;

    /// Why it has failed, and as which flag says it: `errno`, if nothing else does.
    fn why(self, errno: c_int) -> (i32, u8) {
        (errno, FLAG_ERRNO)
    }
}

impl Returned for isize {
    fn bytes(self) -> i64 {
        self.max(0) as i64
    }

    fn has_failed(self) -> bool {
        self < 0
    }

    fn descriptor(self) -> c_int {
        -1
    }
}

impl Returned for c_int {
    fn bytes(self) -> i64 {
        0
    }

    fn has_failed(self) -> bool {
        self < 0
    }

    fn descriptor(self) -> c_int {
        self
    }
}

/// A position in a file.
impl Returned for i64 {
    fn bytes(self) -> i64 {
        0
    }

    fn has_failed(self) -> bool {
        self < 0
    }

    fn descriptor(self) -> c_int {
        -1
    }
}

/// A stream.
impl Returned for *mut FILE {
    fn bytes(self) -> i64 {
        0
    }

    fn has_failed(self) -> bool {
        self.is_null()
    }

    fn descriptor(self) -> c_int {
        // SAFETY: it has just been opened
        unsafe { libc::fileno(self) }
    }
}

/// A mapping.
impl Returned for *mut c_void {
    fn bytes(self) -> i64 {
        0
    }

    fn has_failed(self) -> bool {
        self == libc::MAP_FAILED || self.is_null()
    }

    fn descriptor(self) -> c_int {
        -1
    }
}
