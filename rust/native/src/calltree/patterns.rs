//! Functions that a user wants to see or not: `layer.op`, with `*` for any text.

use std::path::Path;

use anyhow::{Context, Result};

use super::tables::Tables;

#[derive(Default)]
pub struct FunctionFilter {
    keep: Vec<String>,
    drop: Vec<String>,
}

impl FunctionFilter {
    /// Each is a pattern, or a file of them: one a line, `#` begins a comment.
    pub fn new(keep: &[String], drop: &[String]) -> Result<FunctionFilter> {
        Ok(FunctionFilter { keep: patterns(keep)?, drop: patterns(drop)? })
    }

    pub fn is_all(&self) -> bool {
        self.keep.is_empty() && self.drop.is_empty()
    }

    /// Whether each function of `tables` is to be seen.
    pub fn functions(&self, tables: &Tables) -> Vec<bool> {
        let any = |patterns: &[String], name: &str| patterns.iter().any(|p| matches(p, name));
        let is_wanted = |name: &String| {
            (self.keep.is_empty() || any(&self.keep, name)) && !any(&self.drop, name)
        };
        names(tables).iter().map(is_wanted).collect()
    }

    /// Patterns that no function of `tables` has.
    pub fn unknown(&self, tables: &Tables) -> Vec<String> {
        let names = names(tables);
        let is_unknown = |pattern: &&String| !names.iter().any(|name| matches(pattern, name));
        self.keep.iter().chain(&self.drop).filter(is_unknown).cloned().collect()
    }
}

fn names(tables: &Tables) -> Vec<String> {
    let name = |function| {
        let (layer, op) = tables.name(function as u16);
        format!("{layer}.{op}")
    };
    (0..tables.functions.len()).map(name).collect()
}

fn patterns(given: &[String]) -> Result<Vec<String>> {
    let mut list = Vec::new();
    for one in given {
        if !Path::new(one).is_file() {
            list.push(one.clone());
            continue;
        }
        let text = std::fs::read_to_string(one).with_context(|| one.clone())?;
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        list.extend(lines.filter(|line| !line.is_empty()).map(str::to_owned));
    }
    Ok(list)
}

/// Whether all of `name` is as `pattern` says, where `*` is any text.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_any_text() {
        let name = "hdfs.receive_packet";
        for yes in ["hdfs.receive_packet", "*", "hdfs.*", "*packet", "h*s.*_*t", "*hdfs*packet*"] {
            assert!(matches(yes, name), "{yes}");
        }
        for no in ["", "hdfs", "hdfs.receive_packets", "*.packet", "*packet*packet", "fs.*"] {
            assert!(!matches(no, name), "{no}");
        }
    }
}
