//! Names of hosts. A process is on the host that its UTS namespace names: `docs/decisions/0015`.

use std::fs::{self, File};
use std::os::fd::AsFd;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use super::procfs::is_alive;

/// The host of this program; of a name that no folder can have, `localhost`.
pub fn own() -> String {
    named().unwrap_or_else(|| "localhost".into())
}

/// The host of a process, if it is not this program's; `start`: clock ticks since boot.
///
/// `None` also for a process that has gone, and where only root may ask.
pub fn of(pid: u32, start: u64) -> Option<String> {
    let space = format!("/proc/{pid}/ns/uts");
    if fs::read_link(&space).ok()? == fs::read_link("/proc/self/ns/uts").ok()? {
        return None;
    }
    let space = File::open(space).ok()?;
    // The thread that enters a namespace stays in it: it ends with its answer.
    let asking = std::thread::spawn(move || {
        let kind = Some(LinkNameSpaceType::HostNameAndNISDomainName);
        move_into_link_name_space(space.as_fd(), kind).ok()?;
        named()
    });
    asking.join().ok()?.filter(|_| is_alive(pid, Some(start)))
}

/// What the kernel tells the thread that asks.
fn named() -> Option<String> {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    checked(name.trim()).ok()
}

/// A name that can be a folder's.
///
/// # Errors
///
/// What it may consist of.
pub fn checked(text: &str) -> Result<String, String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let plain = !text.is_empty() && text.chars().all(fits) && !text.starts_with('.');
    if plain { Ok(text.into()) } else { Err("letters, digits, dots and dashes only".into()) }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Read};
    use std::process::{Command, Stdio};

    use super::super::procfs::started;
    use super::*;

    #[test]
    fn names_that_would_leave_their_folder_are_rejected() {
        assert_eq!(checked("node-1.rack-1").as_deref(), Ok("node-1.rack-1"));
        for bad in ["", ".", "..", "a/b", "a b", "a\n"] {
            assert!(checked(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_process_of_this_host_has_no_other() {
        let pid = std::process::id();
        assert_eq!(of(pid, started(pid).unwrap()), None);
        assert_eq!(of(u32::MAX, 0), None);
    }

    #[test]
    fn a_process_is_on_the_host_that_its_namespace_names() {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: only root makes namespaces");
            return;
        }
        let script = "echo node-7.rack-3 > /proc/sys/kernel/hostname && echo ready && read end";
        let mut child = Command::new("unshare")
            .args(["--uts", "sh", "-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut ready = String::new();
        BufReader::new(child.stdout.as_mut().unwrap().by_ref()).read_line(&mut ready).unwrap();
        let (pid, before) = (child.id(), own());
        let start = started(pid).unwrap();

        let (own_host, of_another) = (of(pid, start), of(pid, start + 1));

        drop(child.stdin.take());
        child.wait().unwrap();
        assert_eq!(ready, "ready\n");
        assert_eq!(own_host.as_deref(), Some("node-7.rack-3"));
        assert_eq!(of_another, None);
        assert_eq!(own(), before);
    }
}
