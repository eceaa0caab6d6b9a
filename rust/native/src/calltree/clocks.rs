/*!
Clocks of hosts, by what cannot be: no call begins before the one that caused it, and what serves an
RPC ends before its client's call does. Each call across hosts bounds how far their clocks differ.
*/

use serde::{Deserialize, Serialize};

use super::forest::{Forest, NONE};
use super::hash::Map;
use super::spans::{ERROR, Spans, Tables, UNFINISHED};

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

#[derive(Clone, Copy, Default)]
struct Bounds {
    low: Option<i64>,
    high: Option<i64>,
    calls: u64,
}

impl Bounds {
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

/// By host (number of its name): ns to add to its times.
pub type Offsets = Map<u32, i64>;

/// Bounds of pairs of hosts, gathered over all parts of a run.
#[derive(Default)]
pub struct Evidence {
    /// First and second host, in order of their numbers: offset of the second from the first.
    pairs: Map<(u32, u32), Bounds>,
    spans: Map<u32, u64>,
}

impl Evidence {
    pub fn gather(&mut self, spans: &Spans, tables: &Tables, forest: &Forest) {
        let host_of = |row: u32| {
            let thread = &tables.threads[spans.thread[row as usize] as usize];
            tables.places[usize::from(thread.place)].host
        };
        let serves: Vec<bool> = (0..tables.functions.len())
            .map(|function| tables.is(function as u16, "rpc", "serve"))
            .collect();
        let several = tables.places.iter().any(|place| place.host != tables.places[0].host);
        if !several {
            return;
        }
        for row in &forest.order {
            let (host, above) = (host_of(*row), forest.parent[*row as usize]);
            *self.spans.entry(host).or_default() += 1;
            if above == NONE {
                continue;
            }
            if host_of(above) != host {
                let at_least =
                    spans.start[above as usize].saturating_sub(spans.start[*row as usize]);
                self.bound(host_of(above), host, Some(at_least), None);
            }
            let client = forest.parent[above as usize];
            if client != NONE && serves[usize::from(spans.what[*row as usize].function)] {
                let ended = |row: u32| spans.what[row as usize].flags & (ERROR | UNFINISHED) == 0;
                let end =
                    |row: u32| spans.start[row as usize].saturating_add(spans.dur[row as usize]);
                if host_of(client) != host && ended(client) && ended(*row) {
                    let at_most = end(client).saturating_sub(end(*row));
                    self.bound(host_of(client), host, None, Some(at_most));
                }
            }
        }
    }

    /// Of the offset of `host` from that of `of`.
    fn bound(&mut self, of: u32, host: u32, low: Option<i64>, high: Option<i64>) {
        let found = Bounds { low, high, calls: 1 };
        let found = if of < host { found } else { found.reversed() };
        let known = self.pairs.entry((of.min(host), of.max(host))).or_default();
        known.low = known.low.max(found.low);
        known.high = [known.high, found.high].into_iter().flatten().min();
        known.calls += 1;
    }

    /// From the host with most calls on, by the pair that is known best.
    pub fn clocks(&self, tables: &Tables) -> (Offsets, Vec<Clock>) {
        let (mut offsets, mut clocks) = (Offsets::default(), Vec::new());
        let first =
            self.spans.iter().max_by_key(|(host, spans)| (**spans, tables.names.text(**host)));
        if let Some((first, _)) = first {
            offsets.insert(*first, 0);
        }
        while let Some((of, host, bounds)) = self.next(&offsets, tables) {
            let offset = offsets[&of].saturating_add(bounds.offset());
            offsets.insert(host, offset);
            let shift = |bound: i64| bound.saturating_add(offsets[&of]);
            clocks.push(Clock {
                host: tables.names.text(host).to_owned(),
                reference: first.map_or("", |(first, _)| tables.names.text(*first)).to_owned(),
                offset,
                low: bounds.low.map(shift),
                high: bounds.high.map(shift),
                calls: bounds.calls,
            });
        }
        (offsets, clocks)
    }

    fn next(&self, known: &Offsets, tables: &Tables) -> Option<(u32, u32, Bounds)> {
        let reachable = self.pairs.iter().filter_map(|((one, other), bounds)| {
            match (known.contains_key(one), known.contains_key(other)) {
                (true, false) => Some((*one, *other, *bounds)),
                (false, true) => Some((*other, *one, bounds.reversed())),
                _ => None,
            }
        });
        reachable.min_by_key(|(_, host, bounds)| (bounds.width(), tables.names.text(*host)))
    }
}
