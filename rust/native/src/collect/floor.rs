//! A disk is never filled: below a floor of free space nothing more is written.

use std::io;
use std::os::fd::AsFd;

use rustix::fs::fstatvfs;

/// On a large disk a share of it is more than anybody needs.
const MOST: u64 = 10 << 30;

/// How much of a file system stays free: a share of 1, and no more than 10 GiB.
#[derive(Debug, Clone, Copy)]
pub struct Floor(pub f64);

impl Floor {
    /// An error in words where the file system of `file` would have less free space than that once
    /// `more` bytes were written.
    pub fn check(self, file: impl AsFd, more: u64) -> io::Result<()> {
        let found = fstatvfs(file)?;
        let (free, all) = (found.f_bavail * found.f_frsize, found.f_blocks * found.f_frsize);
        let allowed = self.allows(free, more, all);
        allowed.map_err(|why| io::Error::new(io::ErrorKind::StorageFull, why))
    }

    /// Bytes that may be written to the file system of `file`; 0 where that is not known.
    pub fn room(self, file: impl AsFd) -> u64 {
        let Ok(found) = fstatvfs(file) else { return 0 };
        let (free, all) = (found.f_bavail * found.f_frsize, found.f_blocks * found.f_frsize);
        free.saturating_sub(self.of(all))
    }

    /// What is to stay free of `all` bytes.
    fn of(self, all: u64) -> u64 {
        ((all as f64 * self.0) as u64).min(MOST)
    }

    fn allows(self, free: u64, more: u64, all: u64) -> Result<(), String> {
        let floor = self.of(all);
        if free >= floor + more {
            return Ok(());
        }
        let percent = self.0 * 100.0;
        let and = if more == 0 { String::new() } else { format!(" and {}", bytes(more)) };
        Err(format!(
            "{} of {} are free, less than the floor of {} ({percent}% or 10 GiB){and}: free some \
             space",
            bytes(free),
            bytes(all),
            bytes(floor)
        ))
    }
}

/// A share in percent, such as `5%`.
pub fn parse(text: &str) -> Result<Floor, String> {
    let share = text.strip_suffix('%').and_then(|number| number.parse::<f64>().ok());
    let share = share.filter(|share| (0.0..100.0).contains(share));
    share.map(|share| Floor(share / 100.0)).ok_or_else(|| "expected a share like 5%".into())
}

/// In binary units, with one digit behind the point.
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let mut value = count as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_stays_free_and_of_large_disks_less() {
        let floor = parse("5%").unwrap();
        assert_eq!(floor.allows(50 << 20, 0, 1000 << 20), Ok(()));
        assert_eq!(
            floor.allows(49 << 20, 0, 1000 << 20).unwrap_err(),
            "49.0 MiB of 1000.0 MiB are free, less than the floor of 50.0 MiB (5% or 10 GiB): \
             free some space"
        );
        assert_eq!(
            floor.allows(51 << 20, 2 << 20, 1000 << 20).unwrap_err(),
            "51.0 MiB of 1000.0 MiB are free, less than the floor of 50.0 MiB (5% or 10 GiB) and \
             2.0 MiB: free some space"
        );
        assert_eq!(floor.allows(11 << 30, 1 << 30, 1 << 40), Ok(()));
        assert_eq!(parse("0%").unwrap().allows(0, 0, 1 << 40), Ok(()));
        for wrong in ["5", "%", "-1%", "100%", "five%"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
