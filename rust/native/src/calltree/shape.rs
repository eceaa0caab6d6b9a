/*!
Trees of equal structure become one: two linear passes.

Bottom-up each call gets the hash of its structure: its function, and the structures below it as a
set (siblings of equal structure are one) or as runs (neighbours of equal structure are one). By the
way from the root, nothing below matters. Top-down calls whose parents share a node share one, too,
where their structures are equal. Ids are hashes of content alone: parts of a run, or runs, give the
same node the same id.
*/

use serde::{Deserialize, Serialize};

use super::forest::{Forest, NONE};
use super::hash::{self, Map};
use super::spans::{Spans, Tables};
use super::stats::Stats;

/// Which calls are one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Siblings of equal structure
    #[default]
    Sets,
    /// Neighbours of equal structure, in the order of their starts
    Runs,
    /// Calls that came the same way
    Paths,
}

pub struct Node {
    /// `NONE`: a root.
    pub above: u32,
    pub function: u16,
    pub id: u64,
    pub stats: Stats,
}

/// The nodes of all parts so far; each comes after the one above it.
#[derive(Default)]
pub struct Nodes {
    pub order: Order,
    pub all: Vec<Node>,
    known: Map<(u32, u64), u32>,
}

/// After what was kept one by one, in whatever order that was.
const SUMMED: u64 = u64::MAX;

impl Nodes {
    pub fn new(order: Order) -> Nodes {
        Nodes { order, ..Nodes::default() }
    }

    /// The node of each row of `forest`, whose lists are in the order of starts.
    pub fn merge(&mut self, spans: &Spans, tables: &Tables, forest: &Forest) -> Vec<u32> {
        let shapes = self.shapes(spans, tables, forest);
        let shape = |row: u32| match shapes.get(row as usize) {
            Some(shape) => *shape,
            None => function_of(spans, tables, row),
        };
        let mut node_of = vec![NONE; spans.len()];
        for row in &forest.order {
            if node_of[*row as usize] == NONE {
                node_of[*row as usize] =
                    self.node(NONE, shape(*row), spans.what[*row as usize].function);
            }
            let (node, mut last, mut place) = (node_of[*row as usize], None, 0u64);
            for below in forest.below(*row) {
                let mut key = shape(*below);
                match last {
                    Some((known, same)) if known == key => {
                        node_of[*below as usize] = same;
                        continue;
                    }
                    _ => place += 1,
                }
                let shape = key;
                if self.order == Order::Runs {
                    key = hash::pair(place, key);
                }
                let found = self.node(node, key, spans.what[*below as usize].function);
                node_of[*below as usize] = found;
                last = Some((shape, found));
            }
        }
        node_of
    }

    /// The leaf of calls that were only summed, below a node (`NONE`: of none).
    pub fn leaf(&mut self, above: u32, tables: &Tables, function: u16) -> u32 {
        let shape = match self.order {
            Order::Paths => tables.functions[usize::from(function)].hash,
            Order::Sets => close(tables.functions[usize::from(function)].hash),
            Order::Runs => {
                let shape = close(tables.functions[usize::from(function)].hash);
                if above == NONE { shape } else { hash::pair(SUMMED, shape) }
            }
        };
        self.node(above, shape, function)
    }

    fn node(&mut self, above: u32, key: u64, function: u16) -> u32 {
        *self.known.entry((above, key)).or_insert_with(|| {
            let of = self.all.get(above as usize).map_or(0, |node| node.id);
            let id = hash::pair(of, key);
            self.all.push(Node { above, function, id, stats: Stats::default() });
            self.all.len() as u32 - 1
        })
    }

    /// Empty where structures do not matter.
    fn shapes(&self, spans: &Spans, tables: &Tables, forest: &Forest) -> Vec<u64> {
        if self.order == Order::Paths {
            return Vec::new();
        }
        let mut shapes = vec![0; spans.len()];
        let mut below = Vec::new();
        for row in forest.order.iter().rev() {
            below.clear();
            below.extend(forest.below(*row).iter().map(|below| shapes[*below as usize]));
            below.dedup();
            if self.order == Order::Sets {
                below.sort_unstable();
                below.dedup();
            }
            let own = function_of(spans, tables, *row);
            shapes[*row as usize] =
                close(below.iter().fold(own, |hash, one| hash::pair(hash, *one)));
        }
        shapes
    }
}

fn function_of(spans: &Spans, tables: &Tables, row: u32) -> u64 {
    tables.functions[usize::from(spans.what[row as usize].function)].hash
}

/// Ends the list of what is below: a function with nothing below is not the beginning of another.
fn close(shape: u64) -> u64 {
    hash::pair(shape, 0)
}
