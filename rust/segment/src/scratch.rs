//! Folders for tests.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// A new folder, which goes when this is dropped.
pub struct ScratchDir(PathBuf);

impl Default for ScratchDir {
    fn default() -> ScratchDir {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("iostrata-{}-{}", std::process::id(), NEXT.fetch_add(1, Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).unwrap();
        ScratchDir(path)
    }
}

impl ScratchDir {
    #[must_use]
    pub fn new() -> ScratchDir {
        ScratchDir::default()
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for ScratchDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
