//! Where calls are counted that have no row of their own: those of threads without a segment, and
//! those with more different keys than a table has rows. One segment for the whole process, with
//! three rows a point (outermost, inner, double-counted) and no ring, so that no total is ever lost.

use super::Process;
use super::chunk::Chunk;
use super::rows::{Outcome, Packed, Rows};
use crate::ring::Layout;
use crate::schema::{
    CATEGORY_THREAD_NAME, PROCESS_COUNTER_LOST_CALLS, PROCESS_COUNTER_REFUSED_SEGMENTS,
    PROCESS_FIRST_USER_POINT, PROCESS_MAX_POINTS,
};

const ROWS_OF_POINT: usize = 3;
/// Calls after which a segment that was refused is asked for again.
pub(super) const RETRY_CALLS: u32 = 1024;
const THREAD: &str = "(calls without a row of their own)";

#[derive(Debug, Default)]
pub(super) struct Overflow {
    chunk: Option<Chunk>,
    rows: Rows,
    retry_in: u32,
}

impl Overflow {
    /// Counts a call whose detail, if it was to have any, is lost with `gap`.
    pub fn add(&mut self, process: &Process, key: Packed, call: &Outcome, gap: bool) {
        if self.chunk.is_none() {
            self.begin(process);
        }
        let Some(chunk) = self.chunk.as_mut() else {
            return process.count(PROCESS_COUNTER_LOST_CALLS, 1);
        };
        chunk.count_collapsed();
        if gap {
            chunk.count_gap();
        }
        let key = key.collapsed();
        // twice: the row that was found would be borrowed while another is made
        if self.rows.find(key, 0, 0).is_none() {
            self.rows.add(chunk, key, 0, 0);
        }
        match self.rows.find(key, 0, 0) {
            Some(row) => row.add(chunk.memory(), call),
            None => process.count(PROCESS_COUNTER_LOST_CALLS, 1),
        }
    }

    /// Outside the cap, because it is needed when the cap is reached: some 140 KB.
    fn begin(&mut self, process: &Process) {
        self.retry_in = self.retry_in.saturating_sub(1);
        if self.retry_in > 0 {
            return;
        }
        let points = process.points.count() + PROCESS_MAX_POINTS - PROCESS_FIRST_USER_POINT;
        let layout = Layout { ring_slots: 0, table_rows: (points * ROWS_OF_POINT) as u32 };
        let made = process.directory().and_then(|at| process.pool().apart(at, layout));
        let mut chunk = match made {
            Ok(chunk) => chunk,
            Err(why) => {
                self.retry_in = RETRY_CALLS;
                process.count(PROCESS_COUNTER_REFUSED_SEGMENTS, 1);
                return process.refused_by(why);
            }
        };
        // No thread has this id: Java's and the kernel's begin with 1.
        chunk.begin(0, process.name(CATEGORY_THREAD_NAME, THREAD), 0);
        self.chunk = Some(chunk);
    }
}
