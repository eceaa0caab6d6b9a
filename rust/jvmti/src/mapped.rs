//! Mappings that Java holds as buffers. Each goes when the JVM frees its buffer and not before: a
//! hook may still write to it when the agent has left.

use std::sync::{Mutex, PoisonError};

use jni_sys::{jlong, jobject};

use crate::files;
use crate::jvmti::{EVENT_OBJECT_FREE, Env};

/// Start, which is the buffer's tag, and size in bytes.
#[derive(Debug, Default)]
pub struct MappedFiles(Mutex<Vec<(usize, usize)>>);

impl MappedFiles {
    /// Where the JVM tells nothing of freed objects the mapping stays as long as the process.
    pub fn keep(&self, env: Env, buffer: jobject, start: *mut u8, size: usize) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((start as usize, size));
        let _ = env
            .notify(EVENT_OBJECT_FREE, true)
            .and_then(|()| env.tag(buffer, start as usize as jlong));
    }

    /// The object of this tag is gone.
    pub fn freed(&self, tag: jlong) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = all.iter().position(|(start, _)| *start == tag as usize) {
            let (start, size) = all.swap_remove(place);
            // SAFETY: nothing leads to the mapping any more
            unsafe { files::release(start as *mut u8, size) };
        }
    }
}
