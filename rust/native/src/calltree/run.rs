//! From rows to a document, in as many passes as memory asks for.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use anyhow::Result;

use super::clocks::{Evidence, Offsets};
use super::document::{Document, FunctionOut, NodeOut, VERSION};
use super::forest::{Forest, NONE, Orphans};
use super::hash::Map;
use super::id::NodeId;
use super::merged::{MergedTrees, key_of};
use super::parallel;
use super::patterns::FunctionFilter;
use super::progress::Progress;
use super::sample::{Sample, requests};
use super::shape::{Order, PassTrees};
use super::source::RowSource;
use super::spans::{DROPPED, ERROR, SCOPE, Spans, UNFINISHED, part_of};
use super::stats::Stats;
use super::sums::{RecordedCalls, Sums};
use super::tables::{Grouping, Site, Tables};

/// Bytes that a span takes at most while trees are made.
const BYTES_OF_SPAN: u64 = 80;

/// What is to be made of rows, and how.
pub struct TreeOptions {
    pub order: Order,
    pub by: Grouping,
    pub wanted: FunctionFilter,
    /// Bytes that spans may take.
    pub memory: u64,
    /// Nothing in a document depends on it.
    pub threads: usize,
    /// The clocks of hosts, where they are known.
    pub offsets: Option<Offsets>,
    /// Other parts of the run are read elsewhere.
    pub is_part: bool,
}

/// A part of a run, or all of it.
pub fn document(
    source: &RowSource,
    options: &TreeOptions,
    progress: &mut Progress,
) -> Result<Document> {
    let rows = source.rows()?;
    let passes = Passes {
        source,
        threads: options.threads,
        number: rows.saturating_mul(BYTES_OF_SPAN).div_ceil(options.memory.max(1)).max(1),
        rows,
    };
    let rounds = if passes.number == 1 { 1 } else { 2 };
    progress.begin(rows.saturating_mul((passes.number + 1).saturating_mul(rounds)));
    let offsets = match &options.offsets {
        None if passes.number > 1 => Some(clocks(&passes, options, progress)?),
        known => known.clone(),
    };
    let mut trees = Trees::new(options.order, options.by, options.threads);
    trees.is_part = options.is_part;
    for number in 0..passes.number {
        let Trees { tables, sums, .. } = &mut trees;
        let spans = passes.read(number, tables, Some(sums), progress)?;
        let steps = spans.len() as u64;
        trees.add(spans, &options.wanted, offsets.as_ref());
        progress.add(steps);
    }
    Ok(trees.finish(&options.wanted))
}

/// What all passes together say of clocks: times that one pass compares may be of hosts that only
/// others know well.
fn clocks(passes: &Passes, options: &TreeOptions, progress: &mut Progress) -> Result<Offsets> {
    let mut trees = Trees::new(options.order, options.by, options.threads);
    for number in 0..passes.number {
        let mut spans = passes.read(number, &mut trees.tables, None, progress)?;
        if trees.tables.hosts.len() < 2 {
            break;
        }
        let forest = Forest::grow(&mut spans, &trees.tables, &trees.sums, options.threads);
        trees.evidence.gather(&spans, &trees.tables, &forest, options.threads);
        progress.add(spans.len() as u64);
    }
    Ok(trees.evidence.offsets())
}

/// A run read again and again, each time for a part of its traces.
struct Passes<'a> {
    source: &'a RowSource,
    threads: usize,
    number: u64,
    rows: u64,
}

impl Passes<'_> {
    /// The spans of a pass; sums are those of the whole run, so the first brings them all.
    fn read(
        &self,
        number: u64,
        tables: &mut Tables,
        sums: Option<&mut Sums>,
        progress: &mut Progress,
    ) -> Result<Spans> {
        let mut spans = Spans::default();
        let mut sums = sums.filter(|_| number == 0);
        let is_wanted = part_of(number, self.number);
        let rows = if self.number == 1 { self.rows as usize } else { 0 };
        spans.reserve(rows);
        self.source.read(self.threads, |batch| {
            progress.add(batch.num_rows() as u64);
            spans.push(batch, tables, &is_wanted, sums.as_deref_mut())
        })?;
        Ok(spans)
    }
}

/// The trees of all passes so far.
pub struct Trees {
    pub tables: Tables,
    pub sums: Sums,
    /// Sums of its calls may be in other parts of the run.
    pub is_part: bool,
    order: Order,
    threads: usize,
    merged: MergedTrees,
    evidence: Evidence,
    orphans: Orphans,
    left_out: u64,
}

impl Trees {
    pub fn new(order: Order, by: Grouping, threads: usize) -> Trees {
        Trees {
            tables: Tables::new(by),
            sums: Sums::default(),
            is_part: false,
            order,
            threads,
            merged: MergedTrees::default(),
            evidence: Evidence::default(),
            orphans: Orphans::default(),
            left_out: 0,
        }
    }

    /// Without `offsets` clocks are as the spans so far say.
    pub fn add(&mut self, mut spans: Spans, wanted: &FunctionFilter, offsets: Option<&Offsets>) {
        let mut forest = Forest::grow(&mut spans, &self.tables, &self.sums, self.threads);
        self.orphans.add(forest.orphans);
        self.evidence.gather(&spans, &self.tables, &forest, self.threads);
        let requests = requests(&spans, &self.tables, &forest);
        spans.parent = Vec::new();
        self.count_recorded(&spans, &forest);
        self.leave_out(&mut spans, &mut forest, wanted);
        let offsets = offsets.cloned().unwrap_or_else(|| self.evidence.offsets());
        let offset = |host| offsets.get(self.tables.names.text(host)).copied().unwrap_or(0);
        spans.shift(&self.tables, offset);
        forest.sort(&spans, self.threads);
        self.merge(&spans, &forest, &requests);
    }

    fn merge(&mut self, spans: &Spans, forest: &Forest, requests: &[u64]) {
        let trees = PassTrees::new(self.order, spans, &self.tables, forest);
        let groves = forest.groves();
        let of = |grove: &&[u32]| MergedTrees::of(&trees, grove, requests);
        let merged = parallel::each(self.threads, groves.iter(), of);
        for (grove, merged) in groves.iter().zip(merged) {
            let numbers = self.merged.add(merged);
            trees.renumber(grove, &numbers);
        }
        for (row, what) in spans.what.iter().enumerate() {
            if what.flags & SCOPE != 0 {
                let shown = if what.flags & DROPPED == 0 { row as u32 } else { forest.parent[row] };
                if shown != NONE {
                    let proc = self.tables.threads[spans.thread[row] as usize].proc;
                    let node = trees.node_of(shown) as usize;
                    self.sums.set_node(
                        proc,
                        spans.span[row],
                        NodeId(self.merged.nodes.all[node].id),
                    );
                }
            }
        }
    }

    /// Tells the sums which of their calls have spans.
    fn count_recorded(&mut self, spans: &Spans, forest: &Forest) {
        if self.sums.is_empty() && !self.is_part {
            return;
        }
        let scope_of: Vec<AtomicU32> = (0..spans.len()).map(|_| AtomicU32::new(NONE)).collect();
        let recorded = parallel::each(self.threads, forest.groves().into_iter(), |grove| {
            let mut recorded: Map<(u32, u64, u16), RecordedCalls> = Map::default();
            for row in grove {
                let (at, above) = (*row as usize, forest.parent[*row as usize]);
                if above != NONE && spans.thread[above as usize] == spans.thread[at] {
                    let is_scope = spans.what[above as usize].flags & SCOPE != 0;
                    let of_above = || scope_of[above as usize].load(Relaxed);
                    scope_of[at].store(if is_scope { above } else { of_above() }, Relaxed);
                }
                if spans.what[at].flags & UNFINISHED == 0 {
                    let scope = scope_of[at].load(Relaxed);
                    let scope = if scope == NONE { 0 } else { spans.span[scope as usize] };
                    let proc = self.tables.threads[spans.thread[at] as usize].proc;
                    let key = (proc, scope, spans.what[at].function);
                    recorded.entry(key).or_default().add(RecordedCalls {
                        count: 1,
                        errors: i64::from(spans.what[at].flags & ERROR != 0),
                        bytes: spans.bytes[at],
                        time: spans.dur[at],
                    });
                }
            }
            recorded
        });
        for (key, calls) in recorded.into_iter().flatten() {
            self.sums.add_recorded(key, calls);
        }
    }

    fn leave_out(&mut self, spans: &mut Spans, forest: &mut Forest, wanted: &FunctionFilter) {
        if wanted.is_all() {
            return;
        }
        let functions = wanted.functions(&self.tables);
        for what in &mut spans.what {
            let is_shown = functions[usize::from(what.function)];
            what.flags |= if is_shown { 0 } else { DROPPED };
        }
        let before = forest.order.len();
        forest.drop(spans);
        self.left_out += (before - forest.order.len()) as u64;
    }

    /// A part: `Document::complete` says the rest.
    pub fn finish(self, wanted: &FunctionFilter) -> Document {
        let shown = wanted.functions(&self.tables);
        let mut rests = self.sums.rests(&self.tables, &shown);
        rests.unknown = wanted.unknown(&self.tables);
        let MergedTrees { nodes, functions, samples, function_samples, spans } = self.merged;
        let mut samples = samples.by_node();
        let mut out: Vec<NodeOut> = Vec::with_capacity(nodes.all.len());
        for (number, node) in nodes.all.into_iter().enumerate() {
            let above = out.get(node.above as usize);
            let (layer, op) = self.tables.name(node.function);
            out.push(NodeOut {
                id: NodeId(node.id),
                parent: above.map(|above| above.id),
                depth: above.map_or(0, |above| above.depth + 1),
                layer: layer.to_owned(),
                op: op.to_owned(),
                stats: node.stats,
                sample: samples.remove(&(number as u32)),
            });
        }
        Document {
            calltree: VERSION,
            order: self.order,
            by: if self.tables.by == Grouping::Op { "op" } else { "point" }.to_owned(),
            spans,
            left_out: self.left_out,
            orphans: self.orphans,
            unsummed: 0,
            sampled: self.tables.shares.len() > 1,
            clocks: Vec::new(),
            evidence: self.evidence,
            nodes: out,
            functions: by_function(&self.tables, functions, function_samples.by_node()),
            rests: Some(rests),
        }
    }
}

/// In order of their names.
fn by_function(
    tables: &Tables,
    functions: Map<(u16, u16), Stats>,
    mut samples: Map<u32, Sample>,
) -> Vec<FunctionOut> {
    let named = functions.into_iter().map(|((function, site), stats)| {
        let (layer, op) = tables.name(function);
        let Site { role, host } = tables.sites[usize::from(site)];
        FunctionOut {
            layer: layer.to_owned(),
            op: op.to_owned(),
            role: tables.names.text(role).to_owned(),
            host: tables.names.text(host).to_owned(),
            stats,
            sample: samples.remove(&key_of(function, site)),
        }
    });
    let mut out: Vec<FunctionOut> = named.collect();
    out.sort_by(|a, b| a.key().cmp(&b.key()));
    out
}
