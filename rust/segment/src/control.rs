//! The control page: one file that the collector writes and every agent reads.

use std::os::fd::BorrowedFd;

use rustix::fs::{AtFlags, Mode, OFlags, fchmod, openat, renameat, unlinkat};
use rustix::io::write;

use crate::mapping::{Mapping, Rejection};
use crate::memory::Memory;
use crate::schema::{
    CONTROL_BUDGET, CONTROL_EVENT_COST, CONTROL_HEARTBEAT, CONTROL_LEVEL, CONTROL_POINTS_OFF,
    CONTROL_SAMPLING, CONTROL_SIZE, CONTROL_WORD, FILE_KIND_CONTROL, LEVEL_RECORD, MAGIC,
    PROCESS_MAX_POINTS, VERSION,
};

const NAME: &str = "control";
const NEW: &str = ".control.new";

/// How much of it agents record individually.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Detail {
    /// A code of `level`.
    pub level: u8,
    /// Of a billion requests, how many are recorded; 0: all.
    pub sampling: u32,
    /// Millionths of its CPU time that tracing may cost a process; 0: as much as it takes.
    pub budget: u32,
}

impl Default for Detail {
    /// All of it.
    fn default() -> Detail {
        Detail { level: LEVEL_RECORD, sampling: 0, budget: 0 }
    }
}

impl Detail {
    /// Enough for both.
    #[must_use]
    pub fn and(self, other: Detail) -> Detail {
        let most = |a: u32, b: u32| if a == 0 || b == 0 { 0 } else { a.max(b) };
        Detail {
            level: self.level.min(other.level),
            sampling: most(self.sampling, other.sampling),
            budget: most(self.budget, other.budget),
        }
    }

    fn words(self) -> [(usize, u32); 3] {
        [
            (CONTROL_LEVEL, u32::from(self.level)),
            (CONTROL_SAMPLING, self.sampling),
            (CONTROL_BUDGET, self.budget),
        ]
    }
}

#[derive(Debug)]
pub struct Control {
    memory: Mapping,
    /// The last value that was not 0: the next one must differ from it.
    last: u32,
}

impl Control {
    /// Takes over the page in `directory` if it is valid and ours (`owner`), else puts a new one
    /// in its place by rename: agents read it at any time, so it is never truncated.
    pub fn create(directory: BorrowedFd<'_>, owner: u32) -> Result<Control, Rejection> {
        let existing = Mapping::open(directory, NAME, owner, CONTROL_SIZE)
            .and_then(|memory| memory.expect_kind(FILE_KIND_CONTROL).map(|()| memory));
        let memory = match existing {
            Ok(memory) => memory,
            Err(_) => Self::fresh(directory, owner)?,
        };
        let last = memory.acquire_u32(CONTROL_WORD);
        Ok(Control { memory, last })
    }

    fn fresh(directory: BorrowedFd<'_>, owner: u32) -> Result<Mapping, Rejection> {
        let _ = unlinkat(directory, NEW, AtFlags::empty());
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let file = openat(directory, NEW, flags | OFlags::CLOEXEC, Mode::from_raw_mode(0o644))?;
        fchmod(&file, Mode::from_raw_mode(0o644))?; // whatever the umask
        let mut page = [0u8; CONTROL_SIZE];
        page[..4].copy_from_slice(&MAGIC.to_le_bytes());
        page[4..6].copy_from_slice(&VERSION.to_le_bytes());
        page[6..8].copy_from_slice(&FILE_KIND_CONTROL.to_le_bytes());
        let written = write(&file, &page)?;
        if written != CONTROL_SIZE {
            let (size, most) = (written as u64, CONTROL_SIZE as u64);
            return Err(Rejection::Size { size, least: CONTROL_SIZE, most });
        }
        renameat(directory, NEW, directory, NAME)?;
        Mapping::open(directory, NAME, owner, CONTROL_SIZE)
    }

    #[must_use]
    pub fn word(&self) -> u32 {
        self.memory.acquire_u32(CONTROL_WORD)
    }

    /// Turns recording on, with that much detail and but for these points, with a word that no
    /// agent has seen; nothing changes if that is so already and nothing else was `renewed`. Ids
    /// beyond the table are left out.
    pub fn on(
        &mut self,
        detail: Detail,
        points_off: impl IntoIterator<Item = u16>,
        renewed: bool,
    ) -> u32 {
        let mut bitmap = [0u64; PROCESS_MAX_POINTS / 64];
        for id in points_off {
            if let Some(word) = bitmap.get_mut(usize::from(id) / 64) {
                *word |= 1 << (id % 64);
            }
        }
        let at = |word: usize| CONTROL_POINTS_OFF + word * 8;
        let same = (0..bitmap.len()).all(|i| self.memory.acquire_u64(at(i)) == bitmap[i])
            && detail.words().iter().all(|(at, word)| self.memory.acquire_u32(*at) == *word);
        if self.word() == 0 || !same || renewed {
            for (i, word) in bitmap.iter().enumerate() {
                self.memory.release_u64(at(i), *word);
            }
            for (at, word) in detail.words() {
                self.memory.release_u32(at, word);
            }
            self.last = self.last.wrapping_add(1).max(1);
            self.memory.release_u32(CONTROL_WORD, self.last);
        }
        self.word()
    }

    pub fn off(&mut self) {
        self.memory.release_u32(CONTROL_WORD, 0);
    }

    /// ns of CPU that an event costs the collector.
    pub fn event_cost(&self, nanos: u32) {
        self.memory.release_u32(CONTROL_EVENT_COST, nanos);
    }

    /// `now`: `CLOCK_MONOTONIC` ns.
    pub fn beat(&self, now: u64) {
        self.memory.release_u64(CONTROL_HEARTBEAT, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::LEVEL_JOB;

    #[test]
    fn two_runs_get_what_each_of_them_needs() {
        let coarse = Detail { level: LEVEL_JOB, sampling: 1000, budget: 10_000 };
        assert_eq!(coarse.and(Detail { sampling: 10, budget: 10, ..coarse }), coarse);
        assert_eq!(coarse.and(Detail::default()), Detail::default());
    }
}
