//! What a pass over spans found, as JSON; documents of parts of a run add up.

use std::cmp::Ordering;

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

use super::clocks::{Clock, Evidence};
use super::forest::Orphans;
use super::hash::{self, Map};
use super::id::NodeId;
use super::rests::{Leaf, Rests};
use super::sample::Sample;
use super::shape::{self, Order};
use super::stats::Stats;

/// Changes whenever documents of before could not be merged.
pub const VERSION: u32 = 3;

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
    /// Calls recorded individually that no row of kind `sum` counts.
    pub unsummed: u64,
    /// Some nodes are estimates from a sample of the requests.
    pub sampled: bool,
    pub clocks: Vec<Clock>,
    /// What clocks are made of.
    pub evidence: Evidence,
    /// Each before those below it; siblings longest first, or in the order of runs, and last those
    /// that were only summed. However a run was read, the same.
    pub nodes: Vec<NodeOut>,
    /// By function, role and host, in the order of these.
    pub functions: Vec<FunctionOut>,
    /// Of a part of a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rests: Option<Rests>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeOut {
    pub id: NodeId,
    /// Null: a root; its `spans` are as many trees of this structure.
    pub parent: Option<NodeId>,
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

impl NodeOut {
    /// The longest first.
    fn before(&self, other: &NodeOut) -> Ordering {
        let by_time = other.stats.total.cmp(&self.stats.total);
        by_time.then_with(|| {
            (&self.layer, &self.op, self.id).cmp(&(&other.layer, &other.op, other.id))
        })
    }
}

impl FunctionOut {
    pub fn key(&self) -> [&str; 4] {
        [&self.layer, &self.op, &self.role, &self.host]
    }
}

impl Document {
    /// The sum of both: of parts a part, of whole runs a whole.
    pub fn add(&mut self, other: Document) -> Result<()> {
        if (self.calltree, self.order, &self.by) != (other.calltree, other.order, &other.by) {
            bail!("its trees were made another way: {:?} by {}", other.order, other.by);
        }
        match (&mut self.rests, other.rests) {
            (Some(rests), Some(of_other)) => rests.add(of_other),
            (None, None) => {}
            _ => bail!("a part of a run and a whole one do not add up"),
        }
        self.spans += other.spans;
        self.left_out += other.left_out;
        self.unsummed += other.unsummed;
        self.sampled |= other.sampled;
        self.orphans.add(other.orphans);
        self.evidence.add(&other.evidence);
        self.add_nodes(other.nodes)?;
        self.add_functions(other.functions);
        Ok(())
    }

    /// Says what only all parts together know.
    pub fn complete(&mut self) -> Result<()> {
        if let Some(rests) = self.rests.take() {
            rests.check_patterns()?;
            self.hang(&rests)?;
        }
        self.clocks = self.evidence.clocks();
        self.arrange();
        Ok(())
    }

    fn add_nodes(&mut self, nodes: Vec<NodeOut>) -> Result<()> {
        let mut places = self.places();
        for node in nodes {
            if let Some(place) = places.get(&node.id) {
                let known = &mut self.nodes[*place];
                known.stats.add(&node.stats);
                add_sample(&mut known.sample, node.sample);
                continue;
            }
            if node.parent.as_ref().is_some_and(|parent| !places.contains_key(parent)) {
                bail!("the node {} hangs from one that is not before it", String::from(node.id));
            }
            places.insert(node.id, self.nodes.len());
            self.nodes.push(node);
        }
        Ok(())
    }

    fn places(&self) -> Map<NodeId, usize> {
        self.nodes.iter().enumerate().map(|(place, node)| (node.id, place)).collect()
    }

    /// Adds the leaves of what was only summed.
    fn hang(&mut self, rests: &Rests) -> Result<()> {
        let (leaves, unsummed) = rests.leaves(self.sampled);
        self.unsummed += unsummed;
        let mut places = self.places();
        let mut functions: Map<(u32, u32), Stats> = Map::default();
        for Leaf { above, function, site, stats } in leaves {
            functions.entry((function, site)).or_default().add(&stats);
            let (layer, op) = rests.name(function);
            let hash = hash::function(&layer, &op);
            let id = NodeId(shape::leaf(self.order, above.map(|id| id.0), hash));
            if let Some(known) = places.get(&id) {
                self.nodes[*known].stats.add(&stats);
                continue;
            }
            let depth = match above.map(|above| places.get(&above)) {
                None => 0,
                Some(Some(above)) => self.nodes[*above].depth + 1,
                Some(None) => bail!("a part lacks the node of a scope"),
            };
            places.insert(id, self.nodes.len());
            self.nodes.push(NodeOut { id, parent: above, depth, layer, op, stats, sample: None });
        }
        let named = functions.into_iter().map(|((function, site), stats)| {
            let (layer, op) = rests.name(function);
            let (role, host) = rests.sites.get(site as usize).cloned().unwrap_or_default();
            FunctionOut { layer, op, role, host, stats, sample: None }
        });
        self.add_functions(named.collect());
        Ok(())
    }

    /// Puts nodes in the one order that does not depend on how rows were read.
    fn arrange(&mut self) {
        let keeps_order = self.order == Order::Runs;
        let mut below: Map<Option<NodeId>, Vec<NodeOut>> = Map::default();
        for node in std::mem::take(&mut self.nodes) {
            below.entry(node.parent).or_default().push(node);
        }
        for (above, siblings) in &mut below {
            let keeps_order = keeps_order && above.is_some();
            siblings.sort_by(|a, b| {
                let is_leaf = |node: &NodeOut| node.stats.spans == 0;
                let by_kind = is_leaf(a).cmp(&is_leaf(b));
                let others = if keeps_order && !is_leaf(a) { Ordering::Equal } else { a.before(b) };
                by_kind.then(others)
            });
        }
        let mut open = below.remove(&None).unwrap_or_default();
        open.reverse();
        while let Some(node) = open.pop() {
            open.extend(below.remove(&Some(node.id)).into_iter().flatten().rev());
            self.nodes.push(node);
        }
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
