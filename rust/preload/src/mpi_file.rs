//! What is known of a file of MPI-IO while it is open, and what MPI says of a call.
//!
//! MPI ends a program that asks it for nonsense. So it is asked of what it has accepted itself: files
//! that it has opened, types and a status after a call that has succeeded.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use iostrata_segment::schema::{CATEGORY_EXCEPTION, FLAG_ERROR};
use iostrata_segment::writer::Named;

use crate::loaded::{self, loaded};
use crate::log::{self, Target};
use crate::returned::Returned;
use crate::session;

pub type Handle = usize;
pub type Offset = i64;

/// As wide as any MPI has them, and more.
const MOST_TEXT: usize = 8192;

/// Files that are open, by handle.
#[derive(Debug, Default)]
pub struct Files(Mutex<BTreeMap<Handle, File>>);

#[derive(Debug, Clone, Copy)]
struct File {
    target: u64,
    /// Its ranks may ask where they are: it is not opened for sequential access.
    has_places: bool,
    /// Handle of the type of a byte, if this MPI is known.
    byte: Option<Handle>,
}

impl Files {
    fn with<T>(&self, work: impl FnOnce(&mut BTreeMap<Handle, File>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn get(&self, file: Handle) -> Option<File> {
        self.with(|files| files.get(&file).copied())
    }
}

/// Where a call reads or writes.
#[derive(Debug, Clone, Copy)]
pub enum Place {
    /// In elements of the file's view.
    At(Offset),
    /// Where the pointer of this rank is.
    Pointer,
    Unknown,
}

/// A call begins: the target of a file, 0 not known, and the byte of it, -1 not known; `None` where
/// nothing is recorded.
pub fn begins(file: Handle, place: Place) -> Option<(u64, Offset)> {
    let known = session::current()?.files.get(file);
    let Some(File { target, has_places: true, .. }) = known else {
        return Some((known.map_or(0, |known| known.target), -1));
    };
    let at = match place {
        Place::At(at) => Some(at),
        Place::Pointer => answer(|at| {
            loaded!(PMPI_File_get_position(file, at) as fn(Handle, *mut Offset) -> c_int)
        }),
        Place::Unknown => None,
    };
    let byte = at.filter(|at| *at >= 0).and_then(|at| {
        answer(|byte| {
            loaded!(PMPI_File_get_byte_offset(file, at, byte)
                as fn(Handle, Offset, *mut Offset) -> c_int)
        })
    });
    Some((target, byte.unwrap_or(-1)))
}

/// What a function of MPI writes that answers with a number, if it succeeds.
fn answer(ask: impl FnOnce(*mut i64) -> Option<c_int>) -> Option<i64> {
    let mut found = 0_i64;
    (ask(&raw mut found) == Some(0)).then_some(found)
}

/// A file has been opened.
pub fn opened(file: Handle, target: Target<'_>, mode: c_int) {
    let Some(session) = session::current() else { return };
    let Some(kind) = Kind::here() else { return };
    let target = log::target(session, target);
    let has_places = mode & kind.sequential == 0;
    session.files.with(|files| files.insert(file, File { target, has_places, byte: kind.byte }));
}

/// A file is about to be closed.
pub fn closed(file: Handle) {
    if let Some(session) = session::current() {
        session.files.with(|files| files.remove(&file));
    }
}

/// What differs between MPIs.
struct Kind {
    sequential: c_int,    // MPI_MODE_SEQUENTIAL
    byte: Option<Handle>, // MPI_BYTE
}

impl Kind {
    fn here() -> Option<Kind> {
        static BYTE: loaded::Loaded = loaded::Loaded::new(c"ompi_mpi_byte");
        static VERSION: loaded::Loaded = loaded::Loaded::new(c"PMPI_Get_library_version");
        let file = loaded::file_of(VERSION.get());
        let is_standard = file.rsplit('/').next()?.starts_with("libmpi_abi");
        let open_mpi = BYTE.get();
        if is_standard {
            return Some(Kind { sequential: 64, byte: Some(0x247) });
        }
        if !open_mpi.is_null() {
            return Some(Kind { sequential: 256, byte: Some(open_mpi as Handle) });
        }
        let is_mpich =
            ["MPICH", "MVAPICH", "Intel(R) MPI"].iter().any(|name| version().contains(name));
        Some(Kind { sequential: 256, byte: is_mpich.then_some(0x4c00_010d) })
    }
}

fn version() -> String {
    text(|text, length| {
        loaded!(PMPI_Get_library_version(text, length) as fn(*mut c_char, *mut c_int) -> c_int)
    })
}

/// The first line of what a function of MPI writes.
fn text(ask: impl FnOnce(*mut c_char, *mut c_int) -> Option<c_int>) -> String {
    let mut text = vec![0_u8; MOST_TEXT];
    let mut length = 0;
    if ask(text.as_mut_ptr().cast(), &raw mut length) != Some(0) {
        return String::new();
    }
    let text = CStr::from_bytes_until_nul(&text).unwrap_or_default().to_string_lossy().into_owned();
    text.lines().next().unwrap_or_default().to_owned()
}

/// Whereof the bytes of a call are known.
#[derive(Debug, Clone, Copy)]
pub struct Amount {
    /// Its status, or what else is its last argument.
    pub last: *mut c_void,
    has_status: bool,
    count: i64,
    kind: Handle,
}

impl Amount {
    /// The status says it.
    pub fn moved(status: *mut c_void, count: i64, kind: Handle) -> Amount {
        Amount { last: status, has_status: true, count, kind }
    }

    /// What is asked for; it goes on after the call, or ends with another one.
    pub fn asked(last: *mut c_void, count: i64, kind: Handle) -> Amount {
        Amount { last, has_status: false, count, kind }
    }

    /// With a status of ours, if the program wants none: `MPI_STATUS_IGNORE` is 0 or 1.
    pub fn seen(self, own: &mut [u64; 8]) -> Amount {
        if self.has_status && (self.last as usize) < 2 {
            Amount { last: own.as_mut_ptr().cast(), ..self }
        } else {
            self
        }
    }

    /// Bytes of a call that has succeeded.
    pub fn bytes(self, file: Handle) -> i64 {
        let Some(session) = session::current() else { return 0 };
        let Amount { last, has_status, count, kind } = self;
        let byte = session.files.get(file).and_then(|file| file.byte);
        if let Some(byte) = byte.filter(|_| has_status) {
            let found = answer(|found| {
                loaded!(PMPI_Get_elements_x(last, byte, found)
                    as fn(*mut c_void, Handle, *mut i64) -> c_int)
            });
            return found.unwrap_or(0).max(0);
        }
        let size =
            answer(|size| loaded!(PMPI_Type_size_x(kind, size) as fn(Handle, *mut i64) -> c_int));
        let mut whole = count;
        if has_status {
            let mut found: c_int = 0;
            let known = loaded!(PMPI_Get_count(last, kind, &raw mut found)
                as fn(*mut c_void, Handle, *mut c_int) -> c_int);
            whole = if known == Some(0) { found.into() } else { 0 };
        }
        whole.max(0).saturating_mul(size.unwrap_or(0).max(0))
    }
}

/// What a call has returned.
#[derive(Debug, Clone, Copy)]
pub struct Done {
    pub code: c_int,
    bytes: i64,
    /// Dictionary id of what MPI says of the error.
    error: u32,
}

impl Done {
    /// `bytes` is asked for of a call that has succeeded.
    pub fn of(code: c_int, bytes: impl FnOnce() -> i64) -> Done {
        let known = log::ours(|| match code {
            0 => (bytes(), 0),
            _ => (0, error(code)),
        });
        let (bytes, error) = known.unwrap_or_default();
        Done { code, bytes, error }
    }
}

impl Returned for Done {
    fn bytes(self) -> i64 {
        self.bytes
    }

    fn has_failed(self) -> bool {
        self.code != 0
    }

    fn descriptor(self) -> c_int {
        -1
    }

    fn why(self, _: c_int) -> (i32, u8) {
        (self.error as i32, FLAG_ERROR)
    }
}

fn error(code: c_int) -> u32 {
    let Some(session) = session::current() else { return 0 };
    let said = text(|text, length| {
        loaded!(PMPI_Error_string(code, text, length) as fn(c_int, *mut c_char, *mut c_int) -> c_int)
    });
    session.process.named(Named::of(CATEGORY_EXCEPTION), &said)
}

/// ROMIO takes the name of a driver before a path, of two letters at least.
pub fn without_driver(path: &Path) -> &Path {
    let bytes = path.as_os_str().as_bytes();
    let end = bytes.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(0);
    if end > 1 && bytes[end] == b':' {
        Path::new(std::ffi::OsStr::from_bytes(&bytes[end + 1..]))
    } else {
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_is_no_part_of_a_path() {
        let cases =
            [("ufs:/a/b", "/a/b"), ("nfs:a", "a"), ("/a:b", "/a:b"), ("c:x", "c:x"), ("a", "a")];
        for (name, path) in cases {
            assert_eq!(without_driver(Path::new(name)), Path::new(path), "{name}");
        }
    }

    #[test]
    fn without_an_mpi_nothing_is_known() {
        assert_eq!(version(), "");
        let asked = Amount::asked(std::ptr::null_mut(), 3, 0);
        assert_eq!(asked.bytes(7), 0);
        assert_eq!(begins(7, Place::Pointer), None);
    }
}
