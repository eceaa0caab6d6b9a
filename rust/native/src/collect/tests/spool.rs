//! Spool files that are damaged, or made to do harm: what is right is applied, the rest left out.

use std::fs::{self, File};
use std::os::fd::AsFd;

use iostrata_segment::scratch::ScratchDir;
use iostrata_segment::segment::Segment;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

use super::fuzz::{TestCaseResult, fuzz, number_at_a_bound};
use super::segments::{Shared, uid, valid};
use crate::collect::block::{self, BlockKind, KINDS};
use crate::collect::reader::Reader;
use crate::collect::spool;
use crate::model::process::ProcessInfo;
use crate::model::run::RunOrder;
use crate::model::state::State;
use crate::store::events;

type Block = (BlockKind, Vec<u8>);

pub fn order(run: &str) -> RunOrder {
    let text = json!({
        "run": run, "uid": 1, "user": "alice", "recorder_pid": 0, "recorder_start": 0,
        "expect": [], "points_off": [], "level": 1, "sampling": 0, "now": 1, "ended": false,
        "message": "",
    });
    serde_json::from_value(text).unwrap()
}

pub fn with_process(state: &mut State, info: ProcessInfo) {
    let mut blocks = Vec::new();
    block::push_json(&mut blocks, BlockKind::Process, &info);
    applied(state, &blocks);
}

fn applied(state: &mut State, blocks: &[u8]) {
    for (kind, payload) in block::blocks(blocks) {
        state.apply(kind, payload);
    }
}

/// Blocks of all kinds, as a collector appends them.
fn whole() -> Vec<Block> {
    let folder = Shared::new("whole");
    fs::write(folder.path().join("1.seg"), valid("1.seg")).unwrap();
    let handle = File::open(folder.path()).unwrap();
    let segment = Segment::open(handle.as_fd(), "1.seg", uid(), 7).unwrap().unwrap();
    let mut state = State::default();
    let mut blocks = Vec::new();
    block::push_json(&mut blocks, BlockKind::Snapshot, &state.snapshot());
    block::push(&mut blocks, BlockKind::Ready, |_| ());
    block::push_json(&mut blocks, BlockKind::Run, &order("r"));
    let info = json!({
        "proc": 7, "pid": 7, "uid": 1, "user": "alice", "pid_start": 1, "start": 1,
        "points_hash": 1, "text": {"run": "r", "main": "x"}, "host": null, "now": 2,
    });
    block::push_json(&mut blocks, BlockKind::Process, &info);
    applied(&mut state, &blocks);
    let identity = segment.identity().unwrap();
    let known = &state.processes[&7];
    Reader::new(segment, 0, 0).read(7, &identity, known, 9, true, &mut blocks).unwrap();
    let mut all: Vec<Block> =
        block::blocks(&blocks).map(|(kind, payload)| (kind, payload.to_vec())).collect();
    let rows = all.iter().find(|(kind, _)| *kind == BlockKind::Rows).unwrap().1.clone();
    all.push((BlockKind::Base, rows));
    let mut names = 7u64.to_le_bytes().to_vec();
    names.extend_from_slice(&[0; 8]);
    names.extend_from_slice(&valid("dict-0")[64..4096]);
    all.push((BlockKind::Names, names));
    let page = json!({"proc": 7, "now": 9, "ended": true, "counters": [1, 2], "woven": 1,
        "faulted": [1], "user_points": [[896, 1]], "summed": [[1, 2]]});
    let end = json!({"proc": 7, "now": 9, "refused": ""});
    let untraced = json!({"run": "r", "pid": 1, "pid_start": 2, "uid": 1, "role": "map",
        "main": "m", "job": "j", "task": "t", "container": "c", "reason": "x", "now": 4, "end": 5});
    for (kind, value) in
        [(BlockKind::Page, page), (BlockKind::End, end), (BlockKind::Untraced, untraced)]
    {
        all.push((kind, value.to_string().into_bytes()));
    }
    all
}

/// What is done to a spool: all but the last leave every checksum right.
#[derive(Debug, Clone)]
enum Change {
    Word(Index, Index, u64),
    Byte(Index, Index, u8),
    Cut(Index, Index),
    Again(Index, Index),
    Gone(Index),
    Kind(Index, Index),
    /// A value of a JSON document becomes another one.
    Json(Index, Index, usize),
    Damage(Index, u8),
}

fn change() -> impl Strategy<Value = Change> {
    let at = any::<Index>;
    prop_oneof![
        6 => (at(), at(), number_at_a_bound()).prop_map(|(b, i, n)| Change::Word(b, i, n)),
        3 => (at(), at(), any::<u8>()).prop_map(|(b, i, n)| Change::Byte(b, i, n)),
        2 => (at(), at()).prop_map(|(b, i)| Change::Cut(b, i)),
        2 => (at(), at()).prop_map(|(b, i)| Change::Again(b, i)),
        1 => at().prop_map(Change::Gone),
        1 => (at(), at()).prop_map(|(b, i)| Change::Kind(b, i)),
        4 => (at(), at(), 0..BOMBS).prop_map(|(b, i, n)| Change::Json(b, i, n)),
        1 => (at(), any::<u8>()).prop_map(|(i, n)| Change::Damage(i, n)),
    ]
}

const BOMBS: usize = 8;

fn bomb(number: usize) -> Value {
    match number {
        0 => (0..100).fold(json!([]), |inside, _| json!([inside])),
        1 => json!(u64::MAX),
        2 => json!(-1),
        3 => json!(1e300),
        4 => json!("\u{0}\t\n=".repeat(1000)),
        5 => json!(vec![json!([0, 0]); 5000]),
        6 => Value::Null,
        _ => json!({"4294967295": {}, "r": {"run": 1}}),
    }
}

/// Replaces the value at a place of those that a document has.
fn replace(value: &mut Value, left: &mut usize, new: &Value) {
    if *left == 0 {
        *value = new.clone();
    }
    *left = left.wrapping_sub(1);
    match value {
        Value::Array(values) => values.iter_mut().for_each(|value| replace(value, left, new)),
        Value::Object(values) => values.values_mut().for_each(|value| replace(value, left, new)),
        _ => {}
    }
}

impl Change {
    fn apply(&self, blocks: &mut Vec<Block>) {
        if blocks.is_empty() {
            return;
        }
        let place = |index: &Index, blocks: &[Block]| index.index(blocks.len());
        match self {
            Change::Word(b, at, value) => {
                let payload = &mut { place(b, blocks) };
                let payload = &mut blocks[*payload].1;
                let at = at.index(payload.len() / 4 + 1) * 4;
                for (to, byte) in payload.iter_mut().skip(at).zip(value.to_le_bytes()) {
                    *to = byte;
                }
            }
            Change::Byte(b, at, value) => {
                let block = place(b, blocks);
                let payload = &mut blocks[block].1;
                if !payload.is_empty() {
                    let at = at.index(payload.len());
                    payload[at] = *value;
                }
            }
            Change::Cut(b, at) => {
                let block = place(b, blocks);
                let payload = &mut blocks[block].1;
                payload.truncate(at.index(payload.len() + 1));
            }
            Change::Again(from, to) => {
                let block = blocks[place(from, blocks)].clone();
                blocks.insert(place(to, blocks), block);
            }
            Change::Gone(b) => drop(blocks.remove(place(b, blocks))),
            Change::Kind(b, kind) => {
                let block = place(b, blocks);
                blocks[block].0 = KINDS[kind.index(KINDS.len())];
            }
            Change::Json(b, at, number) => {
                let block = place(b, blocks);
                if let Ok(mut value) = serde_json::from_slice(&blocks[block].1) {
                    replace(&mut value, &mut at.index(40), &bomb(*number));
                    blocks[block].1 = value.to_string().into_bytes();
                }
            }
            Change::Damage(..) => {}
        }
    }
}

fn spooled(mut blocks: Vec<Block>, changes: &[Change]) -> Vec<u8> {
    for change in changes {
        change.apply(&mut blocks);
    }
    let mut file = Vec::new();
    for (kind, payload) in blocks {
        block::push(&mut file, kind, |out| out.extend_from_slice(&payload));
    }
    for change in changes {
        if let (Change::Damage(at, value), false) = (change, file.is_empty()) {
            let at = at.index(file.len());
            file[at] = *value;
        }
    }
    file
}

/// As `replay` and a collector do that starts again: rows become Parquet, the state a snapshot.
fn replayed(file: &[u8], folder: &ScratchDir) -> TestCaseResult {
    let mut state = State::default();
    if spool::replay(file, &mut state).unwrap().is_some() {
        for part in state.output.parts.iter().filter(|part| !part.rows.is_empty()) {
            events::write(Vec::new(), &state, part, &part.rows, "host", 1)
                .map_err(|error| TestCaseError::fail(format!("{error:#}")))?;
        }
    }
    fs::write(spool::path(folder.path(), 1), file).unwrap();
    let mut state = State::default();
    let mut opened = spool::Spool::open(folder.path(), None, 1, &mut state).unwrap();
    state.rotate(|_| true);
    opened.rotate(&state).unwrap();
    let begun = fs::read(spool::path(folder.path(), opened.number)).unwrap();
    prop_assert!(spool::replay(&begun[..], &mut State::default()).unwrap().is_some());
    fs::remove_file(spool::path(folder.path(), opened.number)).unwrap();
    Ok(())
}

#[test]
fn fuzz_spool() {
    let whole = whole();
    let folder = ScratchDir::new();
    fuzz(prop::collection::vec(change(), 0..6), |changes| {
        replayed(&spooled(whole.clone(), &changes), &folder)
    });
}

#[test]
fn the_spool_that_fuzzing_begins_with_has_rows() {
    let mut state = State::default();
    assert!(spool::replay(&spooled(whole(), &[])[..], &mut state).unwrap().is_some());
    assert_eq!(state.output.parts.iter().map(|part| part.rows.len()).max(), Some(103));
    assert_eq!(state.rejected.blocks, 0);
}

/// The number of a row in a table says how long the table is.
#[test]
fn a_row_far_behind_the_end_of_any_table_takes_no_memory() {
    let mut state = State::default();
    let mut blocks = whole();
    for (kind, payload) in &mut blocks {
        if matches!(kind, BlockKind::Rows | BlockKind::Base) {
            payload[64..68].copy_from_slice(&u32::MAX.to_le_bytes());
        }
    }
    assert!(spool::replay(&spooled(blocks, &[])[..], &mut state).unwrap().is_some());
    assert_eq!(state.rejected.blocks, 2);
}

/// A snapshot has the rows that were counted, wherever they stand.
#[test]
fn a_table_that_leaves_rows_out_is_spooled_without_them() {
    let folder = ScratchDir::new();
    let mut blocks = whole();
    for (kind, payload) in &mut blocks {
        if matches!(kind, BlockKind::Rows | BlockKind::Base) {
            payload[64..68].copy_from_slice(&2_000_000u32.to_le_bytes());
        }
    }
    fs::write(spool::path(folder.path(), 1), spooled(blocks, &[])).unwrap();
    let mut state = State::default();
    let mut opened = spool::Spool::open(folder.path(), None, 1, &mut state).unwrap();
    let rows = |state: &State| state.processes[&7].segments.values().next().unwrap().rows.clone();
    assert_eq!(rows(&state).len(), 2_000_001);
    opened.rotate(&state).unwrap();
    let begun = fs::read(spool::path(folder.path(), opened.number)).unwrap();
    assert!(begun.len() < 1 << 20);
    let mut again = State::default();
    assert!(spool::replay(&begun[..], &mut again).unwrap().is_some());
    assert_eq!(rows(&again), rows(&state));
}

/// As sparse files are: of no size on disk.
#[test]
fn a_file_without_end_is_one_line() {
    let folder = ScratchDir::new();
    let path = spool::path(folder.path(), 1);
    File::create(&path).unwrap().set_len(1 << 40).unwrap();
    let why = spool::read(&path).unwrap_err();
    let size = 1u64 << 40;
    let line = format!("{} has {size} bytes, at most 4294967296 are read", path.display());
    assert_eq!(why.to_string(), line);
}
