//! The door of a shared directory: a socket at which the kernel says who knocks.
//!
//! Nobody but the collector writes to a directory that several users share. A process that has no
//! folder there yet, and a user who wants to record, send one packet to `DIR/door` and get one
//! back: `ok …`, or `no REASON`. The collector's side is `collect/door.rs`.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, connect, recv,
    send, socket_with,
};

pub const DOOR: &str = "door";
/// A process asks for the folder of its user, and for the pid that the collector knows it by.
pub const HELLO: &str = "hello";
/// The collector answers at once, whatever else it does; a process that starts waits no longer.
const PATIENCE: Duration = Duration::from_secs(2);
const NAP: Duration = Duration::from_millis(20);
const MOST_ANSWER: usize = 1024;

/// How a collector counts this process and its user, each of which may be in a namespace of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    pub pid: u32,
    pub uid: u32,
}

/// The collector makes `DIR/UID` for the user of this process. The error is one line for people.
pub fn hello(directory: &Path) -> Result<Seen, String> {
    let answer = ask(directory, HELLO.as_bytes()).map_err(|why| {
        format!("the collector of {} does not answer: {why}", directory.display())
    })?;
    let no = || format!("the collector of {} says {answer:?}", directory.display());
    let (pid, uid) =
        answer.strip_prefix("ok ").and_then(|ids| ids.split_once(' ')).ok_or_else(no)?;
    let seen = |_| no();
    Ok(Seen { pid: pid.parse().map_err(seen)?, uid: uid.parse().map_err(seen)? })
}

/// One packet to the door, and the one that comes back. A crowd is sent away, and comes again.
fn ask(directory: &Path, request: &[u8]) -> io::Result<String> {
    let end = Instant::now() + PATIENCE;
    loop {
        let asked = ask_once(directory, request);
        let is_crowded = match &asked {
            Ok(answer) => answer.is_empty(),
            Err(error) => {
                matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::ConnectionReset)
            }
        };
        if !is_crowded || Instant::now() >= end {
            return asked;
        }
        std::thread::sleep(NAP);
    }
}

fn ask_once(directory: &Path, request: &[u8]) -> io::Result<String> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = openat(CWD, directory, flags, Mode::empty())?;
    let socket = packets()?;
    for timeout in [Timeout::Send, Timeout::Recv] {
        set_socket_timeout(&socket, timeout, Some(PATIENCE))?;
    }
    connect(&socket, &address(directory.as_fd())?)?;
    send(&socket, request, SendFlags::NOSIGNAL)?;
    let mut answer = [0; MOST_ANSWER];
    let (length, _) = recv(&socket, &mut answer, RecvFlags::empty())?;
    Ok(String::from_utf8_lossy(&answer[..length]).into_owned())
}

/// A socket for packets that keep their bounds.
pub fn packets() -> rustix::io::Result<OwnedFd> {
    socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
}

/// Of the door in a directory, by its handle: an address has room for 107 bytes, paths are longer.
pub fn address(directory: BorrowedFd<'_>) -> rustix::io::Result<SocketAddrUnix> {
    SocketAddrUnix::new(format!("/proc/self/fd/{}/{DOOR}", directory.as_raw_fd()))
}

/// A namespace of this process, `pid` or `user`, as `pid:[NUMBER]`; empty where `/proc` does not say.
#[must_use]
pub fn namespace(kind: &str) -> String {
    let link = std::fs::read_link(format!("/proc/self/ns/{kind}")).unwrap_or_default();
    link.to_string_lossy().into_owned()
}

/// Whether the collector of a directory counts pids, and users, in another namespace than this
/// process.
#[must_use]
pub fn counts_otherwise(directory: &Path) -> (bool, bool) {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(file) = openat(CWD, directory.join("collector"), flags, Mode::empty()) else {
        return (false, false);
    };
    let text = io::read_to_string(io::Read::take(File::from(file), 4096)).unwrap_or_default();
    let differs = |kind: &str| {
        let key = format!("{kind}_namespace=");
        let theirs = text.lines().find_map(|line| line.strip_prefix(&key));
        theirs.is_some_and(|theirs| !theirs.is_empty() && theirs != namespace(kind))
    };
    (differs("pid"), differs("user"))
}
