//! Files of shared memory, opened without trusting whoever made them.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

use rustix::fs::{FileType, Mode, OFlags, fstat, fstatfs, openat};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::fork;
use crate::memory::Memory;
use crate::schema::{MAGIC, PREAMBLE_FILE_KIND, PREAMBLE_MAGIC, VERSION};
use crate::sigbus::Guard;

#[cfg(not(target_endian = "little"))]
compile_error!("segments are little-endian and read in place");

/// Bytes of the largest file that is mapped at all.
const TMPFS: i64 = 0x0102_1994;
pub const MAX_FILE: u64 = 256 << 20;

#[derive(Debug, thiserror::Error)]
pub enum Rejection {
    #[error("{0}")]
    Io(#[from] Errno),
    #[error("not a regular file")]
    NotRegular,
    #[error("owner uid={found}, but its directory belongs to uid={expected}")]
    Owner { found: u32, expected: u32 },
    #[error("size={size} is not within {least}..={most}")]
    Size { size: u64, least: usize, most: u64 },
    #[error("schema version {found}, this iostrata reads {VERSION}: use the one of its agent")]
    Version { found: u16 },
    #[error("magic={magic:#x} version={version} file_kind={kind}, expected kind {expected}")]
    Preamble { magic: u32, version: u16, kind: u16, expected: u16 },
    #[error("{} mappings are open already", crate::sigbus::CAPACITY)]
    TooMany,
    #[error("of its {size} bytes only {reserved} are reserved: reading it would take memory")]
    Sparse { size: u64, reserved: u64 },
    #[error("{0}")]
    Ring(#[from] crate::ring::BadRing),
    #[error("proc={found:016x}, but its directory says {expected:016x}")]
    Proc { found: u64, expected: u64 },
}

/// A file mapped shared and writable for as long as this lives.
#[derive(Debug)]
pub struct Mapping {
    start: *mut u8,
    size: usize,
    /// None: a producer inside somebody else's process, whose SIGBUS is its own.
    guard: Option<Guard>,
}

// SAFETY: all access goes through atomics; the mapping is unmapped only when dropped
unsafe impl Send for Mapping {}
// SAFETY: as above
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Opens `name` in `directory` if it is a regular file of `owner` with at least `least` bytes.
    pub fn open(
        directory: BorrowedFd<'_>,
        name: &str,
        owner: u32,
        least: usize,
    ) -> Result<Mapping, Rejection> {
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = openat(directory, name, flags, Mode::empty())?;
        let stat = fstat(&file)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(Rejection::NotRegular);
        }
        if stat.st_uid != owner {
            return Err(Rejection::Owner { found: stat.st_uid, expected: owner });
        }
        let size = stat.st_size as u64;
        if size < least as u64 || size > MAX_FILE {
            return Err(Rejection::Size { size, least, most: MAX_FILE });
        }
        // In shared memory, who reads a hole pays for the page. A writer reserves what it makes.
        let reserved = stat.st_blocks as u64 * 512;
        if reserved < size && fstatfs(&file)?.f_type == TMPFS {
            return Err(Rejection::Sparse { size, reserved });
        }
        Mapping::of(&file, size as usize)
    }

    /// Maps the first `size` bytes of an open file.
    pub fn of(file: &OwnedFd, size: usize) -> Result<Mapping, Rejection> {
        let mut mapping = Mapping::map(file, size)?;
        mapping.guard = Guard::new(mapping.start as usize, size);
        if mapping.guard.is_some() { Ok(mapping) } else { Err(Rejection::TooMany) }
    }

    /// Maps what a producer writes to, inside a process of somebody else's. Its bytes are reserved,
    /// and it has a handler for SIGBUS of its own, as a JVM has; but what it forks is its own, too.
    pub fn unguarded(file: &OwnedFd, size: usize) -> Result<Mapping, Rejection> {
        let mapping = Mapping::map(file, size)?;
        fork::keep(mapping.start.cast(), size);
        Ok(mapping)
    }

    fn map(file: &OwnedFd, size: usize) -> Result<Mapping, Rejection> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice aliases nothing of ours
        let start = unsafe {
            mmap(std::ptr::null_mut(), size, protection, MapFlags::SHARED, file.as_fd(), 0)?
        };
        Ok(Mapping { start: start.cast(), size, guard: None })
    }

    /// Lets the file go, while others may still write: what they write is nobody's.
    pub fn abandon(&self) {
        // SAFETY: exactly our own mapping
        unsafe { fork::make_private(self.start.cast(), self.size) };
    }

    /// Checks the first eight bytes against what the file's name promises.
    pub fn expect_kind(&self, expected: u16) -> Result<(), Rejection> {
        let magic = self.acquire_u32(PREAMBLE_MAGIC);
        let word = self.relaxed_u32(PREAMBLE_MAGIC + 4);
        let (version, kind) = (word as u16, (word >> ((PREAMBLE_FILE_KIND - 4) * 8)) as u16);
        if magic == MAGIC && version == VERSION && kind == expected {
            return Ok(());
        }
        if magic == MAGIC && version != VERSION {
            return Err(Rejection::Version { found: version });
        }
        Err(Rejection::Preamble { magic, version, kind, expected })
    }

    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Whether the file turned out shorter than it was when mapped: its content is worth nothing.
    #[must_use]
    pub fn truncated(&self) -> bool {
        self.guard.as_ref().is_some_and(Guard::hit)
    }

    /// Replaces a word by what `change` makes of it, whoever else does so now.
    pub fn update_u64(&self, at: usize, change: impl Fn(u64) -> u64) {
        if let Some(cell) = self.cell_u64(at) {
            let _ =
                cell.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |word| Some(change(word)));
        }
    }

    /// Copies `from..to`, both multiples of 8, within the file.
    #[must_use]
    pub fn copy(&self, from: usize, to: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(to.saturating_sub(from));
        for at in (from..to).step_by(8) {
            bytes.extend_from_slice(&self.relaxed_u64(at).to_le_bytes());
        }
        bytes
    }

    fn cell_u32(&self, at: usize) -> Option<&AtomicU32> {
        if !at.is_multiple_of(4) || at + 4 > self.size {
            return None;
        }
        // SAFETY: aligned (the mapping starts at a page), inside the mapping, only used atomically
        Some(unsafe { AtomicU32::from_ptr(self.start.add(at).cast()) })
    }

    fn cell_u64(&self, at: usize) -> Option<&AtomicU64> {
        if !at.is_multiple_of(8) || at + 8 > self.size {
            return None;
        }
        // SAFETY: as above
        Some(unsafe { AtomicU64::from_ptr(self.start.add(at).cast()) })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // first: once it is unmapped, a mapping of another thread may have the same addresses
        if self.guard.take().is_none() {
            fork::forget(self.start.cast());
        }
        // SAFETY: mapped by `of`, no reference to it outlives self
        let _ = unsafe { munmap(self.start.cast(), self.size) };
    }
}

impl Memory for Mapping {
    #[inline]
    fn acquire_u32(&self, at: usize) -> u32 {
        self.cell_u32(at).map_or(0, |cell| cell.load(Ordering::Acquire))
    }

    #[inline]
    fn acquire_u64(&self, at: usize) -> u64 {
        self.cell_u64(at).map_or(0, |cell| cell.load(Ordering::Acquire))
    }

    #[inline]
    fn relaxed_u32(&self, at: usize) -> u32 {
        self.cell_u32(at).map_or(0, |cell| cell.load(Ordering::Relaxed))
    }

    #[inline]
    fn relaxed_u64(&self, at: usize) -> u64 {
        self.cell_u64(at).map_or(0, |cell| cell.load(Ordering::Relaxed))
    }

    #[inline]
    fn release_u32(&self, at: usize, value: u32) {
        if let Some(cell) = self.cell_u32(at) {
            cell.store(value, Ordering::Release);
        }
    }

    #[inline]
    fn release_u64(&self, at: usize, value: u64) {
        if let Some(cell) = self.cell_u64(at) {
            cell.store(value, Ordering::Release);
        }
    }

    #[inline]
    fn set_u32(&self, at: usize, value: u32) {
        if let Some(cell) = self.cell_u32(at) {
            cell.store(value, Ordering::Relaxed);
        }
    }

    #[inline]
    fn set_u64(&self, at: usize, value: u64) {
        if let Some(cell) = self.cell_u64(at) {
            cell.store(value, Ordering::Relaxed);
        }
    }

    #[inline]
    fn acquire_fence(&self) {
        fence(Ordering::Acquire);
    }

    #[inline]
    fn release_fence(&self) {
        fence(Ordering::Release);
    }
}
