//! The JVM tool interface, as far as it is used. Numbers are those of the specification: of a
//! function its place in the table, of a capability its bit, of an event its id.

use std::ffi::{c_char, c_void};

use jni_sys::{JNIEnv, JavaVM, jclass, jint, jlong, jobject};

pub const VERSION_1_1: jint = 0x3001_0100;
pub const EVENT_VM_INIT: jint = 50;
pub const EVENT_THREAD_END: jint = 53;
pub const EVENT_CLASS_FILE_LOAD_HOOK: jint = 54;
pub const EVENT_GARBAGE_COLLECTION_START: jint = 81;
pub const EVENT_GARBAGE_COLLECTION_FINISH: jint = 82;
const FIRST_EVENT: usize = 50;
const LAST_EVENT: usize = 86;
const CAN_GENERATE_GARBAGE_COLLECTION_EVENTS: u128 = 1 << 31;
const CAN_RETRANSFORM_CLASSES: u128 = 1 << 37;
/// Up to `RetransformClasses`.
const FUNCTIONS: usize = 152;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("JVMTI {function}: error {code}")]
pub struct Error {
    pub function: &'static str,
    pub code: jint,
}

/// One environment: what a JVM keeps of one agent.
#[derive(Debug, Clone, Copy)]
pub struct Env(*mut *const [*const c_void; FUNCTIONS]);

// SAFETY: functions of an environment may be called from any thread
unsafe impl Send for Env {}
// SAFETY: as above
unsafe impl Sync for Env {}

/// Of a thread: its start, its end, that of the JVM.
pub type ThreadCallback = extern "system" fn(*mut c_void, *mut JNIEnv, jobject);
/// In a pause: without a thread, so without Java.
pub type PauseCallback = extern "system" fn(*mut c_void);
pub type ClassFileLoadHook = extern "system" fn(
    *mut c_void,
    *mut JNIEnv,
    jclass,
    jobject,
    *const c_char,
    jobject,
    jint,
    *const u8,
    *mut jint,
    *mut *mut u8,
);

/// What the JVM calls, by event.
#[derive(Debug)]
#[repr(transparent)]
pub struct Callbacks([*const c_void; LAST_EVENT - FIRST_EVENT + 1]);

impl Callbacks {
    pub fn new(
        vm_init: ThreadCallback,
        thread_end: ThreadCallback,
        class_file_load_hook: ClassFileLoadHook,
        pause: (PauseCallback, PauseCallback),
    ) -> Callbacks {
        let mut all = [std::ptr::null(); LAST_EVENT - FIRST_EVENT + 1];
        let mut set = |event: jint, code: *const c_void| all[event as usize - FIRST_EVENT] = code;
        set(EVENT_VM_INIT, vm_init as *const c_void);
        set(EVENT_THREAD_END, thread_end as *const c_void);
        set(EVENT_CLASS_FILE_LOAD_HOOK, class_file_load_hook as *const c_void);
        set(EVENT_GARBAGE_COLLECTION_START, pause.0 as *const c_void);
        set(EVENT_GARBAGE_COLLECTION_FINISH, pause.1 as *const c_void);
        Callbacks(all)
    }
}

/// `name = number(parameters)`: a function by its number in the specification.
macro_rules! functions {
    ($($name:ident = $number:literal ($($argument:ident: $type:ty),*);)*) => {$(
        fn $name(self, $($argument: $type),*) -> Result<(), Error> {
            // SAFETY: the table outlives the process, and has this function at this place with
            // this signature in every version of the specification; what is passed are pointers
            // that live as long as the call
            let code = unsafe {
                let function = (**self.0)[$number - 1];
                let function: unsafe extern "system" fn(Env, $($type),*) -> jint =
                    std::mem::transmute(function);
                function(self, $($argument),*)
            };
            if code == 0 { Ok(()) } else { Err(Error { function: stringify!($name), code }) }
        }
    )*};
}

impl Env {
    functions! {
        set_event_notification_mode = 2(mode: jint, event: jint, thread: jobject);
        allocate = 46(size: jlong, memory: *mut *mut u8);
        deallocate = 47(memory: *mut u8);
        get_class_signature = 48(class: jclass, name: *mut *mut c_char, generic: *mut *mut c_char);
        get_loaded_classes = 78(count: *mut jint, classes: *mut *mut jclass);
        set_event_callbacks = 122(callbacks: *const Callbacks, size: jint);
        dispose_environment = 127();
        add_capabilities = 142(capabilities: *const u128);
        retransform_classes = 152(count: jint, classes: *const jclass);
    }

    /// A new environment of this JVM; `None` when it has no such interface.
    pub fn of(vm: *mut JavaVM) -> Option<Env> {
        let mut env = std::ptr::null_mut();
        // SAFETY: a JVM passed us this pointer; all versions have GetEnv
        let code = unsafe { ((**vm).v1_2.GetEnv)(vm, &raw mut env, VERSION_1_1) };
        (code == 0 && !env.is_null()).then_some(Env(env.cast()))
    }

    /// Asks for what retransforming takes, and says what the JVM is to call.
    pub fn prepare(self, callbacks: &Callbacks) -> Result<(), Error> {
        self.add_capabilities(&raw const WANTED)?;
        self.set_event_callbacks(callbacks, size_of::<Callbacks>() as jint)
    }

    pub fn notify(self, event: jint, wanted: bool) -> Result<(), Error> {
        self.set_event_notification_mode(jint::from(wanted), event, std::ptr::null_mut())
    }

    /// A copy in memory that the JVM frees.
    pub fn copy(self, bytes: &[u8]) -> Result<*mut u8, Error> {
        let mut memory = std::ptr::null_mut();
        self.allocate(bytes.len() as jlong, &raw mut memory)?;
        // SAFETY: as many bytes were allocated
        unsafe { memory.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        Ok(memory)
    }

    /// Loaded classes whose names (`java/io/File`) are wanted: local references.
    pub fn loaded(self, wanted: impl Fn(&[u8]) -> bool) -> Result<Vec<jclass>, Error> {
        let (mut count, mut classes) = (0, std::ptr::null_mut());
        self.get_loaded_classes(&raw mut count, &raw mut classes)?;
        // SAFETY: the JVM has filled in `count` of them
        let all = unsafe { std::slice::from_raw_parts(classes, count as usize) };
        let named = all.iter().copied().filter(|class| self.name_is(*class, &wanted)).collect();
        self.deallocate(classes.cast())?;
        Ok(named)
    }

    fn name_is(self, class: jclass, wanted: impl Fn(&[u8]) -> bool) -> bool {
        let mut name = std::ptr::null_mut();
        if self.get_class_signature(class, &raw mut name, std::ptr::null_mut()).is_err() {
            return false;
        }
        // SAFETY: the JVM wrote a string that ends with 0
        let signature = unsafe { std::ffi::CStr::from_ptr(name) }.to_bytes();
        // Ljava/io/File; - arrays and primitives have none of ours
        let inner = signature.strip_prefix(b"L").and_then(|rest| rest.strip_suffix(b";"));
        let is = inner.is_some_and(wanted);
        let _ = self.deallocate(name.cast());
        is
    }

    /// Hands these classes to the hook again, from their original bytes.
    pub fn retransform(self, classes: &[jclass]) -> Result<(), Error> {
        self.retransform_classes(classes.len() as jint, classes.as_ptr())
    }

    pub fn dispose(self) {
        let _ = self.dispose_environment();
    }
}

static WANTED: u128 = CAN_RETRANSFORM_CLASSES | CAN_GENERATE_GARBAGE_COLLECTION_EVENTS;
