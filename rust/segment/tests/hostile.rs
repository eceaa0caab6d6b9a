//! What readers find in files, and files that they do not open. Bytes of any kind are fuzzed with
//! the collector's reader: `rust/native/src/collect/tests`.

use std::fs::{self, File, OpenOptions};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use iostrata_segment::dictionary::{self, Entry};
use iostrata_segment::mapping::Mapping;
use iostrata_segment::memory::Memory;
use iostrata_segment::process;
use iostrata_segment::ring::{Event, Layout, Slot};
use iostrata_segment::row::{CounterRow, Key, Values};
use iostrata_segment::schema::{CATEGORY_FILE, ROW_SIZE, SLOT_SIZE};
use iostrata_segment::segment::Segment;
use iostrata_segment::writer::{Entry as Begin, Options, Process};
use proptest::prelude::*;

/// A directory of this test's own in shared memory.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Scratch {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("iostrata-hostile-{}-{number}", std::process::id());
        let path = Path::new("/dev/shm").join(name);
        fs::create_dir(&path).unwrap();
        Scratch(path)
    }

    /// Files of a process with one thread: 100 calls, 2 open spans, some names.
    fn valid(&self) -> std::sync::Arc<Process> {
        let options = Options { text: "main=x".into(), ..Options::default() };
        let process = Process::create(&self.0, 7, options).unwrap();
        let mut thread = process.thread(1, "t");
        for i in 0..100 {
            let target = process.name(CATEGORY_FILE, &format!("/f/{i}"));
            let event = Event { start: i, dur: 1, bytes: 8, target, point: 1, ..Event::default() };
            thread.call(event, CATEGORY_FILE);
        }
        thread.enter(&Begin { point: 1, ..Begin::default() }, None);
        thread.enter(&Begin { point: 1, ..Begin::default() }, None);
        process
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn uid() -> u32 {
    rustix::process::getuid().as_raw()
}

/// Everything a collector may ask of a segment; how many slots it got.
fn read_all(directory: &Path, name: &str) -> Option<usize> {
    let handle = File::open(directory).unwrap();
    let segment = Segment::open(handle.as_fd(), name, uid(), 7).ok()??;
    let _ = (segment.identity(), segment.is_sealed(), segment.gaps_and_collapsed());
    assert!(segment.open_spans().len() <= 32);
    for index in 0..segment.rows_in_use() {
        let _ = (segment.row(index), segment.last_row(index));
    }
    let tail = segment.tail();
    let head = segment.published(tail).ok()?;
    let slots: Vec<Slot> = (tail..head).map(|index| segment.slot(index)).collect();
    Some(slots.len())
}

proptest! {
    #[test]
    fn a_slot_survives_its_words(
        (start, dur, span, parent) in any::<(u64, u64, u64, u64)>(),
        (bytes, offset) in any::<(i64, i64)>(),
        (target, point, kind, flags) in any::<(u32, u16, u8, u8)>(),
        (ret, asked) in any::<(i32, u32)>(),
    ) {
        let event = Event {
            start, dur, bytes, offset, target, point, kind, flags, ret, asked, span, parent,
        };
        let mut stored = Vec::new();
        Slot::from(event).append_to(&mut stored);
        prop_assert_eq!(Slot::from_bytes(stored[..].try_into().unwrap()).event(), event);
    }

    #[test]
    fn a_row_survives_its_bytes(
        point: u16, category: u8, size_class: u8, context: u32, flags: u8, scope: u64,
        target: u32,
        values: [u64; 11], bytes: i64,
    ) {
        let [count, asked, errors, timed, timed_dur, min, max, last_end, weight, spread, inside] =
            values;
        let row = CounterRow {
            key: Key { point, category, size_class, context, flags, scope, target },
            values: Values {
                count, bytes, asked, errors, timed, timed_dur, min, max, last_end, weight, spread,
                inside,
            },
        };
        let mut stored = Vec::new();
        row.append_to(&mut stored);
        prop_assert_eq!(stored.len(), ROW_SIZE);
        prop_assert_eq!(CounterRow::from_bytes(stored[..].try_into().unwrap()), row);
    }

    #[test]
    fn an_entry_survives_its_record(
        names in prop::collection::vec("\\PC{0,40}", 1..8),
        category: u8, parent: u32, block: i64, generation: i64,
    ) {
        let entries: Vec<Entry> = names
            .into_iter()
            .zip(1..)
            .map(|(name, id)| Entry { id, category, parent, block, generation, name })
            .collect();
        let mut records = Vec::new();
        for entry in &entries {
            entry.append_to(&mut records);
        }
        prop_assert_eq!(dictionary::parse(&records), (entries, None));
    }
}

#[test]
fn a_valid_segment_is_read_back() {
    let scratch = Scratch::new();
    let process = scratch.valid();
    assert_eq!(read_all(&process.path, "1.seg"), Some(100));
}

#[test]
fn sizes_are_checked_against_the_file() {
    let said = |slots, rows, file| Layout::checked(slots, rows, file).map_err(|e| e.to_string());
    assert_eq!(said(1024, 16, 1 << 20), Ok(Layout { ring_slots: 1024, table_rows: 16 }));
    let refused = |text: &str| Err(text.to_owned());
    let power = "is neither 0 nor a power of two up to 65536";
    assert_eq!(said(1000, 0, 1 << 20), refused(&format!("ring_slots=1000 {power}")));
    assert_eq!(said(1 << 17, 0, 1 << 30), refused(&format!("ring_slots=131072 {power}")));
    assert_eq!(
        said(64, 1, 4096),
        refused("file of 4096 bytes cannot hold ring_slots=64 table_rows=1")
    );
    assert!(said(0, u32::MAX, 1 << 30).is_err());
    assert_eq!(Layout { ring_slots: 64, table_rows: 1 }.size(), 2048 + ROW_SIZE + 64 * SLOT_SIZE);
}

#[test]
fn a_file_truncated_while_mapped_reads_as_zeros_and_says_so() {
    let scratch = Scratch::new();
    let path = scratch.0.join("file");
    fs::write(&path, vec![7; 3 * 4096]).unwrap();
    let handle = File::open(&scratch.0).unwrap();
    let memory = Mapping::open(handle.as_fd(), "file", uid(), 8).unwrap();
    assert_eq!(memory.relaxed_u64(8192), 0x0707_0707_0707_0707);

    OpenOptions::new().write(true).open(&path).unwrap().set_len(4096).unwrap();

    assert!(!memory.truncated());
    assert_eq!(memory.relaxed_u64(8192), 0);
    assert!(memory.truncated());
    assert_eq!(memory.relaxed_u64(0), 0x0707_0707_0707_0707);
    assert_eq!(process::seen_control(&memory), 0x0707_0707);
}

#[test]
fn links_pipes_and_strangers_files_are_refused() {
    let scratch = Scratch::new();
    let at = |name: &str| scratch.0.join(name);
    fs::write(at("file"), vec![0; 4096]).unwrap();
    std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let handle = File::open(&scratch.0).unwrap();
    let said = |name: &str, owner| {
        let opened = Mapping::open(handle.as_fd(), name, owner, 8);
        opened.err().map_or_else(String::new, |refused| refused.to_string())
    };
    assert_eq!(said("file", uid()), "");
    assert!(said("link", uid()).contains("symbolic links"), "{}", said("link", uid()));
    assert_eq!(said("pipe", uid()), "not a regular file");
    let stranger = format!("owner uid={}, but its directory belongs to uid=4711", uid());
    assert_eq!(said("file", 4711), stranger);
}

/// In shared memory, a hole costs who reads it a page: 52 KB of files could take all memory.
#[test]
fn a_file_with_holes_is_not_read() {
    let scratch = Scratch::new();
    let process = scratch.valid();
    let folder = File::open(&process.path).unwrap();
    let open =
        |name: &str| Segment::open(folder.as_fd(), name, uid(), 7).map(|found| found.is_some());
    assert!(open("1.seg").unwrap());
    let whole = fs::read(process.path.join("1.seg")).unwrap();
    let sparse = OpenOptions::new().write(true).create_new(true).open(process.path.join("2.seg"));
    let sparse = sparse.unwrap();
    sparse.set_len(whole.len() as u64).unwrap();
    sparse.write_all_at(&whole[..4096], 0).unwrap();
    let why = open("2.seg").unwrap_err().to_string();
    assert!(why.contains("only 4096 are reserved"), "{why}");
    sparse.write_all_at(&whole, 0).unwrap();
    assert!(open("2.seg").unwrap());
}
