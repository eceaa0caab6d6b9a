//! Blocks: what the collector read, framed and checked, in the order it read it.
//!
//! ```text
//! ┌───────┬──────┬──────┬─────┬─────────┐
//! │ magic │ kind │ size │ crc │ payload │   16 bytes of header; crc over kind, size and payload
//! └───────┴──────┴──────┴─────┴─────────┘
//! ```

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
    /// JSON [`crate::model::process::PageReading`].
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
}

pub const KINDS: [BlockKind; 14] = [
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

/// The blocks of a file up to the first that is damaged or incomplete.
pub struct Blocks<'a> {
    bytes: &'a [u8],
    /// Bytes of whole blocks so far.
    pub good: usize,
}

impl<'a> Blocks<'a> {
    pub fn of(bytes: &'a [u8]) -> Self {
        Blocks { bytes, good: 0 }
    }
}

impl<'a> Iterator for Blocks<'a> {
    type Item = (BlockKind, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (header, rest) = self.bytes[self.good..].split_at_checked(HEADER)?;
        let code = u32_at(header, 4);
        let payload = rest.get(..u32_at(header, 8) as usize)?;
        let is_whole =
            u32_at(header, 0) == MAGIC && u32_at(header, 12) == checksum(&header[4..12], payload);
        let kind = KINDS.into_iter().find(|kind| is_whole && *kind as u32 == code)?;
        self.good += HEADER + payload.len();
        Some((kind, payload))
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

        for cut in whole..file.len() {
            let mut blocks = Blocks::of(&file[..cut]);
            assert_eq!(blocks.by_ref().collect::<Vec<_>>(), [(BlockKind::Ready, &b"first"[..])]);
            assert_eq!(blocks.good, whole);
        }
        for flip in whole..file.len() {
            let mut damaged = file.clone();
            damaged[flip] ^= 4;
            assert_eq!(Blocks::of(&damaged).count(), 1, "byte {flip}");
        }
        assert_eq!(Blocks::of(&file).count(), 2);
    }
}
