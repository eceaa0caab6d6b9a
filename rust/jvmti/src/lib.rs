/*!
The native loader of the JVM agent: `-agentpath:libiostrata_loader.so=dir=D[,run=R][,cache=C]`.

It compares the name of each class that a JVM loads with those of the point table and hands out
woven bytes: from a cache on this host ([`cache`]), else made by the agent's weaver in the same JVM.
What a JVM pays for `java.lang.instrument` and for ASM it therefore does not pay.

* [`table`], [`woven`], [`cache`] and [`options`] know nothing of a JVM;
* [`recording`] is the native writer as Java reaches it;
* [`pauses`] writes what no Java code may run for;
* [`jvmti`] and [`jni`] are the two interfaces of the JVM, as far as they are used;
* [`classes`] puts the agent's classes into the JVM;
* [`hook`] is what the JVM calls, [`natives`] what Java calls, [`java`] what we call in
  it, [`loader`] holds all of them.

Nothing here may harm the host: whatever fails is said in one line on stderr, and the JVM goes on
untraced.
*/

pub mod cache;
mod classes;
mod handles;
mod hook;
mod java;
mod jni;
mod jvmti;
mod loader;
mod loaders;
mod natives;
pub mod options;
mod pauses;
mod recording;
pub mod table;
mod users;
pub mod woven;

use std::ffi::{CStr, c_char, c_void};
use std::io::Write;

use jni_sys::{JavaVM, jint};

/// `JNI_OK`: whatever became of us, the JVM shall start.
const OK: jint = 0;

/// One line on stderr, which may be closed.
fn say(line: &str) {
    let line = format!("iostrata {}: {line}\n", env!("CARGO_PKG_VERSION"));
    let _ = std::io::stderr().write_all(line.as_bytes());
}

fn text(options: *const c_char) -> String {
    if options.is_null() {
        return String::new();
    }
    // SAFETY: the JVM passes a string that ends with 0
    unsafe { CStr::from_ptr(options) }.to_string_lossy().into_owned()
}

/// `work`, and no panic out of it: unwinding into the JVM would end it.
///
/// What the host prints stays its own: a panic is said here in our one line, and counted elsewhere.
fn guarded(work: impl FnOnce() -> Result<(), String>) {
    std::panic::set_hook(Box::new(|_| {}));
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)) {
        Ok(Ok(())) => {}
        Ok(Err(why)) => say(&format!("not tracing: {why}")),
        Err(panic) => {
            let message = panic.downcast_ref::<String>().map_or("no message", String::as_str);
            say(&format!("not tracing: a fault of ours: {message}"));
        }
    }
}

fn entrances() -> loader::Entrances {
    loader::Entrances { callbacks: hook::callbacks(), register: natives::register }
}

/// `System.load` of the portable agent or of `tfs://`, which need nothing of us but the native writer.
///
/// # Safety
/// Called by a JVM only.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn JNI_OnLoad(vm: *mut JavaVM, _: *mut c_void) -> jint {
    guarded(|| {
        let jni = loader::current(vm)?;
        recording::register(jni, true).map_err(|_| "the jar is not this library's".into())
    });
    loader::JNI_VERSION_1_6
}

/// The JVM starts with us.
///
/// # Safety
/// Called by a JVM only.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnLoad(
    vm: *mut JavaVM,
    options: *const c_char,
    _: *mut c_void,
) -> jint {
    guarded(|| loader::load(vm, &text(options), entrances()));
    OK
}

/// We are loaded into a running JVM.
///
/// # Safety
/// Called by a JVM only.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnAttach(
    vm: *mut JavaVM,
    options: *const c_char,
    _: *mut c_void,
) -> jint {
    guarded(|| loader::attach(vm, &text(options), entrances()));
    OK
}
