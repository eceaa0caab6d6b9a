//! What a run asks for: the file `RUN.run`, read by the owner of the collector, written by a user.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::BorrowedFd;

use iostrata_segment::control::Detail;
use iostrata_segment::process::Cost;
use iostrata_segment::schema::{CONTROL_ALL_REQUESTS, LEVEL_JOB, LEVEL_RECORD, level_name};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, fstat, openat, statat};
use serde::{Deserialize, Serialize};

use super::{ids, log};
use crate::users;

const MAX_ORDER: u64 = 64 << 10;

/// What a run asks for, and its end.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunOrder {
    pub run: String,
    pub uid: u32,
    pub user: String,
    pub recorder_pid: u32,
    pub recorder_start: u64,
    pub expect: Vec<(String, u32)>,
    /// Points that are off in all processes while the run is on.
    pub points_off: Vec<u16>,
    // How much of it is kept one by one: see `Detail`.
    pub level: u8,
    pub sampling: u32,
    #[serde(default)]
    pub budget: u32,
    /// It brings points of its own, `RUN.points`.
    #[serde(default)]
    pub has_points: bool,
    pub now: u64,
    pub ended: bool,
    pub message: String,
}

impl RunOrder {
    /// Reads the file `NAME.run` of the directory `runs`.
    ///
    /// # Errors
    ///
    /// Why it is refused, in one line.
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
            uid: stat.st_uid,
            user: users::name_of(stat.st_uid),
            recorder_pid: number("recorder_pid").unwrap_or(0) as u32,
            recorder_start: number("recorder_start").unwrap_or(0),
            expect: expect.collect(),
            points_off: points_off(name, stat.st_uid, values("points_off")),
            level: values("level").next().map_or(Ok(LEVEL_RECORD), level)?,
            sampling: values("sampling").next().map_or(Ok(0), sampling)?,
            budget: number("budget").unwrap_or(0).min(u64::from(u32::MAX)) as u32,
            has_points: statat(runs, points_of(name), AtFlags::SYMLINK_NOFOLLOW)
                .is_ok_and(|points| points.st_uid == stat.st_uid),
            now,
            ended: false,
            message: String::new(),
        })
    }

    #[must_use]
    pub fn detail(&self) -> Detail {
        Detail { level: self.level, sampling: self.sampling, budget: self.budget }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Run {
    pub order: RunOrder,
    /// When it began, `CLOCK_MONOTONIC` ns.
    pub began: u64,
    /// Untraced candidates by pid and start of the process.
    pub seen: BTreeMap<String, Seen>,
    /// Rows and bytes of parts published so far.
    pub rows: u64,
    pub bytes: u64,
    /// What processes had said when it began: of their costs, and of points only summed.
    #[serde(default)]
    pub before: BTreeMap<u64, Before>,
}

/// What a process had said before a run.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Before {
    pub cost: Cost,
    pub summed: Vec<(u16, u16)>,
}

/// A process that should be traced, found in `/proc` or expected by the recorder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    pub run: String,
    pub pid: u32,
    pub pid_start: u64,
    pub uid: u32,
    pub role: String,
    pub main: String,
    pub job: String,
    pub task: String,
    pub container: String,
    pub reason: String,
    /// As in [`super::state::Known`].
    #[serde(default)]
    pub host: Option<String>,
    pub now: u64,
    /// When it was no longer there, 0 before.
    pub end: u64,
}

impl Seen {
    pub fn key(&self) -> String {
        Self::key_of(self.pid, self.pid_start)
    }

    pub fn key_of(pid: u32, start: u64) -> String {
        format!("{pid}-{start}")
    }
}

fn level(name: &str) -> Result<u8, String> {
    (LEVEL_RECORD..=LEVEL_JOB)
        .find(|code| level_name(*code) == Some(name))
        .ok_or_else(|| format!("level {name:?} is none of record, thread, phase, task, job"))
}

/// Of a billion requests, how many are kept one by one; 0: all.
fn sampling(text: &str) -> Result<u32, String> {
    let all = CONTROL_ALL_REQUESTS as u32;
    let number = text.parse().ok().filter(|number| *number <= all);
    let number = number.ok_or_else(|| format!("sampling {text:?} is not 0 to {all}"))?;
    Ok(if number == all { 0 } else { number })
}

/// The file with the points that a run brings.
pub fn points_of(run: &str) -> String {
    format!("{run}.points")
}

/// Points are off for every run of the node, so only its owner may ask for that.
fn points_off<'a>(name: &str, uid: u32, values: impl Iterator<Item = &'a str>) -> Vec<u16> {
    let points: Vec<u16> = values.filter_map(|value| value.parse().ok()).collect();
    if points.is_empty() || uid == 0 || uid == rustix::process::geteuid().as_raw() {
        return points;
    }
    log(&format!("run {name} of uid={uid} may not switch points off: points={points:?}"));
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::sampling;

    #[test]
    fn a_share_of_requests_is_one_or_refused() {
        assert_eq!(
            ["0", "1", "10000000", "1000000000"].map(sampling).map(Result::unwrap),
            [0, 1, 10_000_000, 0]
        );
        for bad in ["", "-1", "1000000001", "1/100", "all"] {
            assert!(sampling(bad).unwrap_err().contains(bad), "{bad}");
        }
    }
}
