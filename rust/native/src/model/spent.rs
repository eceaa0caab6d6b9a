//! What a process took over time: what its page said at each look, less what it said before.

use iostrata_segment::process::Moved;
use serde::{Deserialize, Serialize};

use crate::clock::SECOND;

/// Rows of a process for each step, of which each is twice as long as the one before: one that
/// lives for a week has nine times as many rows as one that lives for an hour.
const ROWS_A_STEP: u32 = 3600;
/// Rows that are held when they cannot be published; the next one covers what they leave out.
const MOST_HELD: usize = 3600;
/// Bytes of memory of one.
const SIZE: u64 = 72;

/// What a page said: CPU in ns, bytes by the kernel, since the process started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    /// `CLOCK_MONOTONIC` ns.
    pub at: u64,
    pub cpu: u64,
    pub moved: Moved,
}

/// What a process took from one look to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spent {
    /// `CLOCK_MONOTONIC` ns.
    pub begin: u64,
    pub end: u64,
    /// ns.
    pub cpu: u64,
    /// `None` where the kernel did not say.
    pub moved: Option<Moved>,
}

/// The looks at a process, in rows. No row is ever lost: what makes none now is in the next one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spending {
    /// Where the next row begins; `None` until there was a look.
    last: Option<Look>,
    /// Rows since the last run began.
    made: u32,
    /// Since the last rotation.
    #[serde(skip)]
    pub rows: Vec<Spent>,
}

impl Spending {
    /// Takes up a look at a process that started at `start`; `records`: some run is on.
    pub fn look(&mut self, look: Look, start: u64, records: bool) {
        let last = self.last.get_or_insert(Look { at: start, ..Look::default() });
        if !records {
            *last = look;
        } else if look.at > last.at && look.at - last.at >= step(self.made) {
            self.add(look);
        }
    }

    /// Ends the row that is open: none lies across the begin or the end of a run, nor across the
    /// end of its process. `now`: for a look that says more than one of the same time did.
    pub fn cut(&mut self, look: Look, now: u64) {
        let Some(last) = self.last else { return };
        let at = if look.at > last.at { look.at } else { now };
        if at > last.at && (look.cpu, look.moved) != (last.cpu, last.moved) {
            self.add(Look { at, ..look });
        }
    }

    /// A run begins: what came before is none of it.
    pub fn begin(&mut self, look: Look, now: u64) {
        self.last = Some(Look { at: now, ..look });
        self.made = 0;
    }

    fn add(&mut self, look: Look) {
        let Some(last) = self.last.filter(|_| self.rows.len() < MOST_HELD) else { return };
        let moved = look.moved.is_known().then(|| look.moved.since(last.moved));
        let cpu = look.cpu.saturating_sub(last.cpu);
        self.rows.push(Spent { begin: last.at, end: look.at, cpu, moved });
        self.made = self.made.saturating_add(1);
        self.last = Some(look);
    }

    /// Of memory.
    pub fn bytes(&self) -> u64 {
        self.rows.len() as u64 * SIZE
    }
}

/// The shortest row after so many, ns.
fn step(made: u32) -> u64 {
    match made / ROWS_A_STEP {
        0 => 0,
        steps => SECOND << steps.min(20),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64, cpu: u64, read: u64) -> Look {
        Look { at: seconds * SECOND, cpu, moved: Moved { read, ..Moved::default() } }
    }

    fn rows(spending: &Spending) -> Vec<(u64, u64, u64, Option<u64>)> {
        let row = |row: &Spent| {
            let read = row.moved.map(|moved| moved.read);
            (row.begin / SECOND, row.end / SECOND, row.cpu, read)
        };
        spending.rows.iter().map(row).collect()
    }

    #[test]
    fn rows_are_what_came_between_looks() {
        let mut spending = Spending::default();
        spending.look(at(2, 5, 0), SECOND, true);
        spending.look(at(3, 7, 100), SECOND, true);
        spending.look(at(3, 8, 100), SECOND, true); // half of a look: the next one has it
        spending.look(at(4, 9, 130), SECOND, true);
        let expected = [(1, 2, 5, None), (2, 3, 2, Some(100)), (3, 4, 2, Some(30))];
        assert_eq!(rows(&spending), expected);
    }

    #[test]
    fn what_no_run_recorded_is_in_no_row() {
        let mut spending = Spending::default();
        spending.look(at(2, 5, 10), SECOND, true);
        spending.look(at(9, 50, 1000), SECOND, false);
        spending.begin(at(9, 50, 1000), 20 * SECOND);
        spending.look(at(21, 51, 1001), SECOND, true);
        assert_eq!(rows(&spending), [(1, 2, 5, Some(10)), (20, 21, 1, Some(1))]);
    }

    #[test]
    fn no_row_lies_across_the_end_of_a_run() {
        let mut spending = Spending::default();
        spending.look(at(2, 5, 10), SECOND, true);
        spending.cut(at(2, 5, 10), 3 * SECOND);
        spending.cut(at(2, 6, 10), 3 * SECOND);
        spending.cut(at(4, 7, 11), 9 * SECOND);
        let expected = [(1, 2, 5, Some(10)), (2, 3, 1, Some(0)), (3, 4, 1, Some(1))];
        assert_eq!(rows(&spending), expected);
    }

    #[test]
    fn a_long_life_has_longer_rows_and_the_same_sum() {
        let mut spending = Spending::default();
        let mut published = Vec::new();
        let week = 7 * 24 * 3600;
        for second in 1..=week {
            spending.look(at(second, second, second), 0, true);
            if second % 30 == 0 {
                published.append(&mut spending.rows);
            }
        }
        spending.cut(at(week, week, week), week * SECOND);
        published.append(&mut spending.rows);
        assert_eq!(published.iter().map(|row| row.cpu).sum::<u64>(), week);
        assert!(published.windows(2).all(|pair| pair[0].end == pair[1].begin));
        assert!(published.len() < 9 * ROWS_A_STEP as usize, "{}", published.len());
    }

    #[test]
    fn what_is_not_published_is_held_within_bounds_and_not_lost() {
        let mut spending = Spending::default();
        let long = 2 * MOST_HELD as u64;
        (1..=long).for_each(|second| spending.look(at(second, second, second), 0, true));
        assert_eq!(spending.rows.len(), MOST_HELD);
        spending.rows.clear();
        spending.look(at(long + 4, long + 4, long + 4), 0, true);
        assert_eq!(rows(&spending)[0].2, long + 4 - MOST_HELD as u64);
    }
}
