//! The spans of a run in columns: 48 bytes each.

use anyhow::{Result, bail};
use arrow_array::RecordBatch;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use iostrata_segment::schema::FLAG_COVERED;

use super::columns::{Numbers, Presence, TextTable, numbers, present, texts};
use super::hash;
use super::sums::{self, Sums};
use super::tables::{Site, Tables};

pub const ERROR: u8 = 1;
/// It never ended: it has a place, but neither counts nor takes time.
pub const UNFINISHED: u8 = 2;
/// Another row has the same process and span.
pub const TWICE: u8 = 4;
/// The user does not want to see it.
pub const DROPPED: u8 = 8;
/// It is the scope of sums.
pub const SCOPE: u8 = 16;

/// What a call is, beside when it was.
#[derive(Clone, Copy, Default)]
pub struct CallInfo {
    pub function: u16,
    pub flags: u8,
    /// Number in `Tables::shares`.
    pub share: u8,
}

/// Rows of kind `call` and `unfinished`, in the order they came.
#[derive(Default)]
pub struct Spans {
    pub span: Vec<u64>,
    /// Span of the parent; 0: none.
    pub parent: Vec<u64>,
    pub start: Vec<i64>,
    pub dur: Vec<i64>,
    /// Those that no enclosing call counts, too.
    pub bytes: Vec<i64>,
    pub thread: Vec<u32>,
    pub what: Vec<CallInfo>,
    /// Rows whose parent is of another process, with that.
    pub foreign: Vec<(u32, u32)>,
}

/// Of `parts` of a run, by the hashes of traces, the one with a number.
pub fn part_of(number: u64, parts: u64) -> impl Fn(i64, i64) -> bool {
    move |trace, _| parts == 1 || hash::pair(1, trace as u64) % parts == number
}

impl Spans {
    pub fn len(&self) -> usize {
        self.span.len()
    }

    /// Makes room for so many more.
    pub fn reserve(&mut self, rows: usize) {
        self.span.reserve(rows);
        self.parent.reserve(rows);
        self.start.reserve(rows);
        self.dur.reserve(rows);
        self.bytes.reserve(rows);
        self.thread.reserve(rows);
        self.what.reserve(rows);
    }

    /// Puts all starts onto the clock of the reference host.
    pub fn shift(&mut self, tables: &Tables, offset: impl Fn(u32) -> i64) {
        let offsets: Vec<i64> = tables.sites.iter().map(|place| offset(place.host)).collect();
        if offsets.iter().all(|offset| *offset == 0) {
            return;
        }
        for (start, thread) in self.start.iter_mut().zip(&self.thread) {
            let place = tables.threads[*thread as usize].site;
            *start = start.saturating_add(offsets[usize::from(place)]);
        }
    }

    /// Adds the spans whose trace and process `is_wanted` and, where asked for, all rows of kind
    /// `sum`.
    pub fn push(
        &mut self,
        batch: &RecordBatch,
        tables: &mut Tables,
        is_wanted: &impl Fn(i64, i64) -> bool,
        mut sums: Option<&mut Sums>,
    ) -> Result<()> {
        let rows = Rows::of(batch, &mut tables.names)?;
        let of_sums = sums::Columns::of(batch)?;
        let (call, unfinished) = (tables.names.number("call"), tables.names.number("unfinished"));
        let (sum, jvm) = (tables.names.number("sum"), tables.names.number("jvm"));
        for hosts in rows.host.chunk_by(|a, b| a == b) {
            tables.hosts.insert(hosts[0]);
        }
        let mut memory = LastLookups::default();
        for row in (0..batch.num_rows()).filter(|row| rows.layer[*row] != jvm) {
            let kind = rows.kind[row];
            if kind == sum {
                if let Some(sums) = sums.as_deref_mut() {
                    let (thread, function) = memory.of(&rows, row, tables)?;
                    let proc = tables.threads[thread as usize].proc;
                    let point = rows.point.get(row).unwrap_or(0);
                    let origin = (thread, function, point);
                    sums.add(&of_sums, row, proc, origin, rows.counted_bytes(row));
                    if let (Some(of), Some(span)) =
                        (rows.parent_proc.get(row), rows.parent.get(row))
                    {
                        sums.works_for(proc, (tables.proc(of), span as u64));
                    }
                }
            } else if (kind == call || kind == unfinished)
                && is_wanted(rows.trace(row), rows.own(row))
            {
                let (thread, function) = memory.of(&rows, row, tables)?;
                let flags = if kind == call { 0 } else { UNFINISHED };
                let flags = flags | if rows.error.get(row) { ERROR } else { 0 };
                let share = rows.inclusion.get(row).map_or(Ok(0), |share| tables.share(share))?;
                self.add(&rows, row, tables, thread, CallInfo { function, flags, share })?;
            }
        }
        Ok(())
    }

    fn add(
        &mut self,
        rows: &Rows<'_>,
        row: usize,
        tables: &mut Tables,
        thread: u32,
        what: CallInfo,
    ) -> Result<()> {
        if self.len() >= u32::MAX as usize - 1 {
            bail!("it has more spans than one pass may have: give less --memory");
        }
        if let Some(of) = rows.parent_proc.get(row).filter(|of| *of != rows.own(row)) {
            self.foreign.push((self.len() as u32, tables.proc(of)));
        }
        let long = |column: &Numbers<'_, Int64Type>| column.get(row).unwrap_or(0);
        self.span.push(long(&rows.span) as u64);
        self.parent.push(long(&rows.parent) as u64);
        self.start.push(long(&rows.start));
        self.dur.push(long(&rows.dur).max(0));
        self.bytes.push(rows.counted_bytes(row));
        self.thread.push(thread);
        self.what.push(what);
        Ok(())
    }
}

/// The columns of a batch that spans are made of.
struct Rows<'a> {
    kind: Vec<u32>,
    layer: Vec<u32>,
    op: Vec<u32>,
    role: Vec<u32>,
    host: Vec<u32>,
    error: Presence,
    proc: Numbers<'a, Int64Type>,
    tid: Numbers<'a, Int64Type>,
    trace: Numbers<'a, Int64Type>,
    span: Numbers<'a, Int64Type>,
    parent: Numbers<'a, Int64Type>,
    parent_proc: Numbers<'a, Int64Type>,
    start: Numbers<'a, Int64Type>,
    dur: Numbers<'a, Int64Type>,
    bytes: Numbers<'a, Int64Type>,
    flags: Numbers<'a, Int32Type>,
    point: Numbers<'a, Int32Type>,
    inclusion: Numbers<'a, Float64Type>,
}

impl<'a> Rows<'a> {
    fn of(batch: &'a RecordBatch, names: &mut TextTable) -> Result<Rows<'a>> {
        Ok(Rows {
            kind: texts(batch, "kind", names)?,
            layer: texts(batch, "layer", names)?,
            op: texts(batch, "op", names)?,
            role: texts(batch, "role", names)?,
            host: texts(batch, "host", names)?,
            error: present(batch, "error")?,
            proc: numbers(batch, "proc")?,
            tid: numbers(batch, "tid")?,
            trace: numbers(batch, "trace")?,
            span: numbers(batch, "span")?,
            parent: numbers(batch, "parent")?,
            parent_proc: numbers(batch, "parent_proc")?,
            start: numbers(batch, "start")?,
            dur: numbers(batch, "dur")?,
            bytes: numbers(batch, "bytes")?,
            flags: numbers(batch, "flags")?,
            point: numbers(batch, "point")?,
            inclusion: numbers(batch, "inclusion")?,
        })
    }

    fn own(&self, row: usize) -> i64 {
        self.proc.get(row).unwrap_or(0)
    }

    fn trace(&self, row: usize) -> i64 {
        self.trace.get(row).unwrap_or(self.own(row))
    }

    fn counted_bytes(&self, row: usize) -> i64 {
        let is_double = self.flags.get(row).unwrap_or(0) & i32::from(FLAG_COVERED) != 0;
        if is_double { 0 } else { self.bytes.get(row).unwrap_or(0) }
    }
}

/// Neighbours are mostly of one thread, and often of one function.
#[derive(Default)]
struct LastLookups {
    thread: Option<((i64, i64), u32)>,
    function: Option<((u32, u32, i32), u16)>,
}

impl LastLookups {
    /// Thread and function of a row.
    fn of(&mut self, rows: &Rows<'_>, row: usize, tables: &mut Tables) -> Result<(u32, u16)> {
        let key = (rows.layer[row], rows.op[row], rows.point.get(row).unwrap_or(0));
        let function = match self.function {
            Some((known, function)) if known == key => function,
            _ => tables.function(key.0, key.1, key.2)?,
        };
        self.function = Some((key, function));
        let key = (rows.own(row), rows.tid.get(row).unwrap_or(0));
        let thread = match self.thread {
            Some((known, thread)) if known == key => thread,
            _ => {
                let proc = tables.proc(key.0);
                tables.thread(proc, key.1, Site { role: rows.role[row], host: rows.host[row] })?
            }
        };
        self.thread = Some((key, thread));
        Ok((thread, function))
    }
}
