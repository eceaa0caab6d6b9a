//! Hashes that are the same in every process, version and engine: ids of nodes are made of them.

use std::hash::{BuildHasherDefault, Hasher};

/// FNV-1a of 64 bits.
pub fn text(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Of a pair whose order matters: the last step of `SplitMix64`.
pub fn pair(first: u64, second: u64) -> u64 {
    let mixed = first.rotate_left(23).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ second;
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Of a function.
pub fn function(layer: &str, op: &str) -> u64 {
    pair(text(layer), text(op))
}

/// A map whose keys are few integers: several times faster than the default one.
pub type Map<K, V> = std::collections::HashMap<K, V, BuildHasherDefault<Integers>>;

#[derive(Default)]
pub struct Integers(u64);

impl Hasher for Integers {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value));
    }

    fn write_u16(&mut self, value: u16) {
        self.write_u64(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = pair(self.0, value);
    }

    fn write_i64(&mut self, value: i64) {
        self.write_u64(value as u64);
    }
}
