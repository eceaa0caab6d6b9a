//! One segment as the collector reads it: what is new since the state last heard of it.

use iostrata_segment::life::SegmentIdentity;
use iostrata_segment::ring::BadRing;
use iostrata_segment::segment::{OpenSpan, Segment};

use super::block::{self, BlockKind, RowsHead};
use crate::model::process::{Origin, Process};

/// What may be done to a segment once the blocks that were read from it are spooled.
#[derive(Debug, Clone, Copy)]
pub struct SegmentReading {
    pub proc: u64,
    pub serial: u32,
    pub tail: u64,
    pub drained: Option<u32>,
    /// How full the ring was, of 256.
    pub fill: u32,
}

/// What a look found that need not be looked at again before it changes: most threads do nothing
/// most of the time, and a look at one costs more than all else that the collector does for it.
#[derive(Debug, Clone, Copy)]
enum QuietState {
    /// All is read up to `head`.
    Open { epoch: u32, head: u64 },
    /// All is read, nothing more will come in this epoch.
    Drained { epoch: u32 },
}

#[derive(Debug)]
pub struct Reader {
    pub segment: Segment,
    pub found: u64,
    pub looked: u64,
    /// Epoch whose place in the thread's chain was already checked.
    pub in_turn: Option<u32>,
    pub given_up: bool,
    quiet: Option<QuietState>,
}

impl Reader {
    pub fn new(segment: Segment, found: u64, looked: u64) -> Reader {
        Reader { segment, found, looked, in_turn: None, given_up: false, quiet: None }
    }

    /// Nothing of its ring is new. With `rows_due`, its rows may be all the same.
    pub fn is_quiet(&self, rows_due: bool) -> bool {
        match self.quiet {
            Some(QuietState::Open { epoch, head }) => {
                !rows_due && self.segment.is_open_at(epoch, head)
            }
            Some(QuietState::Drained { epoch }) => self.segment.is_of(epoch),
            None => self.given_up,
        }
    }

    /// Its epoch was read to the end, as the state says.
    pub fn drained(&mut self, epoch: u32) {
        self.quiet = Some(QuietState::Drained { epoch });
    }

    /// Reads what is published, and if that was the last of the segment, its rows and open spans.
    pub fn read(
        &mut self,
        proc: u64,
        identity: &SegmentIdentity,
        state: &Process,
        now: u64,
        is_dead: bool,
        out: &mut Vec<u8>,
    ) -> Result<Option<SegmentReading>, BadRing> {
        let serial = self.segment.serial;
        let known = state.segments.get(&serial);
        let position = known.map_or_else(|| self.segment.tail(), |known| known.position);
        let sealed = self.segment.is_sealed(); // before head: nothing comes after a seal
        let head = self.segment.published(position)?;
        let origin = Self::origin(proc, serial, identity, position, now);
        if head > position {
            block::push(out, BlockKind::Slots, |out| {
                origin.append_to(out);
                for index in position..head {
                    self.segment.slot(index).append_to(out);
                }
            });
        }
        let epoch = identity.epoch;
        self.quiet = (head == position).then_some(QuietState::Open { epoch, head });
        let fill = (head - position) * 256 / u64::from(self.segment.ring_slots().max(1));
        let mut consumed =
            SegmentReading { proc, serial, tail: head, drained: None, fill: fill as u32 };
        if sealed || is_dead {
            self.rows(proc, identity, state, now, is_dead, out);
            if !sealed {
                self.open_spans(&origin, out);
            }
            let origin = Origin { from: head, ..origin };
            block::push(out, BlockKind::Drained, |out| origin.append_to(out));
            consumed.drained = Some(identity.epoch);
        }
        Ok((head > position || consumed.drained.is_some()).then_some(consumed))
    }

    fn origin(proc: u64, serial: u32, identity: &SegmentIdentity, from: u64, now: u64) -> Origin {
        let SegmentIdentity { epoch, tid, thread_name, chain } = *identity;
        Origin { proc, serial, epoch, tid, thread_name, chain, from, now }
    }

    /// Appends the rows that changed.
    pub fn rows(
        &mut self,
        proc: u64,
        identity: &SegmentIdentity,
        state: &Process,
        now: u64,
        is_last: bool,
        out: &mut Vec<u8>,
    ) {
        let segment = &self.segment;
        let known = state.segments.get(&segment.serial);
        let known = known.filter(|known| known.epoch == identity.epoch);
        let changed: Vec<_> = (0..segment.rows_in_use())
            .filter_map(|index| {
                let sealed = is_last || segment.is_sealed();
                let row = if sealed { segment.last_row(index) } else { segment.row(index)? };
                let before = known.and_then(|known| known.rows.get(index as usize));
                (before != Some(&row)).then_some((index, row))
            })
            .collect();
        let (gaps, collapsed) = segment.gaps_and_collapsed();
        let lost = known.map_or((0, 0), |known| (known.gaps, known.collapsed));
        let since = std::mem::replace(&mut self.looked, now);
        if changed.is_empty() && lost == (gaps, collapsed) {
            return;
        }
        let origin = Self::origin(proc, self.segment.serial, identity, since, now);
        block::push(out, BlockKind::Rows, |out| {
            origin.append_to(out);
            RowsHead { gaps, collapsed }.append_to(out);
            for (index, row) in changed {
                out.extend_from_slice(&u64::from(index).to_le_bytes());
                row.append_to(out);
            }
        });
    }

    fn open_spans(&self, origin: &Origin, out: &mut Vec<u8>) {
        let open = self.segment.open_spans();
        if open.is_empty() {
            return;
        }
        block::push(out, BlockKind::Open, |out| {
            origin.append_to(out);
            for word in open.iter().flat_map(OpenSpan::words) {
                out.extend_from_slice(&word.to_le_bytes());
            }
        });
    }
}
