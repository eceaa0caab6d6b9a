//! What ends a nap of the collector early: a signal, an order, the end of a traced process.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, Timespec, eventfd};
use rustix::fs::inotify::{self, WatchFlags};

/// Where a signal is noted: -1 before there is a waker.
static STOP: AtomicI32 = AtomicI32::new(-1);

// What an event is about.
const OF_STOP: u64 = 0;
const OF_ORDERS: u64 = 1;
const OF_DEATH: u64 = 2;

pub struct Waker {
    events: OwnedFd,
    /// Readable once the collector is to stop.
    stop: OwnedFd,
    /// Says that a file has come into the directory of orders; `None` where nobody watches it.
    orders: Option<OwnedFd>,
}

/// What happened during a nap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Woken {
    pub stop: bool,
    pub orders: bool,
    /// One of the processes has ended.
    pub deaths: bool,
}

impl Waker {
    /// `orders`: the directory of orders.
    pub fn new(orders: BorrowedFd<'_>) -> Result<Waker> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let stop = eventfd(0, flags).context("cannot make an eventfd")?;
        let events = epoll::create(CreateFlags::CLOEXEC).context("cannot make an epoll")?;
        let waker = Waker { events, stop, orders: watch(orders) };
        waker.add(waker.stop.as_fd(), OF_STOP, EventFlags::IN);
        if let Some(orders) = &waker.orders {
            waker.add(orders.as_fd(), OF_ORDERS, EventFlags::IN);
        }
        Ok(waker)
    }

    /// From now on the end of this process ends a nap, once; `life`: its pidfd.
    pub fn watch(&self, life: BorrowedFd<'_>) {
        self.add(life, OF_DEATH, EventFlags::IN | EventFlags::ONESHOT);
    }

    fn add(&self, fd: BorrowedFd<'_>, what: u64, flags: EventFlags) {
        // one that cannot be watched is looked at now and then, as all are
        let _ = epoll::add(&self.events, fd, EventData::new_u64(what), flags);
    }

    /// From now on SIGTERM and SIGINT end naps.
    pub fn stop_on_signals(&self) {
        extern "C" fn on_signal(_: libc::c_int) {
            let one = 1_u64.to_ne_bytes();
            // SAFETY: write may be called in a handler; the descriptor is open as long as we run
            unsafe { libc::write(STOP.load(Ordering::Acquire), one.as_ptr().cast(), one.len()) };
        }
        STOP.store(self.stop.as_raw_fd(), Ordering::Release);
        for signal in [libc::SIGTERM, libc::SIGINT] {
            let handler: extern "C" fn(libc::c_int) = on_signal;
            // SAFETY: the handler only writes to the eventfd
            unsafe { libc::signal(signal, handler as libc::sighandler_t) };
        }
    }

    /// Whether the directory of orders is watched.
    pub fn watches_orders(&self) -> bool {
        self.orders.is_some()
    }

    /// Sleeps for `longest` at most.
    pub fn nap(&self, longest: Duration) -> Woken {
        let timeout = Timespec {
            tv_sec: longest.as_secs() as i64,
            tv_nsec: i64::from(longest.subsec_nanos()),
        };
        let mut events = Vec::with_capacity(16);
        let mut woken = Woken::default();
        if epoll::wait(&self.events, spare_capacity(&mut events), Some(&timeout)).is_err() {
            return woken;
        }
        for Event { data, .. } in events {
            match data.u64() {
                OF_STOP => woken.stop = true,
                OF_ORDERS => woken.orders = true,
                _ => woken.deaths = true,
            }
        }
        if woken.orders {
            self.forget_orders();
        }
        woken
    }

    fn forget_orders(&self) {
        let mut events = [0; 4096];
        while let Some(orders) = &self.orders
            && rustix::io::read(orders, &mut events).is_ok_and(|read| read > 0)
        {}
    }
}

fn watch(orders: BorrowedFd<'_>) -> Option<OwnedFd> {
    let watcher =
        inotify::init(inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK).ok()?;
    let path = format!("/proc/self/fd/{}", orders.as_raw_fd());
    let news = WatchFlags::MOVED_TO | WatchFlags::CREATE | WatchFlags::CLOSE_WRITE;
    inotify::add_watch(&watcher, path, news).ok()?;
    Some(watcher)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::process::{Command, Stdio};

    use iostrata_segment::scratch::ScratchDir;
    use rustix::process::{Pid, PidfdFlags, pidfd_open};

    use super::*;

    #[test]
    fn orders_and_deaths_end_a_nap() {
        let scratch = ScratchDir::new();
        let orders = File::open(scratch.path()).unwrap();
        let waker = Waker::new(orders.as_fd()).unwrap();
        let nap = || waker.nap(Duration::from_secs(60));
        File::create(scratch.path().join("r.run")).unwrap();
        assert_eq!(nap(), Woken { orders: true, ..Woken::default() });
        assert_eq!(waker.nap(Duration::ZERO), Woken::default());

        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let pid = Pid::from_raw(child.id() as i32).unwrap();
        let life = pidfd_open(pid, PidfdFlags::empty()).unwrap();
        waker.watch(life.as_fd());
        drop(child.stdin.take());
        assert_eq!(nap(), Woken { deaths: true, ..Woken::default() });
        assert_eq!(waker.nap(Duration::ZERO), Woken::default()); // said once
        child.wait().unwrap();
    }
}
