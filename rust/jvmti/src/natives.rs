//! Native methods of the agent.

use std::ffi::CStr;

use jni_sys::{JNIEnv, jboolean, jclass, jint, jlong, jobject};

use crate::java::class;
use crate::jni::{JavaException, Jni, native};
use crate::{hook, loader, recording};

/// As many as a JVM grants.
const MOST_REFERENCES: i32 = 1 << 16;

/// Binds them; the agent's classes are there already.
pub fn register(jni: Jni) -> Result<(), JavaException> {
    let classes = [
        native(c"begin", c"()V", begin as *const _),
        native(c"end", c"()V", end as *const _),
        native(c"pauses", c"(JI)V", pauses as *const _),
        native(c"cache", c"()Ljava/lang/String;", cache as *const _),
        native(c"fill", c"(Ljava/lang/String;[B[I)Ljava/lang/String;", fill as *const _),
        native(c"user", c"(Ljava/lang/String;)V", user as *const _),
        native(c"countRecords", c"(Z)V", count_records as *const _),
        native(c"loaded", c"()[Ljava/lang/Class;", loaded as *const _),
        native(c"retransformAll", c"([Ljava/lang/Class;)I", retransform as *const _),
    ];
    jni.register(jni.class(class!("NativeClasses"))?, &classes)?;
    recording::register(jni, false)
}

extern "system" fn begin(_: *mut JNIEnv, _: jclass) {
    loader::with(|loader| loader.hook(true));
}

extern "system" fn pauses(_: *mut JNIEnv, _: jclass, proc: jlong, context: jint) {
    loader::with(|loader| loader.pauses.follow(proc as u64, context as u32));
}

extern "system" fn end(_: *mut JNIEnv, _: jobject) {
    loader::with(|loader| {
        loader.hook(false);
        loader.pauses.forget();
    });
}

extern "system" fn user(env: *mut JNIEnv, _: jclass, name: jobject) {
    if let Ok(name) = Jni::new(env).text(name) {
        loader::with(|loader| loader.users.add(&name));
    }
}

extern "system" fn count_records(_: *mut JNIEnv, _: jobject, wanted: jboolean) {
    loader::with(|loader| loader.count_records(wanted));
}

extern "system" fn loaded(env: *mut JNIEnv, _: jobject) -> jobject {
    let jni = Jni::new(env);
    let loaded = loader::with(|loader| {
        // The JVM makes a reference to each class it has.
        jni.make_room(MOST_REFERENCES);
        let classes = loader.env.loaded(|name| loader.knows(name)).ok()?;
        jni.classes(&classes).ok()
    });
    loaded.flatten().unwrap_or(std::ptr::null_mut())
}

/// 0, or why the JVM refuses.
extern "system" fn retransform(env: *mut JNIEnv, _: jclass, classes: jobject) -> jint {
    let jni = Jni::new(env);
    let code = loader::with(|loader| {
        let Ok(classes) = jni.elements(classes) else { return -1 };
        match loader.env.retransform(&classes) {
            Ok(()) => 0,
            Err(error) => error.code,
        }
    });
    code.unwrap_or(-1)
}

extern "system" fn cache(env: *mut JNIEnv, _: jclass) -> jobject {
    let state = loader::with(|loader| loader.cache.describe()).unwrap_or_default();
    Jni::new(env).string(&state).unwrap_or(std::ptr::null_mut())
}

extern "system" fn fill(
    env: *mut JNIEnv,
    _: jclass,
    name: jobject,
    class_file: jobject,
    counts_out: jobject,
) -> jobject {
    let jni = Jni::new(env);
    let filled = loader::with(|loader| {
        let (name, bytes) = (jni.text(name).ok()?, jni.bytes(class_file).ok()?);
        let (is_new, counts) = hook::fill(loader, jni, &name, &bytes)?;
        jni.fill_ints(counts_out, &counts).ok()?;
        Some(if is_new { "new" } else { "known" })
    });
    jni.string(filled.flatten().unwrap_or("failed")).unwrap_or(std::ptr::null_mut())
}
