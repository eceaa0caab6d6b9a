//! A request from the event of its begin to that of its end.

use std::collections::{HashMap, VecDeque};

use iostrata_segment::row::size_class;

use super::askers::{Asker, Askers, SpawnEvent};
use super::rows::{self, Operation};
use crate::devices::SECTOR;
use crate::model::requests::RequestRow;

/// Requests under way at a time, whose ends were not seen; then all are forgotten.
const MOST_OPEN: usize = 1 << 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Handed in by a thread.
    Begun {
        tid: u32,
    },
    Done {
        sectors: u64,
    },
}

/// What the kernel says happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelEvent {
    Request(RequestEvent),
    Spawn(SpawnEvent),
}

impl KernelEvent {
    fn time(&self) -> u64 {
        match self {
            KernelEvent::Request(event) => event.time,
            KernelEvent::Spawn(event) => event.time,
        }
    }
}

/// What the kernel says of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestEvent {
    /// `CLOCK_MONOTONIC` ns.
    pub time: u64,
    pub device: u64,
    pub sector: u64,
    pub operation: Operation,
    pub step: Step,
}

/// What a process asked for: requests of one operation and size class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    pub who: Asker,
    pub row: RequestRow,
}

type Place = (u64, u64, Operation);

#[derive(Debug, Default)]
pub struct Pairs {
    /// Not stepped through yet.
    waiting: Vec<KernelEvent>,
    open: HashMap<Place, VecDeque<(u64, Asker)>>,
    done: HashMap<(Asker, Operation, u8), RequestRow>,
}

impl Pairs {
    pub fn add(&mut self, event: KernelEvent) {
        self.waiting.push(event);
    }

    /// Goes through the events until `now`, in the order of time: the pages of CPUs are read one
    /// after the other, so what is later may lack what came before it. How many they were.
    pub fn step(&mut self, now: u64, askers: &mut Askers) -> usize {
        let waiting = std::mem::take(&mut self.waiting);
        let (mut due, later): (Vec<_>, Vec<_>) =
            waiting.into_iter().partition(|event| event.time() <= now);
        self.waiting = later;
        due.sort_by_key(KernelEvent::time);
        for event in &due {
            let event = match event {
                KernelEvent::Request(event) => event,
                KernelEvent::Spawn(event) => {
                    askers.spawned(*event);
                    continue;
                }
            };
            let place = (event.device, event.sector, event.operation);
            match event.step {
                Step::Begun { tid } => self.begin(place, event.time, askers.of(tid)),
                Step::Done { sectors } => self.end(place, event.time, sectors * SECTOR),
            }
        }
        due.len()
    }

    fn begin(&mut self, place: Place, time: u64, who: Asker) {
        if self.open.len() >= MOST_OPEN {
            self.open.clear();
        }
        self.open.entry(place).or_default().push_back((time, who));
    }

    /// One that began before anybody looked is not counted.
    fn end(&mut self, place: Place, time: u64, bytes: u64) {
        let Some(open) = self.open.get_mut(&place) else { return };
        let begun = open.pop_front();
        if open.is_empty() {
            self.open.remove(&place);
        }
        let Some((begin, who)) = begun else { return };
        let row = self.done.entry((who, place.2, size_class(bytes))).or_default();
        row.add(bytes, time.saturating_sub(begin));
    }

    /// Events came to an end: of requests under way nobody will say when they were done.
    pub fn stop(&mut self) {
        self.waiting.clear();
        self.open.clear();
    }

    pub fn take(&mut self) -> Vec<Asked> {
        let done = std::mem::take(&mut self.done);
        let asked = |((who, operation, size_class), row)| {
            let point = rows::point(operation);
            Asked { who, row: RequestRow { point, size_class, ..row } }
        };
        done.into_iter().map(asked).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(time: u64, sector: u64, operation: Operation, step: Step) -> KernelEvent {
        KernelEvent::Request(RequestEvent { time, device: 7, sector, operation, step })
    }

    fn of(tid: u32) -> Asker {
        Asker { pid: tid + 100, start: 1 }
    }

    #[test]
    fn a_request_is_of_who_began_it_and_takes_until_it_is_done() {
        let mut pairs = Pairs::default();
        let (read, write) = (Operation::Read, Operation::Write);
        pairs.add(event(30, 8, write, Step::Done { sectors: 8 }));
        pairs.add(event(10, 8, write, Step::Begun { tid: 5 }));
        pairs.add(event(12, 8, read, Step::Begun { tid: 6 }));
        pairs.add(event(11, 99, read, Step::Done { sectors: 8 })); // began before
        pairs.add(event(40, 8, read, Step::Done { sectors: 1 })); // later than now
        assert_eq!(pairs.step(35, &mut Askers::new(of)), 4);
        let asked = pairs.take();
        assert_eq!(asked.len(), 1);
        let row = asked[0].row;
        assert_eq!(asked[0].who, of(5));
        assert_eq!((row.count, row.bytes, row.time), (1, 4096, 20));
        assert_eq!(row.point, rows::point(write));

        assert_eq!(pairs.step(50, &mut Askers::new(of)), 1);
        let asked = pairs.take();
        assert_eq!((asked[0].who, asked[0].row.bytes, asked[0].row.time), (of(6), 512, 28));
        assert_eq!((pairs.take(), pairs.open.len()), (vec![], 0));
    }

    #[test]
    fn requests_of_one_place_end_in_the_order_of_their_begin() {
        let mut pairs = Pairs::default();
        for (time, tid) in [(1, 5), (2, 6)] {
            pairs.add(event(time, 0, Operation::Flush, Step::Begun { tid }));
        }
        for time in [11, 22, 23] {
            pairs.add(event(time, 0, Operation::Flush, Step::Done { sectors: 0 }));
        }
        pairs.step(100, &mut Askers::new(of));
        let mut times: Vec<_> = pairs.take().iter().map(|a| (a.who.pid, a.row.time)).collect();
        times.sort_unstable();
        assert_eq!(times, [(105, 10), (106, 20)]);
    }

    #[test]
    fn a_thread_that_is_no_more_was_seen_as_it_began() {
        let mut pairs = Pairs::default();
        let spawn = SpawnEvent { time: 1, creator: 5, tid: 6, is_thread: true };
        pairs.add(event(2, 8, Operation::Read, Step::Begun { tid: 6 }));
        pairs.add(event(3, 8, Operation::Read, Step::Done { sectors: 8 }));
        pairs.add(KernelEvent::Spawn(spawn));
        pairs.step(9, &mut Askers::new(of));
        assert_eq!(pairs.take()[0].who, of(5));
    }

    #[test]
    fn after_a_stop_an_end_is_of_no_request_before_it() {
        let mut pairs = Pairs::default();
        pairs.add(event(1, 8, Operation::Read, Step::Begun { tid: 5 }));
        pairs.step(2, &mut Askers::new(of));
        pairs.stop();
        pairs.add(event(3, 8, Operation::Read, Step::Done { sectors: 8 }));
        pairs.step(4, &mut Askers::new(of));
        assert_eq!(pairs.take(), []);
    }

    #[test]
    fn requests_that_never_end_are_forgotten() {
        let mut pairs = Pairs::default();
        for sector in 0..=MOST_OPEN as u64 {
            pairs.add(event(1, sector, Operation::Read, Step::Begun { tid: 1 }));
        }
        pairs.step(1, &mut Askers::new(of));
        assert_eq!(pairs.open.len(), 1);
    }
}
