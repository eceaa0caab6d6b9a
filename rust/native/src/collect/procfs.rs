//! Processes as `/proc` shows them.

use std::fs;
use std::io::Read;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::OnceLock;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::model::ids;

/// What the command line of a JVM says it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Jvm {
    pub main: String,
    pub attempt: String,
    pub container: String,
}

/// The fields of `/proc/PID/stat` that matter here.
pub struct Stat {
    pub comm: String,
    pub parent: u32,
    /// Clock ticks since boot.
    pub start: u64,
    pub threads: u32,
    is_dead: bool,
}

/// Whether the process lives; with `start` (clock ticks), whether it is still the same one.
pub fn is_alive(pid: u32, start: Option<u64>) -> bool {
    stat(pid).is_some_and(|stat| !stat.is_dead && start.is_none_or(|start| start == stat.start))
}

/// A descriptor of the process, readable once its last thread has ended. `None` for one that has
/// ended, and where the kernel (before 5.3) or a sandbox has no such descriptors.
pub fn life(pid: u32, start: u64) -> Option<OwnedFd> {
    let life = pidfd_open(Pid::from_raw(pid.try_into().ok()?)?, PidfdFlags::empty()).ok()?;
    // asked last: it is of this process, not of one that got the pid later
    is_alive(pid, Some(start)).then_some(life)
}

/// Whether the process of a descriptor of [`life`] has ended.
pub fn is_over(life: BorrowedFd<'_>) -> bool {
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut [PollFd::from_borrowed_fd(life, PollFlags::IN)], Some(&now)).is_ok_and(|n| n > 0)
}

/// The pid that was given last, to a process or a thread; `None` where `/proc` does not say.
pub fn last_pid() -> Option<u32> {
    let mut line = [0; 256];
    let length = fs::File::open("/proc/loadavg").ok()?.read(&mut line).ok()?;
    let text = str::from_utf8(&line[..length]).ok()?;
    text.split_ascii_whitespace().nth(4)?.parse().ok()
}

/// Whether the kernel says which children a process has.
pub fn lists_children() -> bool {
    static LISTS: OnceLock<bool> = OnceLock::new();
    *LISTS.get_or_init(|| fs::exists("/proc/thread-self/children").unwrap_or(false))
}

/// Processes that the first thread of a process has started and that have not ended.
pub fn children(pid: u32) -> Vec<u32> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_ascii_whitespace().filter_map(|child| child.parse().ok()).collect()
}

/// Whether a process was started by another one, or by one that this one has started: while all of
/// them live.
pub fn descends(pid: u32, ancestor: u32, start: u64) -> bool {
    const MOST: usize = 64;
    let parents = std::iter::successors(stat(pid), |child| stat(child.parent));
    let is_it = |child: Stat| child.parent == ancestor;
    ancestor != 0 && parents.take(MOST).any(is_it) && is_alive(ancestor, Some(start))
}

/// When a process began, in clock ticks since boot.
#[cfg(test)]
pub fn started(pid: u32) -> Option<u64> {
    stat(pid).map(|stat| stat.start)
}

pub fn stat(pid: u32) -> Option<Stat> {
    // One read gets the whole line; what reads files to their end asks for size and end as well.
    let mut line = [0; 1024];
    let length = fs::File::open(format!("/proc/{pid}/stat")).ok()?.read(&mut line).ok()?;
    let text = String::from_utf8_lossy(&line[..length]);
    // the command's name may hold spaces and brackets
    let (head, fields) = text.rsplit_once(") ")?;
    let fields: Vec<&str> = fields.split(' ').collect();
    let threads: u32 = fields.get(17)?.parse().ok()?;
    let state = *fields.first()?;
    Some(Stat {
        comm: head.split_once('(')?.1.to_owned(),
        parent: fields.get(1)?.parse().ok()?,
        start: fields.get(19)?.parse().ok()?,
        threads,
        // a zombie with threads is a process whose first thread ended
        is_dead: matches!(state, "Z" | "X" | "x") && threads <= 1,
    })
}

/// Who a JVM is, from its command line; `None` where that cannot be read or has no main class.
pub fn jvm(pid: u32) -> Option<Jvm> {
    let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let line = String::from_utf8_lossy(&line);
    let arguments: Vec<&str> = line.split('\0').collect();
    let main = ids::main_class(arguments.iter().copied()).to_owned();
    if main.is_empty() {
        return None;
    }
    let attempt = arguments.iter().find(|argument| argument.starts_with("attempt_"));
    let container = arguments.iter().find_map(|argument| {
        let id = &argument[argument.find("container_")?..];
        let end = id.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        Some(id[..end.unwrap_or(id.len())].to_owned())
    });
    Some(Jvm {
        main,
        attempt: attempt.map(|attempt| (*attempt).to_owned()).unwrap_or_default(),
        container: container.unwrap_or_default(),
    })
}

/// The effective user.
pub fn uid(pid: u32) -> Option<u32> {
    status(pid, "Uid:", 1)
}

/// The process of a thread.
pub fn process(tid: u32) -> Option<u32> {
    status(tid, "Tgid:", 0)
}

/// The n-th number of a line of `/proc/PID/status`, whose name of the process may be any bytes.
fn status(pid: u32, name: &str, n: usize) -> Option<u32> {
    let status = fs::read(format!("/proc/{pid}/status")).ok()?;
    let status = String::from_utf8_lossy(&status);
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().nth(n)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_child_is_there_until_it_has_ended() {
        let parent = std::process::id();
        let before = last_pid().unwrap();
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let pid = child.id();
        let life = life(pid, started(pid).unwrap()).unwrap();

        assert_ne!(last_pid().unwrap(), before);
        assert!(!is_over(life.as_fd()) && super::life(pid, 0).is_none());
        let of_parent = fs::read_dir(format!("/proc/{parent}/task")).unwrap().flatten();
        let has_child = |text: String| text.split(' ').any(|word| word == pid.to_string());
        assert!(of_parent.map(|task| task.path().join("children")).any(|children| {
            !lists_children() || fs::read_to_string(children).is_ok_and(has_child)
        }));

        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(is_over(life.as_fd()) && children(pid).is_empty());
    }
}
