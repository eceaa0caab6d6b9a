//! The names of a process: `dict-0`, `dict-1`, … What is remembered here never exceeds one file: at
//! a new one the table is forgotten, and a name met again gets a new id.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, statat};
use rustix::io::Errno;

use super::files;
use crate::dictionary::Entry;
use crate::mapping::Mapping;
use crate::memory::Memory;
use crate::schema::{
    DICTIONARY_CAPACITY, DICTIONARY_HEADER, DICTIONARY_NUMBER, DICTIONARY_PROC, DICTIONARY_SEALED,
    DICTIONARY_USED, FILE_KIND_DICTIONARY,
};

/// Bytes of a name; longer ones are cut at a character.
pub const MAX_NAME: usize = 4096;
/// After a file was refused.
const RETRY: Duration = Duration::from_secs(1);

/// What a name says beside its text; `block` and `generation` are -1, `parent` 0 where there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Named {
    pub category: u8,
    pub parent: u32,
    pub block: i64,
    pub generation: i64,
}

impl Named {
    #[must_use]
    pub const fn of(category: u8) -> Named {
        Named { category, parent: 0, block: -1, generation: -1 }
    }
}

#[derive(Debug)]
pub(super) struct Names {
    proc: u64,
    /// Bytes of records in a file.
    room: usize,
    /// Files that may exist at a time; the collector unlinks those it has read.
    most: u32,
    ids: HashMap<Named, HashMap<String, u32>>,
    last: u32,
    file: Option<Mapping>,
    /// Of the file after this one, and of the oldest that may exist.
    next: u32,
    oldest: u32,
    used: usize,
    /// When a file could not be made, and why.
    refused: Option<(Instant, Errno)>,
}

impl Names {
    pub fn new(proc: u64, room: usize, most: u32) -> Names {
        Names {
            proc,
            room,
            most,
            ids: HashMap::new(),
            last: 0,
            file: None,
            next: 0,
            oldest: 0,
            used: 0,
            refused: None,
        }
    }

    /// Id of the entry, from 1; an error when it could not be written.
    pub fn id(&mut self, directory: &Path, named: Named, name: &str) -> Result<u32, Errno> {
        let name = cut(name, MAX_NAME);
        if let Some(id) = self.ids.get(&named).and_then(|ids| ids.get(name)) {
            return Ok(*id);
        }
        let Named { category, parent, block, generation } = named;
        let id = self.last + 1;
        let entry = Entry { id, category, parent, block, generation, name: name.to_owned() };
        let mut record = Vec::new();
        entry.append_to(&mut record);
        let fits = self.file.is_some() && self.used + record.len() <= self.room;
        if !fits {
            self.next_file(directory)?;
        }
        self.write(&record);
        self.last = id;
        self.ids.entry(named).or_default().insert(entry.name, id);
        Ok(id)
    }

    /// Lets go of file and names; entries are refused from here on.
    pub fn release(&mut self) {
        (self.file, self.most) = (None, 0);
        self.ids.clear();
    }

    fn write(&mut self, record: &[u8]) {
        let Some(file) = &self.file else { return };
        for (i, word) in record.chunks_exact(8).enumerate() {
            let word = u64::from_le_bytes(word.try_into().unwrap_or_default());
            file.set_u64(DICTIONARY_HEADER + self.used + i * 8, word);
        }
        self.used += record.len();
        file.release_u32(DICTIONARY_USED, self.used as u32);
    }

    fn next_file(&mut self, directory: &Path) -> Result<(), Errno> {
        if let Some((at, why)) = self.refused
            && at.elapsed() < RETRY
        {
            return Err(why);
        }
        let made = self.make(directory);
        let file = made.inspect_err(|why| self.refused = Some((Instant::now(), *why)))?;
        if let Some(full) = self.file.replace(file) {
            full.release_u32(DICTIONARY_SEALED, 1);
        }
        self.next += 1;
        self.used = 0;
        self.ids.clear();
        self.refused = None;
        Ok(())
    }

    /// `SHUTDOWN`: as many exist as may.
    fn make(&mut self, directory: &Path) -> Result<Mapping, Errno> {
        let folder = files::open_folder(directory)?;
        let gone =
            |number| statat(&folder, format!("dict-{number}"), AtFlags::SYMLINK_NOFOLLOW).is_err();
        while self.oldest < self.next && gone(self.oldest) {
            self.oldest += 1;
        }
        if self.next - self.oldest >= self.most {
            return Err(Errno::SHUTDOWN);
        }
        let name = format!("dict-{}", self.next);
        let size = DICTIONARY_HEADER + self.room;
        let file = files::make(directory, &name, size, FILE_KIND_DICTIONARY)?;
        file.set_u64(DICTIONARY_PROC, self.proc);
        file.set_u32(DICTIONARY_NUMBER, self.next);
        file.set_u32(DICTIONARY_CAPACITY, self.room as u32);
        Ok(file)
    }
}

/// The text up to so many bytes, whole characters only.
pub(super) fn cut(text: &str, most: usize) -> &str {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dictionary;
    use crate::schema::{CATEGORY_BLK, CATEGORY_FILE};
    use crate::scratch::ScratchDir;

    fn entries(dir: &ScratchDir, number: u32) -> Vec<(u32, String)> {
        let bytes = std::fs::read(dir.path().join(format!("dict-{number}"))).unwrap();
        let used = u32::from_le_bytes(bytes[DICTIONARY_USED..][..4].try_into().unwrap()) as usize;
        let (entries, bad) = dictionary::parse(&bytes[DICTIONARY_HEADER..][..used]);
        assert_eq!(bad, None);
        entries.into_iter().map(|entry| (entry.id, entry.name)).collect()
    }

    #[test]
    fn a_name_is_written_once_and_differs_by_all_it_says() {
        let dir = ScratchDir::new();
        let mut names = Names::new(7, 4096, 4);
        let file = Named::of(CATEGORY_FILE);
        assert_eq!(names.id(dir.path(), file, "/a"), Ok(1));
        assert_eq!(
            names.id(dir.path(), Named { block: 5, ..Named::of(CATEGORY_BLK) }, "/a"),
            Ok(2)
        );
        assert_eq!(names.id(dir.path(), file, "/a"), Ok(1));
        assert_eq!(entries(&dir, 0), [(1, "/a".into()), (2, "/a".into())]);
    }

    #[test]
    fn a_long_name_is_cut_at_a_character() {
        let dir = ScratchDir::new();
        let mut names = Names::new(7, 64 << 10, 4);
        names.id(dir.path(), Named::of(CATEGORY_FILE), &"ä".repeat(4000)).unwrap();
        names.id(dir.path(), Named::of(CATEGORY_FILE), &format!("x{}", "€".repeat(4000))).unwrap();
        let sizes: Vec<usize> = entries(&dir, 0).iter().map(|(_, name)| name.len()).collect();
        assert_eq!(sizes, [4096, 4096]);
    }

    #[test]
    fn a_full_file_is_sealed_and_its_names_are_forgotten() {
        let dir = ScratchDir::new();
        let mut names = Names::new(7, 80, 2);
        let file = Named::of(CATEGORY_FILE);
        let ids: Vec<u32> = ["/1", "/2", "/3", "/1"]
            .iter()
            .map(|name| names.id(dir.path(), file, name).unwrap())
            .collect();
        assert_eq!(ids, [1, 2, 3, 4]);
        assert_eq!(entries(&dir, 1), [(3, "/3".into()), (4, "/1".into())]);
        assert_eq!(std::fs::read(dir.path().join("dict-0")).unwrap()[DICTIONARY_SEALED], 1);
        assert_eq!(names.id(dir.path(), file, "/5"), Err(Errno::SHUTDOWN), "two files exist");
        std::fs::remove_file(dir.path().join("dict-0")).unwrap();
        names.refused = None; // a second later
        assert_eq!(names.id(dir.path(), file, "/5"), Ok(5));
        assert_eq!(entries(&dir, 2), [(5, "/5".into())]);
    }
}
