//! The segments of a process: makes them below the cap, and gives those again that the collector has
//! drained. Keeps every mapping, which therefore never goes away under a writer.

use std::path::Path;
use std::sync::Arc;

use rustix::io::Errno;

use super::chunk::{Chunk, Segment};
use super::files;
use crate::memory::Memory;
use crate::ring::Layout;
use crate::schema::{
    FILE_KIND_SEGMENT, SEGMENT_HEAD, SEGMENT_OPEN_CAPACITY, SEGMENT_OPEN_DEPTH, SEGMENT_OPEN_SLOTS,
    SEGMENT_PROC, SEGMENT_RING_SLOTS, SEGMENT_SERIAL, SEGMENT_STATE, SEGMENT_TABLE_ROWS,
    STATE_ACTIVE,
};

/// Of the cap, threads that grow may take three quarters; first segments with a ring seven eighths.
const GROWTH_EIGHTHS: u64 = 6;
const FIRST_EIGHTHS: u64 = 7;
const ALL_EIGHTHS: u64 = 8;

#[derive(Debug)]
pub(super) struct Pool {
    proc: u64,
    /// Bytes.
    cap: u64,
    used: u64,
    /// What a thread begins with.
    first: Layout,
    serial: u32,
    sealed: Vec<Chunk>,
    all: Vec<Arc<Segment>>,
}

impl Pool {
    pub fn new(proc: u64, cap: u64, first: Layout) -> Pool {
        Pool { proc, cap, used: 0, first, serial: 0, sealed: Vec::new(), all: Vec::new() }
    }

    /// A thread's first segment, with a ring if the cap allows one; None when it allows none.
    pub fn first(&mut self, directory: &Path) -> Result<Option<Chunk>, Errno> {
        if let Some(chunk) = self.with_ring(directory)? {
            return Ok(Some(chunk));
        }
        let bare = Layout { ring_slots: 0, ..self.first };
        match self.drained(bare) {
            None => self.make(directory, bare, ALL_EIGHTHS),
            found => Ok(found),
        }
    }

    /// One as a thread begins with; None when the cap allows none.
    pub fn with_ring(&mut self, directory: &Path) -> Result<Option<Chunk>, Errno> {
        match self.drained(self.first) {
            None => self.make(directory, self.first, FIRST_EIGHTHS),
            found => Ok(found),
        }
    }

    /// A successor of the size wanted, else a drained one of at least the least; None: none below
    /// the cap.
    pub fn successor(
        &mut self,
        directory: &Path,
        wanted: Layout,
        least: Layout,
    ) -> Result<Option<Chunk>, Errno> {
        if let Some(found) = self.drained(wanted) {
            return Ok(Some(found));
        }
        match self.make(directory, wanted, GROWTH_EIGHTHS)? {
            None => Ok(self.drained(least)),
            made => Ok(made),
        }
    }

    /// Outside the cap: for what must have room, bounded by who asks.
    pub fn apart(&mut self, directory: &Path, layout: Layout) -> Result<Chunk, Errno> {
        if self.used > self.cap {
            return Err(Errno::SHUTDOWN); // released
        }
        let chunk = self.file(directory, layout)?;
        self.serial = chunk.segment.serial;
        self.all.push(Arc::clone(&chunk.segment));
        Ok(chunk)
    }

    /// Its thread needs it no more.
    pub fn seal(&mut self, chunk: Chunk) {
        chunk.seal();
        if !chunk.exhausted() {
            self.sealed.push(chunk);
        }
    }

    /// The process ends, its threads with it. What is open stays so, in a segment that is not
    /// sealed: it will be unfinished, as after a kill. A task is killed by SIGTERM first.
    pub fn seal_idle(&self) {
        for segment in &self.all {
            let memory = &segment.memory;
            let active = memory.relaxed_u32(SEGMENT_STATE) == STATE_ACTIVE;
            if active && memory.relaxed_u32(SEGMENT_OPEN_DEPTH) == 0 {
                crate::life::seal(memory);
            }
        }
    }

    /// No segment is made from here on.
    pub fn release(&mut self) {
        self.sealed.clear();
        self.all.clear();
        self.used = u64::MAX / 2;
    }

    /// Slots written so far.
    pub fn slots(&self) -> u64 {
        self.all.iter().map(|segment| segment.memory.relaxed_u64(SEGMENT_HEAD)).sum()
    }

    /// The smallest drained segment that is large enough.
    fn drained(&mut self, least: Layout) -> Option<Chunk> {
        let fits = |chunk: &Chunk| {
            let layout = chunk.layout();
            layout.ring_slots >= least.ring_slots
                && layout.table_rows >= least.table_rows
                && chunk.drained()
        };
        let sealed = self.sealed.iter().enumerate().filter(|(_, chunk)| fits(chunk));
        let (place, _) = sealed.min_by_key(|(_, chunk)| chunk.layout().size())?;
        Some(self.sealed.swap_remove(place))
    }

    fn make(
        &mut self,
        directory: &Path,
        layout: Layout,
        eighths: u64,
    ) -> Result<Option<Chunk>, Errno> {
        let size = layout.size() as u64;
        if self.used + size > self.cap / ALL_EIGHTHS * eighths {
            return Ok(None);
        }
        let chunk = self.apart(directory, layout)?;
        self.used += size;
        Ok(Some(chunk))
    }

    fn file(&self, directory: &Path, layout: Layout) -> Result<Chunk, Errno> {
        let serial = self.serial + 1;
        let name = format!("{serial}.seg");
        let memory = files::make(directory, &name, layout.size(), FILE_KIND_SEGMENT)?;
        memory.set_u64(SEGMENT_PROC, self.proc);
        memory.set_u32(SEGMENT_SERIAL, serial);
        memory.set_u32(SEGMENT_RING_SLOTS, layout.ring_slots);
        memory.set_u32(SEGMENT_TABLE_ROWS, layout.table_rows);
        memory.set_u32(SEGMENT_OPEN_SLOTS, SEGMENT_OPEN_CAPACITY as u32);
        Ok(Chunk::new(Arc::new(Segment { memory, layout, serial })))
    }
}
