/*!
Runs that recorded a share of their requests individually (decision 0011): calls of requests that were
drawn are scaled back. What the variance of an estimate needs is summed by request, as in `analyse/sample.py`.
*/

use serde::{Deserialize, Serialize};

use super::forest::{Forest, NONE};
use super::hash::{self, Map};
use super::spans::Spans;
use super::tables::Tables;

pub const MEASURES: usize = 4;

/// Calls, total, self and bytes of a request's calls in a node.
type Values = [f64; MEASURES];

#[derive(Default)]
pub struct Samples {
    /// By node and request: its weight (one over the probability), and its sums.
    drawn: Map<(u32, u64), (f64, Values)>,
}

/// Of one measure: the estimated total, the variance, and the sum of the squares of its terms.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    pub total: f64,
    pub variance: f64,
    pub squares: f64,
}

/// Of a node: requests drawn, and what their calls say; to be added to what was recorded in any case.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    pub requests: u64,
    pub calls: Estimate,
    pub total: Estimate,
    #[serde(rename = "self")]
    pub own: Estimate,
    pub bytes: Estimate,
}

impl Sample {
    fn measures(&mut self) -> [&mut Estimate; MEASURES] {
        [&mut self.calls, &mut self.total, &mut self.own, &mut self.bytes]
    }

    /// Of other requests.
    pub fn add(&mut self, mut other: Sample) {
        self.requests += other.requests;
        for (to, from) in self.measures().into_iter().zip(other.measures()) {
            to.total += from.total;
            to.variance += from.variance;
            to.squares += from.squares;
        }
    }
}

impl Samples {
    pub fn add(&mut self, node: u32, request: u64, inclusion: f64, values: Values) {
        let (_, sums) = self.drawn.entry((node, request)).or_insert((1.0 / inclusion, [0.0; 4]));
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum += value;
        }
    }

    /// Adds those of other calls; `number` is that of a node here.
    pub fn merge(&mut self, other: Samples, number: impl Fn(u32) -> u32) {
        for ((node, request), (weight, values)) in other.drawn {
            let (_, sums) = self.drawn.entry((number(node), request)).or_insert((weight, [0.0; 4]));
            for (sum, value) in sums.iter_mut().zip(values) {
                *sum += value;
            }
        }
    }

    pub fn by_node(self) -> Map<u32, Sample> {
        let mut samples: Map<u32, Sample> = Map::default();
        let mut drawn: Vec<_> = self.drawn.into_iter().collect();
        drawn.sort_by_key(|(key, _)| *key); // sums of floats depend on their order
        for ((node, _), (weight, values)) in drawn {
            let sample = samples.entry(node).or_default();
            sample.requests += 1;
            for (estimate, value) in sample.measures().into_iter().zip(values) {
                let term = weight * (weight - 1.0) * value * value;
                estimate.total += weight * value;
                estimate.variance += term;
                estimate.squares += term * term;
            }
        }
        samples
    }
}

/// The request of each row, as `analyse/sample.py` has it: the first call of a path up, but for tasks.
/// What hangs from a call that is not in the sample, or not there, belongs to the request of that.
pub fn requests(spans: &Spans, tables: &Tables, forest: &Forest) -> Vec<u64> {
    if tables.shares.len() == 1 {
        return Vec::new();
    }
    let mut requests = vec![0; spans.len()];
    let proc = |row: usize| tables.threads[spans.thread[row] as usize].proc;
    let name = |proc: u32, span: u64| hash::pair(tables.procs[proc as usize] as u64, span);
    let foreign: Map<u32, u32> = spans.foreign.iter().copied().collect();
    let is_task = |row: usize| {
        let function = &tables.functions[usize::from(spans.what[row].function)];
        tables.names.text(function.layer) == "task"
    };
    for row in forest.order.iter().map(|row| *row as usize) {
        let above = forest.parent[row];
        let of = foreign.get(&(row as u32)).copied().unwrap_or_else(|| proc(row));
        requests[row] = match above {
            NONE if spans.parent[row] == 0 => name(proc(row), spans.span[row]),
            NONE => name(of, spans.parent[row]),
            above if is_task(above as usize) => name(proc(row), spans.span[row]),
            above if spans.what[above as usize].share != 0 => requests[above as usize],
            above => name(proc(above as usize), spans.span[above as usize]),
        };
    }
    requests
}
