//! What the collector asks for: its control page, read as a whole, and its word, which changes with it.

use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use iostrata_segment::schema::{
    CONTROL_POINTS_OFF, CONTROL_SIZE, CONTROL_WORD, FILE_KIND_CONTROL, MAGIC, PROCESS_MAX_POINTS,
    VERSION,
};
use iostrata_segment::writer::files;
use rustix::mm::{MapFlags, ProtFlags, mmap};

const PAGE: usize = CONTROL_POINTS_OFF + PROCESS_MAX_POINTS / 8;

/// Of the page that was read last, mapped for as long as this process lives; null before. Its file
/// is the collector's, who never makes it shorter.
static WORD: AtomicPtr<AtomicU32> = AtomicPtr::new(std::ptr::null_mut());
/// What it was then, and which file it is in.
static SEEN: AtomicU32 = AtomicU32::new(0);
static INODE: AtomicU64 = AtomicU64::new(0);

/// What the control page says.
pub struct Control {
    page: [u8; PAGE],
}

impl Control {
    /// `None` where there is no page that can be trusted. One thread at a time.
    pub fn read(directory: &Path) -> Option<Control> {
        let own = rustix::process::geteuid().as_raw();
        let file = files::open_control(&directory.join("control"), own)?;
        let mut page = [0; PAGE];
        file.read_exact_at(&mut page, 0).ok()?;
        let control = Control { page };
        let kind = u32::from(VERSION) | u32::from(FILE_KIND_CONTROL) << 16;
        if control.u32(0) != MAGIC || control.u32(4) != kind {
            return None;
        }
        SEEN.store(control.u32(CONTROL_WORD), Ordering::Relaxed);
        watch(&file);
        Some(control)
    }

    pub fn u32(&self, at: usize) -> u32 {
        let bytes = self.page[at..at + 4].try_into();
        bytes.map_or(0, u32::from_le_bytes)
    }

    pub fn is_off(&self, point: u16) -> bool {
        let point = usize::from(point);
        self.page[CONTROL_POINTS_OFF + point / 8] >> (point % 8) & 1 != 0
    }
}

/// Keeps the word of the page at hand. A collector that begins makes a file of its own.
fn watch(file: &File) {
    let Ok(metadata) = file.metadata() else { return };
    if metadata.size() < CONTROL_SIZE as u64
        || INODE.swap(metadata.ino(), Ordering::Relaxed) == metadata.ino()
    {
        return;
    }
    let (protection, flags) = (ProtFlags::READ, MapFlags::SHARED);
    // SAFETY: a new mapping at an address of the kernel's choice aliases nothing of ours
    let page =
        unsafe { mmap(std::ptr::null_mut(), CONTROL_SIZE, protection, flags, file.as_fd(), 0) };
    if let Ok(page) = page {
        WORD.store(page.wrapping_byte_add(CONTROL_WORD).cast(), Ordering::Release);
    }
}

/// The page that was read last says something else now; without one `other`.
#[inline]
pub fn has_changed(other: bool) -> bool {
    // SAFETY: null, or of a mapping that stays
    let word = unsafe { WORD.load(Ordering::Acquire).as_ref() };
    word.map_or(other, |word| word.load(Ordering::Relaxed) != SEEN.load(Ordering::Relaxed))
}
