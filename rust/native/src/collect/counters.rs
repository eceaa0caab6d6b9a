//! Counter rows become rows of kind `sum`: by how much each has grown.

use iostrata_segment::row::{Key, Row as Counter, Values};
use iostrata_segment::schema::{KIND_SUM, ROW_SIZE};

use super::block::{Place, RowsHead, u32_at};
use super::state::State;
use crate::store::rows::{Row, Sum};

/// Bytes of a counter row in a Rows block: its place in the table, then the row.
pub const ROW_RECORD: usize = 8 + ROW_SIZE;

impl State {
    pub(super) fn counters(&mut self, payload: &[u8], is_news: bool) -> Option<()> {
        let (place, rest) = Place::split(payload)?;
        let (head, records) = RowsHead::split(rest)?;
        let thread = if is_news { self.thread(&place)? } else { 0 };
        for record in records.chunks_exact(ROW_RECORD) {
            let index = u32_at(record, 0) as usize;
            let counter = Counter::from_bytes(record[8..].try_into().ok()?);
            let segment = self.segment(&place, 0)?;
            if index >= segment.rows.len() {
                segment.rows.resize(index + 1, Counter::default());
            }
            let before = segment.rows[index];
            if before.key == counter.key && before.values.count == counter.values.count {
                continue; // the bytes of a hot call may be there before it counts
            }
            segment.rows[index] = counter;
            if is_news {
                self.delta(&place, thread, &before, &counter);
            }
        }
        let segment = self.segment(&place, 0)?;
        let folded = head.folded.saturating_sub(segment.folded);
        segment.gaps = segment.gaps.max(head.gaps);
        segment.folded = segment.folded.max(head.folded);
        if folded > 0 {
            let identity = self.identity(place.proc, 0);
            self.tally(place.proc, identity).folded += folded;
        }
        Some(())
    }

    /// Writes what a row grew by since it was last seen.
    fn delta(&mut self, at: &Place, thread: u32, before: &Counter, after: &Counter) {
        let is_same = before.key == after.key;
        let was = if is_same { before.values } else { Values::default() };
        let Counter { key: Key { point, category, size_class, context, flags, anchor }, values } =
            *after;
        let count = values.count.saturating_sub(was.count);
        if count == 0 {
            self.refused.rows += u64::from(values.count < was.count);
            return;
        }
        let identity = self.identity(at.proc, context);
        self.tally(at.proc, identity).calls += count;
        let (start, end) = grown(at, &was, &values);
        let sum = Sum {
            count,
            errors: values.errors.saturating_sub(was.errors),
            timed: values.timed.saturating_sub(was.timed),
            timed_dur: values.timed_dur.saturating_sub(was.timed_dur),
            min: values.min,
            max: values.max,
            weight: values.weight.saturating_sub(was.weight),
            spread: f64::max(0.0, finite(values.spread) - finite(was.spread)),
            inside: values.inside.saturating_sub(was.inside),
            anchor,
            category,
            size_class,
        };
        let row = Row {
            start,
            dur: end - start,
            bytes: values.bytes.wrapping_sub(was.bytes),
            offset: -1,
            asked: values.asked.saturating_sub(was.asked),
            thread,
            identity,
            point,
            kind: KIND_SUM,
            flags,
            ..Row::default()
        };
        self.output.push_sum(row, sum);
    }
}

/// 0 for what a producer should not have written.
fn finite(bits: u64) -> f64 {
    Some(f64::from_bits(bits)).filter(|value| value.is_finite()).unwrap_or_default()
}

/// Between which times a counter grew: within two looks. Calls with unsampled clocks end unseen.
fn grown(at: &Place, was: &Values, now: &Values) -> (u64, u64) {
    let end = if now.last_end > was.last_end { now.last_end } else { at.now };
    (at.from.min(end), end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_grow_between_two_looks() {
        let at = Place { from: 1000, now: 2000, ..Place::default() };
        let values = |last_end| Values { last_end, ..Values::default() };
        assert_eq!(grown(&at, &values(0), &values(1500)), (1000, 1500));
        assert_eq!(grown(&at, &values(900), &values(1500)), (1000, 1500));
        // no clock was sampled, ever or since
        assert_eq!(grown(&at, &values(0), &values(0)), (1000, 2000));
        assert_eq!(grown(&at, &values(900), &values(900)), (1000, 2000));
    }
}
