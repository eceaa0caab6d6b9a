//! What calls add up to: by node, and by function and site.

use super::hash::Map;
use super::own::own_time;
use super::sample::Samples;
use super::shape::{Nodes, PassTrees};
use super::spans::{ERROR, UNFINISHED};
use super::stats::Stats;

/// Of some trees.
#[derive(Default)]
pub struct MergedTrees {
    pub nodes: Nodes,
    pub functions: Map<(u16, u16), Stats>,
    pub samples: Samples,
    /// By `key_of`.
    pub function_samples: Samples,
    pub spans: u64,
}

/// Of function and site.
pub fn key_of(function: u16, site: u16) -> u32 {
    u32::from(function) << 16 | u32::from(site)
}

impl MergedTrees {
    /// `requests`: by row, empty where none were drawn.
    pub fn of(trees: &PassTrees, grove: &[u32], requests: &[u64]) -> MergedTrees {
        let nodes = trees.nodes(grove);
        let mut merged = MergedTrees { nodes, spans: grove.len() as u64, ..MergedTrees::default() };
        for row in grove {
            merged.count(trees, *row, requests);
        }
        merged
    }

    fn count(&mut self, trees: &PassTrees, row: u32, requests: &[u64]) {
        let PassTrees { spans, tables, .. } = trees;
        let at = row as usize;
        let what = spans.what[at];
        let site = tables.threads[spans.thread[at] as usize].site;
        let node_of = trees.node_of(row);
        let node = &mut self.nodes.all[node_of as usize].stats;
        let function = self.functions.entry((what.function, site)).or_default();
        node.spans += 1;
        function.spans += 1;
        if what.flags & UNFINISHED != 0 {
            return;
        }
        let (bytes, total) = (spans.bytes[at], spans.dur[at]);
        let own = own_time(spans, trees.forest, row);
        if what.share == 0 {
            node.call(bytes, total, &own, what.flags & ERROR != 0);
            function.call(bytes, total, &own, what.flags & ERROR != 0);
            return;
        }
        node.add_duration(total);
        function.add_duration(total);
        let values = [1.0, total as f64, own.own as f64, bytes as f64];
        let inclusion = tables.shares[usize::from(what.share)];
        self.samples.add(node_of, requests[at], inclusion, values);
        let key = key_of(what.function, site);
        self.function_samples.add(key, requests[at], inclusion, values);
    }

    /// Adds other trees; the numbers of their nodes here.
    pub fn add(&mut self, other: MergedTrees) -> Vec<u32> {
        let numbers = self.nodes.add(other.nodes);
        for (key, stats) in other.functions {
            self.functions.entry(key).or_default().add(&stats);
        }
        self.samples.merge(other.samples, |node| numbers[node as usize]);
        self.function_samples.merge(other.function_samples, |key| key);
        self.spans += other.spans;
        numbers
    }
}
