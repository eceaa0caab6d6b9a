/*!
The native producer: the same files as the JVM's segment writer makes, from Rust.

[`Process`] is the directory of one process with its page and dictionary; [`Thread`] appends the
events of one thread. Every failure is counted in the page and costs detail at most.
*/

mod thread;

use std::collections::HashMap;
use std::fs::DirBuilder;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::{FallocateFlags, Mode, OFlags, fallocate, openat};
use rustix::time::{ClockId, clock_gettime};

use crate::dictionary::Entry;
use crate::life::{self, SegmentIdentity};
use crate::mapping::{Mapping, Rejection};
use crate::memory::Memory;
use crate::process::ENDED;
use crate::ring::{self, Layout};
use crate::row::{Key, Values};
use crate::schema::{
    CATEGORY_THREAD_NAME, DICTIONARY_CAPACITY, DICTIONARY_HEADER, DICTIONARY_NUMBER,
    DICTIONARY_PROC, DICTIONARY_SEALED, DICTIONARY_USED, FILE_KIND_DICTIONARY, FILE_KIND_PROCESS,
    FILE_KIND_SEGMENT, MAGIC, PROCESS_COUNTER_REFUSED_ENTRIES, PROCESS_COUNTER_REFUSED_SEGMENTS,
    PROCESS_COUNTERS, PROCESS_PID, PROCESS_PID_START, PROCESS_POINTS_HASH, PROCESS_PROC,
    PROCESS_SIZE, PROCESS_START, PROCESS_STATE, PROCESS_TEXT, PROCESS_TEXT_CAPACITY,
    PROCESS_TEXT_SIZE, PROCESS_UID, SEGMENT_CHAIN, SEGMENT_EPOCH, SEGMENT_OPEN_CAPACITY,
    SEGMENT_OPEN_SLOTS, SEGMENT_PROC, SEGMENT_RING_SLOTS, SEGMENT_SERIAL, SEGMENT_STATE,
    SEGMENT_TABLE_ROWS, SEGMENT_THREAD_NAME, SEGMENT_TID, STATE_ACTIVE, VERSION,
};

pub use self::thread::Thread;

const TABLE_ROWS: u32 = 256;
const FIRST_RING: u32 = 1024;

/// How large this process's files may get.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Slots of the largest ring; a thread whose ring of that size is full drops detail.
    pub ring_slots: u32,
    /// Bytes of records in a dictionary file before the next one begins.
    pub dictionary: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { ring_slots: ring::MAX_RING_SLOTS, dictionary: 1 << 20 }
    }
}

/// `CLOCK_MONOTONIC` in ns.
#[must_use]
pub fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[derive(Debug)]
pub struct Process {
    /// `DIR/UID/PID-PROC`.
    pub path: PathBuf,
    pub proc: u64,
    directory: OwnedFd,
    page: Mapping,
    limits: Limits,
    names: Mutex<Names>,
    serial: AtomicU32,
    /// Sealed segments that a thread may take over once the collector has drained them.
    sealed: Mutex<Vec<Chunk>>,
}

#[derive(Debug, Default)]
struct Names {
    ids: HashMap<(u8, String, i64), u32>,
    last: u32,
    file: Option<Mapping>,
    number: u32,
    used: u32,
}

/// A mapped segment as its producer knows it.
#[derive(Debug)]
struct Chunk {
    memory: Mapping,
    layout: Layout,
    serial: u32,
    epoch: u32,
    head: u64,
    tail: u64,
    rows: HashMap<Key, (u32, u32, Values)>,
}

impl Process {
    /// Makes the files of this process (a real pid) in `directory`.
    ///
    /// `text`: lines key=value, see `events.toml`; `proc` must be unique in the directory.
    pub fn create(
        directory: &Path,
        proc: u64,
        text: &str,
        points_hash: u64,
        limits: Limits,
    ) -> io::Result<Arc<Process>> {
        let uid = rustix::process::getuid().as_raw();
        let pid = std::process::id();
        let path = directory.join(uid.to_string()).join(format!("{pid}-{proc:016x}"));
        DirBuilder::new().recursive(true).mode(0o700).create(&path)?;
        let handle: OwnedFd = std::fs::File::open(&path)?.into();
        let page = make(&handle, "process", PROCESS_SIZE, FILE_KIND_PROCESS, Mapping::of)?;
        page.set_u64(PROCESS_PROC, proc);
        page.set_u32(PROCESS_PID, pid);
        page.set_u32(PROCESS_UID, uid);
        page.set_u64(PROCESS_PID_START, pid_start(pid).unwrap_or(0));
        page.set_u64(PROCESS_START, now());
        page.set_u64(PROCESS_POINTS_HASH, points_hash);
        let mut bytes = text.as_bytes()[..text.len().min(PROCESS_TEXT_CAPACITY)].to_vec();
        page.set_u32(PROCESS_TEXT_SIZE, bytes.len() as u32);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        for (i, word) in bytes.chunks_exact(4).enumerate() {
            let word = u32::from_le_bytes(word.try_into().unwrap_or_default());
            page.set_u32(PROCESS_TEXT + i * 4, word);
        }
        page.release_u32(PROCESS_STATE, 1);
        Ok(Arc::new(Process {
            path,
            proc,
            directory: handle,
            page,
            limits,
            names: Mutex::default(),
            serial: AtomicU32::new(1),
            sealed: Mutex::default(),
        }))
    }

    /// The id of a name, written to the dictionary at first sight; 0 when there is no room for it.
    pub fn name(&self, category: u8, name: &str, block: i64, parent: u32) -> u32 {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(id) = names.ids.get(&(category, name.to_owned(), block)) {
            return *id;
        }
        let id = names.last + 1;
        let name = name.to_owned();
        let mut record = Vec::new();
        let entry = Entry { id, category, parent, block, generation: -1, name };
        entry.append_to(&mut record);
        if names.append(self, &record).is_err() {
            self.count(PROCESS_COUNTER_REFUSED_ENTRIES);
            return 0;
        }
        names.last = id;
        names.ids.insert((category, entry.name, block), id);
        id
    }

    /// Begins the segment of a thread.
    pub fn thread(self: &Arc<Self>, tid: u64, name: &str) -> io::Result<Thread> {
        let thread_name = self.name(CATEGORY_THREAD_NAME, name, -1, 0);
        let first = self.chunk(tid, thread_name, 0, FIRST_RING.min(self.limits.ring_slots))?;
        Ok(Thread {
            process: Arc::clone(self),
            tid,
            called: thread_name,
            chain: 0,
            chunk: first,
            spans: 0,
            open: Vec::new(),
            context: 0,
            lost: None,
        })
    }

    /// Acknowledges a word of the control page, as an agent does.
    pub fn saw_control(&self, word: u32) {
        self.page.release_u32(crate::schema::PROCESS_SEEN_CONTROL, word);
    }

    /// Marks point `point` as woven.
    pub fn wove(&self, point: u16) {
        self.page.set_u64(crate::schema::PROCESS_POINTS + usize::from(point) * 8, 1);
    }

    /// Says that the process ends by itself.
    pub fn end(&self) {
        self.page.release_u32(PROCESS_STATE, ENDED);
    }

    fn count(&self, counter: usize) {
        let at = PROCESS_COUNTERS + counter * 8;
        self.page.set_u64(at, self.page.relaxed_u64(at) + 1);
    }

    fn chunk(&self, tid: u64, thread_name: u32, chain: u32, slots: u32) -> io::Result<Chunk> {
        if let Some(chunk) = self.reused(tid, thread_name, chain, slots) {
            return Ok(chunk);
        }
        let serial = self.serial.fetch_add(1, Ordering::Relaxed);
        let layout = Layout { ring_slots: slots, table_rows: TABLE_ROWS };
        let name = format!("{serial}.seg");
        let made = make(&self.directory, &name, layout.size(), FILE_KIND_SEGMENT, Mapping::of);
        let memory = made.inspect_err(|_| self.count(PROCESS_COUNTER_REFUSED_SEGMENTS))?;
        memory.set_u64(SEGMENT_PROC, self.proc);
        memory.set_u32(SEGMENT_SERIAL, serial);
        memory.set_u32(SEGMENT_EPOCH, 1);
        memory.set_u64(SEGMENT_TID, tid);
        memory.set_u32(SEGMENT_THREAD_NAME, thread_name);
        memory.set_u32(SEGMENT_RING_SLOTS, slots);
        memory.set_u32(SEGMENT_TABLE_ROWS, TABLE_ROWS);
        memory.set_u32(SEGMENT_CHAIN, chain);
        memory.set_u32(SEGMENT_OPEN_SLOTS, SEGMENT_OPEN_CAPACITY as u32);
        memory.release_u32(SEGMENT_STATE, STATE_ACTIVE);
        Ok(Chunk { memory, layout, serial, epoch: 1, head: 0, tail: 0, rows: HashMap::new() })
    }

    fn reused(&self, tid: u64, thread_name: u32, chain: u32, slots: u32) -> Option<Chunk> {
        let mut sealed = self.sealed.lock().unwrap_or_else(PoisonError::into_inner);
        let place = sealed.iter().position(|chunk| {
            let next = SegmentIdentity { epoch: chunk.epoch + 1, tid, thread_name, chain };
            chunk.layout.ring_slots >= slots && life::reuse(&chunk.memory, &next).is_some()
        })?;
        let mut chunk = sealed.swap_remove(place);
        chunk.epoch += 1;
        chunk.tail = chunk.head;
        chunk.rows.clear();
        Some(chunk)
    }
}

impl Names {
    fn append(&mut self, process: &Process, record: &[u8]) -> io::Result<()> {
        let room = process.limits.dictionary;
        if self.file.is_none() || self.used as usize + record.len() > room as usize {
            let number = if self.file.is_some() { self.number + 1 } else { 0 };
            let size = DICTIONARY_HEADER + (room as usize).max(record.len());
            let name = format!("dict-{number}");
            let file = make(&process.directory, &name, size, FILE_KIND_DICTIONARY, Mapping::of)?;
            file.set_u64(DICTIONARY_PROC, process.proc);
            file.set_u32(DICTIONARY_NUMBER, number);
            file.set_u32(DICTIONARY_CAPACITY, (size - DICTIONARY_HEADER) as u32);
            if let Some(full) = self.file.replace(file) {
                full.release_u32(DICTIONARY_SEALED, 1);
                self.ids.clear();
            }
            (self.number, self.used) = (number, 0);
        }
        let Some(file) = &self.file else { return Ok(()) };
        for (i, word) in record.chunks_exact(8).enumerate() {
            let at = DICTIONARY_HEADER + self.used as usize + i * 8;
            file.set_u64(at, u64::from_le_bytes(word.try_into().unwrap_or_default()));
        }
        self.used += record.len() as u32;
        file.release_u32(DICTIONARY_USED, self.used);
        Ok(())
    }
}

/// Field 22 of `/proc/PID/stat`: clock ticks between boot and the start of the process.
#[must_use]
pub fn pid_start(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // the command's name may hold spaces and brackets
    let (_, fields) = stat.rsplit_once(") ")?;
    fields.split(' ').nth(19)?.parse().ok()
}

/// Makes a file of `size` reserved bytes with its preamble: what is full is full now, not later.
///
/// `map`: [`Mapping::of`], or [`Mapping::unguarded`] inside somebody else's process.
pub fn make(
    directory: &OwnedFd,
    name: &str,
    size: usize,
    kind: u16,
    map: impl FnOnce(&OwnedFd, usize) -> Result<Mapping, Rejection>,
) -> io::Result<Mapping> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = openat(directory, name, flags, Mode::from_raw_mode(0o600))?;
    fallocate(&file, FallocateFlags::empty(), 0, size as u64)?;
    let memory = map(&file, size).map_err(|refused| match refused {
        Rejection::Io(errno) => io::Error::from(errno),
        other => io::Error::other(other),
    })?;
    memory.set_u32(4, u32::from(VERSION) | u32::from(kind) << 16);
    memory.set_u32(0, MAGIC);
    Ok(memory)
}
