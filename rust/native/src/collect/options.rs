//! What `collect` is asked for on its command line.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use super::floor::{self, Floor};
use super::hosts;
use crate::users;

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
    /// Directory for events that are read and not yet published; they survive a crash of the collector
    #[arg(long)]
    pub spool: PathBuf,
    /// How long a stopped run waits until its processes have ended
    #[arg(long, default_value = "10s", value_parser = duration)]
    pub grace: Duration,
    /// Users whose processes serve others, by name or uid: what their daemons do for a run stands
    /// there. Users that are not in /etc/passwd need a uid; root and the collector's own user always
    /// serve
    #[arg(
        long,
        value_name = "USER,…",
        value_delimiter = ',',
        default_value = "hdfs,yarn,mapred,hbase,spark,hadoop"
    )]
    pub daemons: Vec<String>,
    /// Name of this host in the store [default: the host's name]
    #[arg(long, value_parser = hosts::checked)]
    pub host: Option<String>,
    /// Write no events while less than this is free on the file system of the store or the spool, or
    /// less than 10 GiB where that is less
    #[arg(long, value_name = "SHARE", default_value = "5%", value_parser = floor::parse)]
    pub floor: Floor,
    /// End when the last run has ended, or none began within 30 s
    #[arg(long)]
    pub exit_when_idle: bool,
    /// Keep at most this much of the events that belong to no run
    #[arg(long, default_value = "256M", value_name = "BYTES", value_parser = bytes)]
    pub background_keep: u64,
    /// Publish when this many rows are held
    #[arg(long, hide = true, default_value_t = 512 * 1024)]
    pub part_rows: usize,
    /// Move published spool files here instead of deleting them
    #[arg(long, hide = true)]
    pub keep_spool: Option<PathBuf>,
}

impl Options {
    /// Uids of [`Options::daemons`] that there are.
    pub fn serving(&self) -> HashSet<u32> {
        let own = [0, rustix::process::geteuid().as_raw()];
        let named = |name: &String| name.parse().ok().or_else(|| users::uid_of(name));
        self.daemons.iter().filter_map(named).chain(own).collect()
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
