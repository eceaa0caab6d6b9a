//! The agent's Java side, `io.iostrata.agent.NativeAgent`.

use jni_sys::{JNIEnv, jclass, jint, jmethodID, jobject, jvalue};

use crate::jni::{Jni, Thrown, native};
use crate::loader;

/// The class, found once, and its methods.
#[derive(Debug)]
pub struct Agent {
    class: jclass,
    weave: jmethodID,
    woven: jmethodID,
    sees: jmethodID,
    refused: jmethodID,
}

// SAFETY: a global reference and ids of methods hold in every thread
unsafe impl Send for Agent {}
// SAFETY: as above
unsafe impl Sync for Agent {}

impl Agent {
    pub fn find(jni: Jni) -> Result<Agent, Thrown> {
        let class = jni.class(c"io/iostrata/agent/NativeAgent")?;
        let method = |name, types| jni.static_method(class, name, types);
        let agent = Agent {
            class: jni.global(class)?,
            weave: method(c"weave", c"(Ljava/lang/String;[B)[B")?,
            woven: method(c"woven", c"([B)V")?,
            sees: method(c"sees", c"(Ljava/lang/ClassLoader;)Z")?,
            refused: method(c"refused", c"(Ljava/lang/String;)V")?,
        };
        let classes = jni.class(c"io/iostrata/agent/NativeClasses")?;
        let natives = [
            native(c"begin", c"()V", begin as *const _),
            native(c"end", c"()V", end as *const _),
            native(c"loaded", c"()[Ljava/lang/Class;", loaded as *const _),
            native(c"retransformAll", c"([Ljava/lang/Class;)I", retransform as *const _),
        ];
        jni.register(classes, &natives)?;
        Ok(agent)
    }

    /// Starts the Java side; the line it has to say.
    ///
    /// `options`: as written behind the library, `facts`: lines for the process page.
    pub fn start(
        &self,
        jni: Jni,
        options: &str,
        facts: &str,
        points_hash: u64,
    ) -> Result<String, Thrown> {
        let types = c"(Ljava/lang/String;Ljava/lang/String;J)Ljava/lang/String;";
        let start = jni.static_method(self.class, c"start", types)?;
        let with = [
            jvalue { l: jni.string(options)? },
            jvalue { l: jni.string(facts)? },
            jvalue { j: points_hash as i64 },
        ];
        jni.text(jni.call_object(self.class, start, &with)?)
    }

    /// What the weaver makes of a class ([`crate::woven`]); `None` when it could not, which it has
    /// counted.
    pub fn weave(&self, jni: Jni, name: &str, class_file: &[u8]) -> Result<Option<Vec<u8>>, Thrown> {
        let with = [jvalue { l: jni.string(name)? }, jvalue { l: jni.array(class_file)? }];
        let made = jni.call_object(self.class, self.weave, &with)?;
        if made.is_null() { Ok(None) } else { jni.bytes(made).map(Some) }
    }

    /// Tells which points were found in a class, and which were not.
    pub fn woven(&self, jni: Jni, points: &[u8]) -> Result<(), Thrown> {
        jni.call_void(self.class, self.woven, &[jvalue { l: jni.array(points)? }])
    }

    /// Whether classes of this loader can call the hooks.
    pub fn sees(&self, jni: Jni, loader: jobject) -> Result<bool, Thrown> {
        jni.call_boolean(self.class, self.sees, &[jvalue { l: loader }])
    }

    /// Counts that a class stays as it is because its loader hides the hooks.
    pub fn refused(&self, jni: Jni, name: &str) -> Result<(), Thrown> {
        jni.call_void(self.class, self.refused, &[jvalue { l: jni.string(name)? }])
    }
}

extern "system" fn begin(_: *mut JNIEnv, _: jclass) {
    loader::with(|loader| loader.hook(true));
}

extern "system" fn end(_: *mut JNIEnv, _: jclass) {
    loader::with(|loader| loader.hook(false));
}

extern "system" fn loaded(env: *mut JNIEnv, _: jclass) -> jobject {
    let jni = Jni::new(env);
    let found = loader::with(|loader| {
        let classes = loader.env.loaded(|name| loader.table.find(name).is_some()).ok()?;
        jni.classes(&classes).ok()
    });
    found.flatten().unwrap_or(std::ptr::null_mut())
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
