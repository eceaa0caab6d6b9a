//! Segments and process pages that change, shrink and have holes while they are read.

use std::fs::{self, File};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use iostrata_segment::ring::Event;
use iostrata_segment::schema::{CATEGORY_FILE, SEGMENT_HEADER};
use iostrata_segment::segment::{ProcessPage, Segment};
use iostrata_segment::writer::{Entry, Options, Process as Writer};
use proptest::prelude::*;

use super::fuzz::{TestCaseResult, fuzz, number_at_a_bound};
use crate::collect::block;
use crate::collect::reader::Reader;
use crate::model::process::{Process, ProcessInfo};
use crate::model::state::State;

const PROC: u64 = 7;
/// Bytes of blocks that one look at a segment may make: a whole ring, a whole table.
const MOST: usize = 65_536 * 64 + (1 << 20) * 136 + 4096;

/// A folder in shared memory, where holes are, which goes when this is dropped.
pub struct Shared(PathBuf);

impl Shared {
    pub fn new(name: &str) -> Shared {
        let path = Path::new("/dev/shm").join(format!("iostrata-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).unwrap();
        Shared(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The files of a process with one thread: 100 calls, 2 open spans, some names.
pub static VALID: LazyLock<Vec<(&str, Vec<u8>)>> = LazyLock::new(|| {
    let folder = Shared::new("valid");
    let options = Options { text: "main=x\nrun=r".into(), ..Options::default() };
    let process = Writer::create(folder.path(), PROC, options).unwrap();
    let mut thread = process.thread(1, "t");
    for i in 0..100 {
        let target = process.name(CATEGORY_FILE, &format!("/f/{i}"));
        let event = Event { start: i, dur: 1, bytes: 8, target, point: 1, ..Event::default() };
        thread.call(event, CATEGORY_FILE);
    }
    thread.enter(&Entry { point: 1, ..Entry::default() }, None);
    thread.enter(&Entry { point: 1, ..Entry::default() }, None);
    let read = |name| (name, fs::read(process.path.join(name)).unwrap());
    ["1.seg", "process", "dict-0"].map(read).into()
});

pub fn valid(name: &str) -> &'static [u8] {
    &VALID.iter().find(|(known, _)| *known == name).unwrap().1
}

/// What another process does to a file of its own.
#[derive(Debug, Clone)]
pub enum Move {
    Set(u64, u64),
    Byte(u64, u8),
    /// To so many of 256 parts, and back.
    Shrink(u8),
    Punch(u8),
}

/// Most of them in the first `head` bytes.
pub fn moves(head: usize, size: usize) -> impl Strategy<Value = Vec<Move>> {
    let place = prop_oneof![3 => 0..head as u64 / 8, 1 => 0..size as u64 / 8];
    let one = prop_oneof![
        6 => (place, number_at_a_bound()).prop_map(|(word, value)| Move::Set(word * 8, value)),
        3 => (0..size as u64, any::<u8>()).prop_map(|(at, byte)| Move::Byte(at, byte)),
        1 => any::<u8>().prop_map(Move::Shrink),
        1 => any::<u8>().prop_map(Move::Punch),
    ];
    prop::collection::vec(one, 0..12)
}

impl Move {
    pub fn apply(&self, file: &File, size: u64) {
        // there may be no room, and what has shrunk has no holes
        let _ = match self {
            Move::Set(at, value) => file.write_all_at(&value.to_le_bytes(), *at),
            Move::Byte(at, value) => file.write_all_at(&[*value], *at),
            Move::Shrink(part) => {
                let cut = file.set_len(size * u64::from(*part) / 256);
                cut.and_then(|()| file.set_len(size))
            }
            Move::Punch(part) => {
                use rustix::fs::{FallocateFlags, fallocate};
                let at = size * u64::from(*part) / 256;
                let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
                fallocate(file, flags, at, 65_536).map_err(Into::into)
            }
        };
    }
}

/// Runs `read` while another thread does all `moves` again and again.
pub fn moving<T>(file: &File, size: u64, moves: &[Move], read: impl FnOnce() -> T) -> T {
    let is_over = AtomicBool::new(moves.is_empty());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Relaxed) {
                for one in moves {
                    one.apply(file, size);
                }
            }
        });
        let _over = Over(&is_over);
        read()
    })
}

/// The other thread ends also where this one panics.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

pub fn uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// All that a collector asks of a segment, several times.
fn read(folder: &File, state: &mut State, looks: u64) -> TestCaseResult {
    let Ok(Some(segment)) = Segment::open(folder.as_fd(), "1.seg", uid(), PROC) else {
        return Ok(());
    };
    let mut reader = Reader::new(segment, 0, 0);
    for now in 1..=looks {
        let Some(identity) = reader.segment.identity() else { continue };
        let mut blocks = Vec::new();
        let known = &state.processes[&PROC];
        let outcome = reader.read(PROC, &identity, known, now, now == looks, &mut blocks);
        reader.rows(PROC, &identity, known, now, false, &mut blocks);
        prop_assert!(blocks.len() <= MOST, "{} bytes of blocks", blocks.len());
        prop_assert!(reader.segment.open_now().len() <= 32);
        for (kind, payload) in block::blocks(&blocks) {
            state.apply(kind, payload);
        }
        let _ = (reader.is_quiet(true), reader.is_quiet(false), reader.segment.truncated());
        match outcome {
            Ok(Some(read)) => reader.segment.free(read.tail),
            Ok(None) => {}
            Err(_) => break,
        }
        if let Some(Some(epoch)) = outcome.ok().flatten().map(|read| read.drained) {
            reader.segment.release_epoch(epoch);
        }
    }
    Ok(())
}

#[test]
fn fuzz_segments() {
    let folder = Shared::new("segments");
    let handle = File::open(folder.path()).unwrap();
    let create = |name: &str| {
        let path = folder.path().join(name);
        fs::write(&path, valid(name)).unwrap();
        File::options().write(true).open(path).unwrap()
    };
    let before = moves(SEGMENT_HEADER, valid("1.seg").len());
    let during = moves(SEGMENT_HEADER, valid("1.seg").len());
    let page = moves(512, valid("process").len());
    fuzz((before, during, page, 1u64..6), |(before, during, page, looks)| {
        let (segment, process) = (create("1.seg"), create("process"));
        let (size, page_size) = (valid("1.seg").len() as u64, valid("process").len() as u64);
        for one in &before {
            one.apply(&segment, size);
        }
        let mut state = State::default();
        let info = ProcessInfo { proc: PROC, ..ProcessInfo::default() };
        state.processes.insert(PROC, Process::new(info));
        moving(&segment, size, &during, || read(&handle, &mut state, looks))?;
        moving(&process, page_size, &page, || {
            let Ok(Some((found, who))) = ProcessPage::open(handle.as_fd(), uid()) else { return };
            let _ = ProcessInfo::new(who, String::new(), None, 1);
            let _ = (found.account(), found.state(), found.seen_control(), found.truncated());
        });
        Ok(())
    });
}

#[test]
fn the_files_that_fuzzing_begins_with_are_read() {
    let folder = Shared::new("begin");
    fs::write(folder.path().join("1.seg"), valid("1.seg")).unwrap();
    let mut state = State::default();
    let info = ProcessInfo { proc: PROC, ..ProcessInfo::default() };
    state.processes.insert(PROC, Process::new(info));
    read(&File::open(folder.path()).unwrap(), &mut state, 2).unwrap();
    assert_eq!(state.slots, 100);
}
