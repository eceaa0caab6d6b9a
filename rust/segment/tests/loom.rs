//! Every order of loads and stores that the memory model allows, tried by loom.
//!
//! `cargo test --release -p iostrata-segment --features loom --test loom`

use std::collections::BTreeMap;

use iostrata_segment::life::{self, SegmentIdentity};
use iostrata_segment::memory::Memory;
use iostrata_segment::ring::{self, Event, Layout, Slot};
use iostrata_segment::row::{self, CounterRow, Key, Values};
use iostrata_segment::schema::{SEGMENT_EPOCH, SEGMENT_STATE, SEGMENT_TID, STATE_ACTIVE};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use loom::thread;

/// A segment whose cells are atomics that loom watches; only the named cells exist.
struct Cells {
    narrow: BTreeMap<usize, AtomicU32>,
    wide: BTreeMap<usize, AtomicU64>,
}

impl Cells {
    fn new(narrow: &[usize], wide: &[usize]) -> Cells {
        Cells {
            narrow: narrow.iter().map(|at| (*at, AtomicU32::new(0))).collect(),
            wide: wide.iter().map(|at| (*at, AtomicU64::new(0))).collect(),
        }
    }
}

/// Cells that a test leaves out read as 0: they do not change and only cost states.
impl Memory for Cells {
    fn acquire_u32(&self, at: usize) -> u32 {
        self.narrow.get(&at).map_or(0, |cell| cell.load(Ordering::Acquire))
    }
    fn acquire_u64(&self, at: usize) -> u64 {
        self.wide.get(&at).map_or(0, |cell| cell.load(Ordering::Acquire))
    }
    fn relaxed_u32(&self, at: usize) -> u32 {
        self.narrow.get(&at).map_or(0, |cell| cell.load(Ordering::Relaxed))
    }
    fn relaxed_u64(&self, at: usize) -> u64 {
        self.wide.get(&at).map_or(0, |cell| cell.load(Ordering::Relaxed))
    }
    fn release_u32(&self, at: usize, value: u32) {
        if let Some(cell) = self.narrow.get(&at) {
            cell.store(value, Ordering::Release);
        }
    }
    fn release_u64(&self, at: usize, value: u64) {
        if let Some(cell) = self.wide.get(&at) {
            cell.store(value, Ordering::Release);
        }
    }
    fn set_u32(&self, at: usize, value: u32) {
        if let Some(cell) = self.narrow.get(&at) {
            cell.store(value, Ordering::Relaxed);
        }
    }
    fn set_u64(&self, at: usize, value: u64) {
        if let Some(cell) = self.wide.get(&at) {
            cell.store(value, Ordering::Relaxed);
        }
    }
    fn acquire_fence(&self) {
        fence(Ordering::Acquire);
    }
    fn release_fence(&self) {
        fence(Ordering::Release);
    }
}

const HEAD: usize = iostrata_segment::schema::SEGMENT_HEAD;
const TAIL: usize = iostrata_segment::schema::SEGMENT_TAIL;

fn check(preemptions: usize, test: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.check(test);
}

#[test]
fn a_published_slot_is_whole_and_a_freed_one_is_not_read() {
    check(3, || {
        let layout = Layout { ring_slots: 2, table_rows: 0 };
        // the first and last word of each slot stand for the words between them
        let words: Vec<usize> = (0..2)
            .flat_map(|slot| [layout.slot_at(slot), layout.slot_at(slot) + 56])
            .chain([HEAD, TAIL])
            .collect();
        let memory = Arc::new(Cells::new(&[], &words));
        let producer = {
            let memory = Arc::clone(&memory);
            thread::spawn(move || {
                let (mut head, mut tail) = (0, 0);
                for i in 1..=3u64 {
                    let slot = Slot::from(Event { start: i, parent: i, ..Event::default() });
                    // a full ring drops: the producer never waits
                    if ring::publish(&*memory, layout, head, &mut tail, &slot) {
                        head += 1;
                    }
                }
                head
            })
        };
        let mut tail = 0;
        let mut last = 0;
        let mut drain = || {
            let head = ring::published(&*memory, layout, tail).unwrap();
            for index in tail..head {
                let event = ring::read_slot(&*memory, layout, index).event();
                assert_eq!(event.start, event.parent, "half of one event, half of another");
                assert!(event.start > last, "out of order");
                last = event.start;
            }
            tail = head;
            ring::free(&*memory, tail);
            tail
        };
        drain();
        drain();
        let written = producer.join().unwrap();
        assert_eq!(drain(), written, "everything published is read at last");
    });
}

#[test]
fn a_row_is_read_as_it_was_after_some_call() {
    check(3, || {
        let (at, wide) = (2048, [24, 32, 40, 88]);
        let layout = Layout { ring_slots: 0, table_rows: 1 };
        let rows = iostrata_segment::schema::SEGMENT_ROWS;
        let wide: Vec<usize> = wide.iter().map(|field| at + field).collect();
        let memory = Arc::new(Cells::new(&[at, at + 4, rows], &wide));
        let values = |calls: u64| Values {
            count: calls,
            bytes: 10 * calls as i64,
            asked: 20 * calls,
            last_end: 30 * calls,
            ..Values::default()
        };
        let producer = {
            let memory = Arc::clone(&memory);
            thread::spawn(move || {
                let key = Key { point: 7, ..Key::default() };
                row::begin_row(&*memory, at, &CounterRow { key, values: values(1) });
                memory.release_u32(rows, 1);
                let mut version = 0;
                row::write_row(&*memory, at, &mut version, &values(2));
            })
        };
        if row::rows_in_use(&*memory, layout) == 1 {
            if let Some(seen) = row::read_row(&*memory, at) {
                assert_eq!(seen.key.point, 7);
                assert!([1, 2].contains(&seen.values.count));
                assert_eq!(seen.values, values(seen.values.count));
            }
        }
        producer.join().unwrap();
        assert_eq!(row::read_row(&*memory, at).map(|row| row.values), Some(values(2)));
    });
}

#[test]
fn a_reused_segment_is_never_taken_for_its_last_life() {
    check(3, || {
        let drained = iostrata_segment::schema::SEGMENT_DRAINED_EPOCH;
        let memory =
            Arc::new(Cells::new(&[SEGMENT_EPOCH, SEGMENT_STATE, drained], &[HEAD, SEGMENT_TID]));
        memory.set_u32(SEGMENT_EPOCH, 1);
        memory.set_u64(SEGMENT_TID, 11);
        memory.set_u32(SEGMENT_STATE, STATE_ACTIVE);
        let producer = {
            let memory = Arc::clone(&memory);
            thread::spawn(move || {
                memory.release_u64(HEAD, 5);
                life::seal(&*memory);
                let next = SegmentIdentity { epoch: 2, tid: 22, thread_name: 0, chain: 0 };
                if let Some(head) = life::reuse(&*memory, &next) {
                    memory.release_u64(HEAD, head + 3);
                    life::seal(&*memory);
                }
            })
        };
        let mut read = BTreeMap::new();
        let mut position = 0;
        let mut done = 0;
        for _ in 0..4 {
            let Some(identity) = life::identity(&*memory) else { continue };
            assert_eq!(identity.tid, u64::from(identity.epoch) * 11, "whose events are these?");
            if identity.epoch == done {
                continue;
            }
            let sealed = life::is_sealed(&*memory);
            let head = memory.acquire_u64(HEAD);
            *read.entry(identity.epoch).or_insert(0) += head - position;
            position = head;
            if sealed {
                done = identity.epoch;
                life::release_epoch(&*memory, identity.epoch);
            }
        }
        producer.join().unwrap();
        for (epoch, events) in read {
            let whole = [5, 3][epoch as usize - 1];
            assert!(events <= whole, "epoch {epoch} got events of another");
            assert!(epoch != done || events == whole, "epoch {epoch} was given up too early");
        }
    });
}
