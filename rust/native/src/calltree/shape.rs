/*!
Trees of equal structure become one: two linear passes.

Bottom-up each call gets the hash of its structure: its function, and the structures below it as a
set (siblings of equal structure are one) or as runs (neighbours of equal structure are one). By the
way from the root, nothing below matters. Top-down calls whose parents share a node share one, too,
where their structures are equal. Ids are hashes of content alone: parts of a run, or runs, give the
same node the same id.
*/

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

use serde::{Deserialize, Serialize};

use super::forest::{Forest, NONE};
use super::hash::{self, Map};
use super::spans::Spans;
use super::stats::Stats;
use super::tables::Tables;

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

/// Nodes of some trees; each comes after the one above it.
#[derive(Default)]
pub struct Nodes {
    pub all: Vec<Node>,
    /// By id.
    known: Map<u64, u32>,
}

/// The trees of a pass while they are merged. Each grove reads and writes what is of its own rows.
pub struct PassTrees<'a> {
    pub order: Order,
    pub spans: &'a Spans,
    pub tables: &'a Tables,
    pub forest: &'a Forest,
    /// By row; empty where structures do not matter.
    shapes: Vec<AtomicU64>,
    /// By row, in numbers of the grove's nodes.
    node_of: Vec<AtomicU32>,
}

/// After what was recorded individually, in whatever order that was.
const SUMMED: u64 = u64::MAX;

/// The id of a leaf of calls that were only summed; `above`: that of its node, `function`: its hash.
pub fn leaf(order: Order, above: Option<u64>, function: u64) -> u64 {
    let shape = match (order, above) {
        (Order::Paths, _) => function,
        (Order::Runs, Some(_)) => hash::pair(SUMMED, close(function)),
        _ => close(function),
    };
    hash::pair(above.unwrap_or(0), shape)
}

impl<'a> PassTrees<'a> {
    /// The lists of `forest` are in the order of starts.
    pub fn new(
        order: Order,
        spans: &'a Spans,
        tables: &'a Tables,
        forest: &'a Forest,
    ) -> PassTrees<'a> {
        let shapes = if order == Order::Paths { 0 } else { spans.len() };
        PassTrees {
            order,
            spans,
            tables,
            forest,
            shapes: (0..shapes).map(|_| AtomicU64::new(0)).collect(),
            node_of: (0..spans.len()).map(|_| AtomicU32::new(NONE)).collect(),
        }
    }

    pub fn node_of(&self, row: u32) -> u32 {
        self.node_of[row as usize].load(Relaxed)
    }

    /// `numbers` are those of the grove's nodes among others.
    pub fn renumber(&self, grove: &[u32], numbers: &[u32]) {
        for row in grove {
            self.put(*row, numbers[self.node_of(*row) as usize]);
        }
    }

    fn put(&self, row: u32, node: u32) {
        self.node_of[row as usize].store(node, Relaxed);
    }

    /// The nodes of a grove.
    pub fn nodes(&self, grove: &[u32]) -> Nodes {
        if self.order != Order::Paths {
            self.find_shapes(grove);
        }
        let mut nodes = Nodes::default();
        let function = |row: u32| self.spans.what[row as usize].function;
        for row in grove {
            if self.node_of(*row) == NONE {
                self.put(*row, nodes.node(NONE, self.shape(*row), function(*row)));
            }
            let (node, mut last, mut place) = (self.node_of(*row), None, 0u64);
            for below in self.forest.below(*row) {
                let shape = self.shape(*below);
                let number = match last {
                    Some((known, same)) if known == shape => same,
                    _ => {
                        place += 1;
                        let is_run = self.order == Order::Runs;
                        let key = if is_run { hash::pair(place, shape) } else { shape };
                        nodes.node(node, key, function(*below))
                    }
                };
                self.put(*below, number);
                last = Some((shape, number));
            }
        }
        nodes
    }

    fn shape(&self, row: u32) -> u64 {
        let known = self.shapes.get(row as usize);
        known.map_or_else(|| self.function(row), |shape| shape.load(Relaxed))
    }

    fn function(&self, row: u32) -> u64 {
        self.tables.functions[usize::from(self.spans.what[row as usize].function)].hash
    }

    fn find_shapes(&self, grove: &[u32]) {
        let mut below = Vec::new();
        for row in grove.iter().rev() {
            below.clear();
            below.extend(self.forest.below(*row).iter().map(|below| self.shape(*below)));
            below.dedup();
            if self.order == Order::Sets {
                below.sort_unstable();
                below.dedup();
            }
            let shape = below.iter().fold(self.function(*row), |hash, one| hash::pair(hash, *one));
            self.shapes[*row as usize].store(close(shape), Relaxed);
        }
    }
}

impl Nodes {
    fn node(&mut self, above: u32, key: u64, function: u16) -> u32 {
        let of = self.all.get(above as usize).map_or(0, |node| node.id);
        self.put(Node { above, function, id: hash::pair(of, key), stats: Stats::default() })
    }

    /// The number of the node that is like this one.
    fn put(&mut self, node: Node) -> u32 {
        *self.known.entry(node.id).or_insert_with(|| {
            self.all.push(node);
            self.all.len() as u32 - 1
        })
    }

    /// Adds the nodes of other trees; their numbers here.
    pub fn add(&mut self, other: Nodes) -> Vec<u32> {
        let mut numbers: Vec<u32> = Vec::with_capacity(other.all.len());
        for mut node in other.all {
            node.above = numbers.get(node.above as usize).copied().unwrap_or(NONE);
            let stats = std::mem::take(&mut node.stats);
            let number = self.put(node);
            self.all[number as usize].stats.add(&stats);
            numbers.push(number);
        }
        numbers
    }
}

/// Ends the list of what is below: a function with nothing below is not the beginning of another.
fn close(shape: u64) -> u64 {
    hash::pair(shape, 0)
}
