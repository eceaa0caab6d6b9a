//! Dictionary files: names that slots and rows refer to by id.

use crate::schema::{
    ENTRY_BLOCK, ENTRY_CATEGORY, ENTRY_GENERATION, ENTRY_ID, ENTRY_NAME, ENTRY_NAME_SIZE,
    ENTRY_PARENT, ENTRY_SIZE,
};

/// Bytes at which our writer cuts a name.
pub const MAX_NAME: usize = 16 * 1024;

/// One record. `block` and `generation` are -1 and `parent` is 0 where there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub id: u32,
    pub category: u8,
    pub parent: u32,
    pub block: i64,
    pub generation: i64,
    pub name: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("dictionary record at byte {at}: {what}")]
pub struct BadEntry {
    pub at: usize,
    pub what: &'static str,
}

/// Parses the records in `bytes`, which begin at a record; names are UTF-8, repaired where not.
///
/// Returns what was parsed and, if the bytes stop making sense, where: nothing after that can be
/// trusted, because a record's size says where the next one begins.
#[must_use]
pub fn parse(bytes: &[u8]) -> (Vec<Entry>, Option<BadEntry>) {
    let mut entries = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match parse_one(bytes, at) {
            Ok((entry, size)) => {
                entries.push(entry);
                at += size;
            }
            Err(bad) => return (entries, Some(bad)),
        }
    }
    (entries, None)
}

fn parse_one(bytes: &[u8], at: usize) -> Result<(Entry, usize), BadEntry> {
    let bad = |what| BadEntry { at, what };
    let record = bytes.get(at..).filter(|rest| rest.len() >= ENTRY_NAME);
    let record = record.ok_or(bad("shorter than its fixed part"))?;
    let size = u32_at(record, ENTRY_SIZE) as usize;
    let name_size = usize::from(u16_at(record, ENTRY_NAME_SIZE));
    if !size.is_multiple_of(8) || size < ENTRY_NAME + name_size {
        return Err(bad("sizes contradict each other"));
    }
    if size > record.len() {
        return Err(bad("reaches beyond the published bytes"));
    }
    let id = u32_at(record, ENTRY_ID);
    if id == 0 {
        return Err(bad("id 0 is reserved for none"));
    }
    let name = &record[ENTRY_NAME..ENTRY_NAME + name_size];
    let entry = Entry {
        id,
        category: record[ENTRY_CATEGORY],
        parent: u32_at(record, ENTRY_PARENT),
        block: u64_at(record, ENTRY_BLOCK) as i64,
        generation: u64_at(record, ENTRY_GENERATION) as i64,
        name: String::from_utf8_lossy(name).into_owned(),
    };
    Ok((entry, size))
}

impl Entry {
    /// Appends the record; a name beyond [`MAX_NAME`] bytes is cut at a character.
    pub fn append_to(&self, out: &mut Vec<u8>) {
        let mut name_size = self.name.len().min(MAX_NAME);
        while !self.name.is_char_boundary(name_size) {
            name_size -= 1;
        }
        let size = (ENTRY_NAME + name_size).next_multiple_of(8);
        let begin = out.len();
        out.extend_from_slice(&(size as u32).to_le_bytes());
        out.extend_from_slice(&self.id.to_le_bytes());
        out.extend_from_slice(&[self.category, 0]);
        out.extend_from_slice(&(name_size as u16).to_le_bytes());
        out.extend_from_slice(&self.parent.to_le_bytes());
        out.extend_from_slice(&self.block.to_le_bytes());
        out.extend_from_slice(&self.generation.to_le_bytes());
        out.extend_from_slice(&self.name.as_bytes()[..name_size]);
        out.resize(begin + size, 0);
    }
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap_or_default())
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap_or_default())
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap_or_default())
}
