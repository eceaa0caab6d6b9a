//! What ends a nap of the collector early: a signal, an order, the end of a traced process.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};

/// Where a signal is noted: -1 before there is a waker.
static STOP: AtomicI32 = AtomicI32::new(-1);

pub struct Waker {
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
        Ok(Waker { stop, orders: watch(orders) })
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

    /// Sleeps for `longest` at most; `living`: a pidfd of each process whose end matters.
    pub fn nap<'a>(
        &'a self,
        longest: Duration,
        living: impl Iterator<Item = BorrowedFd<'a>>,
    ) -> Woken {
        let watched = |fd| PollFd::from_borrowed_fd(fd, PollFlags::IN);
        let mut fds = vec![watched(self.stop.as_fd())];
        fds.extend(self.orders.iter().map(|orders| watched(orders.as_fd())));
        let own = fds.len();
        fds.extend(living.map(watched));
        let timeout = Timespec {
            tv_sec: longest.as_secs() as i64,
            tv_nsec: i64::from(longest.subsec_nanos()),
        };
        if poll(&mut fds, Some(&timeout)).unwrap_or(0) == 0 {
            return Woken::default();
        }
        let is_ready = |fd: &PollFd<'_>| !fd.revents().is_empty();
        let (stop, orders) = (is_ready(&fds[0]), fds[1..own].iter().any(is_ready));
        if orders {
            self.forget_orders();
        }
        Woken { stop, orders, deaths: fds[own..].iter().any(is_ready) }
    }

    fn forget_orders(&self) {
        let mut events = [0; 4096];
        while let Some(orders) = &self.orders
            && rustix::io::read(orders, &mut events).is_ok_and(|read| read > 0)
        {}
    }
}

fn watch(orders: BorrowedFd<'_>) -> Option<OwnedFd> {
    let watcher = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?;
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
        let nap = |waker: &Waker, living: &[&OwnedFd]| {
            waker.nap(Duration::from_secs(60), living.iter().map(|fd| fd.as_fd()))
        };
        File::create(scratch.path().join("r.run")).unwrap();
        assert_eq!(nap(&waker, &[]), Woken { orders: true, ..Woken::default() });
        assert_eq!(waker.nap(Duration::ZERO, std::iter::empty()), Woken::default());

        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let pid = Pid::from_raw(child.id() as i32).unwrap();
        let living = pidfd_open(pid, PidfdFlags::empty()).unwrap();
        drop(child.stdin.take());
        assert_eq!(nap(&waker, &[&living]), Woken { deaths: true, ..Woken::default() });
        child.wait().unwrap();
    }
}
