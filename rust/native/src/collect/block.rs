//! Blocks: what the collector read, framed and checked, in the order it read it.
//!
//! ```text
//! ┌───────┬──────┬──────┬─────┬─────────┐
//! │ magic │ kind │ size │ crc │ payload │   16 bytes of header; crc over kind, size and payload
//! └───────┴──────┴──────┴─────┴─────────┘
//! ```

use std::io::{self, Read};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::model::process::Origin;

const MAGIC: u32 = 0x6b6c_626f;
const HEADER: usize = 16;

/// What a block says. The numbers stand in spool files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum BlockKind {
    /// JSON [`crate::model::state::Snapshot`]: the state is this and nothing else.
    Snapshot = 1,
    /// The snapshot and what belongs to it is complete.
    Ready = 2,
    /// JSON [`crate::model::process::ProcessInfo`]: a process was found.
    Process = 3,
    /// proc, then dictionary records as they stand in the file; see [`NamesHead`].
    Names = 4,
    /// [`Origin`], then slots.
    Slots = 5,
    /// [`Origin`], then rows; see [`RowsHead`].
    Rows = 6,
    /// [`Origin`]: read to its end.
    Drained = 7,
    /// [`Origin`], then open spans.
    Open = 8,
    /// JSON [`crate::model::page::PageReading`].
    Page = 9,
    /// JSON [`EndBlock`].
    End = 10,
    /// JSON [`crate::model::run::RunOrder`].
    Run = 11,
    /// JSON [`crate::model::run::UntracedProcess`].
    Untraced = 12,
    /// As Rows, but of a snapshot: what was counted before, no news.
    Base = 13,
    /// JSON [`crate::host::Reading`].
    Host = 14,
    /// JSON [`crate::model::requests::RequestCounts`].
    Requests = 15,
}

pub const KINDS: [BlockKind; 15] = [
    BlockKind::Snapshot,
    BlockKind::Ready,
    BlockKind::Process,
    BlockKind::Names,
    BlockKind::Slots,
    BlockKind::Rows,
    BlockKind::Drained,
    BlockKind::Open,
    BlockKind::Page,
    BlockKind::End,
    BlockKind::Run,
    BlockKind::Untraced,
    BlockKind::Base,
    BlockKind::Host,
    BlockKind::Requests,
];

/// Bytes of an [`Origin`].
pub const ORIGIN: usize = 48;

impl Origin {
    pub fn append_to(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.proc.to_le_bytes());
        out.extend_from_slice(&self.serial.to_le_bytes());
        out.extend_from_slice(&self.epoch.to_le_bytes());
        out.extend_from_slice(&self.tid.to_le_bytes());
        out.extend_from_slice(&self.thread_name.to_le_bytes());
        out.extend_from_slice(&self.chain.to_le_bytes());
        out.extend_from_slice(&self.from.to_le_bytes());
        out.extend_from_slice(&self.now.to_le_bytes());
    }

    /// The origin and what follows it.
    pub fn split(payload: &[u8]) -> Option<(Origin, &[u8])> {
        let (head, rest) = payload.split_at_checked(ORIGIN)?;
        let origin = Origin {
            proc: u64_at(head, 0),
            serial: u32_at(head, 8),
            epoch: u32_at(head, 12),
            tid: u64_at(head, 16),
            thread_name: u32_at(head, 24),
            chain: u32_at(head, 28),
            from: u64_at(head, 32),
            now: u64_at(head, 40),
        };
        Some((origin, rest))
    }
}

/// Begins the payload of a Rows block after its origin: cumulative losses of the epoch.
pub struct RowsHead {
    pub gaps: u64,
    pub collapsed: u64,
}

impl RowsHead {
    pub fn append_to(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.gaps.to_le_bytes());
        out.extend_from_slice(&self.collapsed.to_le_bytes());
    }

    pub fn split(payload: &[u8]) -> Option<(RowsHead, &[u8])> {
        let (head, rest) = payload.split_at_checked(16)?;
        Some((RowsHead { gaps: u64_at(head, 0), collapsed: u64_at(head, 8) }, rest))
    }
}

/// Begins the payload of a Names block.
pub struct NamesHead {
    pub proc: u64,
    /// Dictionary file the records come from, and the bytes of it that are known with them.
    pub number: u32,
    pub used: u32,
}

impl NamesHead {
    pub fn append_to(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.proc.to_le_bytes());
        out.extend_from_slice(&self.number.to_le_bytes());
        out.extend_from_slice(&self.used.to_le_bytes());
    }

    pub fn split(payload: &[u8]) -> Option<(NamesHead, &[u8])> {
        let (head, rest) = payload.split_at_checked(16)?;
        Some((
            NamesHead { proc: u64_at(head, 0), number: u32_at(head, 8), used: u32_at(head, 12) },
            rest,
        ))
    }
}

/// A process is dead and read to its end, or rejected.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EndBlock {
    pub proc: u64,
    pub now: u64,
    /// Why nothing of it was read; empty when it was.
    #[serde(rename = "refused")]
    pub rejection: String,
}

/// Appends one framed block whose payload `fill` writes.
pub fn push(out: &mut Vec<u8>, kind: BlockKind, fill: impl FnOnce(&mut Vec<u8>)) {
    let begin = out.len();
    out.extend_from_slice(&[0; HEADER]);
    fill(out);
    let size = (out.len() - begin - HEADER) as u32;
    let (header, payload) = out[begin..].split_at_mut(HEADER);
    header[..4].copy_from_slice(&MAGIC.to_le_bytes());
    header[4..8].copy_from_slice(&(kind as u32).to_le_bytes());
    header[8..12].copy_from_slice(&size.to_le_bytes());
    let crc = checksum(&header[4..12], payload);
    header[12..].copy_from_slice(&crc.to_le_bytes());
}

pub fn push_json(out: &mut Vec<u8>, kind: BlockKind, value: &impl Serialize) {
    push(out, kind, |out| {
        // maps with string keys and plain values only: cannot fail
        serde_json::to_writer(out, value).expect("state serializes to JSON");
    });
}

pub fn json<T: DeserializeOwned>(payload: &[u8]) -> Option<T> {
    serde_json::from_slice(payload).ok()
}

/// What a header says: kind and size of the payload that follows it, and its checksum.
struct Header {
    kind: BlockKind,
    size: usize,
    crc: u32,
}

impl Header {
    fn parse(header: &[u8]) -> Option<Header> {
        let code = u32_at(header, 4);
        let is_header = u32_at(header, 0) == MAGIC;
        let kind = KINDS.into_iter().find(|kind| is_header && *kind as u32 == code)?;
        Some(Header { kind, size: u32_at(header, 8) as usize, crc: u32_at(header, 12) })
    }
}

/// The blocks that `bytes` begin with, up to the first that is damaged or incomplete.
pub fn blocks(bytes: &[u8]) -> impl Iterator<Item = (BlockKind, &[u8])> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let (header, after) = rest.split_at_checked(HEADER)?;
        let Header { kind, size, crc } = Header::parse(header)?;
        let (payload, after) = after.split_at_checked(size)?;
        rest = after;
        (checksum(&header[4..12], payload) == crc).then_some((kind, payload))
    })
}

/// Gives `each` the blocks of a file up to the first that is damaged or incomplete, one after the
/// other: a file may be larger than memory. Bytes of those.
pub fn read_blocks(mut file: impl Read, mut each: impl FnMut(BlockKind, &[u8])) -> io::Result<u64> {
    let (mut good, mut header, mut payload) = (0, Vec::new(), Vec::new());
    loop {
        header.clear();
        file.by_ref().take(HEADER as u64).read_to_end(&mut header)?;
        let parsed = Some(&header).filter(|header| header.len() == HEADER);
        let Some(Header { kind, size, crc }) = parsed.and_then(|header| Header::parse(header))
        else {
            return Ok(good);
        };
        payload.clear();
        file.by_ref().take(size as u64).read_to_end(&mut payload)?;
        if payload.len() != size || checksum(&header[4..12], &payload) != crc {
            return Ok(good);
        }
        good += (HEADER + size) as u64;
        each(kind, &payload);
    }
}

fn checksum(header: &[u8], payload: &[u8]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(header);
    crc.update(payload);
    crc.finalize()
}

pub fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap_or_default())
}

pub fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_or_flipped_block_ends_the_file_before_it() {
        let mut file = Vec::new();
        push(&mut file, BlockKind::Ready, |out| out.extend_from_slice(b"first"));
        let whole = file.len();
        push(&mut file, BlockKind::Drained, |out| out.extend_from_slice(b"second"));

        let read = |bytes: &[u8]| {
            let mut read = Vec::new();
            let good = read_blocks(bytes, |kind, payload| read.push((kind, payload.to_vec())));
            let same = blocks(bytes).map(|(kind, payload)| (kind, payload.to_vec()));
            assert_eq!(same.collect::<Vec<_>>(), read);
            (read, good.unwrap())
        };
        let first = (vec![(BlockKind::Ready, b"first".to_vec())], whole as u64);
        for cut in whole..file.len() {
            assert_eq!(read(&file[..cut]), first);
        }
        for flip in whole..file.len() {
            let mut damaged = file.clone();
            damaged[flip] ^= 4;
            assert_eq!(read(&damaged), first, "byte {flip}");
        }
        assert_eq!(read(&file).0.len(), 2);
    }
}
