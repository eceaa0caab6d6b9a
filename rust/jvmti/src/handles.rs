//! What Java passes to native methods: addresses of processes and threads, and names.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use iostrata_segment::schema::PROCESS_COUNTER_FAULTS;
use iostrata_segment::writer::{MAX_NAME, Process, Thread};
use jni_sys::{JNIEnv, jlong, jobject};

use crate::jni::Jni;

/// A character is at least one byte: what lies beyond can never fit.
const MOST_CHARACTERS: usize = MAX_NAME;

pub fn characters(env: *mut JNIEnv, name: jobject) -> String {
    Jni::new(env).characters(name, MOST_CHARACTERS).unwrap_or_default()
}

/// The process of a handle.
pub fn process<'a>(handle: jlong) -> Option<&'a Arc<Process>> {
    // SAFETY: Java passes what `open` has given, which is never freed, or 0
    unsafe { (handle as *const Arc<Process>).as_ref() }
}

/// `work` with a process, and no panic out of it: that would end the JVM.
pub fn of_process(handle: jlong, work: impl FnOnce(&Arc<Process>)) {
    let Some(process) = process(handle) else { return };
    if catch_unwind(AssertUnwindSafe(|| work(process))).is_err() {
        process.count(PROCESS_COUNTER_FAULTS, 1);
    }
}

/// `work` with a thread; after a fault inside its calls are only counted.
#[inline]
pub fn of_thread(handle: jlong, work: impl FnOnce(&mut Thread)) {
    // SAFETY: Java passes what `begin` has given, in that thread only, and not after `endThread`
    let Some(thread) = (unsafe { (handle as *mut Thread).as_mut() }) else { return };
    if catch_unwind(AssertUnwindSafe(|| work(thread))).is_err() {
        let _ = catch_unwind(AssertUnwindSafe(|| thread.fail()));
    }
}
