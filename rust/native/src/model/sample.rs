//! What the host did between two readings.
//!
//! The spool holds readings, which are cumulative: after a crash the next sample covers the time
//! in which nobody looked.

use super::run::Run;
use crate::devices::{self, BlockDevice};
use crate::host::{Amount, DeviceCounters, Pressure, Reading};

const LOOPBACK: &str = "lo";

/// One row: counts within the interval, gauges at its end. Times in ns, the rest in bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostSample {
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
    pub pressure: Pressure,
    pub devices: Vec<BlockDevice>,
}

impl HostSample {
    /// `None` when no time lies between, as after a reboot. A counter that fell (`iowait` does,
    /// others wrap) grew by 0; a device that came or went in between counts from the next sample.
    pub fn between(before: &Reading, after: &Reading) -> Option<HostSample> {
        let interval = after.now.checked_sub(before.now).filter(|ns| *ns > 0)?;
        let disks = growth(&before.disks, &after.disks);
        let (loopback, network): (Vec<DeviceCounters>, Vec<DeviceCounters>) =
            growth(&before.interfaces, &after.interfaces)
                .into_iter()
                .partition(|flow| flow.name == LOOPBACK);
        let (was, is) = (&before.cpu, &after.cpu);
        Some(HostSample {
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
            pressure: Pressure {
                cpu: grown(before.pressure.cpu, after.pressure.cpu),
                memory: grown(before.pressure.memory, after.pressure.memory),
                io: grown(before.pressure.io, after.pressure.io),
            },
            devices: devices::growth(&before.devices, &after.devices),
        })
    }
}

fn grown(before: Option<u64>, after: Option<u64>) -> Option<u64> {
    Some(after?.saturating_sub(before?))
}

fn growth(before: &[DeviceCounters], after: &[DeviceCounters]) -> Vec<DeviceCounters> {
    let grown = |is: &DeviceCounters| {
        let was = before.iter().find(|was| was.name == is.name)?;
        Some(DeviceCounters {
            name: is.name.clone(),
            incoming: is.incoming.saturating_sub(was.incoming),
            outgoing: is.outgoing.saturating_sub(was.outgoing),
            busy: is.busy.saturating_sub(was.busy),
        })
    };
    after.iter().filter_map(grown).collect()
}

fn sum(flows: &[DeviceCounters], of: impl Fn(&DeviceCounters) -> u64) -> u64 {
    flows.iter().map(of).fold(0, u64::saturating_add)
}

/// Samples since the last rotation.
#[derive(Debug, Default)]
pub struct HostHistory {
    /// Last reading while a run records.
    pub last: Option<Reading>,
    pub samples: Vec<HostSample>,
}

impl HostHistory {
    pub fn add(&mut self, reading: Reading) {
        let before = self.last.as_ref();
        self.samples.extend(before.and_then(|before| HostSample::between(before, &reading)));
        self.last = Some(reading);
    }

    /// The samples from a run's begin to its end. None lies across either: the host is read at both.
    pub fn of_run(&self, run: &Run) -> Vec<&HostSample> {
        let end = if run.order.ended { run.order.now } else { u64::MAX };
        let is_within = |s: &&HostSample| s.time >= run.began && s.time + s.interval <= end;
        self.samples.iter().filter(is_within).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Cpu;

    fn flow(name: &str, incoming: u64, outgoing: u64, busy: u64) -> DeviceCounters {
        DeviceCounters { name: name.into(), incoming, outgoing, busy }
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
            pressure: Pressure { cpu: Some(grown), memory: Some(3 * grown), io: None },
            devices: vec![device(grown)],
        }
    }

    fn device(read: u64) -> BlockDevice {
        BlockDevice { name: "sda".into(), read, ..BlockDevice::default() }
    }

    #[test]
    fn a_sample_is_what_grew() {
        let expected = HostSample {
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
            pressure: Pressure { cpu: Some(2), memory: Some(6), io: None },
            devices: vec![device(2)],
        };
        assert_eq!(HostSample::between(&reading(10, 5), &reading(30, 7)), Some(expected));
    }

    #[test]
    fn what_fell_or_has_just_come_grew_by_nothing() {
        let (before, mut after) = (reading(10, 9), reading(30, 5));
        after.disks.push(flow("sdc", 1 << 40, 1 << 40, 1 << 40));
        after.interfaces.push(flow("eth1", 1 << 40, 1 << 40, 0));
        let sample = HostSample::between(&before, &after).unwrap();
        let counts = HostSample {
            time: 10,
            interval: 20,
            cores: 4,
            memory: after.memory,
            space: after.space,
            pressure: Pressure { cpu: Some(0), memory: Some(0), io: None },
            devices: vec![device(0)],
            ..HostSample::default()
        };
        assert_eq!(sample, counts);
        assert_eq!(HostSample::between(&after, &before), None);
        assert_eq!(HostSample::between(&after, &after), None);
    }
}
