/*!
`calltree`: call trees of a run, recovered across processes and hosts, and merged.

| step | module |
|---|---|
| rows come from Parquet files or an Arrow stream | [`source`], [`columns`] |
| spans are kept in columns, sums by scope | [`spans`], [`sums`] |
| who hangs from whom; what has no place is counted | [`index`], [`forest`] |
| clocks of hosts, by causes that cannot follow their effects | [`clocks`] |
| what the user does not want is taken out | [`patterns`] |
| equal structures become one node | [`hash`], [`shape`] |
| nodes get exact totals, or estimates with their variance | [`merged`], [`own`], [`stats`], [`sample`] |
| what only sums know becomes leaves | [`rests`] |
| the document, and the sum of several | [`document`] |
| the last cause of what ended last, back to the begin | [`critical`], [`roots`], [`idle`] |

A span takes 80 bytes, a sum of a scope's calls 130. A run that would take more than `--memory` is
read in several passes, each of which keeps a part of the traces. Threads take files, rows or groves
of trees as they come ([`parallel`]); neither their number nor that of passes changes a byte of the
document.
*/

mod clocks;
mod columns;
mod critical;
mod document;
mod forest;
mod hash;
mod id;
mod idle;
mod index;
mod merged;
mod own;
mod parallel;
mod patterns;
mod progress;
mod rests;
mod roots;
mod run;
mod sample;
mod shape;
mod source;
mod spans;
mod stats;
mod sums;
mod tables;
#[cfg(test)]
mod tests;

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use document::{Document, VERSION};
use patterns::FunctionFilter;
use progress::Progress;
use run::TreeOptions;
use shape::Order;
use source::RowSource;
use tables::Grouping;

/// Recover and merge call trees, and print them as a JSON document.
#[derive(clap::Args, Debug)]
#[command(group(clap::ArgGroup::new("from").required(true).args(["run", "arrow", "merge"])))]
pub struct Options {
    /// A run of the store
    #[arg(long, value_name = "DIR")]
    run: Option<PathBuf>,
    /// Leave out this file of the run
    #[arg(long, value_name = "FILE", requires = "run")]
    skip: Vec<PathBuf>,
    /// Rows of events as an Arrow stream on standard input
    #[arg(long)]
    arrow: bool,
    /// Add up documents that this command printed
    #[arg(long, num_args = 1.., value_name = "FILE")]
    merge: Vec<PathBuf>,
    /// The rows are some traces of a run, with the sums whose scopes are in them: says what
    /// `--merge` needs to make one document of all parts
    #[arg(long)]
    part: bool,
    /// Take the clocks of hosts from this document, not from the rows
    #[arg(long, value_name = "FILE")]
    clocks: Option<PathBuf>,
    /// Which calls are one node
    #[arg(long, value_enum, default_value_t)]
    order: Order,
    /// How functions are distinguished
    #[arg(long, value_enum, default_value_t)]
    by: Grouping,
    /// Show only these functions: a pattern like `hdfs.*`, or a file of patterns
    #[arg(long, value_name = "PATTERN|FILE")]
    keep: Vec<String>,
    /// Leave out these functions; the calls below them hang from the calls above them
    #[arg(long, value_name = "PATTERN|FILE")]
    drop: Vec<String>,
    /// Bytes of memory for spans; a run with more is read in several passes
    #[arg(long, default_value_t = 3 << 30)]
    memory: u64,
    /// Threads; the document is the same with any number of them [default: processors]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Print progress on standard error: lines like {"percent":42}
    #[arg(long)]
    progress: bool,
    /// Instead of trees, print the critical path within each window that this file lists
    #[arg(long, value_name = "FILE", conflicts_with_all = ["arrow", "merge"])]
    critical: Option<PathBuf>,
}

/// Beside what spans take: buffers of the files that are decoded.
const BUFFERS: u64 = 128 << 20;

pub fn main(options: &Options) -> Result<()> {
    if options.run.is_some() {
        limit(options.memory.saturating_mul(2).saturating_add(BUFFERS))?;
    }
    let threads = options.threads.map_or_else(parallel::processors, usize::from);
    let mut progress = Progress::new(options.progress);
    if let (Some(run), Some(windows)) = (&options.run, &options.critical) {
        let source = RowSource::of_run(run, &options.skip)?;
        return print(&critical::of_run(&source, windows, threads, &mut progress)?);
    }
    if !options.merge.is_empty() {
        return print(&merged(&options.merge)?);
    }
    let offsets = match &options.clocks {
        Some(file) => {
            Some(read(file).with_context(|| file.display().to_string())?.evidence.offsets())
        }
        None => None,
    };
    let trees = TreeOptions {
        order: options.order,
        by: options.by,
        wanted: FunctionFilter::new(&options.keep, &options.drop)?,
        memory: options.memory,
        threads,
        offsets,
        is_part: options.part,
    };
    let source = match &options.run {
        Some(run) => RowSource::of_run(run, &options.skip)?,
        None => RowSource::Arrow,
    };
    let mut document = run::document(&source, &trees, &mut progress)?;
    if !options.part {
        document.complete()?;
    }
    print(&document)
}

/// A page of a few KB may unpack to any size, which its reader makes room for: who asks for more
/// than `most` bytes in all gets none, and the process ends.
fn limit(most: u64) -> Result<()> {
    let (current, maximum) = (Some(most), getrlimit(Resource::Data).maximum);
    let current = maximum.map_or(current, |maximum| Some(most.min(maximum)));
    Ok(setrlimit(Resource::Data, Rlimit { current, maximum })?)
}

fn merged(files: &[PathBuf]) -> Result<Document> {
    let mut sum: Option<Document> = None;
    for file in files {
        let document = read(file).with_context(|| file.display().to_string())?;
        match &mut sum {
            None => sum = Some(document),
            Some(sum) => sum.add(document).with_context(|| file.display().to_string())?,
        }
    }
    let mut sum = sum.context("nothing to merge")?;
    sum.complete()?;
    Ok(sum)
}

fn read(file: &Path) -> Result<Document> {
    let text = std::fs::read(file)?;
    let document: Document = serde_json::from_slice(&text)?;
    if document.calltree != VERSION {
        bail!("version {} of call trees, not {VERSION}: make it again", document.calltree);
    }
    Ok(document)
}

fn print(document: &impl serde::Serialize) -> Result<()> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    serde_json::to_writer(&mut out, document)?;
    out.write_all(b"\n")?;
    Ok(out.flush()?)
}
