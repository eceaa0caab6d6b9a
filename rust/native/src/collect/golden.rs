//! `schema/golden/v1`: what Java wrote is read as Java meant it, and becomes the rows that Python
//! expects. `GOLDEN_WRITE=1 cargo test golden` writes `events.parquet` and `control` anew, which
//! is for versions that are not frozen.

use std::fs::{self, File};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use iostrata_segment::control::{Control, Detail};
use iostrata_segment::mapping::Rejection;
use iostrata_segment::schema::{
    CATEGORY_FILE, DICTIONARY_HEADER, ENTRY_CATEGORY, ENTRY_NAME, FILE_KIND_PROCESS, LEVEL_PHASE,
    PREAMBLE_VERSION, PROCESS_MAX_POINTS, PROCESS_UID, VERSION, category_name, kind_name,
};
use iostrata_segment::scratch::ScratchDir;
use iostrata_segment::segment::{ProcessPage, Segment};
use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::{Value, json};

use super::block::{self, BlockKind};
use super::golden_calls;
use super::shares::Room;
use super::source::Source;
use crate::model::names::text;
use crate::model::process::{Process, ProcessInfo};
use crate::model::run::RunOrder;
use crate::model::state::{RejectedCounts, State};
use crate::store::events;

const PROC: u64 = 0x0123_4567_89ab_cdef;
const ANCHOR: i64 = 1_700_000_000_000_000_000;

/// A copy of the golden process that belongs to this user, because reading moves `tail`.
struct Copy(PathBuf);

impl Copy {
    fn new(name: &str) -> Copy {
        let path = std::env::temp_dir().join(format!("iostrata-{name}-{}", std::process::id()));
        fs::create_dir(&path).unwrap();
        for file in fs::read_dir(golden().join("process")).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), path.join(file.file_name())).unwrap();
        }
        let page = File::options().write(true).open(path.join("process")).unwrap();
        page.write_all_at(&uid().to_le_bytes(), PROCESS_UID as u64).unwrap();
        Copy(path)
    }

    fn handle(&self) -> OwnedFd {
        File::open(&self.0).unwrap().into()
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/golden/v1")
}

fn uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Reads the process as dead at time 2000, in run `run-1` of alice.
fn collect(directory: OwnedFd) -> State {
    let (page, who) = ProcessPage::open(directory.as_fd(), uid()).unwrap().unwrap();
    assert_eq!((who.proc, FILE_KIND_PROCESS), (PROC, 1));
    let id = (who.proc, who.uid, who.pid, who.pid_start);
    let mut source = Source::new(id, "golden".into(), directory, page, who.start);
    source.dead = Some(0);
    let order = RunOrder {
        run: "run-1".into(),
        uid: uid(),
        user: "alice".into(),
        recorder_pid: 1,
        recorder_start: 1,
        expect: Vec::new(),
        points_off: Vec::new(),
        level: 1,
        sampling: 0,
        budget: 0,
        has_points: false,
        devices: false,
        now: 900,
        ended: false,
        message: String::new(),
    };
    let (mut blocks, mut consumed, mut rejected) = (Vec::new(), Vec::new(), Vec::new());
    block::push_json(&mut blocks, BlockKind::Run, &order);
    let info = ProcessInfo::new(who, "alice".into(), None, 1000);
    block::push_json(&mut blocks, BlockKind::Process, &info);
    let fresh = Process::new(info);
    let mut room = Room::new(Rc::default(), u64::MAX, std::iter::empty());
    source.scan(None, 2000, &mut room, &mut rejected);
    source.read_names(&fresh, usize::MAX, &mut blocks, &mut rejected);
    source.read(&fresh, 2000, usize::MAX, &mut blocks, &mut consumed, &mut rejected);
    assert!(rejected.is_empty(), "{rejected:?}");
    let mut state = State::default();
    block::blocks(&blocks).for_each(|(kind, payload)| state.apply(kind, payload));
    assert_eq!(state.rejected, RejectedCounts::default());
    state
}

fn target(process: &Process, id: u32) -> Value {
    process.names.get(id).map_or(Value::Null, |name| {
        let category = category_name(name.category).unwrap();
        json!({ "category": category, "name": text(&name.text), "block": name.block })
    })
}

/// Slots, rows and open calls of the one segment in `directory`, as `events.json` has them.
fn read(directory: BorrowedFd<'_>, process: &Process) -> Value {
    let segment = Segment::open(directory, "1.seg", uid(), PROC).unwrap().unwrap();
    let tail = segment.tail();
    let slots = (tail..segment.published(tail).unwrap()).map(|index| {
        let e = segment.slot(index).event();
        json!({
            "kind": kind_name(e.kind), "point": e.point, "start": e.start, "dur": e.dur,
            "bytes": e.bytes, "offset": e.offset, "asked": e.asked, "ret": e.ret,
            "flags": e.flags, "span": e.span, "parent": e.parent,
            "target": target(process, e.target),
        })
    });
    let rows = (0..segment.rows_in_use()).map(|index| {
        let row = segment.row(index).unwrap();
        let (k, v) = (row.key, row.values);
        json!({
            "point": k.point, "category": category_name(k.category), "size_class": k.size_class,
            "context": k.context, "flags": k.flags, "anchor": k.scope, "count": v.count,
            "bytes": v.bytes, "asked": v.asked, "errors": v.errors, "timed": v.timed,
            "timed_dur": v.timed_dur, "min": v.min, "max": v.max, "last_end": v.last_end,
            "weight": v.weight, "spread": f64::from_bits(v.spread) as u64, "inside": v.inside,
        })
    });
    let open = segment.open_spans().into_iter().map(|open| {
        json!({
            "span": open.span, "start": open.start, "parent": open.parent, "point": open.point,
            "flags": open.flags, "target": target(process, open.target),
        })
    });
    let (gaps, collapsed) = segment.gaps_and_collapsed();
    json!({
        "slots": slots.collect::<Value>(), "rows": rows.collect::<Value>(),
        "open": open.collect::<Value>(), "gaps": gaps, "folded": collapsed,
    })
}

fn assert_golden(read: &Value) {
    let expected = fs::read_to_string(golden().join("events.json")).unwrap();
    let expected: Value = serde_json::from_str(&expected).unwrap();
    for (part, value) in expected.as_object().unwrap() {
        assert_eq!(&read[part], value, "{part}");
    }
    assert_eq!(read.as_object().unwrap().len(), expected.as_object().unwrap().len());
}

#[test]
fn golden_bytes_mean_what_java_wrote() {
    let copy = Copy::new("golden-bytes");
    let state = collect(copy.handle());
    assert_golden(&read(copy.handle().as_fd(), &state.processes[&PROC]));
}

/// The native producer leaves the same of the same calls.
#[test]
fn the_native_writer_means_the_same() {
    let dir = ScratchDir::new();
    let directory = golden_calls::write(dir.path(), PROC);
    let handle = || -> OwnedFd { File::open(&directory).unwrap().into() };
    let state = collect(handle());
    assert_golden(&read(handle().as_fd(), &state.processes[&PROC]));
}

#[test]
fn golden_events_become_golden_rows() {
    let copy = Copy::new("golden-rows");
    let state = collect(copy.handle());
    let [part] = &state.output.parts[..] else { panic!("one run") };
    let mut written = Vec::new();
    events::write(&mut written, &state, part, &part.rows, "golden-host", ANCHOR).unwrap();
    let made = copy.0.join("events.parquet");
    fs::write(&made, written).unwrap();
    let golden = golden().join("events.parquet");
    if std::env::var_os("GOLDEN_WRITE").is_some() {
        fs::copy(&made, &golden).unwrap();
    }

    let (made, golden) = (rows(&made), rows(&golden));

    assert!(made.len() > 10);
    for (place, (made, golden)) in made.iter().zip(&golden).enumerate() {
        assert_eq!(made, golden, "row {place}: made, golden");
    }
    assert_eq!(made.len(), golden.len());
}

/// What an agent of the same version reads; Java asserts the values.
#[test]
fn golden_control_page_is_written_byte_for_byte() {
    let copy = Copy::new("golden-control");
    let mut control = Control::create(copy.handle().as_fd(), uid()).unwrap();
    let detail = Detail { level: LEVEL_PHASE, sampling: 250_000_000, budget: 10_000 };
    let off = [1, 64, PROCESS_MAX_POINTS as u16 - 1];
    assert_eq!(control.on(detail, off, false), 1);
    control.event_cost(123);
    let golden = golden().join("control");
    if std::env::var_os("GOLDEN_WRITE").is_some() {
        fs::copy(copy.0.join("control"), &golden).unwrap();
    }
    assert_eq!(fs::read(copy.0.join("control")).unwrap(), fs::read(golden).unwrap());
}

/// A newer agent may know more categories: the row stays, its category is not known.
#[test]
fn a_category_that_is_not_known_is_none() {
    let copy = Copy::new("golden-category");
    let names = copy.0.join("dict-0");
    let mut bytes = fs::read(&names).unwrap();
    let at = bytes.windows(4).position(|name| name == b"/a/b").unwrap() - ENTRY_NAME;
    assert!(at >= DICTIONARY_HEADER && bytes[at + ENTRY_CATEGORY] == CATEGORY_FILE);
    bytes[at + ENTRY_CATEGORY] = 200;
    fs::write(&names, bytes).unwrap();

    let state = collect(copy.handle());

    let [part] = &state.output.parts[..] else { panic!("one run") };
    let made = copy.0.join("events.parquet");
    let mut written = Vec::new();
    events::write(&mut written, &state, part, &part.rows, "golden-host", ANCHOR).unwrap();
    fs::write(&made, written).unwrap();
    let count =
        |file: &Path, what: &str| rows(file).iter().filter(|row| row.contains(what)).count();
    assert_eq!(count(&made, "category: null, target: \"/a/b\""), 2);
    assert_eq!(count(&golden().join("events.parquet"), "category: \"file\", target: \"/a/b\""), 2);
}

#[test]
fn a_newer_version_is_rejected_in_one_line() {
    let copy = Copy::new("golden-newer");
    let page = File::options().write(true).open(copy.0.join("process")).unwrap();
    page.write_all_at(&(VERSION + 1).to_le_bytes(), PREAMBLE_VERSION as u64).unwrap();
    let rejection = ProcessPage::open(copy.handle().as_fd(), uid()).unwrap_err();
    assert!(matches!(rejection, Rejection::Version { found } if found == VERSION + 1));
    let line = "schema version 2, this iostrata reads 1: use the one of its agent";
    assert_eq!(rejection.to_string(), line);
}

fn rows(file: &Path) -> Vec<String> {
    let file = File::open(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let reader = SerializedFileReader::new(file).unwrap();
    reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect()
}
