//! The kernel's tracing of events: an instance of our own, which no other user of it sees.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, unlinkat};
use rustix::io::Errno;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};

use super::super::procfs::{is_alive, stat};
use super::askers::SpawnEvent;
use super::format::{Layout, SpawnLayout};
use super::pages::read_page;
use super::pairs::{KernelEvent, RequestEvent, Step};
use super::rows;
use crate::listing::list;

/// Where tracefs is, if it is mounted; one of these is on most systems.
const MOUNTED: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
/// Begins the name of an instance; its process's pid and start follow.
const OWN: &str = "iostrata-";
/// KiB of the kernel's memory, of all CPUs together, and at most of each: some 10,000 events.
const ALL_BUFFERS: usize = 32 << 10;
const BUFFER: usize = 1 << 10;
const MOST_PAGE: usize = 64 << 10;
/// Of a CPU in a round, so that one ends.
const MOST_PAGES: usize = 4096;
/// The event of a request's begin: the first is of the thread that hands it in (kernel 6.5), the
/// other may be of one that the kernel runs for it.
const BEGINS: [&str; 2] = ["block/block_io_start", "block/block_rq_issue"];
const END: &str = "block/block_rq_complete";
const SPAWN: &str = "task/task_newtask";
/// Of the flags of `clone`: it is a thread of the same process.
const CLONE_THREAD: u64 = 0x10000;

/// Events of requests, switched on until it is dropped.
#[derive(Debug)]
pub struct Tracing {
    root: OwnedFd,
    name: String,
    layouts: Option<Layouts>,
    /// One of each CPU.
    pipes: Vec<File>,
    page: Vec<u8>,
}

impl Tracing {
    /// # Errors
    ///
    /// Why that cannot be, in a few words.
    pub fn begin() -> Result<Tracing, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("only a collector of root may read the kernel's events".into());
        }
        let root = root()?;
        remove_old(root.as_fd());
        let (pid, own) = (std::process::id(), stat(std::process::id()));
        let name = format!("{OWN}{pid}-{}", own.map_or(0, |own| own.start));
        mkdirat(&root, format!("instances/{name}"), Mode::RWXU)
            .map_err(|errno| format!("the kernel has no instances of tracing: {errno}"))?;
        // from here on, to drop it removes the instance
        let (layouts, pipes, page) = (None, Vec::new(), vec![0; MOST_PAGE]);
        let mut tracing = Tracing { root, name, layouts, pipes, page };
        tracing.switch_on()?;
        Ok(tracing)
    }

    fn switch_on(&mut self) -> Result<(), String> {
        let begin = BEGINS.into_iter().find(|name| self.format(name).is_ok());
        let begin = begin.ok_or("the kernel has no events of requests to devices")?;
        let lacking = "the kernel's events of requests to devices lack fields";
        self.layouts = Some(Layouts {
            begin: Layout::parse(&self.format(begin)?).ok_or(lacking)?,
            end: Layout::parse(&self.format(END)?).ok_or(lacking)?,
            spawn: SpawnLayout::parse(&self.format(SPAWN)?).ok_or(lacking)?,
        });
        self.write("trace_clock", "mono")?;
        let cpus = list(self.open("per_cpu", OFlags::RDONLY | OFlags::DIRECTORY)?.as_fd());
        let buffer = (ALL_BUFFERS / cpus.len().max(1)).min(BUFFER);
        self.write("buffer_size_kb", &buffer.to_string())?;
        for cpu in cpus {
            let path = format!("per_cpu/{cpu}/trace_pipe_raw");
            let pipe = self.open(&path, OFlags::RDONLY | OFlags::NONBLOCK)?;
            self.pipes.push(File::from(pipe));
        }
        for event in [SPAWN, begin, END] {
            self.write(&format!("events/{event}/enable"), "1")?;
        }
        Ok(())
    }

    /// Gives `each` the events that have come. Whether some were lost.
    pub fn read(&mut self, mut each: impl FnMut(KernelEvent)) -> bool {
        let Tracing { pipes, page, layouts: Some(layouts), .. } = self else { return false };
        let mut lost = false;
        for pipe in pipes {
            for _ in 0..MOST_PAGES {
                let length = match pipe.read(page) {
                    Ok(0) => break,
                    Ok(length) => length,
                    Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                    Err(_) => break, // nothing more now
                };
                lost |= read_page(&page[..length], |time, data| {
                    if let Some(event) = layouts.event(time, data) {
                        each(event);
                    }
                });
            }
        }
        lost
    }

    fn format(&self, event: &str) -> Result<String, String> {
        let path = format!("events/{event}/format");
        let mut text = String::new();
        let file = self.open(&path, OFlags::RDONLY)?;
        File::from(file).read_to_string(&mut text).map_err(|error| format!("{path}: {error}"))?;
        Ok(text)
    }

    fn write(&self, path: &str, text: &str) -> Result<(), String> {
        let file = self.open(path, OFlags::WRONLY)?;
        File::from(file).write_all(text.as_bytes()).map_err(|error| format!("{path}: {error}"))
    }

    fn open(&self, path: &str, flags: OFlags) -> Result<OwnedFd, String> {
        let whole = format!("instances/{}/{path}", self.name);
        openat(&self.root, whole, flags | OFlags::CLOEXEC, Mode::empty())
            .map_err(|errno| format!("{path}: {errno}"))
    }
}

impl Drop for Tracing {
    fn drop(&mut self) {
        self.pipes.clear(); // an instance that somebody reads stays
        let _ = unlinkat(&self.root, format!("instances/{}", self.name), AtFlags::REMOVEDIR);
    }
}

/// Of the events that are switched on.
#[derive(Debug, Clone, Copy)]
struct Layouts {
    begin: Layout,
    end: Layout,
    spawn: SpawnLayout,
}

impl Layouts {
    /// `None` of another event, and of requests that are none of the operations.
    fn event(&self, time: u64, data: &[u8]) -> Option<KernelEvent> {
        let kind = self.begin.kind.number(data)?;
        if kind == self.spawn.id {
            return self.spawned(time, data).map(KernelEvent::Spawn);
        }
        let layout = [&self.begin, &self.end].into_iter().find(|layout| layout.id == kind)?;
        let sectors = layout.sectors.number(data)?;
        let tid = layout.tid.number(data)? as u32;
        let step = if kind == self.begin.id { Step::Begun { tid } } else { Step::Done { sectors } };
        let operation = rows::operation(layout.letters.bytes(data)?, sectors > 0)?;
        let (device, sector) = (layout.device.number(data)?, layout.sector.number(data)?);
        Some(KernelEvent::Request(RequestEvent { time, device, sector, operation, step }))
    }

    fn spawned(&self, time: u64, data: &[u8]) -> Option<SpawnEvent> {
        Some(SpawnEvent {
            time,
            creator: self.spawn.creator.number(data)? as u32,
            tid: self.spawn.tid.number(data)? as u32,
            is_thread: self.spawn.flags.number(data)? & CLONE_THREAD != 0,
        })
    }
}

/// Where tracefs is mounted; else a mount that nobody else sees, gone with its descriptor.
fn root() -> Result<OwnedFd, String> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mounted = |path: &str| openat(rustix::fs::CWD, path, flags, Mode::empty());
    let is_there = |path: &&str| mounted(&format!("{path}/instances")).is_ok();
    if let Some(path) = MOUNTED.into_iter().find(is_there) {
        return mounted(path).map_err(|errno| format!("{path}: {errno}"));
    }
    own_mount().map_err(|errno| format!("tracefs cannot be mounted: {errno}"))
}

fn own_mount() -> Result<OwnedFd, Errno> {
    let made = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(made.as_fd())?;
    fsmount(made.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())
}

/// Those of collectors that were killed.
fn remove_old(root: BorrowedFd<'_>) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(instances) = openat(root, "instances", flags, Mode::empty()) else { return };
    for name in list(instances.as_fd()) {
        let owner = name.strip_prefix(OWN).and_then(|text| text.split_once('-'));
        let parsed = owner.and_then(|(pid, start)| Some((pid.parse().ok()?, start.parse().ok()?)));
        let Some((pid, start)) = parsed else { continue };
        if !is_alive(pid, Some(start)) {
            let _ = unlinkat(&instances, &name, AtFlags::REMOVEDIR);
        }
    }
}
