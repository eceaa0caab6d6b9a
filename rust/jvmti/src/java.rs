//! The agent's Java side, `NativeAgent` in the package of its version.

use std::ffi::CStr;

use jni_sys::{jclass, jmethodID, jobject, jvalue};

use crate::jni::{JavaException, Jni};

/// `class!("Name")`: a class of the agent's package, as JNI names it.
macro_rules! class {
    ($name:literal) => {{
        const NAME: &str = concat!(env!("IOSTRATA_AGENT_PACKAGE"), "/", $name, "\0");
        match CStr::from_bytes_with_nul(NAME.as_bytes()) {
            Ok(name) => name,
            Err(_) => unreachable!(),
        }
    }};
}
pub(crate) use class;

/// `NativeAgent.start`: options, facts, container, point table; what it has to say.
const START: &CStr = c"(Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;J)Ljava/lang/String;";

/// The class, found once, and its methods.
#[derive(Debug)]
pub struct Agent {
    class: jclass,
    weave: jmethodID,
    transform: jmethodID,
    woven: jmethodID,
    sees: jmethodID,
    refused: jmethodID,
    thread_ended: jmethodID,
}

// SAFETY: a global reference and ids of methods hold in every thread
unsafe impl Send for Agent {}
// SAFETY: as above
unsafe impl Sync for Agent {}

impl Agent {
    pub fn find(jni: Jni) -> Result<Agent, JavaException> {
        let class = jni.class(class!("NativeAgent"))?;
        let method = |name, types| jni.static_method(class, name, types);
        Ok(Agent {
            class: jni.global(class)?,
            weave: method(c"weave", c"(Ljava/lang/String;[BZ)[B")?,
            transform: method(c"transform", c"(Ljava/lang/ClassLoader;Ljava/lang/String;[B)[B")?,
            woven: method(c"woven", c"([B)V")?,
            sees: method(c"sees", c"(Ljava/lang/ClassLoader;)Z")?,
            refused: method(c"refused", c"(Ljava/lang/String;)V")?,
            thread_ended: method(c"threadEnded", c"()V")?,
        })
    }

    /// Starts the Java side; the line it has to say.
    ///
    /// `options`: as written behind the library, `facts`: lines for the process page,
    /// `points_hash`: identity of the point table.
    pub fn start(
        &self,
        jni: Jni,
        options: &str,
        facts: &str,
        container: Option<&str>,
        points_hash: i64,
    ) -> Result<String, JavaException> {
        let start = jni.static_method(self.class, c"start", START)?;
        let with = [
            jvalue { l: jni.string(options)? },
            jvalue { l: jni.string(facts)? },
            jvalue { l: container.map_or(Ok(std::ptr::null_mut()), |name| jni.string(name))? },
            jvalue { j: points_hash },
        ];
        jni.text(jni.call_object(self.class, start, &with)?)
    }

    /// What the weaver makes of a class ([`crate::woven`]); `None` when it could not, which it has
    /// counted.
    ///
    /// `records`: with points that count records.
    pub fn weave(
        &self,
        jni: Jni,
        name: &str,
        class_file: &[u8],
        records: bool,
    ) -> Result<Option<Vec<u8>>, JavaException> {
        let (name, class_file) = (jni.string(name)?, jni.array(class_file)?);
        let with = [jvalue { l: name }, jvalue { l: class_file }, jvalue { z: records }];
        let made = jni.call_object(self.class, self.weave, &with)?;
        if made.is_null() { Ok(None) } else { jni.bytes(made).map(Some) }
    }

    /// What becomes of a class that users may have points in; `None`: it stays as it is.
    pub fn transform(
        &self,
        jni: Jni,
        loader: jobject,
        name: &str,
        class_file: &[u8],
    ) -> Result<Option<Vec<u8>>, JavaException> {
        let (name, bytes) = (jni.string(name)?, jni.array(class_file)?);
        let with = [jvalue { l: loader }, jvalue { l: name }, jvalue { l: bytes }];
        let made = jni.call_object(self.class, self.transform, &with)?;
        if made.is_null() { Ok(None) } else { jni.bytes(made).map(Some) }
    }

    /// Tells which points were found in a class, and which were not.
    pub fn woven(&self, jni: Jni, points: &[u8]) -> Result<(), JavaException> {
        jni.call_void(self.class, self.woven, &[jvalue { l: jni.array(points)? }])
    }

    /// Whether classes of this loader can call the hooks.
    pub fn sees(&self, jni: Jni, loader: jobject) -> Result<bool, JavaException> {
        jni.call_boolean(self.class, self.sees, &[jvalue { l: loader }])
    }

    /// The current thread ends.
    pub fn thread_ended(&self, jni: Jni) -> Result<(), JavaException> {
        jni.call_void(self.class, self.thread_ended, &[])
    }

    /// Counts that a class stays as it is because its loader hides the hooks.
    pub fn refused(&self, jni: Jni, name: &str) -> Result<(), JavaException> {
        jni.call_void(self.class, self.refused, &[jvalue { l: jni.string(name)? }])
    }
}
