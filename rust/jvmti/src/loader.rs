//! What one JVM has of us.

use std::ffi::CStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use iostrata_segment::points::POINTS_HASH;
use jni_sys::{JNIEnv, JavaVM, jint};

use crate::cache::Cache;
use crate::classes::AgentClasses;
use crate::java::Agent;
use crate::jni::{JavaException, Jni};
use crate::jvmti::{
    Callbacks, EVENT_CLASS_FILE_LOAD_HOOK, EVENT_GARBAGE_COLLECTION_FINISH,
    EVENT_GARBAGE_COLLECTION_START, EVENT_THREAD_END, EVENT_VM_INIT, Env,
};
use crate::loaders::Loaders;
use crate::options::{JAR, Options};
use crate::pauses::Pauses;
use crate::say;
use crate::table::Table;
use crate::users::Users;

static LOADER: OnceLock<Loader> = OnceLock::new();

pub const JNI_VERSION_1_6: jint = 0x0001_0006;

#[derive(Debug)]
pub struct Loader {
    pub env: Env,
    pub classes: AgentClasses,
    /// Without points that count records, and with them.
    tables: [Table; 2],
    records: AtomicBool,
    pub cache: Cache,
    pub loaders: Loaders,
    pub pauses: Pauses,
    pub users: Users,
    agent: OnceLock<Agent>,
    register: fn(Jni) -> Result<(), JavaException>,
}

/// Where the JVM enters this library.
pub struct Entrances {
    pub callbacks: Callbacks,
    /// Binds the native methods of the agent, whose classes are there already.
    pub register: fn(Jni) -> Result<(), JavaException>,
}

/// Calls with the loader of this JVM; `None` before there is one.
pub fn with<T>(work: impl FnOnce(&Loader) -> T) -> Option<T> {
    LOADER.get().map(work)
}

/// What the agent is started with once the JVM is up.
static AT_START: OnceLock<String> = OnceLock::new();

/// Before the JVM is up: waits for it.
pub fn load(vm: *mut JavaVM, options: &str, entrances: Entrances) -> Result<(), String> {
    if LOADER.get().is_some() {
        return Err("this JVM has an agent already".into());
    }
    let options = Options::parse(options);
    let loader = make(vm, &options, entrances)?;
    AT_START.get_or_init(|| options.agent);
    loader.env.notify(EVENT_VM_INIT, true).map_err(|error| error.to_string())
}

/// Into a running JVM: begins at once. An agent that was here before has left its loader.
pub fn attach(vm: *mut JavaVM, options: &str, entrances: Entrances) -> Result<(), String> {
    let jni = current(vm)?;
    let options = Options::parse(options);
    let loader = LOADER.get().map_or_else(|| make(vm, &options, entrances), Ok)?;
    loader.start(jni, &options.agent, "")
}

/// The interface of a thread that the JVM calls us in.
pub fn current(vm: *mut JavaVM) -> Result<Jni, String> {
    let mut env = std::ptr::null_mut();
    // SAFETY: the JVM passed us this pointer; the thread it calls us in is one of Java's
    let code = unsafe { ((**vm).v1_2.GetEnv)(vm, &raw mut env, JNI_VERSION_1_6) };
    if code != 0 {
        return Err(format!("this thread is none of Java's: JNI error {code}"));
    }
    Ok(Jni::new(env.cast::<JNIEnv>()))
}

/// The JVM is up.
pub fn begin(jni: Jni) -> Result<(), String> {
    match (LOADER.get(), AT_START.get()) {
        (Some(loader), Some(options)) => loader.start(jni, options, "loaded=start\n"),
        _ => Ok(()),
    }
}

fn make(
    vm: *mut JavaVM,
    options: &Options,
    entrances: Entrances,
) -> Result<&'static Loader, String> {
    let jar = options.jar.clone().or_else(beside).ok_or("cannot tell where this library is")?;
    let content = std::fs::read(&jar).map_err(|why| format!("{}: {why}", jar.display()))?;
    let classes = AgentClasses::of(&content).map_err(|why| format!("{}: {why}", jar.display()))?;
    let env = Env::of(vm).ok_or("this JVM has no JVMTI 1.1")?;
    if let Err(error) = env.prepare(&entrances.callbacks) {
        env.dispose();
        return Err(error.to_string());
    }
    let cache = Cache::open(options.cache.as_deref(), &content);
    let loader = Loader {
        env,
        classes,
        tables: [false, true].map(Table::built_in),
        records: AtomicBool::new(false),
        cache,
        loaders: Loaders::default(),
        pauses: Pauses::default(),
        users: Users::default(),
        agent: OnceLock::new(),
        register: entrances.register,
    };
    Ok(LOADER.get_or_init(|| loader))
}

/// The jar in the folder of this library.
fn beside() -> Option<PathBuf> {
    // SAFETY: an all-zero Dl_info is a valid value, which dladdr fills in for an address of ours
    let name = unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(beside as *const libc::c_void, &raw mut info) == 0
            || info.dli_fname.is_null()
        {
            return None;
        }
        CStr::from_ptr(info.dli_fname)
    };
    let library = Path::new(std::ffi::OsStr::from_bytes(name.to_bytes()));
    Some(library.with_file_name(JAR))
}

impl Loader {
    pub fn agent(&self) -> Option<&Agent> {
        self.agent.get()
    }

    /// Whether a class of this name may have points, also such that are not woven now.
    pub fn knows(&self, name: &[u8]) -> bool {
        self.table(true).find(name).is_some() || self.users.have(name)
    }

    /// From here on records are counted, or no longer: in classes that are handed over.
    pub fn count_records(&self, wanted: bool) {
        self.records.store(wanted, Ordering::Release);
    }

    pub fn counts_records(&self) -> bool {
        self.records.load(Ordering::Acquire)
    }

    /// The points of each class, with those that count records or without.
    pub fn table(&self, records: bool) -> &Table {
        &self.tables[usize::from(records)]
    }

    /// Starts the Java side, which calls [`Loader::hook`] when it is ready.
    ///
    /// `when`: a line for the process page.
    fn start(&self, jni: Jni, options: &str, when: &str) -> Result<(), String> {
        self.classes.define(jni);
        let agent = Agent::find(jni).and_then(|agent| (self.register)(jni).map(|()| agent));
        let agent = agent.map_err(|_| "the agent's jar is not this library's")?;
        let agent = self.agent.get_or_init(|| agent);
        let facts = format!("loader=native\n{when}cache={}\n", self.cache.describe());
        let container = std::env::var("CONTAINER_ID").ok();
        let line = agent.start(jni, options, &facts, container.as_deref(), POINTS_HASH as i64);
        let line = line.map_err(|_| "the agent has thrown an exception")?;
        if !line.is_empty() {
            say(&line);
        }
        Ok(())
    }

    /// Whether the JVM hands over classes as it loads them.
    pub fn hook(&self, wanted: bool) {
        let events = [
            EVENT_CLASS_FILE_LOAD_HOOK,
            EVENT_THREAD_END,
            EVENT_GARBAGE_COLLECTION_START,
            EVENT_GARBAGE_COLLECTION_FINISH,
        ];
        for event in events {
            if let Err(error) = self.env.notify(event, wanted) {
                say(&format!("not all is traced: event {event}: {error}"));
            }
        }
    }
}
