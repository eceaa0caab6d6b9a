//! Rows become parts of the store.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::rc::Rc;

use anyhow::{Context, Result};
use rustix::io::Errno;

use super::floor::{Floor, bytes};
use super::options::Options;
use super::pipeline::{Pipeline, PublishedPart};
use super::trouble::{Trouble, log};
use crate::clock::{MS, SECOND};
use crate::model::rows::Part;
use crate::model::run::Run;
use crate::model::state::State;
use crate::model::usage::Usage;
use crate::store::directory::StoreDirectory;
use crate::store::{children, devices, events, processes, system, threads, usage};

const MAX_AGE: u64 = 30 * SECOND;
/// A spool that has grown so much is begun anew even if it made no rows, and what can be made so
/// is no more than that.
const MAX_SPOOL: u64 = 256 << 20;
/// After a failure.
const RETRY: u64 = 2 * SECOND;
const BACKGROUND: &str = "_background";

/// Writes the files of the store.
pub struct Publisher {
    pub store: StoreDirectory,
    /// Name of the collector's host.
    pub host: String,
    /// Added to monotonic times to get ns since the epoch.
    pub anchor: i64,
    /// Publish when this many rows are held.
    part_rows: usize,
    /// Bytes of the background that stay.
    background_keep: u64,
    floor: Floor,
    rotated: u64,
    attempted: u64,
    trouble: Trouble,
}

impl Publisher {
    pub fn new(
        store: StoreDirectory,
        host: String,
        anchor: i64,
        options: &Options,
        now: u64,
    ) -> Publisher {
        Publisher {
            store,
            host,
            anchor,
            part_rows: options.part_rows,
            background_keep: options.background_keep,
            floor: options.floor,
            rotated: now,
            attempted: 0,
            trouble: Trouble::new("publish"),
        }
    }

    pub fn is_due(&self, pipeline: &Pipeline, now: u64) -> bool {
        let state = pipeline.state();
        let rows = state.output.rows();
        let is_old = now - self.rotated >= MAX_AGE;
        let due = rows >= self.part_rows
            || (rows > 0 || !state.host.samples.is_empty()) && is_old
            || pipeline.spooled() > MAX_SPOOL
            || pipeline.is_full()
            || state.owners.runs.values().any(|run| run.order.ended);
        let is_well = pipeline.has_room() && !self.trouble.is_on();
        due && now - self.attempted >= if is_well { MS } else { RETRY }
    }

    /// Nothing could be published for so long.
    pub fn is_stuck_for(&self, now: u64, long: u64) -> bool {
        now - self.rotated >= long
    }

    /// What came of a rotation that was due.
    pub fn attempted(&mut self, outcome: Result<()>, now: u64) {
        self.attempted = now;
        match outcome {
            Ok(()) => self.trouble.end(),
            Err(error) => self.trouble.begin(&format!("cannot publish: {error:#}; will retry")),
        }
    }

    /// Publishes all rows. A failure of the store changes nothing: the same parts are written again
    /// at the next try. That of one run, whose folder its owner may change, is its own.
    ///
    /// Of a run whose user has taken their share no more rows are written, whatever its processes
    /// had made before they heard of its end: they are counted.
    pub fn publish(&self, state: &State, number: u32, serves: Serves<'_>) -> Result<Published> {
        self.floor.check(&self.store, 0).context("the store")?;
        let mut published = Published::default();
        let shares = self.shares(state, serves);
        for part in &state.output.parts {
            // a run whose end is published already takes no more
            let run = if part.run.is_empty() { BACKGROUND } else { &part.run };
            let rows = part.rows.len() as u64;
            if state.owners.runs.get(run).is_some_and(|run| shares.are_taken(run)) {
                let run = run.to_owned();
                published.parts.push(PublishedPart { run, left_out: rows, ..Default::default() });
                continue;
            }
            match self.publish_part(state, part, number) {
                Ok(bytes) => {
                    let run = part.run.clone();
                    published.parts.push(PublishedPart { run, rows, bytes, left_out: 0 });
                }
                Err(error) => published.fail(run, &error, rows).with_context(|| of_run(run))?,
            }
        }
        for run in state.owners.runs.keys() {
            self.publish_processes(state, run)
                .and_then(|()| self.publish_usage(state, run, number))
                .and_then(|()| self.publish_system(state, run, number))
                .and_then(|()| self.publish_devices(state, run, number))
                .or_else(|error| published.fail(run, &error, 0))
                .with_context(|| of_run(run))?;
        }
        Ok(published)
    }

    /// Runs of users who have recorded as much as is left, and why they go no further: a run may
    /// take half of what the store had above its floor, so that there is something for the next
    /// one. Those of users who serve others may take all.
    pub fn over_share(&self, state: &State, serves: Serves<'_>) -> Vec<(String, String)> {
        let shares = self.shares(state, serves);
        let why = |run: &Run| {
            let taken = bytes(shares.taken.of(run.order.uid));
            format!("the run's user has taken {taken}, half of what the store had left")
        };
        let on = state.owners.runs.values().filter(|run| !run.order.ended);
        let over = on.filter(|run| shares.are_taken(run));
        over.map(|run| (run.order.run.clone(), why(run))).collect()
    }

    fn shares<'a>(&self, state: &State, serves: Serves<'a>) -> Shares<'a> {
        let runs = || state.owners.runs.values();
        let mut taken = Usage::default();
        runs().for_each(|run| taken.add(run.order.uid, run.bytes));
        let all = self.floor.room(&self.store) + runs().map(|run| run.bytes).sum::<u64>();
        Shares { taken, all, serves }
    }

    /// All is published and the next spool file begun.
    pub fn rotated(&mut self, now: u64) {
        self.rotated = now;
        self.trim_background();
    }

    /// Bytes of the part's files, one for each host of its rows.
    fn publish_part(&self, state: &State, part: &Part, number: u32) -> io::Result<u64> {
        if part.rows.is_empty() {
            return Ok(0);
        }
        let run = if part.run.is_empty() { BACKGROUND } else { part.run.as_str() };
        let owner = owner_of(state, &part.run);
        let events = self.store.enter(run, owner)?.enter("events", owner)?;
        let mut bytes = 0;
        for (host, rows) in events::by_host(state, part, &self.host) {
            let place = events.enter(&format!("host={host}"), owner)?;
            bytes += place.publish(&self.part_name(host, number), |file| {
                let (out, anchor) = (io::BufWriter::new(file), self.anchor);
                events::write(out, state, part, &rows, host, anchor).map_err(as_io)
            })?;
        }
        Ok(bytes)
    }

    /// The name of a part of a host. Whatever other hosts are called, another collector may serve
    /// one of that name: its parts are not touched.
    fn part_name(&self, host: &str, number: u32) -> String {
        part_name(number, (host != self.host).then_some(&self.host))
    }

    /// The processes of a run, their children, and the times of their threads.
    fn publish_processes(&self, state: &State, name: &str) -> io::Result<()> {
        let Some(run) = state.owners.runs.get(name) else { return Ok(()) };
        let (host, anchor) = (&self.host, self.anchor);
        let rows = processes::of_run(state, run);
        self.publish_whole(state, name, "processes", |out| {
            processes::write(out, name, host, anchor, &rows)
        })?;
        let rows = children::of_run(state, run);
        if !rows.is_empty() {
            self.publish_whole(state, name, "children", |out| {
                children::write(out, name, host, anchor, &rows)
            })?;
        }
        let rows = threads::of_run(state, run);
        if !rows.is_empty() {
            self.publish_whole(state, name, "threads", |out| {
                threads::write(out, name, host, anchor, &rows)
            })?;
        }
        Ok(())
    }

    /// A table of a run that is one file, which is written anew each time.
    fn publish_whole(
        &self,
        state: &State,
        run: &str,
        table: &str,
        write: impl FnOnce(io::BufWriter<&mut File>) -> parquet::errors::Result<()>,
    ) -> io::Result<()> {
        let owner = owner_of(state, run);
        let place = self.store.enter(run, owner)?.enter(table, owner)?;
        place.publish(&format!("host={}.parquet", self.host), |file| {
            write(io::BufWriter::new(file)).map_err(as_io)
        })?;
        Ok(())
    }

    /// The samples of the host from the run's begin to its end.
    fn publish_system(&self, state: &State, name: &str, number: u32) -> io::Result<()> {
        let Some(run) = state.owners.runs.get(name) else { return Ok(()) };
        let samples = state.host.of_run(run);
        if samples.is_empty() {
            return Ok(());
        }
        self.publish_share(state, name, "system", number, |out| {
            system::write(out, &self.host, self.anchor, &samples)
        })
    }

    /// The same of the devices that are mounted.
    fn publish_devices(&self, state: &State, name: &str, number: u32) -> io::Result<()> {
        let Some(run) = state.owners.runs.get(name) else { return Ok(()) };
        let rows = devices::of_run(state, run);
        if rows.is_empty() {
            return Ok(());
        }
        self.publish_share(state, name, "devices", number, |out| {
            devices::write(out, &self.host, self.anchor, &rows)
        })
    }

    /// What the processes of a run took since the last part.
    fn publish_usage(&self, state: &State, name: &str, number: u32) -> io::Result<()> {
        let Some(run) = state.owners.runs.get(name) else { return Ok(()) };
        let rows = usage::of_run(state, run);
        if rows.is_empty() {
            return Ok(());
        }
        self.publish_share(state, name, "usage", number, |out| {
            usage::write(out, &self.host, self.anchor, &rows)
        })
    }

    /// A part of a table of a run, by this host's collector.
    fn publish_share(
        &self,
        state: &State,
        run: &str,
        table: &str,
        number: u32,
        write: impl FnOnce(io::BufWriter<&mut File>) -> parquet::errors::Result<()>,
    ) -> io::Result<()> {
        let (owner, host) = (owner_of(state, run), format!("host={}", self.host));
        let place = self.store.enter(run, owner)?.enter(table, owner)?.enter(&host, owner)?;
        place.publish(&self.part_name(&self.host, number), |file| {
            write(io::BufWriter::new(file)).map_err(as_io)
        })?;
        Ok(())
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
        // on a small disk it is no more than a part of what is left
        let most = self.background_keep.min((self.floor.room(&self.store) + total) / 8);
        for (_, name, place) in parts {
            if total <= most {
                return;
            }
            total -= place.size_of(&name);
            if let Err(error) = place.remove(&name) {
                log(&format!("cannot delete {BACKGROUND}/{name}: {error}"));
            }
        }
    }
}

/// Whether a user is one who serves others.
type Serves<'a> = &'a dyn Fn(u32) -> bool;

/// Of the store, between the users whose runs are not published to their end.
struct Shares<'a> {
    taken: Usage,
    /// Bytes that were there for all of them.
    all: u64,
    serves: Serves<'a>,
}

impl Shares<'_> {
    /// Whether a run's user may have no more than they have.
    fn are_taken(&self, run: &Run) -> bool {
        let uid = run.order.uid;
        run.bytes > 0 && !(self.serves)(uid) && self.taken.left(self.all, uid, false) == 0
    }
}

/// What came of it.
#[derive(Default)]
pub struct Published {
    pub parts: Vec<PublishedPart>,
    /// Runs whose folder could not be written, and what became of their rows.
    pub broken: BTreeMap<String, String>,
}

impl Published {
    /// Notes a failure that is the run's own; gives back one that is the store's.
    fn fail(&mut self, run: &str, error: &io::Error, rows: u64) -> io::Result<()> {
        if run == BACKGROUND || is_of_store(error) {
            return Err(io::Error::new(error.kind(), error.to_string()));
        }
        let lost = if rows == 0 { String::new() } else { format!("; {rows} rows are lost") };
        let why = format!("its folder cannot be written: {error}{lost}");
        self.broken.entry(run.to_owned()).or_insert(why);
        Ok(())
    }
}

/// Whether all runs suffer from it: the disk, or this process, has no more.
fn is_of_store(error: &io::Error) -> bool {
    const OF_STORE: [Errno; 7] = [
        Errno::NOSPC,
        Errno::IO,
        Errno::ROFS,
        Errno::NOMEM,
        Errno::MFILE,
        Errno::NFILE,
        Errno::STALE,
    ];
    Errno::from_io_error(error).is_some_and(|errno| OF_STORE.contains(&errno))
}

fn of_run(run: &str) -> String {
    format!("run {run}")
}

/// A number that no part has yet: where to begin without a spool.
pub fn next_part(store: &StoreDirectory) -> u32 {
    let of_host = |files: &StoreDirectory, host: &String| {
        let parts = files.existing(host).ok()?.list();
        parts.iter().filter_map(|name| part_number(name)).max()
    };
    let of_table = |run: &str, table| {
        let files = store.existing(run).ok()?.existing(table).ok()?;
        files.list().iter().filter_map(|host| of_host(&files, host)).max()
    };
    let of_run = |run: &String| {
        ["events", "usage", "system", "devices"]
            .iter()
            .filter_map(|table| of_table(run, table))
            .max()
    };
    store.list().iter().filter_map(of_run).max().unwrap_or(0) + 1
}

fn owner_of(state: &State, run: &str) -> u32 {
    let own = rustix::process::geteuid().as_raw();
    state.owners.runs.get(run).map_or(own, |run| run.order.uid)
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
