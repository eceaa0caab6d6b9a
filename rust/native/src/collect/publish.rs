//! Rotation: rows become parts of the store, and the next spool file begins.

use std::io;

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

    /// Bytes of the part's file.
    fn publish_part(&self, part: &Part) -> io::Result<u64> {
        if part.rows.is_empty() {
            return Ok(0);
        }
        let run = if part.run.is_empty() { BACKGROUND } else { part.run.as_str() };
        let owner = self.owner_of(&part.run);
        let host = format!("host={}", self.host);
        let place = self.store.enter(run, owner)?.enter("events", owner)?.enter(&host, owner)?;
        place.publish(&part_name(self.spool.number), |file| {
            let written = events::write(
                io::BufWriter::new(file),
                &self.state,
                part,
                &self.host,
                self.directory.anchor,
            );
            written.map_err(as_io)
        })
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
        place.publish(&part_name(self.spool.number), |file| {
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
        let Some(place) = background(&self.store, &self.host) else { return };
        let mut parts: Vec<(String, u64)> = place
            .list()
            .into_iter()
            .filter(|name| part_number(name).is_some())
            .map(|name| (name.clone(), place.size_of(&name)))
            .collect();
        parts.sort_unstable();
        let mut total: u64 = parts.iter().map(|(_, size)| size).sum();
        for (name, size) in parts {
            if total <= self.options.background_keep {
                return;
            }
            total -= size;
            if let Err(error) = place.remove(&name) {
                log(&format!("cannot delete {BACKGROUND}/{name}: {error}"));
            }
        }
    }
}

fn background(store: &Place, host: &str) -> Option<Place> {
    let events = store.existing(BACKGROUND).ok()?.existing("events").ok()?;
    events.existing(&format!("host={host}")).ok()
}

/// A number that no part of this host has yet: where to begin without a spool.
pub fn next_part(store: &Place, host: &str) -> u32 {
    let of_table = |run: &str, table| {
        let files = store.existing(run).ok()?.existing(table).ok()?;
        let parts = files.existing(&format!("host={host}")).ok()?.list();
        parts.iter().filter_map(|name| part_number(name)).max()
    };
    let of_run = |run: &String| of_table(run, "events").max(of_table(run, "system"));
    store.list().iter().filter_map(of_run).max().unwrap_or(0) + 1
}

fn part_name(number: u32) -> String {
    format!("part-{number:06}.parquet")
}

fn part_number(name: &str) -> Option<u32> {
    name.strip_prefix("part-")?.strip_suffix(".parquet")?.parse().ok()
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
