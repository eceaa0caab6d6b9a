//! How long a JVM took to load classes, by the counters that it keeps for jstat.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// The folder `hsperfdata_USER` has a file for each JVM, which the JVM has mapped.
const FOLDER: &str = "/hsperfdata_";
const MAGIC: [u8; 4] = [0xca, 0xfe, 0xc0, 0xc0];
/// Of the byte order of all numbers behind it.
const LITTLE: u8 = 1;
/// A JVM has 32 KiB of counters unless it is given more.
const MOST_BYTES: u64 = 1 << 20;
/// Ticks a second.
const FREQUENCY: &str = "sun.os.hrt.frequency";
/// Ticks, each without what the others have: finding, reading and defining classes by the JVM's own
/// loader and by those in Java, linking and verifying. Running what is in `static` is left out.
const TIMES: [&str; 6] = [
    "sun.cls.time",
    "sun.cls.appClassLoadTime.self",
    "sun.cls.defineAppClassTime.self",
    "sun.cls.parseClassTime.self",
    "sun.cls.classLinkedTime.self",
    "sun.cls.classVerifyTime.self",
];

/// While something was recorded, ns.
#[derive(Debug, Default)]
pub(super) struct LoadingAccount {
    counters: Option<Counters>,
    sum: u64,
    /// What the counters said when the window began; `None` outside of a recording.
    before: Option<u64>,
}

impl LoadingAccount {
    /// Looks for the counters, in the text of `/proc/self/maps`.
    pub fn find(&mut self, maps: &str) {
        if self.counters.is_none() {
            self.counters = path(maps).and_then(|path| Counters::of(File::open(path).ok()?));
        }
    }

    /// A window ends, and the next one begins if `records`. 0: not known.
    pub fn look(&mut self, records: bool) -> u64 {
        let now = self.counters.as_ref().and_then(Counters::nanos);
        if let (Some(before), Some(now)) = (self.before, now) {
            self.sum = self.sum.saturating_add(now.saturating_sub(before));
        }
        self.before = now.filter(|_| records);
        self.sum
    }
}

fn path(maps: &str) -> Option<&str> {
    let line = maps.lines().find(|line| line.contains(FOLDER))?;
    Some(&line[line.find('/')?..])
}

/// The file of a JVM, read and never mapped: whoever cuts it short must not end the host.
#[derive(Debug)]
struct Counters {
    file: File,
    /// Where each of [`TIMES`] stands that this JVM has.
    at: Vec<u64>,
    ticks_a_second: u64,
}

impl Counters {
    fn of(file: File) -> Option<Counters> {
        let size = file.metadata().ok()?.len().min(MOST_BYTES);
        let mut bytes = vec![0; size as usize];
        file.read_exact_at(&mut bytes, 0).ok()?;
        let entries = Entries::of(&bytes)?;
        let ticks_a_second = number(&bytes, entries.find(FREQUENCY)?)?;
        let at: Vec<u64> =
            TIMES.iter().filter_map(|name| entries.find(name)).map(|at| at as u64).collect();
        (ticks_a_second > 0 && !at.is_empty()).then_some(Counters { file, at, ticks_a_second })
    }

    fn nanos(&self) -> Option<u64> {
        let mut ticks = 0_u64;
        for at in &self.at {
            let mut bytes = [0; 8];
            self.file.read_exact_at(&mut bytes, *at).ok()?;
            ticks = ticks.saturating_add(u64::from_le_bytes(bytes));
        }
        let nanos = u128::from(ticks) * 1_000_000_000 / u128::from(self.ticks_a_second);
        u64::try_from(nanos).ok()
    }
}

/// Of `PerfDataEntry` in `perfMemory.hpp` of the JVM, from version 2.0 on.
struct Entries<'a> {
    bytes: &'a [u8],
    first: usize,
    count: usize,
}

impl Entries<'_> {
    fn of(bytes: &[u8]) -> Option<Entries<'_>> {
        let is_known = bytes.get(..4)? == MAGIC && bytes.get(4) == Some(&LITTLE);
        let (first, count) = (int(bytes, 24)?, int(bytes, 28)?);
        is_known.then_some(Entries { bytes, first, count })
    }

    /// Where the number of this name stands.
    fn find(&self, name: &str) -> Option<usize> {
        let mut at = self.first;
        for _ in 0..self.count {
            let length = int(self.bytes, at)?;
            let named = self.bytes.get(at.checked_add(int(self.bytes, at + 4)?)?..)?;
            if named.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.first() == Some(&0)) {
                return at.checked_add(int(self.bytes, at + 16)?);
            }
            at = at.checked_add(length.max(1))?;
        }
        None
    }
}

fn int(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    usize::try_from(i32::from_le_bytes(bytes.try_into().ok()?)).ok()
}

fn number(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(8)?)?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use rustix::fs::{MemfdFlags, memfd_create};

    use super::*;

    /// A file as a JVM writes it, of counters and their values.
    fn file(counters: &[(&str, u64)]) -> File {
        let mut bytes = vec![0; 32];
        bytes[..8].copy_from_slice(&[0xca, 0xfe, 0xc0, 0xc0, LITTLE, 2, 0, 1]);
        bytes[24..28].copy_from_slice(&32_i32.to_le_bytes());
        bytes[28..32].copy_from_slice(&(counters.len() as i32).to_le_bytes());
        for (name, value) in counters {
            let data = (20 + name.len() + 1).next_multiple_of(8);
            let mut entry = vec![0; data + 8];
            for (at, field) in [(0, data + 8), (4, 20), (16, data)] {
                entry[at..at + 4].copy_from_slice(&(field as i32).to_le_bytes());
            }
            entry[12] = b'J';
            entry[20..20 + name.len()].copy_from_slice(name.as_bytes());
            entry[data..].copy_from_slice(&value.to_le_bytes());
            bytes.extend(entry);
        }
        let file = File::from(memfd_create(c"counters", MemfdFlags::CLOEXEC).unwrap());
        file.write_all_at(&bytes, 0).unwrap();
        file
    }

    const USUAL: [(&str, u64); 5] = [
        ("sun.cls.time.other", 1),
        ("sun.cls.time", 3000),
        ("sun.cls.classInitTime.self", 70),
        (FREQUENCY, 1_000_000),
        ("sun.cls.classVerifyTime.self", 500),
    ];

    #[test]
    fn only_times_of_loading_are_added_up() {
        let counters = Counters::of(file(&USUAL)).unwrap();
        assert_eq!(counters.nanos(), Some(3_500_000));
    }

    #[test]
    fn what_was_loaded_before_the_recording_is_left_out() {
        let counters = Counters::of(file(&USUAL)).unwrap();
        let at = counters.at[0];
        let set = |account: &LoadingAccount, ticks: u64| {
            let file = &account.counters.as_ref().unwrap().file;
            file.write_all_at(&ticks.to_le_bytes(), at).unwrap();
        };
        let mut account = LoadingAccount { counters: Some(counters), ..LoadingAccount::default() };
        assert_eq!(account.look(true), 0);
        set(&account, 3002);
        assert_eq!(account.look(false), 2000);
        set(&account, 4000);
        assert_eq!(account.look(true), 2000);
        set(&account, 4001);
        assert_eq!(account.look(true), 3000);
    }

    #[test]
    fn a_file_that_is_none_says_nothing() {
        assert!(Counters::of(file(&USUAL[..3])).is_none());
        let bytes = std::fs::read("/proc/self/exe").unwrap();
        for cut in [0, 3, 4, 31, 32, 4096] {
            assert!(Entries::of(&bytes[..cut]).is_none(), "{cut}");
        }
        let mut cut = vec![0; 33];
        cut[..8].copy_from_slice(&[0xca, 0xfe, 0xc0, 0xc0, LITTLE, 2, 0, 1]);
        cut[24] = 32;
        cut[28] = 9;
        assert!(Entries::of(&cut).unwrap().find("a").is_none());
        cut[24..28].copy_from_slice(&i32::MAX.to_le_bytes());
        assert!(Entries::of(&cut).unwrap().find("a").is_none());
    }

    #[test]
    fn the_file_is_found_among_what_is_mapped() {
        let maps = "7f0000-7f8000 rw-s 00000000 08:01 12 /tmp/hsperfdata_a b/77\n7f r /lib/x\n";
        assert_eq!(path(maps), Some("/tmp/hsperfdata_a b/77"));
        assert_eq!(path("7f r /lib/x\n"), None);
    }
}
