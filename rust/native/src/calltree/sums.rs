/*!
Calls that exist only in sums: those that are counted only, those that a level leaves out, and those
that a full ring dropped.

A row of kind `sum` names the scope of its calls: the nearest task, phase, block or RPC around them
in their thread, or else the call of another process that the whole process works for. Below the
scope's node hangs a leaf with what its sums have more than the calls recorded individually, so a
tree has as many calls and bytes of each function as the sums.
*/

use anyhow::Result;
use arrow_array::RecordBatch;
use arrow_array::types::Int64Type;
use iostrata_segment::points::POINTS;

use super::columns::{Numbers, numbers};
use super::hash::Map;
use super::id::NodeId;
use super::rests::{CallSource, Rest, Rests};
use super::tables::Tables;

/// The columns that only sums have.
pub struct Columns<'a> {
    count: Numbers<'a, Int64Type>,
    errors: Numbers<'a, Int64Type>,
    timed: Numbers<'a, Int64Type>,
    timed_dur: Numbers<'a, Int64Type>,
    weight: Numbers<'a, Int64Type>,
    inside: Numbers<'a, Int64Type>,
    min: Numbers<'a, Int64Type>,
    max: Numbers<'a, Int64Type>,
    scope: Numbers<'a, Int64Type>,
}

impl<'a> Columns<'a> {
    pub fn of(batch: &'a RecordBatch) -> Result<Columns<'a>> {
        Ok(Columns {
            count: numbers(batch, "count")?,
            errors: numbers(batch, "errors")?,
            timed: numbers(batch, "timed")?,
            timed_dur: numbers(batch, "timed_dur")?,
            weight: numbers(batch, "weight")?,
            inside: numbers(batch, "inside")?,
            min: numbers(batch, "min")?,
            max: numbers(batch, "max")?,
            scope: numbers(batch, "anchor")?,
        })
    }
}

/// Process, scope, function, point.
type PointKey = (u32, u64, u16, u32);

#[derive(Default)]
struct PointSum {
    thread: u32,
    count: i64,
    errors: i64,
    bytes: i64,
    timed: i64,
    timed_dur: i64,
    weight: i64,
    inside: i64,
    least: i64,
    most: i64,
}

/// Calls of a scope and function: those of its sums less those recorded individually.
#[derive(Default, Clone, Copy)]
pub struct RecordedCalls {
    pub count: i64,
    pub errors: i64,
    pub bytes: i64,
    pub time: i64,
}

#[derive(Default)]
pub struct Sums {
    by_point: Map<PointKey, PointSum>,
    recorded: Map<(u32, u64, u16), RecordedCalls>,
    /// Nodes of scopes, once they are known.
    nodes: Map<(u32, u64), NodeId>,
    /// By process that works for one: the call of another process.
    causes: Map<u32, (u32, u64)>,
}

impl Sums {
    /// `origin`: thread, function, point.
    pub fn add(
        &mut self,
        from: &Columns,
        row: usize,
        proc: u32,
        origin: (u32, u16, i32),
        bytes: i64,
    ) {
        let (thread, function, point) = origin;
        let cell = |column: &Numbers<'_, Int64Type>| column.get(row).unwrap_or(0);
        let key = (proc, cell(&from.scope) as u64, function, point as u32);
        let fresh = || PointSum { thread, least: i64::MAX, ..PointSum::default() };
        let sum = self.by_point.entry(key).or_insert_with(fresh);
        let timed = cell(&from.timed);
        let weight = from.weight.get(row).unwrap_or(timed);
        sum.count = sum.count.saturating_add(cell(&from.count));
        sum.errors = sum.errors.saturating_add(cell(&from.errors));
        sum.bytes = sum.bytes.saturating_add(bytes);
        sum.timed = sum.timed.saturating_add(timed);
        sum.timed_dur = sum.timed_dur.saturating_add(cell(&from.timed_dur));
        sum.weight = sum.weight.saturating_add(weight);
        sum.inside = sum.inside.saturating_add(cell(&from.inside));
        if timed > 0 {
            sum.least = sum.least.min(cell(&from.min));
            sum.most = sum.most.max(cell(&from.max));
        }
    }

    /// The process works for that call of another process.
    pub fn works_for(&mut self, proc: u32, cause: (u32, u64)) {
        self.causes.insert(proc, cause);
    }

    pub fn is_empty(&self) -> bool {
        self.by_point.is_empty()
    }

    /// Processes and scopes, each at least once.
    pub fn scopes(&self) -> impl Iterator<Item = (u32, u64)> {
        let own = self.by_point.keys().filter(|key| key.1 != 0).map(|key| (key.0, key.1));
        own.chain(self.causes.values().copied())
    }

    pub fn add_recorded(&mut self, key: (u32, u64, u16), calls: RecordedCalls) {
        self.recorded.entry(key).or_default().add(calls);
    }

    pub fn set_node(&mut self, proc: u32, scope: u64, node: NodeId) {
        self.nodes.insert((proc, scope), node);
    }

    /// What leaves are made of, of functions that are `shown`.
    pub fn rests(self, tables: &Tables, shown: &[bool]) -> Rests {
        let text = |number| tables.names.text(number).to_owned();
        let names = (0..tables.functions.len()).map(|function| tables.name(function as u16));
        let sites = tables.sites.iter().map(|site| (text(site.role), text(site.host)));
        let id = |proc: u32| tables.procs[proc as usize];
        let is_shown = |function: u16| shown[usize::from(function)];
        let summed = self.by_point.into_iter().filter(|(key, _)| is_shown(key.2));
        let summed = summed.map(|((proc, scope, function, point), sum)| {
            let source =
                if is_counted_only(point) { CallSource::CountedOnly } else { CallSource::Summed };
            let site = tables.threads[sum.thread as usize].site;
            ((id(proc), scope, u32::from(function)), source, sum.rest(u32::from(site)))
        });
        let recorded = self.recorded.into_iter().filter(|(key, _)| is_shown(key.2));
        let recorded = recorded.map(|((proc, scope, function), calls)| {
            ((id(proc), scope, u32::from(function)), CallSource::Recorded, calls.rest())
        });
        let of_cause = |(proc, cause)| Some((id(proc), 0, *self.nodes.get(&cause)?));
        let causes: Vec<_> = self.causes.into_iter().filter_map(of_cause).collect();
        let own = self.nodes.into_iter().map(|((proc, span), node)| (id(proc), span, node));
        let scopes = own.chain(causes);
        Rests {
            functions: names.map(|(layer, op)| (layer.to_owned(), op.to_owned())).collect(),
            sites: sites.collect(),
            calls: summed.chain(recorded).collect(),
            scopes: scopes.collect(),
            unknown: Vec::new(),
        }
    }
}

fn is_counted_only(point: u32) -> bool {
    POINTS.iter().any(|known| u32::from(known.id) == point && known.counted_only)
}

impl RecordedCalls {
    pub fn add(&mut self, other: RecordedCalls) {
        self.count += other.count;
        self.errors += other.errors;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.time = self.time.saturating_add(other.time);
    }

    fn rest(&self) -> Rest {
        Rest {
            count: -self.count,
            errors: -self.errors,
            bytes: 0i64.saturating_sub(self.bytes),
            time: 0i64.saturating_sub(self.time),
            ..Rest::default()
        }
    }
}

impl PointSum {
    fn rest(&self, site: u32) -> Rest {
        let scaled = self.timed_dur as f64 * self.count as f64 / self.weight.max(1) as f64;
        let time = if self.weight == self.count { self.timed_dur } else { scaled as i64 };
        Rest {
            site: Some(site),
            count: self.count,
            errors: self.errors,
            bytes: self.bytes,
            time: time.saturating_add(self.inside),
            estimated: self.timed < self.count,
            range: Some((self.least, self.most)),
        }
    }
}
