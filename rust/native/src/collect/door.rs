//! Who may ask for what in a directory that several users share: the collector's side of the door.
//!
//! Nobody else writes to the directory, so nothing that one user does stands in another's way. A
//! thread of its own answers, also while the collector publishes: it makes `DIR/UID`, and writes
//! the files of orders (`orders.rs`), which belong to who asked, as the kernel says.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use iostrata_segment::door::{DOOR, HELLO, address, packets};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{AtFlags, Mode, chmodat, unlinkat};
use rustix::net::{RecvFlags, SendFlags, SocketFlags, accept_with, bind, listen, recv, send};

use super::floor::Floor;
use super::orders;
use super::procfs;
use super::progress;
use super::started::Started;
use super::trouble::log;
use crate::model::ids;
use crate::store::directory::StoreDirectory;

const BACKLOG: i32 = 128;
/// Who has come and not said anything yet: all, and of one user.
const MOST_GUESTS: usize = 256;
const MOST_OF_USER: usize = 16;
/// They ask at once, or not at all.
const PATIENCE: Duration = Duration::from_secs(2);
/// Runs of one user at a time.
const MOST_RUNS: usize = 64;
const MOST_REQUEST: usize = 256 << 10;
/// Between the lines of an order and those of its points.
const POINTS: &str = "\npoints:\n";

pub struct Door {
    listener: OwnedFd,
    directory: StoreDirectory,
    runs: StoreDirectory,
    store: StoreDirectory,
    started: Started,
    floor: Floor,
}

/// Who knocked, as the kernel says.
struct Guest {
    socket: OwnedFd,
    uid: u32,
    /// 0: none that this process could see.
    pid: u32,
    came: Instant,
}

impl Door {
    /// Opens it, and answers from now on.
    pub fn open(
        directory: OwnedFd,
        runs: OwnedFd,
        store: StoreDirectory,
        started: Started,
        floor: Floor,
    ) -> Result<()> {
        let _ = unlinkat(&directory, DOOR, AtFlags::empty());
        let listener = listen_at(&directory).context("cannot open the door")?;
        let (directory, runs) = (StoreDirectory::of(directory), StoreDirectory::of(runs));
        let door = Door { listener, directory, runs, store, started, floor };
        std::thread::Builder::new().name("door".into()).spawn(move || door.serve())?;
        Ok(())
    }

    fn serve(&self) {
        let mut guests: Vec<Guest> = Vec::new();
        loop {
            let ready = self.wait(&guests);
            let now = Instant::now();
            let mut place = 0;
            guests.retain(|guest| {
                let asks = ready.get(place + 1).copied().unwrap_or_default();
                place += 1;
                !asks && now - guest.came < PATIENCE || {
                    self.attend(guest);
                    false
                }
            });
            if ready.first().copied().unwrap_or_default() {
                self.let_in(&mut guests);
            }
        }
    }

    /// Whether somebody is at the door, and who of the guests has said something, or gone.
    fn wait(&self, guests: &[Guest]) -> Vec<bool> {
        let of = |socket| PollFd::from_borrowed_fd(socket, PollFlags::IN);
        let mut all = vec![of(self.listener.as_fd())];
        all.extend(guests.iter().map(|guest| of(guest.socket.as_fd())));
        let second = Timespec { tv_sec: 1, tv_nsec: 0 };
        if poll(&mut all, (!guests.is_empty()).then_some(&second)).is_err() {
            std::thread::sleep(Duration::from_millis(10)); // no memory: no loop at full speed
            return Vec::new();
        }
        all.iter().map(|one| !one.revents().is_empty()).collect()
    }

    /// Who comes when there are too many of them is sent away, and may come again.
    fn let_in(&self, guests: &mut Vec<Guest>) {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        for _ in 0..BACKLOG {
            let Ok(socket) = accept_with(&self.listener, flags) else { return };
            let Ok((uid, pid)) = peer(&socket) else { continue };
            let of_user = guests.iter().filter(|guest| guest.uid == uid).count();
            if guests.len() < MOST_GUESTS && of_user < MOST_OF_USER {
                guests.push(Guest { socket, uid, pid, came: Instant::now() });
            }
        }
    }

    fn attend(&self, guest: &Guest) {
        let mut request = vec![0; MOST_REQUEST];
        let Ok((length, _)) = recv(&guest.socket, &mut request[..], RecvFlags::DONTWAIT) else {
            return;
        };
        let answer = match str::from_utf8(&request[..length]) {
            Ok(text) => self.answer(guest, text),
            Err(_) => Err("that is no text".into()),
        };
        let answer = answer.unwrap_or_else(|why| format!("no {why}"));
        let _ = send(&guest.socket, answer.as_bytes(), SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
    }

    fn answer(&self, guest: &Guest, request: &str) -> Result<String, String> {
        let own = rustix::process::geteuid();
        if !own.is_root() && guest.uid != own.as_raw() {
            return Err(format!("this collector serves uid {} only", own.as_raw()));
        }
        let (line, body) = request.split_once('\n').unwrap_or((request, ""));
        let (verb, name) = line.split_once(' ').unwrap_or((line, ""));
        if verb == HELLO {
            return self.welcome(guest);
        }
        if !ids::is_run_name(name) {
            return Err("the name of a run is [A-Za-z0-9][A-Za-z0-9._-]{0,63}".into());
        }
        // each user has names of their own: nobody holds one that another user wants
        let own_end = format!(".{}", guest.uid);
        if guest.uid != own.as_raw() && !name.ends_with(&own_end) {
            return Err(format!("the name of a run of yours ends in {own_end}"));
        }
        match verb {
            "record" => self.record(guest, name, body)?,
            "stop" => {
                self.own_order(guest, name)?;
                self.write(guest.uid, &format!("{name}.stop"), body, false)?;
            }
            "withdraw" => {
                self.own_order(guest, name)?;
                for end in ["run", "points"] {
                    let _ = self.runs.remove(&format!("{name}.{end}"));
                }
            }
            _ => return Err(format!("nothing is known of {}", orders::shown(verb))),
        }
        Ok("ok".into())
    }

    /// Makes the folder of a user.
    fn welcome(&self, guest: &Guest) -> Result<String, String> {
        let made = self.directory.enter(&guest.uid.to_string(), guest.uid);
        made.map_err(|why| why.to_string())?;
        if guest.pid == 0 {
            return Err("your process is in no pid namespace that the collector can see".into());
        }
        self.look_who_started(guest);
        Ok(format!("ok {} {}", guest.pid, guest.uid))
    }

    /// A run of another user than root gets nothing of whom its owner could not read.
    fn look_who_started(&self, guest: &Guest) {
        let (Some(stat), false) = (procfs::stat(guest.pid), guest.uid == 0) else { return };
        for name in self.orders_of(0) {
            let text = self.runs.read(&format!("{name}.run")).unwrap_or_default();
            let recorder = orders::parse(&name, 0, &text, 0).map(|order| order.recorder());
            if recorder.is_ok_and(|(pid, start)| procfs::descends(guest.pid, pid, start)) {
                return self.started.add(guest.pid, stat.start, &name);
            }
        }
    }

    /// A run begins, or goes on otherwise.
    fn record(&self, guest: &Guest, name: &str, body: &str) -> Result<(), String> {
        match self.runs.owner_of(&format!("{name}.run")) {
            Some(uid) if uid == guest.uid => {}
            Some(_) => return Err("another user records a run of that name".into()),
            None => self.is_free(guest, name)?,
        }
        let (order, points) = body.split_once(POINTS).unwrap_or((body, ""));
        orders::check_size(order)?;
        orders::parse(name, guest.uid, order, 0)?;
        if !points.is_empty() {
            self.write(guest.uid, &format!("{name}.points"), points, true)?;
        }
        // words of a command are its owner's alone
        self.write(guest.uid, &format!("{name}.run"), order, false)
    }

    fn is_free(&self, guest: &Guest, name: &str) -> Result<(), String> {
        self.floor.check(&self.store, 0).map_err(|why| format!("the store is full: {why}"))?;
        if let Some(uid) = self.store.owner_of(name) {
            if uid != guest.uid {
                return Err("another user has a run of that name".into());
            }
            let run = self.store.existing(name).and_then(|run| run.read("progress.json"));
            if run.is_ok_and(|progress| progress::is_done(&progress)) {
                return Err("the store has a run of that name".into());
            }
        }
        if self.orders_of(guest.uid).len() >= MOST_RUNS {
            return Err(format!("{MOST_RUNS} runs of yours are being recorded"));
        }
        Ok(())
    }

    /// Names of the runs that a user has asked for and that have not ended.
    fn orders_of(&self, uid: u32) -> Vec<String> {
        let orders = self.runs.list().into_iter();
        let of_user = orders.filter(|name| self.runs.owner_of(name) == Some(uid));
        of_user.filter_map(|name| Some(name.strip_suffix(".run")?.to_owned())).collect()
    }

    fn own_order(&self, guest: &Guest, name: &str) -> Result<(), String> {
        match self.runs.owner_of(&format!("{name}.run")) {
            Some(uid) if uid == guest.uid || guest.uid == 0 => Ok(()),
            Some(_) => Err("it is another user's".into()),
            None => Err("it is not being recorded".into()),
        }
    }

    /// A file of orders of that user; `open`: agents read it.
    fn write(&self, uid: u32, name: &str, text: &str, open: bool) -> Result<(), String> {
        self.runs.put(name, text.as_bytes(), uid, open).map_err(|why| {
            log(&format!("runs/{name} of uid={uid}: {why}"));
            why.to_string()
        })
    }
}

fn listen_at(directory: &OwnedFd) -> rustix::io::Result<OwnedFd> {
    let listener = packets()?;
    rustix::io::ioctl_fionbio(&listener, true)?;
    bind(&listener, &address(directory.as_fd())?)?;
    chmodat(directory, DOOR, Mode::from_raw_mode(0o666), AtFlags::empty())?;
    listen(&listener, BACKLOG)?;
    Ok(listener)
}

/// Uid and pid of who connected. Not by rustix, for which no process has the pid 0: of those that
/// this one cannot see.
fn peer(socket: &OwnedFd) -> io::Result<(u32, u32)> {
    let mut who = libc::ucred { pid: 0, uid: u32::MAX, gid: u32::MAX };
    let mut size = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the descriptor is open, and the kernel writes at most `size` bytes to `who`
    let code = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut who).cast(),
            &raw mut size,
        )
    };
    if code != 0 { Err(io::Error::last_os_error()) } else { Ok((who.uid, who.pid as u32)) }
}
