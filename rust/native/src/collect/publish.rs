//! Rotation: rows become parts of the store, and the next spool file begins.

use std::io;
use std::rc::Rc;

use anyhow::{Context, Result};

use super::{Collector, MS, SECOND, log};
use crate::store::place::Place;
use crate::store::rows::Part;
use crate::store::{events, processes, system};

const MAX_AGE: u64 = 30 * SECOND;
/// A spool of this size is begun anew even if it made no rows.
const MAX_SPOOL: u64 = 1 << 30;
/// After a failure.
const RETRY: u64 = 2 * SECOND;
const BACKGROUND: &str = "_background";

impl Collector<'_> {
    pub(super) fn rotate_if_due(&mut self, now: u64) {
        let rows = self.state.output.rows();
        let age = now - self.since.rotation;
        let ended = self.state.runs.values().any(|run| run.order.ended);
        let due = rows >= self.options.part_rows
            || (rows > 0 || !self.state.output.samples.is_empty()) && age >= MAX_AGE
            || self.spool.size() > MAX_SPOOL && age >= MAX_AGE
            || ended;
        if !due || now - self.since.attempt < if self.trouble.is_some() { RETRY } else { MS } {
            return;
        }
        self.since.attempt = now;
        match self.rotate(now) {
            Ok(()) => self.recovered("publish"),
            Err(error) => {
                self.complain_once("publish", &format!("cannot publish: {error:#}; will retry"));
            }
        }
    }

    /// Publishes all rows and begins the next spool file. A failure changes nothing: the same
    /// parts are written again at the next try.
    pub(super) fn rotate(&mut self, now: u64) -> Result<()> {
        let mut totals = Vec::new();
        for part in &self.state.output.parts {
            // a run whose end is published already takes no more
            let run = if part.run.is_empty() { BACKGROUND } else { &part.run };
            let bytes = self.publish_part(part).with_context(|| format!("run {run}"))?;
            totals.push((part.run.clone(), part.rows.len() as u64, bytes));
        }
        let runs: Vec<String> = self.state.runs.keys().cloned().collect();
        for run in &runs {
            self.publish_processes(run).with_context(|| format!("processes of run {run}"))?;
            self.publish_system(run).with_context(|| format!("host of run {run}"))?;
        }
        for (run, rows, bytes) in &totals {
            self.add_totals(run, |was| was.wrapping_add(*rows), |was| was.wrapping_add(*bytes));
        }
        self.conclude_runs();
        if let Err(error) = self.spool.rotate(&self.state) {
            for (run, rows, bytes) in &totals {
                self.add_totals(run, |was| was.wrapping_sub(*rows), |was| was.wrapping_sub(*bytes));
            }
            return Err(error).context("cannot begin the next spool file");
        }
        self.state.output.rotate();
        let sources = &self.sources;
        self.state.forget(|proc| sources.contains_key(&proc));
        self.since.rotation = now;
        self.trim_background();
        Ok(())
    }

    fn add_totals(&mut self, run: &str, rows: impl Fn(u64) -> u64, bytes: impl Fn(u64) -> u64) {
        if let Some(run) = self.state.runs.get_mut(run) {
            run.rows = rows(run.rows);
            run.bytes = bytes(run.bytes);
        }
    }

    /// Bytes of the part's files, one for each host of its rows.
    fn publish_part(&self, part: &Part) -> io::Result<u64> {
        if part.rows.is_empty() {
            return Ok(0);
        }
        let run = if part.run.is_empty() { BACKGROUND } else { part.run.as_str() };
        let owner = self.owner_of(&part.run);
        let events = self.store.enter(run, owner)?.enter("events", owner)?;
        let mut bytes = 0;
        for (host, rows) in events::by_host(&self.state, part, &self.host) {
            let place = events.enter(&format!("host={host}"), owner)?;
            bytes += place.publish(&self.part_name(host), |file| {
                let (out, anchor) = (io::BufWriter::new(file), self.directory.anchor);
                events::write(out, &self.state, part, &rows, host, anchor).map_err(as_io)
            })?;
        }
        Ok(bytes)
    }

    /// The name of a part of a host. Whatever other hosts are called, another collector may serve
    /// one of that name: its parts are not touched.
    fn part_name(&self, host: &str) -> String {
        part_name(self.spool.number, (host != self.host).then_some(&self.host))
    }

    fn publish_processes(&self, name: &str) -> io::Result<()> {
        let Some(run) = self.state.runs.get(name) else { return Ok(()) };
        let owner = self.owner_of(name);
        let place = self.store.enter(name, owner)?.enter("processes", owner)?;
        let rows = processes::of_run(&self.state, run);
        let anchor = self.directory.anchor;
        place.publish(&format!("host={}.parquet", self.host), |file| {
            let out = io::BufWriter::new(file);
            processes::write(out, name, &self.host, anchor, &rows).map_err(as_io)
        })?;
        Ok(())
    }

    /// The samples of the host from the run's begin to its end.
    fn publish_system(&self, name: &str) -> io::Result<()> {
        let Some(run) = self.state.runs.get(name) else { return Ok(()) };
        let samples = system::of_run(&self.state.output.samples, run);
        if samples.is_empty() {
            return Ok(());
        }
        let (owner, host) = (self.owner_of(name), format!("host={}", self.host));
        let place = self.store.enter(name, owner)?.enter("system", owner)?.enter(&host, owner)?;
        let anchor = self.directory.anchor;
        place.publish(&self.part_name(&self.host), |file| {
            let out = io::BufWriter::new(file);
            system::write(out, &self.host, anchor, &samples).map_err(as_io)
        })?;
        Ok(())
    }

    pub(super) fn owner_of(&self, run: &str) -> u32 {
        let own = rustix::process::geteuid().as_raw();
        self.state.runs.get(run).map_or(own, |run| run.order.uid)
    }

    fn trim_background(&self) {
        let background = self.store.existing(BACKGROUND).and_then(|place| place.existing("events"));
        let Ok(events) = background else { return };
        let mut parts = Vec::new();
        for folder in events.list() {
            let Ok(place) = events.existing(&folder).map(Rc::new) else { continue };
            let by = (folder != format!("host={}", self.host)).then_some(&self.host);
            for name in place.list() {
                if let Some(number) = part_number(&name).filter(|n| part_name(*n, by) == name) {
                    parts.push((number, name, Rc::clone(&place)));
                }
            }
        }
        parts.sort_unstable_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)));
        let mut total: u64 = parts.iter().map(|(_, name, place)| place.size_of(name)).sum();
        for (_, name, place) in parts {
            if total <= self.options.background_keep {
                return;
            }
            total -= place.size_of(&name);
            if let Err(error) = place.remove(&name) {
                log(&format!("cannot delete {BACKGROUND}/{name}: {error}"));
            }
        }
    }
}

/// A number that no part has yet: where to begin without a spool.
pub fn next_part(store: &Place) -> u32 {
    let of_host = |files: &Place, host: &String| {
        let parts = files.existing(host).ok()?.list();
        parts.iter().filter_map(|name| part_number(name)).max()
    };
    let of_table = |run: &str, table| {
        let files = store.existing(run).ok()?.existing(table).ok()?;
        files.list().iter().filter_map(|host| of_host(&files, host)).max()
    };
    let of_run = |run: &String| of_table(run, "events").max(of_table(run, "system"));
    store.list().iter().filter_map(of_run).max().unwrap_or(0) + 1
}

/// `by`: the host of the collector, if the part is of another one.
fn part_name(number: u32, by: Option<&String>) -> String {
    let by = by.map(|host| format!("-by-{host}")).unwrap_or_default();
    format!("part-{number:06}{by}.parquet")
}

fn part_number(name: &str) -> Option<u32> {
    name.strip_prefix("part-")?.strip_suffix(".parquet")?.split('-').next()?.parse().ok()
}

fn as_io(error: parquet::errors::ParquetError) -> io::Error {
    match error {
        parquet::errors::ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_another_host_says_who_wrote_it() {
        let collector = "rack-7-node".to_owned();
        assert_eq!(part_name(7, None), "part-000007.parquet");
        assert_eq!(part_name(7, Some(&collector)), "part-000007-by-rack-7-node.parquet");
        for by in [None, Some(&collector)] {
            assert_eq!(part_number(&part_name(1_234_567, by)), Some(1_234_567));
        }
        for other in ["part-.parquet", ".part-000001.parquet.tmp", "part-x.parquet", "notes"] {
            assert_eq!(part_number(other), None);
        }
    }
}
