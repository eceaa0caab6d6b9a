//! From rows to a document, in as many passes as memory asks for.

use anyhow::Result;

use super::clocks::Evidence;
use super::document::{Document, FunctionOut, NodeOut, VERSION};
use super::forest::{Forest, NONE, Orphans};
use super::hash::Map;
use super::own::own_time;
use super::patterns::Wanted;
use super::sample::{Sample, Samples, requests};
use super::shape::{Nodes, Order};
use super::source::Source;
use super::spans::{ANCHOR, By, DROPPED, ERROR, Place, Spans, Tables, UNFINISHED, part_of};
use super::stats::Stats;
use super::sums::{Kept, Sums};

/// Bytes that a span takes at most while trees are made.
const BYTES_OF_SPAN: u64 = 80;

pub fn document(
    source: &Source,
    order: Order,
    by: By,
    wanted: &Wanted,
    memory: u64,
) -> Result<Document> {
    let parts = (source.rows()? * BYTES_OF_SPAN).div_ceil(memory.max(1)).max(1);
    let mut trees = Trees::new(order, by);
    for number in 0..parts {
        let mut spans = Spans::default();
        let Trees { tables, sums, .. } = &mut trees;
        let is_wanted = part_of(number, parts);
        source.read(|batch| {
            let sums = (number == 0).then_some(&mut *sums);
            spans.push(batch, tables, &is_wanted, sums)
        })?;
        trees.add(spans, wanted)?;
    }
    trees.finish(wanted)
}

/// The trees of all parts so far.
pub struct Trees {
    pub tables: Tables,
    pub sums: Sums,
    nodes: Nodes,
    functions: Map<(u16, u16), Stats>,
    samples: Samples,
    /// By `key_of`.
    function_samples: Samples,
    evidence: Evidence,
    orphans: Orphans,
    spans: u64,
    left_out: u64,
}

impl Trees {
    pub fn new(order: Order, by: By) -> Trees {
        Trees {
            tables: Tables::new(by),
            sums: Sums::default(),
            nodes: Nodes::new(order),
            functions: Map::default(),
            samples: Samples::default(),
            function_samples: Samples::default(),
            evidence: Evidence::default(),
            orphans: Orphans::default(),
            spans: 0,
            left_out: 0,
        }
    }

    pub fn add(&mut self, mut spans: Spans, wanted: &Wanted) -> Result<()> {
        let mut forest = Forest::grow(&mut spans, &self.tables, &self.sums);
        self.orphans.missing += forest.orphans.missing;
        self.orphans.cycles += forest.orphans.cycles;
        self.orphans.twice += forest.orphans.twice;
        self.evidence.gather(&spans, &self.tables, &forest);
        let requests = requests(&spans, &self.tables, &forest);
        spans.parent = Vec::new();
        self.keep(&spans, &forest);
        self.leave_out(&mut spans, &mut forest, wanted)?;
        let (offsets, _) = self.evidence.clocks(&self.tables);
        spans.shift(&self.tables, |host| offsets.get(&host).copied().unwrap_or(0));
        forest.sort(&spans);
        let node_of = self.nodes.merge(&spans, &self.tables, &forest);
        self.count(&spans, &forest, &node_of, &requests);
        self.place_anchors(&spans, &forest, &node_of);
        Ok(())
    }

    /// Says to the sums which of their calls have spans.
    fn keep(&mut self, spans: &Spans, forest: &Forest) {
        if self.sums.is_empty() {
            return;
        }
        let mut anchor_of = vec![NONE; spans.len()];
        for row in &forest.order {
            let (at, above) = (*row as usize, forest.parent[*row as usize]);
            if above != NONE && spans.thread[above as usize] == spans.thread[at] {
                let is_anchor = spans.what[above as usize].flags & ANCHOR != 0;
                anchor_of[at] = if is_anchor { above } else { anchor_of[above as usize] };
            }
            if spans.what[at].flags & UNFINISHED == 0 {
                let anchor = anchor_of[at];
                let anchor = if anchor == NONE { 0 } else { spans.span[anchor as usize] };
                let proc = self.tables.threads[spans.thread[at] as usize].proc;
                let call = Kept {
                    count: 1,
                    errors: i64::from(spans.what[at].flags & ERROR != 0),
                    bytes: spans.bytes[at],
                    time: spans.dur[at],
                };
                self.sums.keep(proc, anchor, spans.what[at].function, call);
            }
        }
    }

    fn leave_out(&mut self, spans: &mut Spans, forest: &mut Forest, wanted: &Wanted) -> Result<()> {
        if wanted.is_all() {
            return Ok(());
        }
        let functions = wanted.functions(&self.tables)?;
        for what in &mut spans.what {
            let seen = functions[usize::from(what.function)];
            what.flags |= if seen { 0 } else { DROPPED };
        }
        let before = forest.order.len();
        forest.drop(spans);
        self.left_out += (before - forest.order.len()) as u64;
        Ok(())
    }

    fn count(&mut self, spans: &Spans, forest: &Forest, node_of: &[u32], requests: &[u64]) {
        self.spans += forest.order.len() as u64;
        for row in &forest.order {
            let at = *row as usize;
            let what = spans.what[at];
            let place = self.tables.threads[spans.thread[at] as usize].place;
            let node = &mut self.nodes.all[node_of[at] as usize].stats;
            let function = self.functions.entry((what.function, place)).or_default();
            node.spans += 1;
            function.spans += 1;
            if what.flags & UNFINISHED != 0 {
                continue;
            }
            let (bytes, total) = (spans.bytes[at], spans.dur[at]);
            let own = own_time(spans, forest, *row);
            if what.share == 0 {
                node.call(bytes, total, &own, what.flags & ERROR != 0);
                function.call(bytes, total, &own, what.flags & ERROR != 0);
            } else {
                node.seen(total);
                function.seen(total);
                let values = [1.0, total as f64, own.own as f64, bytes as f64];
                let inclusion = self.tables.shares[usize::from(what.share)];
                self.samples.add(node_of[at], requests[at], inclusion, values);
                self.function_samples.add(
                    key_of(what.function, place),
                    requests[at],
                    inclusion,
                    values,
                );
            }
        }
    }

    fn place_anchors(&mut self, spans: &Spans, forest: &Forest, node_of: &[u32]) {
        for (row, what) in spans.what.iter().enumerate() {
            if what.flags & ANCHOR != 0 {
                let seen = if what.flags & DROPPED == 0 { row as u32 } else { forest.parent[row] };
                if seen != NONE {
                    let proc = self.tables.threads[spans.thread[row] as usize].proc;
                    let node = node_of[seen as usize];
                    self.sums.found(proc, spans.span[row], node);
                }
            }
        }
    }

    pub fn finish(mut self, wanted: &Wanted) -> Result<Document> {
        let functions = wanted.functions(&self.tables)?;
        let (leaves, unsummed) = self.sums.leaves(&self.tables);
        for leaf in leaves.iter().filter(|leaf| functions[usize::from(leaf.function)]) {
            let node = self.nodes.leaf(leaf.above.unwrap_or(NONE), &self.tables, leaf.function);
            self.nodes.all[node as usize].stats.add(&leaf.stats);
            let place = self.tables.threads[leaf.thread as usize].place;
            self.functions.entry((leaf.function, place)).or_default().add(&leaf.stats);
        }
        let mut samples = self.samples.by_node();
        let mut depths = Vec::with_capacity(self.nodes.all.len());
        let mut nodes: Vec<NodeOut> = Vec::with_capacity(self.nodes.all.len());
        for (number, node) in self.nodes.all.into_iter().enumerate() {
            let above = (node.above != NONE).then_some(node.above as usize);
            depths.push(above.map_or(0, |above| depths[above] + 1));
            let (layer, op) = self.tables.name(node.function);
            nodes.push(NodeOut {
                id: format!("{:016x}", node.id),
                parent: above.map(|above| nodes[above].id.clone()),
                depth: depths[number],
                layer: layer.to_owned(),
                op: op.to_owned(),
                stats: node.stats,
                sample: samples.remove(&(number as u32)),
            });
        }
        Ok(Document {
            calltree: VERSION,
            order: self.nodes.order,
            by: if self.tables.by == By::Op { "op" } else { "point" }.to_owned(),
            spans: self.spans,
            left_out: self.left_out,
            orphans: self.orphans,
            unsummed,
            sampled: self.tables.shares.len() > 1,
            clocks: self.evidence.clocks(&self.tables).1,
            nodes,
            functions: by_function(&self.tables, self.functions, self.function_samples.by_node()),
        })
    }
}

fn key_of(function: u16, place: u16) -> u32 {
    u32::from(function) << 16 | u32::from(place)
}

/// In order of their names.
fn by_function(
    tables: &Tables,
    functions: Map<(u16, u16), Stats>,
    mut samples: Map<u32, Sample>,
) -> Vec<FunctionOut> {
    let named = functions.into_iter().map(|((function, place), stats)| {
        let (layer, op) = tables.name(function);
        let Place { role, host } = tables.places[usize::from(place)];
        FunctionOut {
            layer: layer.to_owned(),
            op: op.to_owned(),
            role: tables.names.text(role).to_owned(),
            host: tables.names.text(host).to_owned(),
            stats,
            sample: samples.remove(&key_of(function, place)),
        }
    });
    let mut out: Vec<FunctionOut> = named.collect();
    out.sort_by(|a, b| a.key().cmp(&b.key()));
    out
}
