//! What rows refer to: functions, threads, processes and the hosts they ran on.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use iostrata_segment::points::POINTS;

use super::columns::TextTable;
use super::hash::{self, Map};

/// A function as users name it, in numbers of names; `shown` is `op`, or `Class#method` by point.
#[derive(Clone, Copy)]
pub struct Function {
    pub layer: u32,
    pub op: u32,
    pub shown: u32,
    pub hash: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Thread {
    pub proc: u32,
    pub tid: i64,
    /// Number in `Tables::sites`.
    pub site: u16,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Site {
    pub role: u32,
    pub host: u32,
}

/// How functions are distinguished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Grouping {
    /// By layer and operation: implementations of one operation are one function
    #[default]
    Op,
    /// By the class and method that was traced
    Point,
}

/// What rows refer to: the same for all parts of a run.
#[derive(Default)]
pub struct Tables {
    pub names: TextTable,
    pub by: Grouping,
    pub functions: Vec<Function>,
    pub threads: Vec<Thread>,
    pub procs: Vec<i64>,
    pub sites: Vec<Site>,
    /// Of all rows, of whatever traces.
    pub hosts: BTreeSet<u32>,
    /// Probabilities that a request was recorded; the first is 1.
    pub shares: Vec<f64>,
    function_of: Map<(u32, u32, u32), u16>,
    thread_of: Map<(u32, i64), u32>,
    proc_of: Map<i64, u32>,
}

impl Tables {
    pub fn new(by: Grouping) -> Tables {
        Tables { by, shares: vec![1.0], ..Tables::default() }
    }

    pub fn proc(&mut self, id: i64) -> u32 {
        *self.proc_of.entry(id).or_insert_with(|| {
            self.procs.push(id);
            self.procs.len() as u32 - 1
        })
    }

    pub fn known_proc(&self, id: i64) -> Option<u32> {
        self.proc_of.get(&id).copied()
    }

    pub fn thread(&mut self, proc: u32, tid: i64, site: Site) -> Result<u32> {
        if let Some(known) = self.thread_of.get(&(proc, tid)) {
            return Ok(*known);
        }
        let number = self.threads.len() as u32;
        let known = self.sites.iter().position(|known| *known == site);
        let site = known.unwrap_or_else(|| {
            self.sites.push(site);
            self.sites.len() - 1
        });
        let Ok(site) = u16::try_from(site) else {
            bail!("it has more than 65,535 hosts and roles")
        };
        self.threads.push(Thread { proc, tid, site });
        self.thread_of.insert((proc, tid), number);
        Ok(number)
    }

    /// Numbers of layer and operation, and the point.
    pub fn function(&mut self, layer: u32, op: u32, point: i32) -> Result<u16> {
        let method = (self.by == Grouping::Point).then(|| method_of(point)).flatten();
        let key = (layer, op, if method.is_some() { point as u32 } else { 0 });
        if let Some(known) = self.function_of.get(&key) {
            return Ok(*known);
        }
        let name = method.map_or(op, |method| self.names.number(&method));
        let hash = hash::function(self.names.text(layer), self.names.text(name));
        let same = self.functions.iter().position(|function| function.hash == hash);
        let Ok(number) = u16::try_from(same.unwrap_or(self.functions.len())) else {
            bail!("it has more than 65,535 functions")
        };
        if same.is_none() {
            self.functions.push(Function { layer, op, shown: name, hash });
        }
        self.function_of.insert(key, number);
        Ok(number)
    }

    pub fn share(&mut self, inclusion: f64) -> Result<u8> {
        if !(inclusion > 0.0 && inclusion <= 1.0) {
            bail!("inclusion={inclusion}: no probability");
        }
        let known = self.shares.iter().position(|share| share.to_bits() == inclusion.to_bits());
        let Ok(place) = u8::try_from(known.unwrap_or(self.shares.len())) else {
            bail!("it has more than 255 probabilities of inclusion")
        };
        if known.is_none() {
            self.shares.push(inclusion);
        }
        Ok(place)
    }

    /// Layer and operation as users see them.
    pub fn name(&self, function: u16) -> (&str, &str) {
        let named = &self.functions[usize::from(function)];
        (self.names.text(named.layer), self.names.text(named.shown))
    }

    pub fn is(&self, function: u16, layer: &str, op: &str) -> bool {
        let named = &self.functions[usize::from(function)];
        self.names.text(named.layer) == layer && self.names.text(named.op) == op
    }
}

/// `Class#method` of a point of ours; points of users have none that rows could tell.
fn method_of(point: i32) -> Option<String> {
    let known = POINTS.iter().find(|known| i32::from(known.id) == point)?;
    let class = known.class.rsplit('.').next().unwrap_or(known.class);
    Some(format!("{class}#{}", known.method))
}
