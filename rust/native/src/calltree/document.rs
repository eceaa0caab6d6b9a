//! What a pass over spans found, as JSON; documents of parts of a run add up.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

use super::clocks::Clock;
use super::forest::Orphans;
use super::sample::Sample;
use super::shape::Order;
use super::stats::Stats;

/// Changes whenever documents of before could not be merged.
pub const VERSION: u32 = 1;

/// Call trees, merged. Times are ns, sizes bytes, ids 16 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    pub calltree: u32,
    pub order: Order,
    /// `op` or `point`.
    pub by: String,
    /// Spans that trees were made of, without those left out by the user.
    pub spans: u64,
    pub left_out: u64,
    pub orphans: Orphans,
    /// Calls kept one by one that no row of kind `sum` counts.
    pub unsummed: u64,
    /// Some nodes are estimates from a sample of the requests.
    pub sampled: bool,
    pub clocks: Vec<Clock>,
    /// Each after the one above it.
    pub nodes: Vec<NodeOut>,
    /// By function, role and host.
    pub functions: Vec<FunctionOut>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeOut {
    pub id: String,
    /// Null: a root; its `spans` are as many trees of this structure.
    pub parent: Option<String>,
    pub depth: u32,
    pub layer: String,
    pub op: String,
    #[serde(flatten)]
    pub stats: Stats,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<Sample>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FunctionOut {
    pub layer: String,
    pub op: String,
    pub role: String,
    pub host: String,
    #[serde(flatten)]
    pub stats: Stats,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<Sample>,
}

impl FunctionOut {
    pub fn key(&self) -> [&str; 4] {
        [&self.layer, &self.op, &self.role, &self.host]
    }
}

impl Document {
    /// The sum of both.
    pub fn add(&mut self, other: Document) -> Result<()> {
        if (self.calltree, self.order, &self.by) != (other.calltree, other.order, &other.by) {
            bail!("its trees were made another way: {:?} by {}", other.order, other.by);
        }
        self.spans += other.spans;
        self.left_out += other.left_out;
        self.unsummed += other.unsummed;
        self.sampled |= other.sampled;
        self.orphans.missing += other.orphans.missing;
        self.orphans.cycles += other.orphans.cycles;
        self.orphans.twice += other.orphans.twice;
        self.add_clocks(other.clocks);
        self.add_nodes(other.nodes)?;
        self.add_functions(other.functions);
        Ok(())
    }

    /// Of the same hosts what both allow remains.
    fn add_clocks(&mut self, clocks: Vec<Clock>) {
        for clock in clocks {
            let same = self
                .clocks
                .iter_mut()
                .find(|known| (&known.host, &known.reference) == (&clock.host, &clock.reference));
            let Some(known) = same else {
                self.clocks.push(clock);
                continue;
            };
            known.low = known.low.max(clock.low);
            known.high = [known.high, clock.high].into_iter().flatten().min();
            known.calls += clock.calls;
            if let (Some(low), Some(high)) = (known.low, known.high) {
                known.offset = low.midpoint(high);
            }
        }
    }

    fn add_nodes(&mut self, nodes: Vec<NodeOut>) -> Result<()> {
        let places = self.nodes.iter().enumerate().map(|(place, node)| (node.id.clone(), place));
        let mut places: BTreeMap<String, usize> = places.collect();
        for node in nodes {
            if let Some(place) = places.get(&node.id) {
                let known = &mut self.nodes[*place];
                known.stats.add(&node.stats);
                add_sample(&mut known.sample, node.sample);
                continue;
            }
            if node.parent.as_ref().is_some_and(|parent| !places.contains_key(parent)) {
                bail!("the node {} hangs from one that is not before it", node.id);
            }
            places.insert(node.id.clone(), self.nodes.len());
            self.nodes.push(node);
        }
        Ok(())
    }

    fn add_functions(&mut self, functions: Vec<FunctionOut>) {
        self.functions.extend(functions);
        self.functions.sort_by(|a, b| a.key().cmp(&b.key()));
        self.functions.dedup_by(|other, known| {
            let same = other.key() == known.key();
            if same {
                known.stats.add(&other.stats);
                add_sample(&mut known.sample, other.sample.take());
            }
            same
        });
    }
}

fn add_sample(to: &mut Option<Sample>, from: Option<Sample>) {
    if let Some(from) = from {
        to.get_or_insert_default().add(from);
    }
}
