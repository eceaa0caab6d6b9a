//! What the JVM calls as it loads classes.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_void};

use jni_sys::{JNIEnv, jclass, jint, jobject};

use crate::java::Agent;
use crate::jni::{JavaException, Jni};
use crate::jvmti::Callbacks;
use crate::loader::{self, Loader};
use crate::table::Class;
use crate::woven::WovenClass;

thread_local! {
    /// The thread runs the weaver: what that loads is not given to it.
    static WEAVING: Cell<bool> = const { Cell::new(false) };
}

pub fn callbacks() -> Callbacks {
    Callbacks::new(vm_init, thread_end, class_file_load_hook, (pause_start, pause_end))
}

extern "system" fn vm_init(_: *mut c_void, jni: *mut JNIEnv, _: jobject) {
    crate::guarded(|| loader::begin(Jni::new(jni)));
}

extern "system" fn thread_end(_: *mut c_void, jni: *mut JNIEnv, _: jobject) {
    let jni = Jni::new(jni);
    if !jni.is_throwing() {
        loader::with(|loader| loader.agent().map(|agent| agent.thread_ended(jni)));
    }
}

extern "system" fn pause_start(_: *mut c_void) {
    loader::with(|loader| loader.pauses.begin());
}

extern "system" fn pause_end(_: *mut c_void) {
    loader::with(|loader| loader.pauses.end());
}

extern "system" fn class_file_load_hook(
    _: *mut c_void,
    jni: *mut JNIEnv,
    _redefined: jclass,
    of: jobject,
    name: *const c_char,
    _domain: jobject,
    size: jint,
    bytes: *const u8,
    new_size: *mut jint,
    new_bytes: *mut *mut u8,
) {
    if name.is_null() || bytes.is_null() || jni.is_null() {
        return;
    }
    // SAFETY: the JVM passes a string that ends with 0
    let name = unsafe { CStr::from_ptr(name) };
    loader::with(|loader| {
        if !loader.knows(name.to_bytes()) {
            return;
        }
        // SAFETY: the JVM passes as many bytes as it says
        let bytes = unsafe { std::slice::from_raw_parts(bytes, size as usize) };
        crate::guarded(|| {
            let jni = Jni::new(jni);
            if jni.is_throwing() {
                return Ok(());
            }
            // Whatever Java threw is cleared, and the class stays as it is.
            if let Ok(Some(woven)) = replacement(loader, jni, of, name, bytes) {
                let copy = loader.env.copy(&woven).map_err(|error| error.to_string())?;
                // SAFETY: the JVM passes two places to write to
                unsafe {
                    *new_bytes = copy;
                    *new_size = woven.len() as jint;
                }
            }
            Ok(())
        });
    });
}

/// The class file to load instead; `None`: the class stays as it is.
fn replacement(
    loader: &Loader,
    jni: Jni,
    of: jobject,
    name: &CStr,
    bytes: &[u8],
) -> Result<Option<Vec<u8>>, JavaException> {
    let Some(agent) = loader.agent() else { return Ok(None) };
    if loader.users.have(name.to_bytes()) {
        let name = name.to_string_lossy();
        return once(loader, jni, || agent.transform(jni, of, &name, bytes));
    }
    let records = loader.counts_records();
    let Some(class) = loader.table(records).find(name.to_bytes()) else { return Ok(None) };
    if !loader.loaders.see(jni, agent, of) {
        agent.refused(jni, &class.name)?;
        return Ok(None);
    }
    let made = payload(loader, jni, agent, (class, records), bytes)?;
    let Some((payload, _)) = made else { return Ok(None) };
    let Some(woven) = WovenClass::parse(&payload, &class.points) else { return Ok(None) };
    agent.woven(jni, woven.points)?;
    Ok((!woven.class_file.is_empty()).then(|| woven.class_file.to_vec()))
}

/// Runs the weaver; not for what it loads itself.
fn once(
    loader: &Loader,
    jni: Jni,
    weave: impl FnOnce() -> Result<Option<Vec<u8>>, JavaException>,
) -> Result<Option<Vec<u8>>, JavaException> {
    if WEAVING.replace(true) {
        return Ok(None);
    }
    loader.classes.define_weaver(jni);
    let made = weave();
    WEAVING.set(false);
    made
}

/// What the cache has of a class, or what the weaver makes of it, which the cache has from then on;
/// and whether it was made.
fn payload(
    loader: &Loader,
    jni: Jni,
    agent: &Agent,
    (class, records): (&Class, bool),
    bytes: &[u8],
) -> Result<Option<(Vec<u8>, bool)>, JavaException> {
    let key = loader.cache.key(&class.points, bytes);
    let cached = loader.cache.read(&key);
    if let Some(cached) = cached.filter(|cached| WovenClass::parse(cached, &class.points).is_some())
    {
        return Ok(Some((cached, false)));
    }
    let made = once(loader, jni, || agent.weave(jni, &class.name, bytes, records))?;
    let made = made.filter(|made| WovenClass::parse(made, &class.points).is_some());
    if let Some(made) = &made {
        loader.cache.write(&key, made);
    }
    Ok(made.map(|made| (made, true)))
}

/// Sees to it that the cache has a class, with points that count records and without: whether
/// anything was made, and how many of all its points were found and not found. `None` when the cache
/// does not have it now.
pub fn fill(loader: &Loader, jni: Jni, name: &str, bytes: &[u8]) -> Option<(bool, [i32; 2])> {
    let without = fill_one(loader, jni, name, bytes, false);
    let (made, counts) = fill_one(loader, jni, name, bytes, true)?;
    Some((made || without.is_some_and(|(made, _)| made), counts))
}

fn fill_one(
    loader: &Loader,
    jni: Jni,
    name: &str,
    bytes: &[u8],
    records: bool,
) -> Option<(bool, [i32; 2])> {
    let class = loader.table(records).find(name.as_bytes())?;
    let (_, made) = payload(loader, jni, loader.agent()?, (class, records), bytes).ok()??;
    let cached = loader.cache.read(&loader.cache.key(&class.points, bytes))?;
    let woven = WovenClass::parse(&cached, &class.points)?;
    let found = i32::from(woven.found);
    Some((made, [found, class.points.len() as i32 - found]))
}
