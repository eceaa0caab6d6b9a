//! Child processes, which are not traced: what the kernel says of one when it has ended.

use std::io::Read;
use std::time::Duration;
use std::{fs, thread};

use rustix::io::Errno;
use rustix::param::clock_ticks_per_second;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use rustix::time::{ClockId, clock_gettime};

use super::Process;
use super::kernel::io;
use crate::memory::Memory;
use crate::process::Moved;
use crate::schema::{CATEGORY_CHILD, PROCESS_SEEN_CONTROL};

/// Fields 14 to 17 of `/proc/PID/stat`, counted from the one after the name: its own time as a user
/// and in the kernel, and that of the children that it has waited for.
const TIMES: std::ops::Range<usize> = 11..15;
/// Field 22, likewise: when it began, after boot.
const STARTED: usize = 19;
/// Characters of a name.
const MOST: usize = 200;
/// For a command line that is not there yet: 50 ms, in a thread that is about to wait.
const MOST_LOOKS: usize = 50;
/// Bytes of a command line that are read: a page, which the kernel hands over at once.
const MOST_ARGUMENTS: usize = 4096;
/// Words of a command line that are looked at.
const MOST_WORDS: usize = 8;
/// How names of scripts end.
const SCRIPTS: [&str; 11] = ["py", "sh", "bash", "pl", "rb", "awk", "R", "js", "lua", "php", "jar"];

impl Process {
    /// Waits until a child has ended, and leaves it to be waited for by whom it is for. What the
    /// kernel counted of it is written if something was recorded when it began and when it ended.
    ///
    /// For the thread that would wait for it next, and just as long.
    pub fn account_for_child(&self, pid: u32) {
        if !self.records() {
            return;
        }
        let folder = format!("/proc/{pid}");
        let (late, name) = (self.now(), name_of(&folder));
        let Some(exit) = wait(pid) else { return };
        let stat = text_in(&folder, "stat");
        if self.records() {
            let start = started(&stat).map_or(late, |start| start.min(late));
            self.write_child(pid, start, exit, &name, &stat);
        }
    }

    /// Likewise of a child that has ended and was not waited for yet, if it began after `since`.
    pub fn child_ended(&self, pid: u32, exit: i32, since: u64) {
        let folder = format!("/proc/{pid}");
        let stat = text_in(&folder, "stat");
        if let Some(latest) = started(&stat).filter(|latest| *latest >= since && self.records()) {
            let start = latest.saturating_sub(tick());
            self.write_child(pid, start, exit, &name_of(&folder), &stat);
        }
    }

    fn write_child(&self, pid: u32, start: u64, exit: i32, name: &str, stat: &str) {
        let Some(cpu) = cpu(stat) else { return };
        let (end, moved) = (self.now(), io(&text_in(&format!("/proc/{pid}"), "io")));
        let moved = moved.map_or_else(|| "\t\t\t".to_owned(), text_of);
        let text = format!("{pid}\t{start}\t{end}\t{cpu}\t{moved}\t{exit}\t{name}");
        self.name(CATEGORY_CHILD, &text);
    }

    /// What the agent has acknowledged is 0 while nothing is recorded.
    pub(super) fn records(&self) -> bool {
        !self.is_forked() && self.page.relaxed_u32(PROCESS_SEEN_CONTROL) != 0
    }
}

fn text_in(folder: &str, file: &str) -> String {
    fs::read_to_string(format!("{folder}/{file}")).unwrap_or_default()
}

fn text_of(moved: Moved) -> String {
    let Moved { read, written, disk_read, disk_written, .. } = moved;
    format!("{read}\t{written}\t{disk_read}\t{disk_written}")
}

/// The exit code, or less than 0: the signal. `None`: it is no child of this process, or somebody
/// has waited for it already.
fn wait(pid: u32) -> Option<i32> {
    let pid = Pid::from_raw(pid.cast_signed())?;
    loop {
        match waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
            Ok(ended) => {
                let ended = ended?;
                return ended.exit_status().or(ended.terminating_signal().map(|signal| -signal));
            }
            Err(Errno::INTR) => {}
            Err(_) => return None,
        }
    }
}

/// Clock ticks, of the text of `/proc/PID/stat`.
fn ticks(stat: &str, fields: std::ops::Range<usize>) -> Option<u64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let all: Vec<&str> = after_name.split_whitespace().collect();
    all.get(fields)?.iter().map(|field| field.parse::<u64>().ok()).sum()
}

/// ns of a clock tick.
fn tick() -> u64 {
    1_000_000_000 / clock_ticks_per_second().max(1)
}

/// ns, of the text of `/proc/PID/stat`.
fn cpu(stat: &str) -> Option<u64> {
    Some(ticks(stat, TIMES)?.saturating_mul(tick()))
}

/// When a process began at the latest, `CLOCK_MONOTONIC` ns, of the text of `/proc/PID/stat`.
fn started(stat: &str) -> Option<u64> {
    let ns = |clock| {
        let time = clock_gettime(clock);
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    };
    let asleep = ns(ClockId::Boottime).saturating_sub(ns(ClockId::Monotonic));
    let after_boot = (ticks(stat, STARTED..STARTED + 1)? + 1).saturating_mul(tick());
    Some(after_boot.saturating_sub(asleep))
}

/// Of a process that has just been started: its program, and the first argument that is named as
/// scripts are: others may be secrets. No file is looked for, since its file system may hang. Of a
/// process that has ended already 15 bytes of the program's name.
fn name_of(process: &str) -> String {
    let bytes = command_line(process);
    let line = String::from_utf8_lossy(&bytes);
    let mut words = line.split('\0').filter(|word| !word.is_empty());
    let Some(program) = words.next() else {
        return text_in(process, "comm").trim_end().replace(char::is_control, " ");
    };
    let script = words.take(MOST_WORDS).find(|word| is_script(last_of(word)));
    let names = [Some(program), script].into_iter().flatten().map(last_of);
    let name = names.collect::<Vec<_>>().join(" ").replace(char::is_control, " ");
    name.chars().take(MOST).collect()
}

/// Whoever starts a process may go on before the kernel has put down its arguments. Linux lets the
/// parent of `vfork` go on first and gives the child its own memory then: until that it has the
/// arguments of its parent, after it none, and the name is still that of the thread that started it.
/// None to the end: it has ended. Those of the parent to the end: it was started with the same.
fn command_line(process: &str) -> Vec<u8> {
    let own = arguments("/proc/self");
    for _ in 0..MOST_LOOKS {
        let bytes = arguments(process);
        let is_there = !bytes.is_empty() && bytes != own;
        if is_there || has_ended(&text_in(process, "stat")) {
            return bytes;
        }
        thread::sleep(Duration::from_millis(1));
    }
    arguments(process)
}

/// As far as names need them. By one call, since two may see two programs.
fn arguments(process: &str) -> Vec<u8> {
    let mut bytes = vec![0; MOST_ARGUMENTS];
    let file = fs::File::open(format!("{process}/cmdline"));
    let read = file.and_then(|mut file| file.read(&mut bytes)).unwrap_or(0);
    bytes.truncate(read);
    bytes
}

/// By the text of `/proc/PID/stat`, which is empty when nobody waits for it any more.
fn has_ended(stat: &str) -> bool {
    let state = stat.rsplit_once(')').map_or("X", |(_, after_name)| after_name.trim_start());
    state.starts_with(['Z', 'X'])
}

fn is_script(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let known = |(stem, end): (&str, &str)| !stem.is_empty() && SCRIPTS.contains(&end);
    name.rsplit_once('.').is_some_and(known) && name.bytes().all(is_plain)
}

fn last_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_child_that_has_ended_is_left_to_be_waited_for() {
        let mut child = Command::new("sh").args(["-c", "exit 7"]).spawn().unwrap();
        assert_eq!(wait(child.id()), Some(7));
        assert_eq!(child.wait().unwrap().code(), Some(7));
        assert_eq!(wait(child.id()), None);
    }

    #[test]
    fn a_signal_is_less_than_0() {
        let mut child = Command::new("sh").args(["-c", "kill -9 $$"]).spawn().unwrap();
        assert_eq!(wait(child.id()), Some(-9));
        child.wait().unwrap();
    }

    #[test]
    fn what_it_has_moved_is_known_until_it_is_waited_for() {
        let copies = "head -c 3000000 /dev/zero > /dev/null";
        let mut child = Command::new("sh").args(["-c", copies]).spawn().unwrap();
        assert_eq!(wait(child.id()), Some(0));
        let moved = io(&fs::read_to_string(format!("/proc/{}/io", child.id())).unwrap()).unwrap();
        child.wait().unwrap();
        // with what the loader of libraries reads
        assert!((3_000_000..3_200_000).contains(&moved.read), "{moved:?}");
        assert_eq!(moved.written, 3_000_000);
    }

    #[test]
    fn cpu_is_its_own_and_that_of_its_children() {
        let stat = "12 (a) b) S 1 12 12 0 -1 4194560 100 0 0 0 5 6 70 80 20 0 1 0 300 4096 10";
        assert_eq!(cpu(stat), Some(161 * 1_000_000_000 / clock_ticks_per_second()));
        assert_eq!(cpu("12 (cut"), None);
        assert_eq!(cpu("12 (cut) S 1"), None);
    }

    #[test]
    fn a_child_began_when_it_was_started() {
        let before = crate::writer::now();
        let mut child = Command::new("true").spawn().unwrap();
        let after = crate::writer::now();
        wait(child.id()).unwrap();
        let process = format!("/proc/{}", child.id());
        let start = started(&text_in(&process, "stat")).unwrap();
        assert!((before..=after + tick()).contains(&start), "{before} {start} {after}");
        assert_eq!(name_of(&process), "true");
        child.wait().unwrap();
    }

    #[test]
    fn a_name_has_the_program_and_a_script_and_no_secret() {
        let folder = crate::scratch::ScratchDir::new();
        let script = folder.path().join("map.sh");
        fs::write(&script, "read line").unwrap();
        let mut command = Command::new("/bin/sh");
        let mut child = command
            .args(["-u", "map.sh", "--password=secret", "secret"])
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        assert_eq!(name_of(&format!("/proc/{}", child.id())), "sh map.sh");
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(name_of("/proc/0"), "");
    }

    #[test]
    fn names_are_right_as_soon_as_a_child_is_there() {
        for _ in 0..200 {
            let mut child = Command::new("/bin/sleep").arg("9").current_dir("/").spawn().unwrap();
            assert_eq!(name_of(&format!("/proc/{}", child.id())), "sleep");
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    #[test]
    fn one_that_has_ended_is_not_waited_for() {
        assert!(has_ended("12 (a) b) Z 1 12"));
        assert!(has_ended(""));
        assert!(!has_ended("12 (Z) S 1 12"));
    }

    #[test]
    fn scripts_are_known_by_their_names() {
        for script in ["map.py", "a-b_c.1.sh", "x.R"] {
            assert!(is_script(script), "{script}");
        }
        for other in ["py", ".py", "secret", "key=a.py", "a b.sh", "user:word@host.py", "a.txt"] {
            assert!(!is_script(other), "{other}");
        }
    }
}
