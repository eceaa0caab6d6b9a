//! Where rows come from: the Parquet files of a run, or Arrow on standard input.

use std::cell::Cell;
use std::fs::File;
use std::io::Read;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::thread;

use anyhow::{Context, Result, anyhow, bail};
use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::file::reader::ChunkReader;

/// The columns that trees are made of.
pub const COLUMNS: [&str; 27] = [
    "host",
    "proc",
    "role",
    "tid",
    "start",
    "dur",
    "layer",
    "op",
    "point",
    "bytes",
    "count",
    "error",
    "span",
    "parent",
    "parent_proc",
    "trace",
    "kind",
    "flags",
    "errors",
    "timed",
    "timed_dur",
    "weight",
    "inside",
    "min",
    "max",
    "anchor",
    "inclusion",
];
/// Of these it only matters whether they are there. Where a file of another writer than ours (pyarrow)
/// has nothing but nulls, dictionaries of batches are slow to make.
const PRESENT: [&str; 1] = ["error"];
/// Rows at a time: few enough to stay in the processor's cache.
const BATCH: usize = 8192;
/// Batches of a file that wait at most, each of one to two MB.
const AHEAD: usize = 4;

pub enum RowSource {
    Run(Vec<PathBuf>),
    Arrow,
}

impl RowSource {
    /// The files of the run in `folder` but `skip`, in order of their names.
    pub fn of_run(folder: &Path, skip: &[PathBuf]) -> Result<RowSource> {
        let mut files = Vec::new();
        let events = folder.join("events");
        if !folder.is_dir() {
            bail!("{} is no folder of a run", folder.display());
        }
        let wanted = |path: &PathBuf| !skip.contains(path);
        for host in entries(&events)?.into_iter().filter(wanted) {
            let parts = if host.is_dir() { entries(&host)? } else { Vec::new() };
            let named = |path: &PathBuf| path.extension().is_some_and(|e| e == "parquet");
            files.extend(parts.into_iter().filter(named).filter(wanted));
        }
        files.sort();
        Ok(RowSource::Run(files))
    }

    /// Rows of all files, from what their ends say; none are known of a stream.
    pub fn rows(&self) -> Result<u64> {
        let RowSource::Run(files) = self else { return Ok(0) };
        let mut rows = 0;
        for path in files {
            let read = || Ok(metadata(&open(path)?)?.metadata().file_metadata().num_rows());
            rows += named(path, read)?.max(0) as u64;
        }
        Ok(rows)
    }

    /// Hands all batches to `each`, in an order that is always the same; what cannot be read is one
    /// line that names it. Of several `threads` one runs `each`, the others decode.
    pub fn read(
        &self,
        threads: usize,
        mut each: impl FnMut(&RecordBatch) -> Result<()>,
    ) -> Result<()> {
        match self {
            RowSource::Run(files) if threads == 1 => {
                files.iter().try_for_each(|path| named(path, || parquet(open(path)?, &mut each)))
            }
            RowSource::Run(files) => decoded(files, threads - 1, each),
            RowSource::Arrow => {
                let read = || arrow(std::io::stdin().lock(), &mut each);
                whole(read).context("the Arrow stream on standard input cannot be read")
            }
        }
    }
}

/// Each file goes through a channel of its own, so that batches come in the order of the files.
fn decoded(
    files: &[PathBuf],
    threads: usize,
    mut each: impl FnMut(&RecordBatch) -> Result<()>,
) -> Result<()> {
    let (senders, receivers): (Vec<_>, Vec<_>) =
        files.iter().map(|_| sync_channel::<Result<RecordBatch>>(AHEAD)).unzip();
    let work = Mutex::new(files.iter().zip(senders));
    let decode = || {
        let next = || work.lock().unwrap_or_else(PoisonError::into_inner).next();
        // Files are taken in the order in which they are waited for, so nobody waits in vain. Where
        // nobody receives any more something went wrong elsewhere.
        while let Some((path, sender)) = next() {
            let mut send = |batch: &RecordBatch| Ok(sender.send(Ok(batch.clone()))?);
            if let Err(error) = named(path, || parquet(open(path)?, &mut send)) {
                return sender.send(Err(error)).unwrap_or_default();
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..threads.min(files.len()) {
            scope.spawn(decode);
        }
        for (path, batches) in files.iter().zip(receivers) {
            for batch in batches {
                let batch = batch?;
                named(path, || each(&batch))?;
            }
        }
        Ok(())
    })
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.with_context(|| folder.display().to_string())?,
    };
    entries.map(|entry| Ok(entry?.path())).collect()
}

fn open(path: &Path) -> Result<File> {
    Ok(File::open(path)?)
}

fn named<T>(path: &Path, read: impl FnOnce() -> Result<T>) -> Result<T> {
    whole(read).with_context(|| format!("{} cannot be read", path.display()))
}

thread_local! {
    static DECODES: Cell<bool> = const { Cell::new(false) };
}

/// Foreign bytes may be such that a decoder of the format gives up by a panic: an error like others,
/// of which nothing is printed.
pub fn whole<T>(read: impl FnOnce() -> Result<T>) -> Result<T> {
    static HUSH: Once = Once::new();
    HUSH.call_once(|| {
        let others = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !DECODES.get() {
                others(info);
            }
        }));
    });
    let before = DECODES.replace(true);
    let outcome = panic::catch_unwind(AssertUnwindSafe(read));
    DECODES.set(before);
    outcome.unwrap_or_else(|_| Err(anyhow!("it is damaged")))
}

fn metadata(file: &impl ChunkReader) -> Result<ArrowReaderMetadata> {
    Ok(ArrowReaderMetadata::load(file, ArrowReaderOptions::new().with_skip_arrow_metadata(true))?)
}

/// Texts are read as dictionaries, as they are in the file: each is looked at once, not once a row.
pub fn parquet(
    file: impl ChunkReader + 'static,
    each: &mut impl FnMut(&RecordBatch) -> Result<()>,
) -> Result<()> {
    let found = metadata(&file)?;
    let as_dictionary = |field: &Arc<Field>| match field.data_type() {
        DataType::Utf8 | DataType::Binary if !PRESENT.contains(&field.name().as_str()) => {
            Arc::new(Field::new_dictionary(
                field.name(),
                DataType::Int32,
                DataType::Utf8,
                field.is_nullable(),
            ))
        }
        _ => Arc::clone(field),
    };
    let schema = Schema::new(found.schema().fields().iter().map(as_dictionary).collect::<Vec<_>>());
    let options =
        ArrowReaderOptions::new().with_skip_arrow_metadata(true).with_schema(Arc::new(schema));
    let mask = ProjectionMask::columns(found.parquet_schema(), COLUMNS);
    let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(file, options)?;
    for batch in builder.with_projection(mask).with_batch_size(BATCH).build()? {
        each(&batch?)?;
    }
    Ok(())
}

pub fn arrow(stream: impl Read, each: &mut impl FnMut(&RecordBatch) -> Result<()>) -> Result<()> {
    for batch in StreamReader::try_new(stream, None)? {
        each(&batch?)?;
    }
    Ok(())
}
