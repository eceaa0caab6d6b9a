//! Dictionaries: records of any sizes and ids, in files that change, and what names become.

use std::fs::{self, File};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;

use iostrata_segment::dictionary::{self, Entry};
use iostrata_segment::schema::{
    CATEGORY_CHILD, CATEGORY_CLIENT, CATEGORY_CONTEXT, CATEGORY_FILE, CATEGORY_JOB, CATEGORY_POINT,
    CATEGORY_THREAD_TIME, DICTIONARY_HEADER, DICTIONARY_USED,
};
use iostrata_segment::segment::Dictionary;
use proptest::prelude::*;

use super::fuzz::{TestCaseResult, fuzz, number_at_a_bound};
use super::segments::{Shared, moves, moving, uid, valid};
use super::spool::{order, with_process};
use crate::collect::block::{self, BlockKind, NamesHead};
use crate::model::process::ProcessInfo;
use crate::model::state::State;

/// Names as readers split them up: contexts, jobs, points of users, children, threads.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{0,40}",
        "r?\t?(job_1_1|#7|#8)?\t?(attempt_1_1_m_1_0)?\t?map?\t?(DFSClient_[a-z0-9_]{0,20}|#7|#8)?",
        "(job|application|attempt|container)_e?[0-9]{0,20}_[0-9]{0,20}(_[mr]?_[0-9]{0,9}){0,3}",
        "(89[56]|1023|99999|-1)?\t?[0-9]{0,3}\t?[a-z]{0,8}\t?\\PC{0,20}",
        "(-?[0-9]{0,20}\t){0,9}\\PC{0,20}",
        (0usize..20_000).prop_map(|size| "x".repeat(size)),
    ]
}

fn entry() -> impl Strategy<Value = Entry> {
    let known = [
        CATEGORY_FILE,
        CATEGORY_CONTEXT,
        CATEGORY_JOB,
        CATEGORY_CLIENT,
        CATEGORY_POINT,
        CATEGORY_CHILD,
        CATEGORY_THREAD_TIME,
    ];
    let category = prop_oneof![3 => prop::sample::select(known.to_vec()), 1 => any::<u8>()];
    let id = prop_oneof![4 => 1u32..40, 1 => number_at_a_bound().prop_map(|n| n as u32)];
    (id, category, number_at_a_bound(), any::<(i64, i64)>(), name()).prop_map(
        |(id, category, parent, (block, generation), name)| Entry {
            id,
            category,
            parent: parent as u32,
            block,
            generation,
            name,
        },
    )
}

/// Records, in order of their ids or not, of which some bytes are other ones.
fn records() -> impl Strategy<Value = Vec<u8>> {
    let flips = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4);
    let entries = prop::collection::vec(entry(), 0..20);
    prop_oneof![
        8 => (entries, any::<bool>(), flips).prop_map(|(mut entries, in_order, flips)| {
            let mut bytes = Vec::new();
            for (entry, id) in entries.iter_mut().zip(1..) {
                entry.id = if in_order { id } else { entry.id };
                entry.append_to(&mut bytes);
            }
            for (place, value) in flips.into_iter().filter(|_| !entries.is_empty()) {
                let place = place.index(bytes.len());
                bytes[place] = value;
            }
            bytes
        }),
        1 => prop::collection::vec(any::<u8>(), 0..200),
    ]
}

/// What a collector does with the records of a process of a run.
fn learn(state: &mut State, records: &[u8]) -> TestCaseResult {
    let (entries, _) = dictionary::parse(records);
    prop_assert!(entries.len() * 32 <= records.len());
    let before = state.processes[&7].names.bytes as usize;
    let mut blocks = Vec::new();
    block::push(&mut blocks, BlockKind::Names, |out| {
        NamesHead { proc: 7, number: 0, used: 0 }.append_to(out);
        out.extend_from_slice(records);
    });
    for (kind, payload) in block::blocks(&blocks) {
        state.apply(kind, payload);
    }
    let process = &state.processes[&7];
    let kept = process.names.bytes as usize - before;
    prop_assert!(kept <= 4 * records.len(), "{kept} bytes of {}", records.len());
    for id in 0..40 {
        let _ = (process.names.has_forgotten(id), state.identify(process, id));
    }
    Ok(())
}

#[test]
fn fuzz_dictionaries() {
    let folder = Shared::new("dictionaries");
    let handle = File::open(folder.path()).unwrap();
    let path = folder.path().join("dict-0");
    let changes = moves(DICTIONARY_HEADER, 4096);
    let from = prop_oneof![3 => Just(0), 1 => number_at_a_bound()];
    fuzz((records(), changes, from), |(records, changes, from)| {
        let mut state = State::default();
        with_process(&mut state, ProcessInfo { proc: 7, uid: 1, ..ProcessInfo::default() });
        with_process(&mut state, ProcessInfo { proc: 8, uid: 1, ..ProcessInfo::default() });
        state.owners.order(order("r"), std::iter::empty());
        learn(&mut state, &records)?;
        fs::write(&path, valid("dict-0")).unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        let some = records.len().min(valid("dict-0").len() - DICTIONARY_HEADER);
        file.write_all_at(&records[..some], DICTIONARY_HEADER as u64).unwrap();
        file.write_all_at(&(some as u32).to_le_bytes(), DICTIONARY_USED as u64).unwrap();
        moving(&file, valid("dict-0").len() as u64, &changes, || {
            let opened = Dictionary::open(handle.as_fd(), "dict-0", uid());
            let Ok(Some(dictionary)) = opened else { return Ok(()) };
            let (found, _) = dictionary.published(from as usize & !7);
            let _ = dictionary.truncated();
            prop_assert!(found.len() <= 8 << 20);
            learn(&mut state, &found)
        })
    });
}
