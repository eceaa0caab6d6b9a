//! The spans of a run in columns: 48 bytes each.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use arrow_array::RecordBatch;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use iostrata_segment::points::POINTS;
use iostrata_segment::schema::FLAG_COVERED;

use super::columns::{Names, Numbers, Present, numbers, present, texts};
use super::hash::{self, Map};
use super::sums::{self, Sums};

pub const ERROR: u8 = 1;
/// It never ended: it has a place, but neither counts nor takes time.
pub const UNFINISHED: u8 = 2;
/// Another row has the same process and span.
pub const TWICE: u8 = 4;
/// The user does not want to see it.
pub const DROPPED: u8 = 8;
/// Sums name it as their anchor.
pub const ANCHOR: u8 = 16;

/// What a call is, beside when it was.
#[derive(Clone, Copy, Default)]
pub struct What {
    pub function: u16,
    pub flags: u8,
    /// Place in `Spans::shares`.
    pub share: u8,
}

/// A function as users name it, in numbers of names; `shown` is `op`, or `Class#method` by point.
#[derive(Clone, Copy)]
pub struct Function {
    pub layer: u32,
    pub op: u32,
    pub shown: u32,
    pub hash: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Thread {
    pub proc: u32,
    pub tid: i64,
    /// Place in `Spans::places`.
    pub place: u16,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Place {
    pub role: u32,
    pub host: u32,
}

/// How functions are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum By {
    /// By layer and operation: implementations of one operation are one function
    #[default]
    Op,
    /// By the class and method that was traced
    Point,
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
    pub what: Vec<What>,
    /// Rows whose parent is of another process, with that.
    pub foreign: Vec<(u32, u32)>,
}

/// What rows refer to: the same for all parts of a run.
#[derive(Default)]
pub struct Tables {
    pub names: Names,
    pub by: By,
    pub functions: Vec<Function>,
    pub threads: Vec<Thread>,
    pub procs: Vec<i64>,
    pub places: Vec<Place>,
    /// Of all rows, of whatever traces.
    pub hosts: BTreeSet<u32>,
    /// Probabilities that a request was kept; the first is 1.
    pub shares: Vec<f64>,
    function_of: Map<(u32, u32, u32), u16>,
    thread_of: Map<(u32, i64), u32>,
    proc_of: Map<i64, u32>,
}

/// Of `parts` of a run, by the hashes of traces, the one with a number.
pub fn part_of(number: u64, parts: u64) -> impl Fn(i64) -> bool {
    move |trace| parts == 1 || hash::pair(1, trace as u64) % parts == number
}

impl Tables {
    pub fn new(by: By) -> Tables {
        Tables { by, shares: vec![1.0], ..Tables::default() }
    }

    pub fn proc(&mut self, id: i64) -> u32 {
        *self.proc_of.entry(id).or_insert_with(|| {
            self.procs.push(id);
            self.procs.len() as u32 - 1
        })
    }

    pub fn known_proc(&self, id: i64) -> Option<u32> {
        self.proc_of.get(&id).copied()
    }

    pub fn thread(&mut self, proc: u32, tid: i64, place: Place) -> Result<u32> {
        if let Some(known) = self.thread_of.get(&(proc, tid)) {
            return Ok(*known);
        }
        let number = self.threads.len() as u32;
        let known = self.places.iter().position(|known| *known == place);
        let place = known.unwrap_or_else(|| {
            self.places.push(place);
            self.places.len() - 1
        });
        let Ok(place) = u16::try_from(place) else {
            bail!("it has more than 65,535 hosts and roles")
        };
        self.threads.push(Thread { proc, tid, place });
        self.thread_of.insert((proc, tid), number);
        Ok(number)
    }

    /// Numbers of layer and operation, and the point.
    pub fn function(&mut self, layer: u32, op: u32, point: i32) -> Result<u16> {
        let method = (self.by == By::Point).then(|| method_of(point)).flatten();
        let key = (layer, op, if method.is_some() { point as u32 } else { 0 });
        if let Some(known) = self.function_of.get(&key) {
            return Ok(*known);
        }
        let name = method.map_or(op, |method| self.names.number(&method));
        let hash = hash::function(self.names.text(layer), self.names.text(name));
        let same = self.functions.iter().position(|function| function.hash == hash);
        let Ok(number) = u16::try_from(same.unwrap_or(self.functions.len())) else {
            bail!("it has more than 65,535 functions")
        };
        if same.is_none() {
            self.functions.push(Function { layer, op, shown: name, hash });
        }
        self.function_of.insert(key, number);
        Ok(number)
    }

    fn share(&mut self, inclusion: f64) -> Result<u8> {
        if !(inclusion > 0.0 && inclusion <= 1.0) {
            bail!("inclusion={inclusion}: no probability");
        }
        let known = self.shares.iter().position(|share| share.to_bits() == inclusion.to_bits());
        let Ok(place) = u8::try_from(known.unwrap_or(self.shares.len())) else {
            bail!("it has more than 255 probabilities of inclusion")
        };
        if known.is_none() {
            self.shares.push(inclusion);
        }
        Ok(place)
    }

    /// Layer and operation as users see them.
    pub fn name(&self, function: u16) -> (&str, &str) {
        let found = &self.functions[usize::from(function)];
        (self.names.text(found.layer), self.names.text(found.shown))
    }

    pub fn is(&self, function: u16, layer: &str, op: &str) -> bool {
        let found = &self.functions[usize::from(function)];
        self.names.text(found.layer) == layer && self.names.text(found.op) == op
    }
}

/// `Class#method` of a point of ours; points of users have none that rows could tell.
fn method_of(point: i32) -> Option<String> {
    let known = POINTS.iter().find(|known| i32::from(known.id) == point)?;
    let class = known.class.rsplit('.').next().unwrap_or(known.class);
    Some(format!("{class}#{}", known.method))
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
        let offsets: Vec<i64> = tables.places.iter().map(|place| offset(place.host)).collect();
        if offsets.iter().all(|offset| *offset == 0) {
            return;
        }
        for (start, thread) in self.start.iter_mut().zip(&self.thread) {
            let place = tables.threads[*thread as usize].place;
            *start = start.saturating_add(offsets[usize::from(place)]);
        }
    }

    /// Adds the spans of the traces that `is_wanted` and, where asked for, all rows of kind `sum`.
    pub fn push(
        &mut self,
        batch: &RecordBatch,
        tables: &mut Tables,
        is_wanted: &impl Fn(i64) -> bool,
        mut sums: Option<&mut Sums>,
    ) -> Result<()> {
        let rows = Rows::of(batch, &mut tables.names)?;
        let of_sums = sums::Columns::of(batch)?;
        let (call, unfinished) = (tables.names.number("call"), tables.names.number("unfinished"));
        let (sum, jvm) = (tables.names.number("sum"), tables.names.number("jvm"));
        for hosts in rows.host.chunk_by(|a, b| a == b) {
            tables.hosts.insert(hosts[0]);
        }
        let mut memory = Memory::default();
        for row in (0..batch.num_rows()).filter(|row| rows.layer[*row] != jvm) {
            let kind = rows.kind[row];
            if kind == sum {
                if let Some(sums) = sums.as_deref_mut() {
                    let (thread, function) = memory.of(&rows, row, tables)?;
                    let proc = tables.threads[thread as usize].proc;
                    let point = rows.point.get(row).unwrap_or(0);
                    let whose = (thread, function, point);
                    sums.add(&of_sums, row, proc, whose, rows.counted_bytes(row));
                }
            } else if (kind == call || kind == unfinished) && is_wanted(rows.trace(row)) {
                let (thread, function) = memory.of(&rows, row, tables)?;
                let flags = if kind == call { 0 } else { UNFINISHED };
                let flags = flags | if rows.error.get(row) { ERROR } else { 0 };
                let share = rows.inclusion.get(row).map_or(Ok(0), |share| tables.share(share))?;
                self.add(&rows, row, tables, thread, What { function, flags, share })?;
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
        what: What,
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
    error: Present,
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
    fn of(batch: &'a RecordBatch, names: &mut Names) -> Result<Rows<'a>> {
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
        let covered = self.flags.get(row).unwrap_or(0) & i32::from(FLAG_COVERED) != 0;
        if covered { 0 } else { self.bytes.get(row).unwrap_or(0) }
    }
}

/// Neighbours are mostly of one thread, and often of one function.
#[derive(Default)]
struct Memory {
    thread: Option<((i64, i64), u32)>,
    function: Option<((u32, u32, i32), u16)>,
}

impl Memory {
    /// Thread and function of a row.
    fn of(&mut self, rows: &Rows<'_>, row: usize, tables: &mut Tables) -> Result<(u32, u16)> {
        let key = (rows.layer[row], rows.op[row], rows.point.get(row).unwrap_or(0));
        let function = match self.function {
            Some((known, function)) if known == key => function,
            _ => tables.function(key.0, key.1, key.2)?,
        };
        self.function = Some((key, function));
        let whose = (rows.own(row), rows.tid.get(row).unwrap_or(0));
        let thread = match self.thread {
            Some((known, thread)) if known == whose => thread,
            _ => {
                let proc = tables.proc(whose.0);
                tables.thread(
                    proc,
                    whose.1,
                    Place { role: rows.role[row], host: rows.host[row] },
                )?
            }
        };
        self.thread = Some((whose, thread));
        Ok((thread, function))
    }
}
