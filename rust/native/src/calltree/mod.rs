/*!
`calltree`: call trees of a run, recovered across processes and hosts, and merged.

| step | module |
|---|---|
| rows come from Parquet files or an Arrow stream | [`source`], [`columns`] |
| spans are kept in columns, sums by anchor | [`spans`], [`sums`] |
| who hangs from whom; what has no place is counted | [`index`], [`forest`] |
| clocks of hosts, by causes that cannot follow their effects | [`clocks`] |
| what the user does not want is taken out | [`patterns`] |
| equal structures become one node | [`hash`], [`shape`] |
| nodes get exact totals, or estimates with their variance | [`own`], [`stats`], [`sample`] |
| the document, and the sum of several | [`document`] |
| the last cause of what ended last, back to the begin | [`critical`] |

A span takes 80 bytes, a sum of an anchor's calls 130. A run that would take more than `--memory` is
read in several passes, each of which keeps a part of the traces.
*/

mod clocks;
mod columns;
mod critical;
mod document;
mod forest;
mod hash;
mod index;
mod own;
mod patterns;
mod run;
mod sample;
mod shape;
mod source;
mod spans;
mod stats;
mod sums;
#[cfg(test)]
mod tests;

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use document::{Document, VERSION};
use patterns::Wanted;
use shape::Order;
use source::Source;
use spans::By;

/// Recovers and merges call trees; prints a JSON document.
#[derive(clap::Args, Debug)]
#[command(group(clap::ArgGroup::new("from").required(true).args(["run", "arrow", "merge"])))]
pub struct Options {
    /// A run of the store
    #[arg(long, value_name = "DIR")]
    run: Option<PathBuf>,
    /// A file of the run that is left out
    #[arg(long, value_name = "FILE", requires = "run")]
    skip: Vec<PathBuf>,
    /// Rows of events as an Arrow stream on standard input
    #[arg(long)]
    arrow: bool,
    /// Adds documents up that this command printed
    #[arg(long, num_args = 1.., value_name = "FILE")]
    merge: Vec<PathBuf>,
    /// Which calls are one node
    #[arg(long, value_enum, default_value_t)]
    order: Order,
    /// How functions are told apart
    #[arg(long, value_enum, default_value_t)]
    by: By,
    /// Functions to show, all others are left out: a pattern like `hdfs.*`, or a file of them
    #[arg(long, value_name = "PATTERN|FILE")]
    keep: Vec<String>,
    /// Functions to leave out: what they called hangs from what called them
    #[arg(long, value_name = "PATTERN|FILE")]
    drop: Vec<String>,
    /// Bytes that spans may take; more spans are read in several passes
    #[arg(long, default_value_t = 3 << 30)]
    memory: u64,
    /// Instead of trees: what was done in each window of a file, along the path of last causes
    #[arg(long, value_name = "FILE", conflicts_with_all = ["arrow", "merge"])]
    critical: Option<PathBuf>,
}

pub fn main(options: &Options) -> Result<()> {
    if let (Some(run), Some(windows)) = (&options.run, &options.critical) {
        return print(&critical::of_run(&Source::of_run(run, &options.skip)?, windows)?);
    }
    if !options.merge.is_empty() {
        return print(&merged(&options.merge)?);
    }
    let wanted = Wanted::new(&options.keep, &options.drop)?;
    let source = match &options.run {
        Some(run) => Source::of_run(run, &options.skip)?,
        None => Source::Arrow,
    };
    print(&run::document(&source, options.order, options.by, &wanted, options.memory)?)
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
    sum.context("nothing to merge")
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
