/*!
Clocks of hosts, by what cannot be: no call begins before the one that caused it, and what serves an
RPC ends before its client's call does. Each call across hosts bounds how far their clocks differ.
*/

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::forest::{Forest, NONE, ROWS};
use super::hash::Map;
use super::parallel;
use super::spans::{ERROR, Spans, UNFINISHED};
use super::tables::Tables;

/// How much is added to times of `host` to compare them with those of `reference`, ns; the truth is
/// between `low` and `high` (null: nothing says so). `calls` across both say that.
///
/// Where `low` is above `high` the clocks drifted or were set while the run went on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    pub host: String,
    pub reference: String,
    pub offset: i64,
    pub low: Option<i64>,
    pub high: Option<i64>,
    pub calls: u64,
}

/// As in `Clock`, of the times of one host from those of another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Bounds {
    low: Option<i64>,
    high: Option<i64>,
    calls: u64,
}

impl Bounds {
    /// What both allow.
    fn and(self, other: Bounds) -> Bounds {
        Bounds {
            low: self.low.max(other.low),
            high: [self.high, other.high].into_iter().flatten().min(),
            calls: self.calls + other.calls,
        }
    }

    fn reversed(self) -> Bounds {
        let negated = |bound: Option<i64>| bound.map(i64::saturating_neg);
        Bounds { low: negated(self.high), high: negated(self.low), calls: self.calls }
    }

    /// The middle; with one bound only as little as it asks for.
    fn offset(self) -> i64 {
        match (self.low, self.high) {
            (Some(low), Some(high)) => low.midpoint(high),
            (Some(low), None) => low.max(0),
            (None, Some(high)) => high.min(0),
            (None, None) => 0,
        }
    }

    fn width(self) -> i64 {
        let both = self.low.zip(self.high);
        both.map_or(i64::MAX, |(low, high)| high.saturating_sub(low).saturating_abs())
    }
}

/// By host: ns to add to its times.
pub type Offsets = BTreeMap<String, i64>;

/// Bounds of pairs of hosts, gathered over all parts of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// By first and second host, in order of their names: offset of the second from the first.
    pairs: BTreeMap<String, BTreeMap<String, Bounds>>,
    /// By host: its calls.
    calls: BTreeMap<String, u64>,
}

/// What some rows say, in numbers of hosts' names: offset of the second from the first.
#[derive(Default)]
struct RowEvidence {
    pairs: Map<(u32, u32), Bounds>,
    calls: Map<u32, u64>,
}

impl Evidence {
    pub fn gather(&mut self, spans: &Spans, tables: &Tables, forest: &Forest, threads: usize) {
        let serves: Vec<bool> = (0..tables.functions.len())
            .map(|function| tables.is(function as u16, "rpc", "serve"))
            .collect();
        let rows = forest.order.chunks(ROWS);
        for evidence in
            parallel::each(threads, rows, |rows| evidence_of(spans, tables, forest, &serves, rows))
        {
            for ((of, host), bounds) in evidence.pairs {
                self.bound(tables.names.text(of), tables.names.text(host), bounds);
            }
            for (host, calls) in evidence.calls {
                *self.calls.entry(tables.names.text(host).to_owned()).or_default() += calls;
            }
        }
    }

    /// Of the offset of `host` from that of `of`.
    fn bound(&mut self, of: &str, host: &str, bounds: Bounds) {
        let (first, second, bounds) =
            if of < host { (of, host, bounds) } else { (host, of, bounds.reversed()) };
        let of_first = self.pairs.entry(first.to_owned()).or_default();
        let known = of_first.entry(second.to_owned()).or_default();
        *known = known.and(bounds);
    }

    /// Of other parts.
    pub fn add(&mut self, other: &Evidence) {
        for (first, second, bounds) in other.bounds() {
            self.bound(first, second, bounds);
        }
        for (host, calls) in &other.calls {
            *self.calls.entry(host.clone()).or_default() += calls;
        }
    }

    fn bounds(&self) -> impl Iterator<Item = (&str, &str, Bounds)> {
        self.pairs.iter().flat_map(|(first, others)| {
            others.iter().map(move |(second, bounds)| (first.as_str(), second.as_str(), *bounds))
        })
    }

    pub fn offsets(&self) -> Offsets {
        self.clocks().into_iter().map(|clock| (clock.host, clock.offset)).collect()
    }

    /// From the host with most calls on, by the pair that is known best.
    pub fn clocks(&self) -> Vec<Clock> {
        let first = self.calls.iter().max_by_key(|(host, calls)| (**calls, *host));
        let Some((reference, _)) = first else { return Vec::new() };
        let mut offsets = Offsets::from([(reference.clone(), 0)]);
        let mut clocks = Vec::new();
        while let Some((of, host, bounds)) = self.next(&offsets) {
            let shift = |by: i64| by.saturating_add(offsets[of]);
            clocks.push(Clock {
                host: host.to_owned(),
                reference: reference.clone(),
                offset: shift(bounds.offset()),
                low: bounds.low.map(shift),
                high: bounds.high.map(shift),
                calls: bounds.calls,
            });
            offsets.insert(host.to_owned(), shift(bounds.offset()));
        }
        clocks
    }

    fn next(&self, known: &Offsets) -> Option<(&str, &str, Bounds)> {
        let reachable = self.bounds().filter_map(|(one, other, bounds)| {
            match (known.contains_key(one), known.contains_key(other)) {
                (true, false) => Some((one, other, bounds)),
                (false, true) => Some((other, one, bounds.reversed())),
                _ => None,
            }
        });
        reachable.min_by_key(|(_, host, bounds)| (bounds.width(), *host))
    }
}

/// What `rows` and those above them say.
fn evidence_of(
    spans: &Spans,
    tables: &Tables,
    forest: &Forest,
    serves: &[bool],
    rows: &[u32],
) -> RowEvidence {
    let host_of = |row: u32| {
        let thread = &tables.threads[spans.thread[row as usize] as usize];
        tables.sites[usize::from(thread.site)].host
    };
    let end = |row: u32| spans.start[row as usize].saturating_add(spans.dur[row as usize]);
    let ended = |row: u32| spans.what[row as usize].flags & (ERROR | UNFINISHED) == 0;
    let mut evidence = RowEvidence::default();
    for row in rows {
        let (host, above) = (host_of(*row), forest.parent[*row as usize]);
        *evidence.calls.entry(host).or_default() += 1;
        if above == NONE {
            continue;
        }
        let mut bound = |of: u32, low: Option<i64>, high: Option<i64>| {
            let known = evidence.pairs.entry((of, host)).or_default();
            *known = known.and(Bounds { low, high, calls: 1 });
        };
        if host_of(above) != host {
            let start = |row: u32| spans.start[row as usize];
            bound(host_of(above), Some(start(above).saturating_sub(start(*row))), None);
        }
        let client = forest.parent[above as usize];
        if client != NONE
            && serves[usize::from(spans.what[*row as usize].function)]
            && host_of(client) != host
            && ended(client)
            && ended(*row)
        {
            bound(host_of(client), None, Some(end(client).saturating_sub(end(*row))));
        }
    }
    evidence
}
