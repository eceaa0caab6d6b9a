/*!
Pauses of the garbage collector, written while they last: no Java may run then.

They go to a segment of their own in the process's directory, which is made at the first pause of a
recording. Its serial is the last that spans have room for, which the recorder never reaches.
*/

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use iostrata_segment::mapping::Mapping;
use iostrata_segment::memory::Memory;
use iostrata_segment::points::POINTS;
use iostrata_segment::ring::{self, Event, Layout, Slot};
use iostrata_segment::row::{self, CounterRow, Key, Values};
use iostrata_segment::schema::{
    FILE_KIND_SEGMENT, KIND_CALL, KIND_CONTEXT, PROCESS_SEEN_CONTROL, PROCESS_SIZE, SEGMENT_EPOCH,
    SEGMENT_GAPS, SEGMENT_OPEN_CAPACITY, SEGMENT_OPEN_SLOTS, SEGMENT_PROC, SEGMENT_RING_SLOTS,
    SEGMENT_ROWS, SEGMENT_SERIAL, SEGMENT_STATE, SEGMENT_TABLE_ROWS, SEGMENT_TID, STATE_ACTIVE,
};
use iostrata_segment::writer::{files, now};
use rustix::fs::{CWD, Mode, OFlags, openat};

/// Spans are serial << 40 and positive.
const SERIAL: u32 = (1 << 23) - 1;
const LAYOUT: Layout = Layout { ring_slots: 1024, table_rows: 1 };
const OP: &str = "gc_pause";

/// What is known of the process, and its segment.
#[derive(Debug, Default)]
pub struct Pauses {
    directory: Mutex<Option<PathBuf>>,
    /// Pauses follow one another: the lock is not waited for but when the agent comes or goes.
    process: Mutex<Option<Process>>,
    /// When the pause began, `CLOCK_MONOTONIC` ns.
    start: AtomicU64,
}

#[derive(Debug)]
struct Process {
    page: Mapping,
    proc: u64,
    context: u32,
    point: u16,
    directory: PathBuf,
    log: Option<Log>,
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pauses {
    /// The recorder has made its directory.
    pub fn record_in(&self, directory: &Path) {
        *locked(&self.directory) = Some(directory.to_owned());
    }

    /// From here on pauses are recorded while a run is; `context`: a dictionary id.
    pub fn follow(&self, proc: u64, context: u32) {
        let Some(directory) = locked(&self.directory).clone() else { return };
        let Some(point) = POINTS.iter().find(|point| point.op == OP) else { return };
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let page = openat(CWD, directory.join("process"), flags, Mode::empty())
            .ok()
            .and_then(|file| Mapping::unguarded(&file, PROCESS_SIZE).ok());
        let point = point.id;
        *locked(&self.process) =
            page.map(|page| Process { page, proc, context, point, directory, log: None });
    }

    /// The agent leaves: its files are for the collector to take away.
    pub fn forget(&self) {
        *locked(&self.process) = None;
    }

    pub fn begin(&self) {
        self.start.store(now(), Ordering::Relaxed);
    }

    /// The pause that began last ends.
    pub fn end(&self) {
        let start = self.start.swap(0, Ordering::Relaxed);
        let mut process = locked(&self.process);
        let Some(process) = process.as_mut() else { return };
        // What the agent has acknowledged: 0 while nothing is recorded.
        if start == 0 || process.page.relaxed_u32(PROCESS_SEEN_CONTROL) == 0 {
            return;
        }
        let dur = now().saturating_sub(start);
        if process.log.is_none() {
            process.log = Log::create(process, start);
        }
        if let Some(log) = process.log.as_mut() {
            log.pause(process.point, process.context, start, dur);
        }
    }
}

#[derive(Debug)]
struct Log {
    memory: Mapping,
    head: u64,
    tail: u64,
    version: u32,
    values: Values,
}

impl Log {
    /// None when there is no room: pauses are not what a full host is asked for.
    fn create(process: &Process, start: u64) -> Option<Log> {
        let name = format!("{SERIAL}.seg");
        let memory =
            files::make(&process.directory, &name, LAYOUT.size(), FILE_KIND_SEGMENT).ok()?;
        memory.set_u64(SEGMENT_PROC, process.proc);
        memory.set_u32(SEGMENT_SERIAL, SERIAL);
        memory.set_u32(SEGMENT_EPOCH, 1);
        // No Java thread has this id.
        memory.set_u64(SEGMENT_TID, u64::from(SERIAL));
        memory.set_u32(SEGMENT_RING_SLOTS, LAYOUT.ring_slots);
        memory.set_u32(SEGMENT_TABLE_ROWS, LAYOUT.table_rows);
        memory.set_u32(SEGMENT_OPEN_SLOTS, SEGMENT_OPEN_CAPACITY as u32);
        memory.release_u32(SEGMENT_STATE, STATE_ACTIVE);
        let mut log = Log { memory, head: 0, tail: 0, version: 0, values: Values::default() };
        let target = process.context;
        log.publish(Event { kind: KIND_CONTEXT, start, target, ..Event::default() });
        Some(log)
    }

    fn pause(&mut self, point: u16, context: u32, start: u64, dur: u64) {
        let key = Key { point, context, ..Key::default() };
        self.add(key, start + dur, dur);
        let span = u64::from(SERIAL) << 40 | self.values.count;
        let event = Event { kind: KIND_CALL, point, start, dur, span, ..Event::default() };
        if !self.publish(Event { offset: -1, ..event }) {
            let gaps = self.memory.relaxed_u64(SEGMENT_GAPS);
            self.memory.set_u64(SEGMENT_GAPS, gaps + 1);
        }
    }

    fn publish(&mut self, event: Event) -> bool {
        let published =
            ring::publish(&self.memory, LAYOUT, self.head, &mut self.tail, &Slot::from(event));
        self.head += u64::from(published);
        published
    }

    /// To the one row first: counts may be ahead of slots, never behind.
    fn add(&mut self, key: Key, end: u64, dur: u64) {
        let old = self.values;
        self.values = Values {
            count: old.count + 1,
            timed: old.timed + 1,
            timed_dur: old.timed_dur + dur,
            min: if old.count == 0 { dur } else { old.min.min(dur) },
            max: old.max.max(dur),
            last_end: end,
            ..old
        };
        let at = LAYOUT.row_at(0);
        if old.count > 0 {
            row::write_row(&self.memory, at, &mut self.version, &self.values);
            return;
        }
        row::begin_row(&self.memory, at, &CounterRow { key, values: self.values });
        self.memory.release_u32(SEGMENT_ROWS, 1);
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use iostrata_segment::segment::Segment;

    use super::*;
    use iostrata_segment::scratch::ScratchDir;

    fn process_in(directory: &Path, seen: u32) {
        let mut page = vec![0; PROCESS_SIZE];
        page[PROCESS_SEEN_CONTROL] = seen as u8;
        std::fs::write(directory.join("process"), page).unwrap();
    }

    fn paused(directory: &Path, times: usize) -> Pauses {
        let pauses = Pauses::default();
        pauses.record_in(directory);
        pauses.follow(77, 5);
        for _ in 0..times {
            pauses.begin();
            pauses.end();
        }
        pauses
    }

    #[test]
    fn each_pause_is_a_call_and_in_the_sum() {
        let dir = ScratchDir::new();
        process_in(dir.path(), 1);
        paused(dir.path(), 3);
        let folder = std::fs::File::open(dir.path()).unwrap();
        let own = rustix::process::geteuid().as_raw();
        let name = format!("{SERIAL}.seg");
        let segment = Segment::open(folder.as_fd(), &name, own, 77).unwrap().unwrap();
        let events: Vec<Event> =
            (0..segment.published(0).unwrap()).map(|index| segment.slot(index).event()).collect();
        assert_eq!(events.iter().map(|e| e.kind).collect::<Vec<_>>(), [3, 1, 1, 1]);
        assert_eq!(events[0].target, 5);
        let spans: Vec<u64> = events[1..].iter().map(|e| e.span).collect();
        assert_eq!(spans, [1, 2, 3].map(|n| u64::from(SERIAL) << 40 | n));
        assert!(spans.iter().all(|span| i64::try_from(*span).is_ok()));
        assert_eq!(segment.rows_in_use(), 1);
        let row = segment.row(0).unwrap();
        assert_eq!((row.values.count, row.key.context), (3, 5));
    }

    #[test]
    fn nothing_is_made_while_nothing_is_recorded() {
        let dir = ScratchDir::new();
        process_in(dir.path(), 0);
        paused(dir.path(), 2);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_the_ring_has_no_room_for_is_counted() {
        let dir = ScratchDir::new();
        process_in(dir.path(), 1);
        let pauses = paused(dir.path(), 1030);
        let process = locked(&pauses.process);
        let log = process.as_ref().unwrap().log.as_ref().unwrap();
        assert_eq!(log.values.count, 1030);
        // one slot is the context's
        assert_eq!(log.memory.relaxed_u64(SEGMENT_GAPS), 1030 - 1023);
    }

    #[test]
    fn an_end_without_a_beginning_is_none() {
        let dir = ScratchDir::new();
        process_in(dir.path(), 1);
        let pauses = paused(dir.path(), 0);
        pauses.end();
        assert!(locked(&pauses.process).as_ref().unwrap().log.is_none());
    }
}
