//! Who hangs from whom: spans become trees, whatever their rows claim.

use super::index::Index;
use super::parallel;
use super::spans::{DROPPED, SCOPE, Spans, TWICE};
use super::sums::Sums;
use super::tables::Tables;

pub const NONE: u32 = u32::MAX;
/// Rows that a thread takes at a time.
pub const ROWS: usize = 1 << 16;
/// Groves that the trees of a pass are put into, however many threads there are: what is rows never
/// depends on that.
const GROVES: usize = 16;

/// Spans that have no place of their own, counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Orphans {
    /// Their parent is not there: lost with a full ring, or not of this run. They are roots.
    pub missing: u64,
    /// Each cycle of parents is cut at its first call, which becomes a root.
    pub cycles: u64,
    /// Rows with process and span of another one; they are left out.
    pub twice: u64,
}

impl Orphans {
    pub fn add(&mut self, other: Orphans) {
        self.missing += other.missing;
        self.cycles += other.cycles;
        self.twice += other.twice;
    }
}

/// 16 bytes a span. Rows are those of `Spans`.
pub struct Forest {
    /// `NONE`: a root.
    pub parent: Vec<u32>,
    /// What is below row r: `below[first[r]..first[r + 1]]`, in the order of their starts.
    first: Vec<u32>,
    below: Vec<u32>,
    /// Each after its parent.
    pub order: Vec<u32>,
    pub orphans: Orphans,
}

impl Forest {
    /// Marks rows that are there twice, and scopes of `sums`.
    pub fn grow(spans: &mut Spans, tables: &Tables, sums: &Sums, threads: usize) -> Forest {
        let mut orphans = Orphans::default();
        let parent = resolve(spans, tables, sums, threads, &mut orphans);
        let mut forest =
            Forest { parent, first: Vec::new(), below: Vec::new(), order: Vec::new(), orphans };
        forest.link(spans);
        if forest.order.len() + (forest.orphans.twice as usize) < spans.len() {
            forest.cut_cycles(spans);
            forest.link(spans);
        }
        forest
    }

    pub fn below(&self, row: u32) -> &[u32] {
        let row = row as usize;
        &self.below[self.first[row] as usize..self.first[row + 1] as usize]
    }

    /// Takes out what is marked as dropped: what hangs from it hangs from the next above.
    pub fn drop(&mut self, spans: &Spans) {
        for row in &self.order {
            let above = self.parent[*row as usize];
            if above != NONE && spans.what[above as usize].flags & DROPPED != 0 {
                // the order has parents first, so this one hangs from a call that stays
                self.parent[*row as usize] = self.parent[above as usize];
            }
        }
        self.link(spans);
    }

    /// Puts what is below each call in the order of starts, equal ones in the order of spans.
    pub fn sort(&mut self, spans: &Spans, threads: usize) {
        // not by row: wherever a part was read, equal starts are in the same order
        let start = |row: u32| (spans.start[row as usize], spans.span[row as usize]);
        let mut rest = self.below.as_mut_slice();
        let rows = (0..spans.len()).step_by(ROWS).map(|begin| {
            let first = &self.first[begin..=spans.len().min(begin + ROWS)];
            let below = (first[first.len() - 1] - first[0]) as usize;
            (first, rest.split_off_mut(..below).unwrap_or_default())
        });
        let rows: Vec<_> = rows.collect();
        parallel::each(threads, rows.into_iter(), |(first, below)| {
            for pair in first.windows(2) {
                let siblings =
                    &mut below[(pair[0] - first[0]) as usize..][..(pair[1] - pair[0]) as usize];
                if !siblings.is_sorted_by_key(|row| start(*row)) {
                    siblings.sort_by_key(|row| (start(*row), *row));
                }
            }
        });
    }

    /// `order` in pieces of whole trees, about as large as each other where trees are small.
    pub fn groves(&self) -> Vec<&[u32]> {
        let is_root = |row: &u32| self.parent[*row as usize] == NONE;
        let size = self.order.len() / GROVES + 1;
        let (mut groves, mut rest) = (Vec::new(), self.order.as_slice());
        while !rest.is_empty() {
            let end = rest.iter().skip(size).position(is_root).map_or(rest.len(), |at| size + at);
            let (grove, others) = rest.split_at(end);
            groves.push(grove);
            rest = others;
        }
        groves
    }

    /// Lists and order from `parent`, without rows that are there twice or dropped.
    fn link(&mut self, spans: &Spans) {
        let rows = spans.len();
        let is_in = |row: usize| spans.what[row].flags & (TWICE | DROPPED) == 0;
        let mut first = vec![0u32; rows + 2];
        for (row, above) in self.parent.iter().enumerate() {
            if *above != NONE && is_in(row) {
                first[*above as usize + 2] += 1;
            }
        }
        for row in 1..first.len() {
            first[row] += first[row - 1];
        }
        let mut below = vec![0; first[rows + 1] as usize];
        for (row, above) in self.parent.iter().enumerate() {
            if *above != NONE && is_in(row) {
                let next = &mut first[*above as usize + 1];
                below[*next as usize] = row as u32;
                *next += 1;
            }
        }
        first.pop();
        (self.first, self.below) = (first, below);
        self.order = Vec::with_capacity(rows);
        let mut open = Vec::new();
        for root in (0..rows).filter(|row| self.parent[*row] == NONE && is_in(*row)) {
            open.push(root as u32);
            while let Some(row) = open.pop() {
                self.order.push(row);
                open.extend(self.below(row).iter().rev());
            }
        }
    }

    /// What no root leads to hangs from a cycle: the first call of each becomes a root.
    fn cut_cycles(&mut self, spans: &Spans) {
        let mut reached = vec![NONE; spans.len()];
        for row in &self.order {
            reached[*row as usize] = *row;
        }
        for begin in 0..spans.len() as u32 {
            if reached[begin as usize] != NONE || spans.what[begin as usize].flags & TWICE != 0 {
                continue;
            }
            let mut row = begin;
            while reached[row as usize] == NONE {
                reached[row as usize] = begin;
                row = self.parent[row as usize]; // of what no root leads to there is one
            }
            if reached[row as usize] == begin {
                self.cut(row, spans);
            }
        }
    }

    fn cut(&mut self, within: u32, spans: &Spans) {
        let (mut first, mut row) = (within, self.parent[within as usize]);
        while row != within {
            let begin = |row: u32| (spans.start[row as usize], row);
            first = if begin(row) < begin(first) { row } else { first };
            row = self.parent[row as usize];
        }
        self.parent[first as usize] = NONE;
        self.orphans.cycles += 1;
    }
}

/// The parents as rows; spans and their parents are not needed after it.
fn resolve(
    spans: &mut Spans,
    tables: &Tables,
    sums: &Sums,
    threads: usize,
    orphans: &mut Orphans,
) -> Vec<u32> {
    let Spans { span, parent, thread, what, foreign, .. } = spans;
    let proc = |row: usize| tables.threads[thread[row] as usize].proc;
    let key = |row: usize| (proc(row), span[row]);
    let tables = threads.min(span.len() / ROWS + 1);
    let (index, twice) = Index::new(threads, tables, span.len(), key);
    orphans.twice += twice.len() as u64;
    for row in twice {
        what[row as usize].flags |= TWICE;
    }
    for scope in sums.scopes() {
        if let Some(row) = index.find(scope, key) {
            what[row as usize].flags |= SCOPE;
        }
    }
    let rows = parallel::each(threads, (0..span.len()).step_by(ROWS), |begin| {
        let elsewhere = foreign.partition_point(|(row, _)| (*row as usize) < begin);
        let mut elsewhere = foreign[elsewhere..].iter().peekable();
        let mut missing = 0;
        let mut rows = Vec::with_capacity(ROWS);
        for (row, above) in parent.iter().enumerate().skip(begin).take(ROWS) {
            let of = elsewhere.next_if(|(other, _)| *other as usize == row);
            let of = of.map_or(proc(row), |(_, of)| *of);
            let at = if *above == 0 { None } else { index.find((of, *above), key) };
            missing += u64::from(*above != 0 && at.is_none() && what[row].flags & TWICE == 0);
            rows.push(at.unwrap_or(NONE));
        }
        (rows, missing)
    });
    orphans.missing += rows.iter().map(|(_, missing)| missing).sum::<u64>();
    let rows: Vec<_> = rows.into_iter().map(|(rows, _)| rows).collect();
    rows.concat()
}
