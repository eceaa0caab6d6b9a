//! What processes asked of devices becomes rows of kind `sum`.

use iostrata_segment::points::POINTS;
use iostrata_segment::schema::{KIND_SUM, LAYER_DEVICE, layer_name};

use crate::model::process::Origin;
use crate::model::requests::{RequestCounts, RequestRow};
use crate::model::rows::{EventRow, SumValues};
use crate::model::state::State;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    Read,
    Write,
    Discard,
    Flush,
}

/// Of the letters by which the kernel says what a request does; `None` of what is none of these.
pub fn operation(letters: &[u8], has_data: bool) -> Option<Operation> {
    // an F before another operation: a flush goes before it; a write of nothing is a flush
    let letter = match letters {
        [b'F' | b'W', ..] if !has_data => b'F',
        [b'F', after @ (b'W' | b'R' | b'D' | b'F'), ..] => *after,
        [letter, ..] => *letter,
        [] => return None,
    };
    match letter {
        b'R' => Some(Operation::Read),
        b'W' => Some(Operation::Write),
        b'D' => Some(Operation::Discard),
        b'F' => Some(Operation::Flush),
        _ => None,
    }
}

/// The point that stands for an operation.
pub fn point(operation: Operation) -> u16 {
    let op = match operation {
        Operation::Read => "read",
        Operation::Write => "write",
        Operation::Discard => "discard",
        Operation::Flush => "sync",
    };
    let layer = layer_name(LAYER_DEVICE).unwrap_or_default();
    POINTS.iter().find(|point| point.layer == layer && point.op == op).map_or(0, |point| point.id)
}

impl State {
    /// Rows of processes that are no longer known are left out.
    pub(in super::super) fn requests(&mut self, counts: &RequestCounts) {
        for row in &counts.rows {
            let before = self.output.rows();
            self.request(counts, row);
            self.count_rows(row.proc, before);
        }
    }

    fn request(&mut self, counts: &RequestCounts, row: &RequestRow) {
        let Some(process) = self.processes.get(&row.proc) else { return };
        let tid = u64::from(process.info.pid);
        let RequestCounts { from, now, .. } = *counts;
        let origin = Origin { proc: row.proc, tid, from, now, ..Origin::default() };
        let Some(thread) = self.thread(&origin) else { return };
        let identity = self.identity(row.proc, 0);
        let sum = SumValues {
            count: row.count,
            timed: row.count,
            timed_dur: row.time,
            min: row.min,
            max: row.max,
            weight: row.count,
            size_class: row.size_class,
            ..SumValues::default()
        };
        let event = EventRow {
            start: from,
            dur: now.saturating_sub(from),
            bytes: i64::try_from(row.bytes).unwrap_or(i64::MAX),
            asked: row.bytes,
            offset: -1,
            thread,
            identity,
            point: row.point,
            kind: KIND_SUM,
            ..EventRow::default()
        };
        self.output.push_sum(event, sum);
    }
}

#[cfg(test)]
mod tests {
    use iostrata_segment::row::size_class;

    use super::*;
    use crate::model::process::{Process, ProcessInfo};

    #[test]
    fn the_kernels_letters_are_operations() {
        let (read, write) = (Some(Operation::Read), Some(Operation::Write));
        let said =
            ["R", "RA", "WS", "FWS", "WFS", "RM"].map(|text| operation(text.as_bytes(), true));
        assert_eq!(said, [read, read, write, write, write, read]);
        let said = ["F", "FF", "FS", "D", "DE", "N", ""];
        let said = said.map(|text| operation(text.as_bytes(), true));
        let (flush, discard) = (Some(Operation::Flush), Some(Operation::Discard));
        assert_eq!(said, [flush, flush, flush, discard, discard, None, None]);
        assert_eq!([b"FW", b"WS"].map(|text| operation(text, false)), [flush, flush]);
    }

    #[test]
    fn each_operation_has_a_point_of_its_own() {
        let all = [Operation::Read, Operation::Write, Operation::Discard, Operation::Flush];
        let points: std::collections::HashSet<_> = all.into_iter().map(point).collect();
        assert!(points.len() == 4 && !points.contains(&0));
    }

    #[test]
    fn counts_of_a_process_are_a_row_of_its_run() {
        let mut state = State::default();
        let info = ProcessInfo { proc: 3, pid: 33, ..ProcessInfo::default() };
        state.processes.insert(3, Process::new(info));
        let mut row = RequestRow { proc: 3, point: point(Operation::Write), ..Default::default() };
        row.size_class = size_class(4096);
        row.add(4096, 10);
        row.add(4096, 30);
        let stranger = RequestRow { proc: 4, ..row };
        state.requests(&RequestCounts { from: 100, now: 300, rows: vec![row, stranger] });
        assert_eq!(state.output.rows(), 1);
        let (event, sum) = (state.output.parts[0].rows[0], state.output.parts[0].sums[0]);
        assert_eq!((event.start, event.dur, event.bytes, event.kind), (100, 200, 8192, KIND_SUM));
        assert_eq!((sum.count, sum.timed_dur, sum.min, sum.max), (2, 40, 10, 30));
        assert_eq!(sum.size_class, 13);
        assert_eq!(state.output.threads[event.thread as usize].tid, 33);
    }
}
