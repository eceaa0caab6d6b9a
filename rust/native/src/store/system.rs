//! `system/host=…/part-NNNNNN.parquet`: what the whole host did while a run recorded.

use std::io::Write;

use iostrata_segment::schema::SYSTEM_COLUMNS;
use parquet::data_type::ByteArray;
use parquet::errors::Result;

use super::table::{self, Column};
use crate::collect::order::Run;
use crate::host::{Amount, Flow, Reading};

const LOOPBACK: &str = "lo";

/// One row: counts within the interval, gauges at its end. Times in ns, the rest in bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sample {
    /// `CLOCK_MONOTONIC` ns of the interval's begin.
    pub time: u64,
    pub interval: u64,
    pub cores: u32,
    pub cpu_user: u64,
    pub cpu_system: u64,
    pub cpu_iowait: u64,
    pub cpu_idle: u64,
    pub memory: Amount,
    pub disk_read: u64,
    pub disk_written: u64,
    pub disk_busy: u64,
    pub net_received: u64,
    pub net_sent: u64,
    pub net_loopback: u64,
    pub space: Amount,
}

impl Sample {
    /// `None` when no time lies between, as after a reboot. A counter that fell (`iowait` does,
    /// others wrap) grew by 0; a device that came or went in between counts from the next sample.
    pub fn between(before: &Reading, after: &Reading) -> Option<Sample> {
        let interval = after.now.checked_sub(before.now).filter(|ns| *ns > 0)?;
        let disks = growth(&before.disks, &after.disks);
        let (loopback, network): (Vec<Flow>, Vec<Flow>) =
            growth(&before.interfaces, &after.interfaces)
                .into_iter()
                .partition(|flow| flow.name == LOOPBACK);
        let (was, is) = (&before.cpu, &after.cpu);
        Some(Sample {
            time: before.now,
            interval,
            cores: is.cores,
            cpu_user: is.user.saturating_sub(was.user),
            cpu_system: is.system.saturating_sub(was.system),
            cpu_iowait: is.iowait.saturating_sub(was.iowait),
            cpu_idle: is.idle.saturating_sub(was.idle),
            memory: after.memory,
            disk_read: sum(&disks, |flow| flow.incoming),
            disk_written: sum(&disks, |flow| flow.outgoing),
            disk_busy: disks.iter().map(|flow| flow.busy).max().unwrap_or(0),
            net_received: sum(&network, |flow| flow.incoming),
            net_sent: sum(&network, |flow| flow.outgoing),
            net_loopback: sum(&loopback, |flow| flow.incoming),
            space: after.space,
        })
    }
}

fn growth(before: &[Flow], after: &[Flow]) -> Vec<Flow> {
    let grown = |is: &Flow| {
        let was = before.iter().find(|was| was.name == is.name)?;
        Some(Flow {
            name: is.name.clone(),
            incoming: is.incoming.saturating_sub(was.incoming),
            outgoing: is.outgoing.saturating_sub(was.outgoing),
            busy: is.busy.saturating_sub(was.busy),
        })
    };
    after.iter().filter_map(grown).collect()
}

fn sum(flows: &[Flow], of: impl Fn(&Flow) -> u64) -> u64 {
    flows.iter().map(of).fold(0, u64::saturating_add)
}

/// The samples from a run's begin to its end. None lies across either: the host is read at both.
pub fn of_run<'a>(samples: &'a [Sample], run: &Run) -> Vec<&'a Sample> {
    let end = if run.order.ended { run.order.now } else { u64::MAX };
    samples.iter().filter(|s| s.time >= run.began && s.time + s.interval <= end).collect()
}

/// `anchor` is added to monotonic times.
pub fn write<W: Write + Send>(out: W, host: &str, anchor: i64, samples: &[&Sample]) -> Result<()> {
    table::write(out, SYSTEM_COLUMNS, samples.len(), |name, range| {
        column(name, host, anchor, &samples[range])
    })
}

fn column(name: &str, host: &str, anchor: i64, samples: &[&Sample]) -> Column {
    let long = |cell: &dyn Fn(&Sample) -> u64| {
        let cells = samples.iter().map(|sample| i64::try_from(cell(sample)).unwrap_or(i64::MAX));
        Column::Long(cells.map(Some).collect())
    };
    match name {
        "host" => Column::Text(samples.iter().map(|_| Some(ByteArray::from(host))).collect()),
        "time" => long(&|sample| (sample.time as i64).wrapping_add(anchor) as u64),
        "interval" => long(&|sample| sample.interval),
        "cores" => Column::Int(samples.iter().map(|sample| Some(sample.cores as i32)).collect()),
        "cpu_user" => long(&|sample| sample.cpu_user),
        "cpu_system" => long(&|sample| sample.cpu_system),
        "cpu_iowait" => long(&|sample| sample.cpu_iowait),
        "cpu_idle" => long(&|sample| sample.cpu_idle),
        "mem_used" => long(&|sample| sample.memory.used),
        "mem_total" => long(&|sample| sample.memory.total),
        "disk_read" => long(&|sample| sample.disk_read),
        "disk_written" => long(&|sample| sample.disk_written),
        "disk_busy" => long(&|sample| sample.disk_busy),
        "net_received" => long(&|sample| sample.net_received),
        "net_sent" => long(&|sample| sample.net_sent),
        "net_loopback" => long(&|sample| sample.net_loopback),
        "space_used" => long(&|sample| sample.space.used),
        "space_total" => long(&|sample| sample.space.total),
        unknown => unreachable!("column {unknown} of events.toml is not written"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Cpu;
    use proptest::prelude::*;

    fn flow(name: &str, incoming: u64, outgoing: u64, busy: u64) -> Flow {
        Flow { name: name.into(), incoming, outgoing, busy }
    }

    fn reading(now: u64, grown: u64) -> Reading {
        let cpu = Cpu { cores: 4, user: grown, system: grown, iowait: grown, idle: grown };
        Reading {
            now,
            cpu,
            memory: Amount { used: now, total: 100 },
            disks: vec![flow("sda", grown, 2 * grown, 3 * grown), flow("sdb", grown, 0, grown)],
            interfaces: vec![flow("lo", grown, grown, 0), flow("eth0", 5 * grown, 7 * grown, 0)],
            space: Amount { used: grown, total: 1000 },
        }
    }

    #[test]
    fn a_sample_is_what_grew() {
        let expected = Sample {
            time: 10,
            interval: 20,
            cores: 4,
            cpu_user: 2,
            cpu_system: 2,
            cpu_iowait: 2,
            cpu_idle: 2,
            memory: Amount { used: 30, total: 100 },
            disk_read: 4,
            disk_written: 4,
            disk_busy: 6,
            net_received: 10,
            net_sent: 14,
            net_loopback: 2,
            space: Amount { used: 7, total: 1000 },
        };
        assert_eq!(Sample::between(&reading(10, 5), &reading(30, 7)), Some(expected));
    }

    #[test]
    fn what_fell_or_has_just_come_grew_by_nothing() {
        let (before, mut after) = (reading(10, 9), reading(30, 5));
        after.disks.push(flow("sdc", 1 << 40, 1 << 40, 1 << 40));
        after.interfaces.push(flow("eth1", 1 << 40, 1 << 40, 0));
        let sample = Sample::between(&before, &after).unwrap();
        let counts = Sample {
            time: 10,
            interval: 20,
            cores: 4,
            memory: after.memory,
            space: after.space,
            ..Sample::default()
        };
        assert_eq!(sample, counts);
        assert_eq!(Sample::between(&after, &before), None);
        assert_eq!(Sample::between(&after, &after), None);
    }

    proptest! {
        #[test]
        fn nothing_is_ever_negative(from: u64, to: u64, end in 2u64..) {
            let (mut before, mut after) = (reading(1, 0), reading(end, 0));
            for (reading, value) in [(&mut before, from), (&mut after, to)] {
                reading.cpu = Cpu { cores: 1, user: value, system: value, iowait: value, idle: value };
                reading.disks = vec![flow("sda", value, value, value), flow("sdb", value, 0, 0)];
                reading.interfaces = vec![flow("lo", value, value, 0), flow("e", value, value, 0)];
            }
            let sample = Sample::between(&before, &after).unwrap();
            for (name, _) in SYSTEM_COLUMNS.iter().filter(|(name, kind)| *kind == "i64" && *name != "time") {
                let Column::Long(cells) = column(name, "h", 0, &[&sample]) else { panic!("{name}") };
                prop_assert!(cells.values().iter().all(|cell| *cell >= 0), "{name}");
            }
        }
    }
}
