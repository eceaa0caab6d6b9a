/*!
The write-ahead log, see `docs/decisions/0001`.

`spool-NNNNNN` holds a snapshot, a Ready block, then what was read since. A part of the store is
named after the spool file it was made from, so that a replay publishes the same file again. At any
time at most two files exist: the last one, and the next one while its snapshot is being written.
*/

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use iostrata_segment::row::CounterRow;
use iostrata_segment::schema::SLOT_SIZE;

use super::block::{self, BlockKind, NamesHead, RowsHead};
use super::counters::ROW_RECORD;
use super::floor::Floor;
use crate::model::process::{Origin, Process};
use crate::model::state::State;

const PREFIX: &str = "spool-";
/// Bytes of a snapshot that are written at a time, and of dictionary records in one of its blocks.
const PIECE: usize = 1 << 20;
/// Bytes; a file is replaced long before.
const MOST_READ: u64 = 4 << 30;

#[derive(Debug)]
pub struct Spool {
    directory: PathBuf,
    file: File,
    pub number: u32,
    size: u64,
    /// What of that a snapshot takes, or was there already when the collector started.
    begun: u64,
    /// The file may be longer than `size`.
    torn: bool,
    /// Replaced files are moved there instead of being deleted.
    keep: Option<PathBuf>,
}

impl Spool {
    /// Opens the spool in `directory` and rebuilds `state` from its last complete file; without
    /// one, begins with file `first`.
    pub fn open(
        directory: &Path,
        keep: Option<PathBuf>,
        first: u32,
        state: &mut State,
    ) -> io::Result<Spool> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
        let mut numbers = numbers(directory)?;
        while let Some(number) = numbers.pop() {
            let path = path(directory, number);
            if let Some(good) = replay(File::open(&path)?, state)? {
                for older in numbers {
                    fs::remove_file(self::path(directory, older))?;
                }
                let file = OpenOptions::new().append(true).open(&path)?;
                file.set_len(good)?;
                let directory = directory.to_owned();
                return Ok(Spool {
                    directory,
                    file,
                    number,
                    size: good,
                    begun: 0,
                    torn: false,
                    keep,
                });
            }
            fs::remove_file(&path)?;
        }
        let (file, size) = begin(directory, first, state)?;
        let directory = directory.to_owned();
        Ok(Spool { directory, file, number: first, size, begun: size, torn: false, keep })
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Bytes that may come yet: above the floor there has to be room for what is made of them, parts
    /// of the store that take less than half, and for the next file, which begins as this one.
    pub fn room(&self, floor: Floor) -> u64 {
        let taken = self.begun + self.grown() / 2;
        floor.room(&self.file).saturating_sub(taken) / 3 * 2
    }

    /// Bytes above the floor, what the spool takes counted in.
    pub fn whole_room(&self, floor: Floor) -> u64 {
        floor.room(&self.file) + self.size
    }

    /// An error that says why there is no room.
    pub fn check(&self, floor: Floor) -> io::Result<()> {
        floor.check(&self.file, self.begun + PIECE as u64)
    }

    /// Bytes that came after the snapshot.
    pub fn grown(&self) -> u64 {
        self.size - self.begun
    }

    /// Appends whole blocks, all or none.
    pub fn append(&mut self, blocks: &[u8]) -> io::Result<()> {
        if self.torn {
            // a replay would stop at the torn block and miss what follows it
            self.file.set_len(self.size)?;
        }
        self.torn = true;
        self.file.write_all(blocks)?;
        self.torn = false;
        self.size += blocks.len() as u64;
        Ok(())
    }

    /// Begins the next file with what `state` is now; everything before it must be published.
    pub fn rotate(&mut self, state: &State) -> io::Result<()> {
        let (file, size) = begin(&self.directory, self.number + 1, state)?;
        let old = path(&self.directory, self.number);
        self.file = file;
        self.size = size;
        self.begun = size;
        self.torn = false;
        self.number += 1;
        match &self.keep {
            Some(kept) => fs::rename(&old, kept.join(old.file_name().unwrap_or_default())),
            None => fs::remove_file(&old),
        }
    }
}

/// A spool file as a whole; an error for one that is larger than any of ours, or has no end.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let size = fs::metadata(path)?.len();
    if size > MOST_READ {
        let why = format!("{} has {size} bytes, at most {MOST_READ} are read", path.display());
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST_READ).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Rebuilds `state`; the size of the whole blocks, or `None` if the snapshot is not complete.
pub fn replay(file: impl Read, state: &mut State) -> io::Result<Option<u64>> {
    let mut is_ready = false;
    let mut rebuilt = State::default();
    rebuilt.owners.generation = state.owners.generation;
    let good = block::read_blocks(BufReader::new(file), |kind, payload| {
        rebuilt.apply(kind, payload);
        is_ready |= kind == BlockKind::Ready;
    })?;
    if is_ready {
        *state = rebuilt;
    }
    Ok(is_ready.then_some(good))
}

/// Numbers of the spool files in a directory, ascending.
pub fn numbers(directory: &Path) -> io::Result<Vec<u32>> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(directory)? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        numbers.extend(number.and_then(|number| number.parse::<u32>().ok()));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

pub fn path(directory: &Path, number: u32) -> PathBuf {
    directory.join(format!("{PREFIX}{number:06}"))
}

fn begin(directory: &Path, number: u32, state: &State) -> io::Result<(File, u64)> {
    let path = path(directory, number);
    let mut file = OpenOptions::new();
    let mut file = file.append(true).create(true).truncate(false).mode(0o600).open(&path)?;
    file.set_len(0)?;
    match write_snapshot(&mut file, state) {
        Ok(size) => Ok((file, size)),
        Err(error) => {
            fs::remove_file(&path)?;
            Err(error)
        }
    }
}

/// The size of it.
fn write_snapshot(file: &mut File, state: &State) -> io::Result<u64> {
    let mut draft = Draft { file, blocks: Vec::new(), size: 0 };
    block::push_json(&mut draft.blocks, BlockKind::Snapshot, &state.snapshot());
    for process in state.processes.values() {
        push_names(&mut draft, process)?;
        push_counters(&mut draft, process)?;
    }
    block::push(&mut draft.blocks, BlockKind::Ready, |_| ());
    draft.write()?;
    Ok(draft.size)
}

/// A snapshot is written piece by piece: the whole may be as large as the state.
struct Draft<'a> {
    file: &'a mut File,
    blocks: Vec<u8>,
    size: u64,
}

impl Draft<'_> {
    fn write_piece(&mut self) -> io::Result<()> {
        if self.blocks.len() < PIECE { Ok(()) } else { self.write() }
    }

    fn write(&mut self) -> io::Result<()> {
        self.file.write_all(&self.blocks)?;
        self.size += self.blocks.len() as u64;
        self.blocks.clear();
        Ok(())
    }
}

fn push_names(draft: &mut Draft<'_>, process: &Process) -> io::Result<()> {
    let (number, used) = process.names_read;
    let head = NamesHead { proc: process.info.proc, number, used };
    let mut records = Vec::new();
    let mut entries = process.names.entries().peekable();
    while let Some(entry) = entries.next() {
        entry.append_to(&mut records);
        if records.len() >= PIECE || entries.peek().is_none() {
            block::push(&mut draft.blocks, BlockKind::Names, |out| {
                head.append_to(out);
                out.append(&mut records);
            });
            draft.write_piece()?;
        }
    }
    Ok(())
}

fn push_counters(draft: &mut Draft<'_>, process: &Process) -> io::Result<()> {
    for (serial, segment) in &process.segments {
        let origin = Origin {
            proc: process.info.proc,
            serial: *serial,
            epoch: segment.epoch,
            tid: segment.tid,
            ..Origin::default()
        };
        let head = RowsHead { gaps: segment.gaps, collapsed: segment.collapsed };
        // a table may leave out most of its rows
        let counted = |(_, row): &(usize, &CounterRow)| **row != CounterRow::default();
        let mut rows = segment.rows.iter().enumerate().filter(counted).peekable();
        loop {
            block::push(&mut draft.blocks, BlockKind::Base, |out| {
                origin.append_to(out);
                head.append_to(out);
                for (index, row) in rows.by_ref().take(PIECE / ROW_RECORD) {
                    out.extend_from_slice(&(index as u64).to_le_bytes());
                    row.append_to(out);
                }
            });
            draft.write_piece()?;
            if rows.peek().is_none() {
                break;
            }
        }
    }
    Ok(())
}

// what is spooled is what was in memory
const _: () = assert!(SLOT_SIZE == 64 && ROW_RECORD == 136);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::run::RunOrder;

    fn order(run: &str) -> Vec<u8> {
        let order = RunOrder {
            run: run.into(),
            uid: 1,
            user: "alice".into(),
            recorder_pid: 0,
            recorder_start: 0,
            expect: Vec::new(),
            points_off: Vec::new(),
            level: 1,
            sampling: 0,
            budget: 0,
            has_points: false,
            devices: false,
            now: 1,
            ended: false,
            message: String::new(),
        };
        let mut blocks = Vec::new();
        block::push_json(&mut blocks, BlockKind::Run, &order);
        blocks
    }

    fn reopened(directory: &Path) -> (Spool, Vec<String>) {
        let mut state = State::default();
        let spool = Spool::open(directory, None, 1, &mut state).unwrap();
        (spool, state.owners.runs.into_keys().collect())
    }

    #[test]
    fn a_torn_append_and_an_unfinished_rotation_are_undone() {
        let directory = std::env::temp_dir().join(format!("iostrata-spool-{}", std::process::id()));
        let (mut spool, runs) = reopened(&directory);
        assert_eq!(runs, [""; 0]);
        spool.append(&order("a")).unwrap();

        // killed in the middle of an append …
        let torn = order("b");
        spool.file.write_all(&torn[..torn.len() - 3]).unwrap();
        let (mut spool, runs) = reopened(&directory);
        assert_eq!(runs, ["a"]);
        spool.append(&order("c")).unwrap();
        // … and in the middle of the next file's snapshot
        fs::write(path(&directory, 2), order("d")).unwrap();
        let (spool, runs) = reopened(&directory);
        assert_eq!((runs, spool.number), (vec!["a".to_owned(), "c".to_owned()], 1));
        assert_eq!(numbers(&directory).unwrap(), [1]);

        fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn between_two_files_the_newer_one_holds() {
        let directory =
            std::env::temp_dir().join(format!("iostrata-spool2-{}", std::process::id()));
        let (mut spool, _) = reopened(&directory);
        spool.append(&order("a")).unwrap();
        // the next file is complete, the last one not yet deleted
        begin(&directory, 2, &State::default()).unwrap();

        let (spool, runs) = reopened(&directory);

        assert_eq!((runs, spool.number), (Vec::new(), 2));
        assert_eq!(numbers(&directory).unwrap(), [2]);
        fs::remove_dir_all(&directory).unwrap();
    }
}
