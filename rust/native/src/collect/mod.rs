/*!
`collect`: one process per node, or per user, that drains traced processes into the store.

The way of an event: [`source`] and [`reader`] read it from shared memory, [`block`] frames it, [`spool`] keeps it,
[`apply`] turns it into [`state`] and rows, [`publish`] writes rows as Parquet.
[`poll`] finds processes and calls these in the order that `SEGMENT.md` demands; [`owner`] decides
whose an event is, [`hosts`] where; [`runs`] begins and ends runs; [`census`] finds processes that
should be traced; [`system`] samples the host while a run records; [`cost`] measures what an event
costs; [`live`] tells who watches what is going on.
*/

pub mod apply;
pub mod block;
mod census;
mod cost;
mod counters;
mod directory;
#[cfg(test)]
mod golden;
pub mod hosts;
pub mod ids;
pub mod listing;
mod live;
pub mod names;
pub mod order;
mod owner;
mod poll;
mod publish;
mod reader;
mod runs;
mod source;
pub mod spool;
pub mod state;
mod system;
mod whose;

use std::collections::{BTreeMap, HashMap};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};

use self::directory::Directory;
use self::listing::Freshness;
use self::poll::Pace;
use self::source::Source;
use self::spool::Spool;
use self::state::State;
use crate::clock;
use crate::store::place::Place;

pub const SECOND: u64 = 1_000_000_000;
pub const MS: u64 = 1_000_000;
/// Between two looks while a run records, if rings stay as good as empty.
const LONGEST_NAP: u64 = 40 * MS;

/// Drain the traced processes of this machine into a store until SIGTERM.
///
/// As root it serves all users: each finds its own runs in the store. As a user it serves that
/// user. There is one collector per directory; a second one says who the first is.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  One collector for a node, started at boot:
    iostrata-native collect --dir /dev/shm/iostrata --store /var/lib/iostrata --spool /var/spool/iostrata
  One for a user, which ends with its last run:
    iostrata-native collect --dir /dev/shm/iostrata-$UID --store ~/.local/share/iostrata \\
        --spool ~/.cache/iostrata/spool --exit-when-idle
  Who drains a directory:
    cat /dev/shm/iostrata/collector")]
pub struct Options {
    /// Shared-memory directory that traced processes write to
    #[arg(long, value_name = "DIR")]
    pub dir: PathBuf,
    /// Where runs are published: STORE/RUN/{events,processes,system}
    #[arg(long)]
    pub store: PathBuf,
    /// Directory for what is read and not yet published; survives a crash of the collector
    #[arg(long)]
    pub spool: PathBuf,
    /// How long a stopped run waits for its processes to end
    #[arg(long, default_value = "10s", value_parser = duration)]
    pub grace: Duration,
    /// Name of this host in the store [default: the host's name]
    #[arg(long, value_parser = hosts::checked)]
    pub host: Option<String>,
    /// End when the last run has ended, or none began within 30 s
    #[arg(long)]
    pub exit_when_idle: bool,
    /// Keep at most this much of what belongs to no run
    #[arg(long, default_value = "256M", value_name = "BYTES", value_parser = bytes)]
    pub background_keep: u64,
    /// Publish when this many rows are held
    #[arg(long, hide = true, default_value_t = 512 * 1024)]
    pub part_rows: usize,
    /// Move published spool files here instead of deleting them
    #[arg(long, hide = true)]
    pub keep_spool: Option<PathBuf>,
}

pub struct Collector<'a> {
    options: &'a Options,
    host: String,
    directory: Directory,
    store: Place,
    spool: Spool,
    state: State,
    sources: BTreeMap<u64, Source>,
    /// Directories of users, by name.
    users: HashMap<String, (OwnedFd, Freshness)>,
    top: Freshness,
    /// Names below users' directories that were looked at: process directories and refusals.
    looked_at: HashMap<String, poll::Entry>,
    runs: BTreeMap<String, runs::Active>,
    runs_listing: Freshness,
    census: census::Census,
    /// Directories on the file systems whose space is sampled.
    places: Vec<PathBuf>,
    since: Since,
    refusals: u64,
    /// What went wrong last time and was logged: said once until it works again.
    trouble: Option<&'static str>,
    event_cost: cost::EventCost,
    live: live::Live,
}

/// When things were last done, `CLOCK_MONOTONIC` ns.
#[derive(Default)]
struct Since {
    scan: u64,
    deaths: u64,
    rotation: u64,
    attempt: u64,
    second: u64,
    sample: u64,
    runs: u64,
    /// The last run ended, or the collector began.
    idle: u64,
    had_run: bool,
}

static STOP: AtomicBool = AtomicBool::new(false);

pub fn main(options: &Options) -> Result<()> {
    stop_on_signals();
    let mut collector = Collector::start(options)?;
    let mut nap = MS;
    while !STOP.load(Ordering::Acquire) {
        let pace = collector.tick(clock::monotonic());
        // Agents look for a run five times a second: nothing is gained by more without one.
        let longest = if collector.runs.is_empty() { 200 * MS } else { LONGEST_NAP };
        nap = pace.nap(nap).clamp(MS, longest);
        if options.exit_when_idle && collector.is_idle(clock::monotonic()) {
            break;
        }
        std::thread::sleep(Duration::from_nanos(nap));
    }
    collector.stop()
}

impl<'a> Collector<'a> {
    fn start(options: &'a Options) -> Result<Collector<'a>> {
        let host = options.host.clone().unwrap_or_else(hosts::own);
        let directory = Directory::open(&options.dir, &host, &options.store)?;
        let store = Place::root(&options.store, 0o711)
            .with_context(|| format!("cannot make the store {}", options.store.display()))?;
        let mut state = State::default();
        let first = publish::next_part(&store);
        let keep = options.keep_spool.clone();
        let spool = Spool::open(&options.spool, keep, first, &mut state)
            .with_context(|| format!("cannot open the spool {}", options.spool.display()))?;
        let now = clock::monotonic();
        let since = Since { rotation: now, idle: now, ..Since::default() };
        let mut collector = Collector {
            options,
            host,
            directory,
            store,
            spool,
            state,
            sources: BTreeMap::new(),
            users: HashMap::new(),
            top: Freshness::default(),
            looked_at: HashMap::new(),
            runs: BTreeMap::new(),
            runs_listing: Freshness::default(),
            census: census::Census::default(),
            places: Vec::new(),
            since,
            refusals: 0,
            trouble: None,
            event_cost: cost::EventCost::default(),
            live: live::Live::default(),
        };
        log(&format!(
            "collecting dir={} store={} spool={} host={} pid={}",
            options.dir.display(),
            options.store.display(),
            options.spool.display(),
            collector.host,
            std::process::id()
        ));
        collector.resume(now);
        Ok(collector)
    }

    /// One round.
    fn tick(&mut self, now: u64) -> Pace {
        self.look_for_runs(now);
        let pace = self.poll(now);
        if now - self.since.deaths > 200 * MS {
            self.since.deaths = now;
            self.look_for_deaths(now);
            self.take_census(now);
        }
        self.bury(now);
        self.advance_runs(now);
        if now - self.since.sample >= SECOND {
            self.sample_host(now);
        }
        self.rotate_if_due(now);
        if now - self.since.second > SECOND {
            self.since.second = now;
            self.directory.control.beat(now);
            self.directory.control.event_cost(self.event_cost.look(&self.state));
        }
        pace
    }

    fn is_idle(&self, now: u64) -> bool {
        let patience = if self.since.had_run { 2 } else { 30 };
        self.runs.is_empty() && now - self.since.idle > patience * SECOND
    }

    /// Appends blocks to the spool and applies them; false if the spool has no room now.
    fn commit(&mut self, blocks: &[u8]) -> bool {
        if blocks.is_empty() {
            return true;
        }
        if let Err(error) = self.spool.append(blocks) {
            let spool = self.options.spool.display();
            self.complain_once(
                "spool",
                &format!("cannot append to the spool {spool}: {error}; events stay in memory"),
            );
            return false;
        }
        self.recovered("spool");
        for (kind, payload) in block::Blocks::of(blocks) {
            self.state.apply(kind, payload);
        }
        true
    }

    fn complain_once(&mut self, what: &'static str, line: &str) {
        if self.trouble != Some(what) {
            self.trouble = Some(what);
            log(line);
        }
    }

    fn recovered(&mut self, what: &'static str) {
        if self.trouble == Some(what) {
            self.trouble = None;
            log(&format!("{what}: works again"));
        }
    }

    /// Ends all runs as if they were stopped, publishes, and leaves the directory.
    fn stop(&mut self) -> Result<()> {
        let now = clock::monotonic();
        self.end_all_runs(now);
        let published = self.rotate(clock::monotonic());
        self.directory.leave();
        let refused = &self.state.refused;
        log(&format!(
            "ended: refused files={} slots={} names={} rows={} blocks={}",
            self.refusals, refused.slots, refused.names, refused.rows, refused.blocks
        ));
        published
    }
}

/// One line to stderr.
pub fn log(line: &str) {
    eprintln!("iostrata collect: {line}");
}

fn stop_on_signals() {
    extern "C" fn on_signal(_: libc::c_int) {
        STOP.store(true, Ordering::Release);
    }
    for signal in [libc::SIGTERM, libc::SIGINT] {
        let handler: extern "C" fn(libc::c_int) = on_signal;
        // SAFETY: the handler only stores to an atomic
        unsafe { libc::signal(signal, handler as libc::sighandler_t) };
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = text.split_at(text.trim_end_matches(char::is_alphabetic).len());
    let unit = match unit {
        "ms" => 0.001,
        "s" | "" => 1.0,
        "m" => 60.0,
        _ => return Err("expected a duration like 10s, 500ms or 2m".into()),
    };
    let number: f64 = number.parse().map_err(|_| "expected a duration like 10s".to_owned())?;
    Duration::try_from_secs_f64(number * unit).map_err(|error| error.to_string())
}

fn bytes(text: &str) -> Result<u64, String> {
    let (number, unit) = text.split_at(text.trim_end_matches(char::is_alphabetic).len());
    let shift = match unit {
        "" | "B" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        _ => return Err("expected a size like 256M".into()),
    };
    let number: u64 = number.parse().map_err(|_| "expected a size like 256M".to_owned())?;
    number.checked_mul(1 << shift).ok_or_else(|| "too large".into())
}
