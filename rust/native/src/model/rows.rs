//! Rows between two rotations: small, and without a string of their own.

use std::collections::HashMap;

use parquet::data_type::ByteArray;

use super::context::Cause;

/// What the columns run, owner, job, task and phase say.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Identity {
    /// Empty: the background.
    pub run: String,
    pub owner: Option<ByteArray>,
    pub job: Option<ByteArray>,
    pub task: Option<ByteArray>,
    pub phase: Option<ByteArray>,
}

/// A row of the store. Ids are resolved when the part is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EventRow {
    /// `CLOCK_MONOTONIC` ns.
    pub start: u64,
    pub dur: u64,
    pub bytes: i64,
    pub offset: i64,
    pub asked: u64,
    pub span: u64,
    pub parent: u64,
    /// Dictionary id, 0 none.
    pub target: u32,
    pub ret: i32,
    /// Number in [`Output::threads`].
    pub thread: u32,
    /// Number in [`Output::identities`].
    pub identity: u32,
    /// Number in [`Part::sums`], only for sums.
    pub sum: u32,
    /// Number in [`Output::causes`] of what it was done for; 0 none.
    pub cause: u32,
    /// Of a billion requests, how many are in the sample that it is of; 0: all.
    pub sampling: u32,
    pub point: u16,
    pub kind: u8,
    pub flags: u8,
}

/// What only sums have; all of them deltas but `min` and `max`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SumValues {
    pub count: u64,
    pub errors: u64,
    pub timed: u64,
    pub timed_dur: u64,
    pub min: u64,
    pub max: u64,
    pub weight: u64,
    pub spread: f64,
    pub inside: u64,
    /// Span of the nearest task, phase, block or RPC around its calls: column `anchor`.
    pub scope: u64,
    pub category: u8,
    pub size_class: u8,
}

/// The thread of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadRef {
    pub proc: u64,
    pub tid: u64,
    /// Dictionary id.
    pub name: u32,
}

/// Rows of one run.
#[derive(Debug, Default)]
pub struct Part {
    pub run: String,
    pub rows: Vec<EventRow>,
    pub sums: Vec<SumValues>,
}

#[derive(Debug, Default)]
pub struct Output {
    /// Raised at each rotation: numbers given before it are void.
    pub rotation: u64,
    pub parts: Vec<Part>,
    pub identities: Vec<(Identity, u32)>,
    pub threads: Vec<ThreadRef>,
    /// Each cause once for each time a thread takes it up; the first is none.
    pub causes: Vec<Cause>,
    by_run: HashMap<String, u32>,
}

impl Output {
    pub fn rows(&self) -> usize {
        self.parts.iter().map(|part| part.rows.len()).sum()
    }

    pub fn rows_of(&self, run: &str) -> usize {
        self.by_run.get(run).map_or(0, |part| self.parts[*part as usize].rows.len())
    }

    /// Forgets all rows, after they were published.
    pub fn rotate(&mut self) {
        *self = Output { rotation: self.rotation + 1, ..Output::default() };
    }

    pub fn add_identity(&mut self, identity: Identity) -> u32 {
        let next = self.parts.len() as u32;
        let part = *self.by_run.entry(identity.run.clone()).or_insert(next);
        if part == next {
            self.parts.push(Part { run: identity.run.clone(), ..Part::default() });
        }
        self.identities.push((identity, part));
        self.identities.len() as u32 - 1
    }

    pub fn add_thread(&mut self, thread: ThreadRef) -> u32 {
        self.threads.push(thread);
        self.threads.len() as u32 - 1
    }

    /// Number of a cause, above 0.
    pub fn add_cause(&mut self, cause: Cause) -> u32 {
        if self.causes.is_empty() {
            self.causes.push(Cause::default());
        }
        self.causes.push(cause);
        self.causes.len() as u32 - 1
    }

    pub fn run_of(&self, identity: u32) -> &str {
        &self.identities[identity as usize].0.run
    }

    pub fn push(&mut self, row: EventRow) {
        self.part_of(row.identity).rows.push(row);
    }

    pub fn push_sum(&mut self, row: EventRow, sum: SumValues) {
        let part = self.part_of(row.identity);
        part.sums.push(sum);
        part.rows.push(EventRow { sum: part.sums.len() as u32 - 1, ..row });
    }

    fn part_of(&mut self, identity: u32) -> &mut Part {
        let part = self.identities[identity as usize].1;
        &mut self.parts[part as usize]
    }
}
