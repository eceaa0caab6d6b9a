/*!
`collect`: one process per node, or per user, that drains traced processes into the store.

| step | module |
|---|---|
| processes are found and read in the order that `SEGMENT.md` demands | [`sources`], [`folders`], [`poll`], [`source`], [`reader`], [`started`], [`parents`], [`shares`], [`descriptors`] |
| what was read is framed, spooled, then applied to [`crate::model::state`] | [`pipeline`], [`block`], [`spool`], [`apply`], [`counters`], [`attribution`] |
| rows become files of the store, as long as there is space | [`publisher`], [`floor`] |
| runs are asked for, begin, record and finish | [`door`], [`orders`], [`runs`] |
| processes that should be traced and are not | [`census`], [`untraced`], [`procfs`], [`hosts`] |
| the host, once a second while a run records | [`sampler`] |
| requests to block devices, where a run asks for them | [`requests`] |
| what a run does at this moment | [`reports`], [`progress`], [`live`] |
| what an event costs | [`cost`] |
| all of these, round after round, and the naps between | [`collector`], [`pace`], [`waker`] |
*/

mod apply;
mod attribution;
pub mod block;
mod census;
mod collector;
mod cost;
mod counters;
mod descriptors;
mod directory;
mod door;
mod floor;
mod folders;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod golden_calls;
mod hosts;
mod live;
mod options;
mod orders;
mod pace;
mod parents;
mod pipeline;
mod poll;
mod procfs;
mod progress;
mod publisher;
mod reader;
mod reports;
mod requests;
mod runs;
mod sampler;
mod shares;
mod source;
mod sources;
pub mod spool;
mod started;
#[cfg(test)]
mod tests;
mod trouble;
mod untraced;
mod waker;

use std::time::Duration;

use anyhow::Result;

use self::collector::Collector;
pub use self::options::Options;
use crate::clock::{self, MS};

pub fn main(options: &Options) -> Result<()> {
    descriptors::raise_limit();
    let mut collector = Collector::start(options)?;
    let mut nap = MS;
    loop {
        let now = clock::monotonic();
        let pace = collector.tick(now);
        nap = pace.nap(nap).clamp(MS, collector.longest_nap(now));
        if options.exit_when_idle && collector.is_idle(clock::monotonic()) {
            break;
        }
        let woken = collector.nap(Duration::from_nanos(nap));
        if woken.stop {
            break;
        }
        if woken.orders || woken.deaths {
            nap = MS;
        }
    }
    collector.stop()
}
