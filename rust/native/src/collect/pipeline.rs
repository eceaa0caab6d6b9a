//! What is read becomes state: spooled first, then applied.

use std::io;

use anyhow::{Context, Result};
use serde::Serialize;

use super::block::{self, BlockKind};
use super::floor::Floor;
use super::options::Options;
use super::spool::Spool;
use super::trouble::Trouble;
use crate::model::state::{MEMORY, MostMemory, State};

pub struct Pipeline {
    spool: Spool,
    state: State,
    trouble: Trouble,
    /// Bytes that found no room.
    failed: usize,
    floor: Floor,
    /// No room above the floor, when nothing waits to be published.
    shortage: Trouble,
    /// There may be room for more once what is spooled is published.
    is_full: bool,
}

/// Fewer bytes of events than these are not worth a look.
const LEAST: u64 = 64 << 10;
/// A full disk has room yet for what fits into the last page of a file.
const PAGE: usize = 4096;

/// Rows and bytes of a run that were published.
#[derive(Default)]
pub struct PublishedPart {
    pub run: String,
    pub rows: u64,
    pub bytes: u64,
    /// Rows that its user had no share left for.
    pub left_out: u64,
}

impl Pipeline {
    /// Rebuilds the state from the spool; without one, begins with the file `first`.
    pub fn open(options: &Options, first: u32) -> Result<Pipeline> {
        let mut state = State::default();
        let spool = Spool::open(&options.spool, options.keep_spool.clone(), first, &mut state)
            .with_context(|| format!("cannot open the spool {}", options.spool.display()))?;
        let (trouble, shortage) = (Trouble::new("spool"), Trouble::new("space"));
        let (failed, floor, is_full) = (0, options.floor, false);
        let mut pipeline = Pipeline { spool, state, trouble, failed, floor, shortage, is_full };
        pipeline.limit_memory();
        Ok(pipeline)
    }

    /// Two snapshots are on the disk at a time, beside what is spooled and published of them.
    fn limit_memory(&mut self) {
        let most = self.spool.whole_room(self.floor) / 6;
        self.state.most_memory = MostMemory(most.min(MEMORY));
    }

    pub fn state(&self) -> &State {
        &self.state
    }

    /// Number of the spool file, and of the parts that are made of it.
    pub fn number(&self) -> u32 {
        self.spool.number
    }

    /// Bytes that the spool has got since the last rotation.
    pub fn spooled(&self) -> u64 {
        self.spool.grown()
    }

    /// Events wait for a rotation.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// The last append found room.
    pub fn has_room(&self) -> bool {
        !self.trouble.is_on() && !self.shortage.is_on()
    }

    /// Appends blocks to the spool and applies them; false if the spool has no room now.
    pub fn commit(&mut self, blocks: &[u8]) -> bool {
        if blocks.is_empty() {
            return true;
        }
        if let Err(error) = self.spool.append(blocks) {
            self.failed = blocks.len();
            let spool = self.spool.directory().display();
            self.trouble.begin(&format!(
                "cannot append to the spool {spool}: {error}; events stay in memory"
            ));
            return false;
        }
        if blocks.len() >= self.failed.min(PAGE) {
            self.trouble.end();
        }
        for (kind, payload) in block::blocks(blocks) {
            self.state.apply(kind, payload);
        }
        true
    }

    /// Bytes of events that may be committed now: none below the floor of free space.
    pub fn room_for_events(&mut self) -> usize {
        let room = self.spool.room(self.floor);
        if room >= LEAST {
            self.shortage.end();
            return room as usize;
        }
        self.is_full = true;
        if self.spool.grown() == 0
            && let Err(error) = self.spool.check(self.floor)
        {
            let spool = self.spool.directory().display();
            self.shortage.begin(&format!("the spool {spool}: {error}; events stay in memory"));
        }
        0
    }

    pub fn commit_json(&mut self, kind: BlockKind, value: &impl Serialize) -> bool {
        let mut blocks = Vec::new();
        block::push_json(&mut blocks, kind, value);
        self.commit(&blocks)
    }

    /// Notes in each run what was published of it.
    pub fn count(&mut self, published: &[PublishedPart]) {
        self.change_totals(published, u64::wrapping_add);
        self.state.outline();
    }

    fn change_totals(&mut self, published: &[PublishedPart], change: fn(u64, u64) -> u64) {
        for part in published {
            if let Some(run) = self.state.owners.runs.get_mut(&part.run) {
                run.rows = change(run.rows, part.rows);
                run.bytes = change(run.bytes, part.bytes);
                run.left_out = change(run.left_out, part.left_out);
            }
        }
    }

    /// Begins the next spool file, after all rows were published and counted; `is_there`: a
    /// process's directory still exists. A failure takes back what was counted.
    pub fn rotate(
        &mut self,
        published: &[PublishedPart],
        is_there: impl Fn(u64) -> bool,
    ) -> io::Result<()> {
        self.is_full = false;
        let rotated = self.spool.rotate(&self.state);
        match &rotated {
            Ok(()) => {
                self.trouble.end();
                self.state.rotate(is_there);
                self.limit_memory();
            }
            Err(_) => self.change_totals(published, u64::wrapping_sub),
        }
        rotated
    }
}
