//! `replay`: the events of kept spool files once more through the collector's way to Parquet.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;

use crate::collect::block::{self, BlockKind, ORIGIN};
use crate::collect::spool;
use crate::model::state::State;
use crate::store::events;

/// Replays kept spool files through rows and Parquet, in memory, and prints the cost.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// A spool file, or a directory of them (`collect --keep-spool`)
    #[arg(long)]
    from: PathBuf,
    /// Times each file is replayed
    #[arg(long, default_value_t = 1)]
    times: u32,
}

pub fn main(options: &Options) -> Result<()> {
    let files = if options.from.is_dir() {
        let numbers = spool::numbers(&options.from)?;
        numbers.into_iter().map(|number| spool::path(&options.from, number)).collect()
    } else {
        vec![options.from.clone()]
    };
    let (mut slots, mut rows, mut bytes, mut apply, mut write) = (0u64, 0u64, 0u64, 0.0, 0.0);
    for file in &files {
        let spooled = spool::read(file).with_context(|| file.display().to_string())?;
        for _ in 0..options.times {
            let mut state = State::default();
            let begin = cpu();
            if spool::replay(&spooled[..], &mut state)?.is_none() {
                bail!("{} is no complete spool file", file.display());
            }
            let applied = cpu();
            for part in state.output.parts.iter().filter(|part| !part.rows.is_empty()) {
                let mut out = Vec::new();
                events::write(&mut out, &state, part, &part.rows, "replay", 0)?;
                rows += part.rows.len() as u64;
                bytes += out.len() as u64;
            }
            apply += applied - begin;
            write += cpu() - applied;
            slots += events_in(&spooled);
        }
    }
    let figures = json!({
        "files": files.len(),
        "slots": slots,
        "rows": rows,
        "bytes": bytes,
        "bytes_per_row": bytes as f64 / rows as f64,
        "cpu_apply_s": apply,
        "cpu_parquet_s": write,
        "rows_per_cpu_s": rows as f64 / (apply + write),
    });
    println!("{figures:#}");
    Ok(())
}

fn events_in(spooled: &[u8]) -> u64 {
    let slots = block::blocks(spooled).filter(|(kind, _)| *kind == BlockKind::Slots);
    slots.map(|(_, payload)| (payload.len().saturating_sub(ORIGIN) / 64) as u64).sum()
}

/// CPU seconds of this process.
fn cpu() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
