//! What users ask for: files `RUN.run` and `RUN.stop` in the directory `runs`, read by the owner of
//! the collector.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use iostrata_segment::schema::{CONTROL_ALL_REQUESTS, LEVEL_JOB, LEVEL_RECORD, level_name};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, fstat, openat, statat, unlinkat};

use super::trouble::log;
use crate::clock::{MS, SECOND};
use crate::listing::{Freshness, list};
use crate::model::ids;
use crate::model::run::RunOrder;
use crate::users;

const MAX_ORDER: u64 = 64 << 10;
/// Characters of a wrong value that are shown.
const SHOWN: usize = 20;

/// The files that are there, and which of them nobody looks at again.
#[derive(Debug, Default)]
pub struct Orders {
    freshness: Freshness,
    /// Somebody says when there are new ones.
    is_told: bool,
    looked: u64,
    pub rejected: u64,
}

impl Orders {
    /// `is_told`: [`Orders::hurry`] is called for each that is new.
    pub fn new(is_told: bool) -> Orders {
        Orders { is_told, ..Orders::default() }
    }

    /// There are new ones.
    pub fn hurry(&mut self) {
        self.looked = 0;
    }

    /// Names of the runs that are asked for, and of those to be stopped; `None` between two looks.
    pub fn look(&mut self, runs: BorrowedFd<'_>, now: u64) -> Option<(Vec<String>, Vec<String>)> {
        let often = if self.is_told { SECOND } else { 200 * MS };
        let is_due = now - self.looked >= often;
        if !is_due && (self.is_told || !self.freshness.changed(runs)) {
            return None;
        }
        self.looked = now;
        let names = list(runs);
        let of = |end| names.iter().filter_map(move |name| name.strip_suffix(end));
        Some((of(".run").map(str::to_owned).collect(), of(".stop").map(str::to_owned).collect()))
    }

    /// Its files go, so that the name is free for others.
    pub fn reject(&mut self, runs: BorrowedFd<'_>, run: &str, reason: &str) {
        self.rejected += 1;
        log(&format!("rejected runs/{run}.run: {reason}"));
        remove(runs, run, &["run", "stop", "points"]);
    }
}

/// When the file was written; zero without one.
pub fn modified(runs: BorrowedFd<'_>, run: &str) -> (i64, u64) {
    let stat = statat(runs, format!("{run}.run"), AtFlags::SYMLINK_NOFOLLOW);
    stat.map_or((0, 0), |stat| (stat.st_mtime, stat.st_mtime_nsec))
}

/// Whether the owner of a run or root asks for its stop.
pub fn may_stop(runs: BorrowedFd<'_>, order: &RunOrder) -> bool {
    let stat = statat(runs, format!("{}.stop", order.run), AtFlags::SYMLINK_NOFOLLOW);
    stat.is_ok_and(|stat| stat.st_uid == order.uid || stat.st_uid == 0)
}

/// Removes files of a run: those that end in `.run`, `.stop`, `.points`.
pub fn remove(runs: impl AsFd, run: &str, ends: &[&str]) {
    for end in ends {
        let _ = unlinkat(&runs, format!("{run}.{end}"), AtFlags::empty());
    }
}

/// Reads the file `NAME.run` of the directory `runs`.
///
/// # Errors
///
/// Why it is rejected, in one line.
pub fn read(runs: BorrowedFd<'_>, name: &str, now: u64) -> Result<RunOrder, String> {
    if !ids::is_run_name(name) {
        return Err("the name is not [A-Za-z0-9][A-Za-z0-9._-]{0,63}".into());
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = openat(runs, format!("{name}.run"), flags, Mode::empty());
    let file = file.map_err(|errno| errno.to_string())?;
    let stat = fstat(&file).map_err(|errno| errno.to_string())?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || stat.st_nlink != 1 {
        return Err("not a regular file with one name".into());
    }
    let own = rustix::process::geteuid();
    if !own.is_root() && stat.st_uid != own.as_raw() {
        return Err(format!("belongs to uid={}", stat.st_uid));
    }
    let text = io::read_to_string(io::Read::take(File::from(file), MAX_ORDER));
    let text = text.map_err(|error| error.to_string())?;
    let has_points = statat(runs, format!("{name}.points"), AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|points| points.st_uid == stat.st_uid);
    Ok(RunOrder { has_points, ..parse(name, stat.st_uid, &text, now)? })
}

/// Says so where an order is longer than what is read of its file.
pub fn check_size(text: &str) -> Result<(), String> {
    let most = MAX_ORDER;
    if text.len() as u64 <= most {
        Ok(())
    } else {
        Err(format!("an order has at most {most} bytes"))
    }
}

/// The begin of what somebody wrote, in one line.
pub fn shown(text: &str) -> String {
    format!("{:?}", text.chars().take(SHOWN).collect::<String>())
}

/// What the text of a file `NAME.run` of `uid` asks for.
///
/// # Errors
///
/// Why it is rejected, in one line.
pub fn parse(name: &str, uid: u32, text: &str, now: u64) -> Result<RunOrder, String> {
    let values = |key: &'static str| {
        text.lines().filter_map(move |line| line.strip_prefix(key)?.strip_prefix('='))
    };
    let number = |key| values(key).next().and_then(|value| value.parse::<u64>().ok());
    let expect = values("expect").filter_map(|value| {
        let (role, pid) = value.split_once(':')?;
        Some((role.to_owned(), pid.parse().ok()?))
    });
    Ok(RunOrder {
        run: name.to_owned(),
        uid,
        user: users::name_of(uid),
        recorder_pid: number("recorder_pid").unwrap_or(0) as u32,
        recorder_start: number("recorder_start").unwrap_or(0),
        expect: expect.collect(),
        points_off: points_off(uid, values("points_off"))?,
        level: values("level").next().map_or(Ok(LEVEL_RECORD), level)?,
        sampling: values("sampling").next().map_or(Ok(0), sampling)?,
        budget: number("budget").unwrap_or(0).min(u64::from(u32::MAX)) as u32,
        has_points: false,
        devices: number("devices") == Some(1),
        now,
        ended: false,
        message: String::new(),
    })
}

fn level(name: &str) -> Result<u8, String> {
    (LEVEL_RECORD..=LEVEL_JOB)
        .find(|code| level_name(*code) == Some(name))
        .ok_or_else(|| format!("level {} is none of record, thread, phase, task, job", shown(name)))
}

/// Of a billion requests, how many are recorded individually; 0: all.
fn sampling(text: &str) -> Result<u32, String> {
    let all = CONTROL_ALL_REQUESTS as u32;
    let number = text.parse().ok().filter(|number| *number <= all);
    let number = number.ok_or_else(|| format!("sampling {} is not 0 to {all}", shown(text)))?;
    Ok(if number == all { 0 } else { number })
}

/// Points are off for every run of the node, so only its owner may ask for that.
fn points_off<'a>(uid: u32, values: impl Iterator<Item = &'a str>) -> Result<Vec<u16>, String> {
    let points: Vec<u16> = values.filter_map(|value| value.parse().ok()).collect();
    if points.is_empty() || uid == 0 || uid == rustix::process::geteuid().as_raw() {
        return Ok(points);
    }
    Err("only the collector's own user may switch points off, for they are off for all".into())
}

#[cfg(test)]
mod tests {
    use super::sampling;

    #[test]
    fn a_share_of_requests_is_one_or_rejected() {
        assert_eq!(
            ["0", "1", "10000000", "1000000000"].map(sampling).map(Result::unwrap),
            [0, 1, 10_000_000, 0]
        );
        for bad in ["", "-1", "1000000001", "1/100", "all"] {
            assert!(sampling(bad).unwrap_err().contains(bad), "{bad}");
        }
    }
}
