/*!
What only sums know, over all parts of a run: leaves are made of it once the whole run is known.

Sums of a process are in one part, its calls that were recorded individually in several, and its
scopes in any. So parts hand these numbers on, and a leaf is what is left of them.
*/

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

use super::hash::Map;
use super::id::NodeId;
use super::stats::Stats;

/// Functions that an error names.
const SHOWN: usize = 20;

/// Process, scope (0: of none), number in `Rests::functions`.
type RestKey = (i64, u64, u32);

/// Which calls a number is about. Where requests were drawn, only calls that are counted only get
/// leaves from sums; others are scaled back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallSource {
    CountedOnly,
    Summed,
    /// Recorded individually: they are taken off.
    Recorded,
}

/// Of a part, or of several.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rests {
    /// Layer and operation.
    pub functions: Vec<(String, String)>,
    /// Role and host.
    pub sites: Vec<(String, String)>,
    pub calls: Vec<(RestKey, CallSource, Rest)>,
    /// Processes and spans of scopes, and their nodes; span 0: what the whole process works for.
    pub scopes: Vec<(i64, u64, NodeId)>,
    /// Patterns of the user that no function has.
    pub unknown: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Rest {
    /// In `Rests::sites`; of sums only.
    pub site: Option<u32>,
    pub count: i64,
    pub errors: i64,
    pub bytes: i64,
    pub time: i64,
    pub estimated: bool,
    /// Shortest and longest, while all calls are only summed.
    pub range: Option<(i64, i64)>,
}

/// What hangs below a scope's node, or below none.
pub struct Leaf {
    pub above: Option<NodeId>,
    /// Numbers in `Rests`.
    pub function: u32,
    pub site: u32,
    pub stats: Stats,
}

impl Rests {
    /// Adds another part.
    pub fn add(&mut self, other: Rests) {
        let functions = renumbered(&mut self.functions, other.functions);
        let sites = renumbered(&mut self.sites, other.sites);
        let number = |numbers: &[u32], at: u32| numbers.get(at as usize).copied().unwrap_or(0);
        self.calls.extend(other.calls.into_iter().map(|((proc, scope, function), of, rest)| {
            let site = rest.site.map(|site| number(&sites, site));
            ((proc, scope, number(&functions, function)), of, Rest { site, ..rest })
        }));
        self.scopes.extend(other.scopes);
        self.unknown.retain(|pattern| other.unknown.contains(pattern));
    }

    /// The leaves, and how many calls were recorded individually that no sum has.
    pub fn leaves(&self, sampled: bool) -> (Vec<Leaf>, u64) {
        let nodes: Map<(i64, u64), NodeId> =
            self.scopes.iter().map(|(proc, span, node)| ((*proc, *span), *node)).collect();
        let mut rests: Map<RestKey, Rest> = Map::default();
        for (key, of, rest) in &self.calls {
            if !sampled || *of == CallSource::CountedOnly {
                rests.entry(*key).or_insert_with(Rest::none).add(rest);
            }
        }
        let mut rests: Vec<(RestKey, Rest)> = rests.into_iter().collect();
        rests.sort_by_key(|((proc, scope, function), _)| (*proc, *function, *scope));
        let mut missing = 0;
        for same in rests.chunk_by_mut(|(a, _), (b, _)| (a.0, a.2) == (b.0, b.2)) {
            level(same, |rest| &mut rest.bytes);
            level(same, |rest| &mut rest.errors);
            level(same, |rest| &mut rest.time);
            missing += level(same, |rest| &mut rest.count);
        }
        let leaves = rests.into_iter().filter(|(_, rest)| rest.count > 0 || rest.bytes > 0);
        let leaves = leaves.map(|((proc, scope, function), rest)| Leaf {
            above: nodes.get(&(proc, scope)).copied(),
            function,
            site: rest.site.unwrap_or_default(),
            stats: rest.stats(),
        });
        (leaves.collect(), missing as u64)
    }

    /// An error where a pattern of the user says nothing.
    pub fn check_patterns(&self) -> Result<()> {
        let Some(pattern) = self.unknown.first() else { return Ok(()) };
        let names = self.functions.iter().map(|(layer, op)| format!("{layer}.{op}"));
        let names: BTreeSet<String> = names.collect();
        let more = if names.len() > SHOWN { ", …" } else { "" };
        let names: Vec<String> = names.into_iter().take(SHOWN).collect();
        bail!("no function is called {pattern}; there are {}{more}", names.join(", "))
    }

    /// Layer and operation.
    pub fn name(&self, function: u32) -> (String, String) {
        self.functions.get(function as usize).cloned().unwrap_or_default()
    }
}

/// The sites of `other` in `known`, to which what is new is added.
fn renumbered(known: &mut Vec<(String, String)>, other: Vec<(String, String)>) -> Vec<u32> {
    let number = |name: (String, String)| {
        let at = known.iter().position(|one| *one == name).unwrap_or_else(|| {
            known.push(name);
            known.len() - 1
        });
        at as u32
    };
    other.into_iter().map(number).collect()
}

/// Rows that were collapsed have no scope: where more calls were recorded than the sums of their
/// scope have, other sums of process and function have them. Returns what none has.
fn level<K>(rests: &mut [(K, Rest)], of: impl Fn(&mut Rest) -> &mut i64) -> i64 {
    let mut missing = 0i64;
    for (_, rest) in rests.iter_mut() {
        let value = of(rest);
        missing = missing.saturating_sub((*value).min(0));
        *value = (*value).max(0);
    }
    for (_, rest) in rests {
        let value = of(rest);
        let taken = missing.min(*value);
        *value -= taken;
        missing -= taken;
    }
    missing
}

impl Rest {
    fn none() -> Rest {
        Rest { range: Some((i64::MAX, 0)), ..Rest::default() }
    }

    fn add(&mut self, other: &Rest) {
        self.site = self.site.or(other.site);
        self.count = self.count.saturating_add(other.count);
        self.errors = self.errors.saturating_add(other.errors);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.time = self.time.saturating_add(other.time);
        self.estimated |= other.estimated;
        let both = self.range.zip(other.range);
        self.range = both.map(|(one, other)| (one.0.min(other.0), one.1.max(other.1)));
    }

    /// They may lie within each other, so their time stays with their scope's own.
    fn stats(&self) -> Stats {
        let (least, most) = self.range.unwrap_or((i64::MAX, 0));
        Stats {
            count: self.count as u64,
            errors: self.errors as u64,
            bytes: self.bytes,
            total: if self.count > 0 { self.time.max(0) } else { 0 },
            least,
            most,
            estimated: self.estimated,
            ..Stats::default()
        }
    }
}
