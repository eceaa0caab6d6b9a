/*!
Calls that exist only in sums: hot ones, those a level leaves out, those a full ring dropped.

A row of kind `sum` names the anchor of its calls: the nearest task, phase, block or RPC around them
in their thread. Below the anchor's node hangs a leaf with what its sums have more than the calls
kept one by one, so a tree has as many calls and bytes of each function as the sums.
*/

use anyhow::Result;
use arrow_array::RecordBatch;
use arrow_array::types::Int64Type;
use iostrata_segment::points::POINTS;

use super::columns::{Numbers, numbers};
use super::document::Id;
use super::hash::Map;
use super::rests::{Of, Rest, Rests};
use super::spans::Tables;

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
    anchor: Numbers<'a, Int64Type>,
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
            anchor: numbers(batch, "anchor")?,
        })
    }
}

/// Process, anchor, function, point.
type Key = (u32, u64, u16, u32);

#[derive(Default)]
struct Sum {
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

/// Calls of an anchor and function: those of its sums less those kept one by one.
#[derive(Default, Clone, Copy)]
pub struct Kept {
    pub count: i64,
    pub errors: i64,
    pub bytes: i64,
    pub time: i64,
}

#[derive(Default)]
pub struct Sums {
    by_point: Map<Key, Sum>,
    kept: Map<(u32, u64, u16), Kept>,
    /// Nodes of anchors, once they are known.
    nodes: Map<(u32, u64), Id>,
}

impl Sums {
    /// `whose`: thread, function, point.
    pub fn add(
        &mut self,
        from: &Columns,
        row: usize,
        proc: u32,
        whose: (u32, u16, i32),
        bytes: i64,
    ) {
        let (thread, function, point) = whose;
        let cell = |column: &Numbers<'_, Int64Type>| column.get(row).unwrap_or(0);
        let key = (proc, cell(&from.anchor) as u64, function, point as u32);
        let fresh = || Sum { thread, least: i64::MAX, ..Sum::default() };
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

    pub fn is_empty(&self) -> bool {
        self.by_point.is_empty()
    }

    /// Processes and anchors, each at least once.
    pub fn anchors(&self) -> impl Iterator<Item = (u32, u64)> {
        self.by_point.keys().filter(|key| key.1 != 0).map(|key| (key.0, key.1))
    }

    pub fn keep(&mut self, key: (u32, u64, u16), calls: Kept) {
        self.kept.entry(key).or_default().add(calls);
    }

    pub fn found(&mut self, proc: u32, anchor: u64, node: Id) {
        self.nodes.insert((proc, anchor), node);
    }

    /// What leaves are made of, of functions that are `shown`.
    pub fn rests(self, tables: &Tables, shown: &[bool]) -> Rests {
        let text = |number| tables.names.text(number).to_owned();
        let names = (0..tables.functions.len()).map(|function| tables.name(function as u16));
        let places = tables.places.iter().map(|place| (text(place.role), text(place.host)));
        let id = |proc: u32| tables.procs[proc as usize];
        let is_shown = |function: u16| shown[usize::from(function)];
        let summed = self.by_point.into_iter().filter(|(key, _)| is_shown(key.2));
        let summed = summed.map(|((proc, anchor, function, point), sum)| {
            let of = if is_hot(point) { Of::Hot } else { Of::Summed };
            let place = tables.threads[sum.thread as usize].place;
            ((id(proc), anchor, u32::from(function)), of, sum.rest(u32::from(place)))
        });
        let kept = self.kept.into_iter().filter(|(key, _)| is_shown(key.2));
        let kept = kept.map(|((proc, anchor, function), kept)| {
            ((id(proc), anchor, u32::from(function)), Of::Kept, kept.rest())
        });
        let anchors = self.nodes.into_iter().map(|((proc, span), node)| (id(proc), span, node));
        Rests {
            functions: names.map(|(layer, op)| (layer.to_owned(), op.to_owned())).collect(),
            places: places.collect(),
            calls: summed.chain(kept).collect(),
            anchors: anchors.collect(),
            unknown: Vec::new(),
        }
    }
}

fn is_hot(point: u32) -> bool {
    POINTS.iter().any(|known| u32::from(known.id) == point && known.counted_only)
}

impl Kept {
    pub fn add(&mut self, other: Kept) {
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

impl Sum {
    fn rest(&self, place: u32) -> Rest {
        let scaled = self.timed_dur as f64 * self.count as f64 / self.weight.max(1) as f64;
        let time = if self.weight == self.count { self.timed_dur } else { scaled as i64 };
        Rest {
            place: Some(place),
            count: self.count,
            errors: self.errors,
            bytes: self.bytes,
            time: time.saturating_add(self.inside),
            estimated: self.timed < self.count,
            range: Some((self.least, self.most)),
        }
    }
}
