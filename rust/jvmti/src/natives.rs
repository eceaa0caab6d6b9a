//! Native methods of the agent.

use std::ffi::CStr;
use std::path::Path;

use jni_sys::{JNIEnv, jclass, jint, jlong, jobject};

use crate::java::class;
use crate::jni::{JavaException, Jni, native};
use crate::{files, hook, loader};

/// Binds them; the agent's classes are there already.
pub fn register(jni: Jni) -> Result<(), JavaException> {
    let classes = [
        native(c"begin", c"()V", begin as *const _),
        native(c"end", c"()V", end as *const _),
        native(c"pauses", c"(JI)V", pauses as *const _),
        native(c"cache", c"()Ljava/lang/String;", cache as *const _),
        native(c"fill", c"(Ljava/lang/String;[B[I)Ljava/lang/String;", fill as *const _),
        native(c"user", c"(Ljava/lang/String;)V", user as *const _),
        native(c"loaded", c"()[Ljava/lang/Class;", loaded as *const _),
        native(c"retransformAll", c"([Ljava/lang/Class;)I", retransform as *const _),
    ];
    jni.register(jni.class(class!("NativeClasses"))?, &classes)?;
    let made = c"(Ljava/lang/String;ILjava/lang/String;)Ljava/lang/String;";
    let mapped = c"(Ljava/lang/String;I)Ljava/nio/MappedByteBuffer;";
    let files = [
        native(c"makeDirectory", made, make_directory as *const _),
        native(c"create", mapped, create as *const _),
        native(c"readControl", c"(Ljava/lang/String;[BI)Z", read_control as *const _),
    ];
    jni.register(jni.class(class!("NativeFiles"))?, &files)
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

extern "system" fn loaded(env: *mut JNIEnv, _: jobject) -> jobject {
    let jni = Jni::new(env);
    let loaded = loader::with(|loader| {
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

/// The value, or null and an exception in Java.
fn or_throw(jni: Jni, value: Result<jobject, String>) -> jobject {
    value.unwrap_or_else(|why| {
        jni.throw(c"java/io/IOException", &why);
        std::ptr::null_mut()
    })
}

fn text(jni: Jni, string: jobject) -> Result<String, String> {
    jni.text(string).map_err(|_| "a name that is none".into())
}

extern "system" fn make_directory(
    env: *mut JNIEnv,
    _: jobject,
    dir: jobject,
    uid: jint,
    name: jobject,
) -> jobject {
    let jni = Jni::new(env);
    let made = || {
        let (dir, name) = (text(jni, dir)?, text(jni, name)?);
        let path = files::make_directory(Path::new(&dir), uid as u32, &name)?;
        loader::with(|loader| loader.pauses.record_in(&path));
        jni.string(&path.display().to_string()).map_err(|_| "no memory".into())
    };
    or_throw(jni, made())
}

extern "system" fn create(env: *mut JNIEnv, _: jobject, path: jobject, size: jint) -> jobject {
    let jni = Jni::new(env);
    let made = || {
        let path = text(jni, path)?;
        let why = |why| format!("{path}: {why}");
        let size = size as usize;
        let start = files::create(Path::new(&path), size).map_err(why)?.as_ptr();
        jni.buffer(start, size)
            .inspect(|buffer| {
                loader::with(|loader| loader.mapped.keep(loader.env, *buffer, start, size));
            })
            .map_err(|_| {
                // SAFETY: nobody has seen the mapping
                unsafe { files::release(start, size) };
                format!("{path}: no memory")
            })
    };
    or_throw(jni, made())
}

extern "system" fn read_control(
    env: *mut JNIEnv,
    _: jobject,
    path: jobject,
    page: jobject,
    uid: jint,
) -> bool {
    let jni = Jni::new(env);
    let Ok(path) = jni.text(path) else { return false };
    let Ok(mut bytes) = jni.bytes(page) else { return false };
    files::read_control(Path::new(&path), &mut bytes, uid as u32) && jni.fill(page, &bytes).is_ok()
}
