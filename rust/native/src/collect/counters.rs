//! Counter rows become rows of kind `sum`: by how much each has grown.

use iostrata_segment::row::{CounterRow, Key, Values};
use iostrata_segment::schema::{KIND_SUM, ROW_SIZE};

use super::block::{RowsHead, u32_at};
use super::shares::TABLES;
use crate::model::process::Origin;
use crate::model::rows::{EventRow, SumValues};
use crate::model::state::State;

/// Bytes of a counter row in a Rows block: its number in the table, then the row.
pub const ROW_RECORD: usize = 8 + ROW_SIZE;

/// Of all tables together: more are never mapped at a time.
const MOST_ROWS: usize = TABLES as usize / ROW_SIZE;

impl State {
    pub(super) fn counters(&mut self, payload: &[u8], is_news: bool) -> Option<()> {
        let (origin, rest) = Origin::split(payload)?;
        let (head, records) = RowsHead::split(rest)?;
        let thread = if is_news { self.thread(&origin)? } else { 0 };
        let rows = self.output.rows();
        for record in records.chunks_exact(ROW_RECORD) {
            let index = u32_at(record, 0) as usize;
            let counter = CounterRow::from_bytes(record[8..].try_into().ok()?);
            let known = self.segment(&origin, 0)?.rows.len();
            if index > known && !self.has_room_for_rows(index - known) {
                return None;
            }
            let segment = self.segment(&origin, 0)?;
            if index >= segment.rows.len() {
                segment.rows.resize(index + 1, CounterRow::default());
            }
            let before = segment.rows[index];
            if before.key == counter.key && before.values.count == counter.values.count {
                continue; // the bytes of a counted-only call may be there before it counts
            }
            segment.rows[index] = counter;
            if is_news {
                self.delta(&origin, thread, &before, &counter);
            }
        }
        let segment = self.segment(&origin, 0)?;
        let collapsed = head.collapsed.saturating_sub(segment.collapsed);
        segment.gaps = segment.gaps.max(head.gaps);
        segment.collapsed = segment.collapsed.max(head.collapsed);
        if collapsed > 0 {
            let identity = self.identity(origin.proc, 0);
            self.tally(origin.proc, identity).collapsed += collapsed;
        }
        self.count_rows(origin.proc, rows);
        Some(())
    }

    /// Of a table that leaves rows out, so many: each row that is there has cost its own bytes.
    fn has_room_for_rows(&self, count: usize) -> bool {
        let segments = self.processes.values().flat_map(|process| process.segments.values());
        segments.map(|segment| segment.rows.len()).sum::<usize>() + count <= MOST_ROWS
    }

    /// Writes what a row grew by since it was last seen.
    fn delta(&mut self, at: &Origin, thread: u32, before: &CounterRow, after: &CounterRow) {
        let is_same = before.key == after.key;
        let was = if is_same { before.values } else { Values::default() };
        let CounterRow { key, values } = *after;
        let Key { point, category, size_class, context, flags, scope, target } = key;
        let count = values.count.saturating_sub(was.count);
        if count == 0 {
            self.rejected.rows += u64::from(values.count < was.count);
            return;
        }
        let identity = self.identity(at.proc, context);
        let cause = if scope == 0 { self.parents_cause(at.proc) } else { 0 };
        self.tally(at.proc, identity).calls += count;
        let bytes = values.bytes.wrapping_sub(was.bytes);
        if let Some(process) = self.processes.get_mut(&at.proc) {
            process.count_traced(point, flags, bytes);
        }
        let (start, end) = grown(at, &was, &values);
        let sum = SumValues {
            count,
            errors: values.errors.saturating_sub(was.errors),
            timed: values.timed.saturating_sub(was.timed),
            timed_dur: values.timed_dur.saturating_sub(was.timed_dur),
            min: values.min,
            max: values.max,
            weight: values.weight.saturating_sub(was.weight),
            spread: f64::max(0.0, finite(values.spread) - finite(was.spread)),
            inside: values.inside.saturating_sub(was.inside),
            scope,
            category,
            size_class,
        };
        let row = EventRow {
            start,
            dur: end - start,
            bytes,
            offset: -1,
            asked: values.asked.saturating_sub(was.asked),
            target,
            thread,
            identity,
            cause,
            point,
            kind: KIND_SUM,
            flags,
            ..EventRow::default()
        };
        self.output.push_sum(row, sum);
    }
}

/// 0 for what a producer should not have written.
fn finite(bits: u64) -> f64 {
    Some(f64::from_bits(bits)).filter(|value| value.is_finite()).unwrap_or_default()
}

/// Between which times a counter grew: within two looks. Calls with unsampled clocks end unseen.
fn grown(at: &Origin, was: &Values, now: &Values) -> (u64, u64) {
    let end = if now.last_end > was.last_end { now.last_end } else { at.now };
    (at.from.min(end), end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_grow_between_two_looks() {
        let at = Origin { from: 1000, now: 2000, ..Origin::default() };
        let values = |last_end| Values { last_end, ..Values::default() };
        assert_eq!(grown(&at, &values(0), &values(1500)), (1000, 1500));
        assert_eq!(grown(&at, &values(900), &values(1500)), (1000, 1500));
        // no clock was sampled, ever or since
        assert_eq!(grown(&at, &values(0), &values(0)), (1000, 2000));
        assert_eq!(grown(&at, &values(900), &values(900)), (1000, 2000));
    }
}
