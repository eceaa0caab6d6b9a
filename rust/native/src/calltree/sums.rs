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
use super::hash::Map;
use super::spans::Tables;
use super::stats::Stats;

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
    nodes: Map<(u32, u64), u32>,
}

/// What hangs below an anchor (0: below nothing) of a process.
pub struct Leaf {
    /// The anchor's node.
    pub above: Option<u32>,
    pub function: u16,
    pub thread: u32,
    pub stats: Stats,
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

    pub fn keep(&mut self, proc: u32, anchor: u64, function: u16, calls: Kept) {
        let kept = self.kept.entry((proc, anchor, function)).or_default();
        kept.count += calls.count;
        kept.errors += calls.errors;
        kept.bytes = kept.bytes.saturating_add(calls.bytes);
        kept.time = kept.time.saturating_add(calls.time);
    }

    pub fn found(&mut self, proc: u32, anchor: u64, node: u32) {
        self.nodes.insert((proc, anchor), node);
    }

    /// The leaves, and how many calls were kept one by one that no sum has.
    ///
    /// Of a sampled run only points that are never kept one by one: calls of others are scaled back.
    pub fn leaves(self, tables: &Tables) -> (Vec<Leaf>, u64) {
        let sampled = tables.shares.len() > 1;
        let mut rests: Map<(u32, u64, u16), Rest> = Map::default();
        for ((proc, anchor, function, point), sum) in &self.by_point {
            if !sampled || is_hot(*point) {
                rests.entry((*proc, *anchor, *function)).or_default().add(sum);
            }
        }
        if !sampled {
            for (key, kept) in &self.kept {
                rests.entry(*key).or_default().less(kept);
            }
        }
        let mut rests: Vec<_> = rests.into_iter().collect();
        rests.sort_by_key(|((proc, anchor, function), _)| (*proc, *function, *anchor));
        let mut missing = 0;
        for same in rests.chunk_by_mut(|(a, _), (b, _)| (a.0, a.2) == (b.0, b.2)) {
            level(same, |rest| &mut rest.bytes);
            level(same, |rest| &mut rest.errors);
            level(same, |rest| &mut rest.time);
            missing += level(same, |rest| &mut rest.count);
        }
        let leaves = rests.into_iter().filter(|(_, rest)| rest.count > 0 || rest.bytes > 0);
        let leaves = leaves.map(|((proc, anchor, function), rest)| Leaf {
            above: self.nodes.get(&(proc, anchor)).copied(),
            function,
            thread: rest.thread,
            stats: rest.stats(),
        });
        (leaves.collect(), missing as u64)
    }
}

fn is_hot(point: u32) -> bool {
    POINTS.iter().any(|known| u32::from(known.id) == point && known.hot)
}

/// Rows that were folded have no anchor: where more calls were kept than the sums of their anchor
/// have, other sums of process and function have them. Returns what none has.
fn level<K>(rests: &mut [(K, Rest)], of: impl Fn(&mut Rest) -> &mut i64) -> i64 {
    let mut missing = 0i64;
    for (_, rest) in rests.iter_mut() {
        let value = of(rest);
        missing = missing.saturating_sub((*value).min(0));
        *value = (*value).max(0);
    }
    for (_, rest) in rests {
        let value = of(rest);
        let taken = missing.min(*value);
        *value -= taken;
        missing -= taken;
    }
    missing
}

#[derive(Default)]
struct Rest {
    thread: u32,
    count: i64,
    errors: i64,
    bytes: i64,
    time: i64,
    estimated: bool,
    /// Shortest and longest, while all calls are only summed.
    range: Option<(i64, i64)>,
}

impl Rest {
    fn add(&mut self, sum: &Sum) {
        let scaled = sum.timed_dur as f64 * sum.count as f64 / sum.weight.max(1) as f64;
        let time = if sum.weight == sum.count { sum.timed_dur } else { scaled as i64 };
        let (least, most) = self.range.unwrap_or((i64::MAX, 0));
        self.thread = sum.thread;
        self.count = self.count.saturating_add(sum.count);
        self.errors = self.errors.saturating_add(sum.errors);
        self.bytes = self.bytes.saturating_add(sum.bytes);
        self.time = self.time.saturating_add(time).saturating_add(sum.inside);
        self.estimated |= sum.timed < sum.count;
        self.range = Some((least.min(sum.least), most.max(sum.most)));
    }

    fn less(&mut self, kept: &Kept) {
        self.count = self.count.saturating_sub(kept.count);
        self.errors = self.errors.saturating_sub(kept.errors);
        self.bytes = self.bytes.saturating_sub(kept.bytes);
        self.time = self.time.saturating_sub(kept.time);
        self.range = None;
    }

    /// They may lie within each other, so their time stays with their anchor's own.
    fn stats(&self) -> Stats {
        let (least, most) = self.range.unwrap_or((i64::MAX, 0));
        Stats {
            count: self.count as u64,
            errors: self.errors as u64,
            bytes: self.bytes,
            total: if self.count > 0 { self.time.max(0) } else { 0 },
            least,
            most,
            estimated: self.estimated,
            ..Stats::default()
        }
    }
}
