/*!
What the kernel counts about the whole host, from `/proc` and from mounted file systems.

Everything but [`Reading::take`] is a function of text. What a text lacks counts as 0: a container
may hide any of these files.
*/

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::devices::{BlockDevice, MountedDevices, SECTOR, devices};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;
/// Devices whose bytes another one moves again, or that are memory.
const STACKED_DISKS: [&str; 6] = ["loop", "ram", "zram", "dm-", "md", "bcache"];
/// Interfaces whose bytes pass another one too.
const STACKED_INTERFACES: [&str; 12] =
    ["veth", "docker", "br", "virbr", "vnet", "bond", "team", "tun", "tap", "wg", "ifb", "cni"];

/// Counters since boot, and gauges as they are now.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// `CLOCK_MONOTONIC` ns.
    pub now: u64,
    pub cpu: Cpu,
    pub memory: Amount,
    pub disks: Vec<DeviceCounters>,
    pub interfaces: Vec<DeviceCounters>,
    pub space: Amount,
    /// Not in a spool of a collector that did not know it.
    #[serde(default)]
    pub pressure: Pressure,
    /// Likewise.
    #[serde(default)]
    pub devices: Vec<BlockDevice>,
}

/// Ns in which at least one thread of the host was stalled for it, since boot; `None` where the
/// kernel does not say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pressure {
    pub cpu: Option<u64>,
    pub memory: Option<u64>,
    pub io: Option<u64>,
}

/// Ns over all cores.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    pub cores: u32,
    pub user: u64,
    pub system: u64,
    pub iowait: u64,
    pub idle: u64,
}

/// Bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amount {
    pub used: u64,
    pub total: u64,
}

/// Bytes that a disk or an interface moved.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceCounters {
    pub name: String,
    /// Read or received.
    pub incoming: u64,
    /// Written or sent.
    pub outgoing: u64,
    /// Ns with a request under way; only of disks.
    pub busy: u64,
}

impl Reading {
    /// `places`: one directory on each file system whose space counts; `mounted`: devices that are
    /// listed singly.
    pub fn take(now: u64, places: &[PathBuf], mounted: &MountedDevices) -> Reading {
        let text = |path| fs::read_to_string(path).unwrap_or_default();
        let diskstats = text("/proc/diskstats");
        Reading {
            now,
            cpu: cpu(&text("/proc/stat"), ticks_per_second()),
            memory: memory(&text("/proc/meminfo")),
            disks: disks(&diskstats),
            interfaces: interfaces(&text("/proc/net/dev")),
            space: places.iter().filter_map(|place| space(place)).fold(Amount::default(), add),
            pressure: Pressure {
                cpu: stalled(&text("/proc/pressure/cpu")),
                memory: stalled(&text("/proc/pressure/memory")),
                io: stalled(&text("/proc/pressure/io")),
            },
            devices: devices(&diskstats, mounted),
        }
    }
}

/// The store and each local file system beside its own. Network file systems are left out, because
/// asking one may hang.
pub fn places(store: &Path) -> Vec<PathBuf> {
    let mounts = mounts(&fs::read_to_string("/proc/self/mounts").unwrap_or_default());
    let mut devices = HashSet::new();
    let mut paths: Vec<PathBuf> = std::iter::once(store.to_owned()).chain(mounts).collect();
    paths.retain(|place| rustix::fs::stat(place).is_ok_and(|stat| devices.insert(stat.st_dev)));
    paths
}

fn ticks_per_second() -> u64 {
    rustix::param::clock_ticks_per_second().max(1)
}

fn space(place: &Path) -> Option<Amount> {
    let stat = rustix::fs::statvfs(place).ok()?;
    let bytes = |blocks: u64| blocks.saturating_mul(stat.f_frsize);
    let used = bytes(stat.f_blocks.saturating_sub(stat.f_bfree));
    Some(Amount { used, total: bytes(stat.f_blocks) })
}

fn add(one: Amount, other: Amount) -> Amount {
    let used = one.used.saturating_add(other.used);
    Amount { used, total: one.total.saturating_add(other.total) }
}

fn number(field: Option<&&str>) -> u64 {
    field.and_then(|field| field.parse().ok()).unwrap_or(0)
}

fn words(line: &str) -> Vec<&str> {
    line.split_ascii_whitespace().collect()
}

/// `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal and what guests took,
/// which is part of user already; in clock ticks.
pub fn cpu(stat: &str, ticks_per_second: u64) -> Cpu {
    let mut cpu = Cpu::default();
    for line in stat.lines().filter(|line| line.starts_with("cpu")) {
        let fields = words(line);
        if fields[0] != "cpu" {
            cpu.cores += u32::from(fields[0][3..].parse::<u32>().is_ok());
            continue;
        }
        let ns = |places: &[usize]| {
            let ticks = places.iter().map(|place| number(fields.get(*place)));
            ticks.fold(0, u64::saturating_add).saturating_mul(SECOND / ticks_per_second)
        };
        (cpu.user, cpu.system) = (ns(&[1, 2]), ns(&[3, 6, 7]));
        (cpu.idle, cpu.iowait) = (ns(&[4]), ns(&[5]));
    }
    cpu
}

/// `/proc/meminfo`; before Linux 3.14 it has no `MemAvailable`.
pub fn memory(meminfo: &str) -> Amount {
    let value = |name: &str| {
        let fields = meminfo.lines().map(words).find(|fields| fields.first() == Some(&name))?;
        Some(number(fields.get(1)).saturating_mul(1024))
    };
    let total = value("MemTotal:").unwrap_or(0);
    let free = value("MemAvailable:").or_else(|| value("MemFree:")).unwrap_or(0);
    Amount { used: total.saturating_sub(free), total }
}

/// A file of `/proc/pressure`: its line `some` ends in a total of µs. Without `CONFIG_PSI`, or with
/// `psi=0`, there is no file or it cannot be read.
pub fn stalled(pressure: &str) -> Option<u64> {
    let some = pressure.lines().map(words).find(|fields| fields.first() == Some(&"some"))?;
    let total = some.iter().find_map(|field| field.strip_prefix("total="))?;
    Some(total.parse::<u64>().ok()?.saturating_mul(1000))
}

/// The whole disks of `/proc/diskstats`.
pub fn disks(diskstats: &str) -> Vec<DeviceCounters> {
    let lines: Vec<Vec<&str>> =
        diskstats.lines().map(words).filter(|fields| fields.len() > 2).collect();
    let names: HashSet<&str> = lines.iter().map(|fields| fields[2]).collect();
    let is_whole = |name: &str| {
        !is_stacked(name, &STACKED_DISKS) && !disk_of(name).is_some_and(|disk| names.contains(disk))
    };
    let whole = lines.iter().filter(|fields| is_whole(fields[2]));
    whole
        .map(|fields| DeviceCounters {
            name: fields[2].to_owned(),
            incoming: number(fields.get(5)).saturating_mul(SECTOR),
            outgoing: number(fields.get(9)).saturating_mul(SECTOR),
            busy: number(fields.get(12)).saturating_mul(MS),
        })
        .collect()
}

/// `sda` of the partition `sda1`, `nvme0n1` of `nvme0n1p2`.
fn disk_of(name: &str) -> Option<&str> {
    let disk = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let disk = (disk.len() < name.len()).then_some(disk)?;
    let numbered = disk.strip_suffix('p').filter(|d| d.ends_with(|c: char| c.is_ascii_digit()));
    Some(numbered.unwrap_or(disk))
}

/// One of the prefixes, then nothing but a number or (of interfaces) an id.
fn is_stacked(name: &str, prefixes: &[&str]) -> bool {
    prefixes.iter().any(|prefix| {
        let rest = name.strip_prefix(prefix);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(is_of_number))
    })
}

fn is_of_number(c: char) -> bool {
    c.is_ascii_hexdigit() || matches!(c, '-' | '_')
}

/// `/proc/net/dev`, loopback (`lo`) included.
pub fn interfaces(dev: &str) -> Vec<DeviceCounters> {
    let flow = |line: &str| {
        // no blank follows the colon when the number is long
        let (name, counters) = line.split_once(':')?;
        let (name, fields) = (name.trim(), words(counters));
        let is_vlan = name.contains('.');
        if is_vlan || fields.is_empty() || is_stacked(name, &STACKED_INTERFACES) {
            return None;
        }
        let (incoming, outgoing) = (number(fields.first()), number(fields.get(8)));
        Some(DeviceCounters { name: name.to_owned(), incoming, outgoing, busy: 0 })
    };
    dev.lines().filter_map(flow).collect()
}

/// Where local devices are mounted, each device once. Blanks in names stand as `\040`.
pub fn mounts(mounts: &str) -> Vec<PathBuf> {
    let mut devices = HashSet::new();
    let lines = mounts.lines().map(words).filter(|fields| fields.len() > 1);
    let local = lines.filter(|fields| {
        let device = fields[0].strip_prefix("/dev/");
        device.is_some_and(|name| !is_stacked(name, &["loop", "ram", "zram"]))
    });
    local.filter(|fields| devices.insert(fields[0])).map(|fields| unescaped(fields[1])).collect()
}

fn unescaped(name: &str) -> PathBuf {
    let escapes = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];
    escapes.iter().fold(name.to_owned(), |name, (code, c)| name.replace(code, c)).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn flow(name: &str, incoming: u64, outgoing: u64, busy: u64) -> DeviceCounters {
        DeviceCounters { name: name.into(), incoming, outgoing, busy }
    }

    #[test]
    fn cpu_time_is_over_all_cores_and_guests_count_once() {
        let stat = "cpu  100 20 30 400 50 6 7 8 90 9\n\
                    cpu0 50 10 15 200 25 3 3 4 45 4\n\
                    cpu3 50 10 15 200 25 3 4 4 45 5\n\
                    intr 12 0 0\nctxt 7\ncpufreq 3\n";
        let tick = 10 * MS;
        let expected = Cpu {
            cores: 2, // of which 3 is the second: 1 and 2 are offline
            user: 120 * tick,
            system: 43 * tick,
            iowait: 50 * tick,
            idle: 400 * tick,
        };
        assert_eq!(cpu(stat, 100), expected);
    }

    #[test]
    fn memory_in_use_is_what_is_not_available() {
        let meminfo = "MemTotal:  1000 kB\nMemFree:  100 kB\nMemAvailable:  600 kB\n";
        assert_eq!(memory(meminfo), Amount { used: 400 * 1024, total: 1000 * 1024 });
        let old = "MemTotal:  1000 kB\nMemFree:  100 kB\n";
        assert_eq!(memory(old), Amount { used: 900 * 1024, total: 1000 * 1024 });
    }

    #[test]
    fn pressure_is_the_time_in_which_some_thread_was_stalled() {
        let io = "some avg10=0.01 avg60=0.16 avg300=0.21 total=1130506799\n\
                  full avg10=0.00 avg60=0.00 avg300=0.03 total=269052462\n";
        assert_eq!(stalled(io), Some(1_130_506_799_000));
        for text in ["", "some", "some total=", "some total=-1", "full total=7", "total=7"] {
            assert_eq!(stalled(text), None, "{text}");
        }
    }

    #[test]
    fn only_whole_disks_count() {
        let counters = "10 0 4 7 20 0 6 9 0 5 16";
        let names = [
            "sda",
            "sda1",
            "sda12",
            "nvme0n1",
            "nvme0n1p1",
            "mmcblk0",
            "mmcblk0p2",
            "xvda1",
            "loop7",
            "ram0",
            "zram0",
            "dm-0",
            "md127",
            "bcache0",
            "sr0",
            "vdb",
        ];
        let lines: Vec<String> =
            names.iter().map(|n| format!("   8  1 {n} {counters}\n")).collect();
        let disks = disks(&lines.concat());
        let read: Vec<&str> = disks.iter().map(|disk| disk.name.as_str()).collect();
        // xvda1 stands alone on some clouds: there is no xvda
        assert_eq!(read, ["sda", "nvme0n1", "mmcblk0", "xvda1", "sr0", "vdb"]);
        assert_eq!(disks[0], flow("sda", 4 * 512, 6 * 512, 5 * MS));
    }

    #[test]
    fn interfaces_below_others_count_once() {
        let row = "1 0 0 0 0 0 0 0 2 0 0 0 0 0 0 0";
        let names = [
            "lo", "eth0", "ens3f0", "eth0.100", "docker0", "br-1a2b", "br0", "veth12ab", "bond0",
            "tun0", "wlan0", "brick",
        ];
        let lines: Vec<String> = names.iter().map(|name| format!("  {name}:{row}\n")).collect();
        let head = "Inter-|   Receive  |  Transmit\n face |bytes    packets|bytes\n";
        let actual = interfaces(&format!("{head}{}", lines.concat()));
        let expected = ["lo", "eth0", "ens3f0", "wlan0", "brick"].map(|name| flow(name, 1, 2, 0));
        assert_eq!(actual, expected);
    }

    #[test]
    fn local_devices_count_once() {
        let text = "proc /proc proc rw 0 0\n\
                    /dev/sda1 / ext4 rw 0 0\n\
                    /dev/sda1 /etc/hosts ext4 rw 0 0\n\
                    /dev/mapper/vg-data /data\\040one xfs rw 0 0\n\
                    /dev/loop3 /snap squashfs ro 0 0\n\
                    nas:/export /nas nfs4 rw 0 0\n";
        assert_eq!(mounts(text), [Path::new("/"), Path::new("/data one")]);
    }

    #[test]
    fn short_and_foreign_text_counts_as_nothing() {
        for text in ["", "\n\n", "cpu", "lo:", ":", "8 0 sda", "MemTotal:", "/dev/sda1"] {
            assert_eq!(cpu(text, 100).user, 0);
            assert_eq!(memory(text), Amount::default());
            assert!(disks(text).iter().all(|disk| *disk == flow("sda", 0, 0, 0)), "{text}");
            assert_eq!(interfaces(text), []);
            assert!(mounts(text).is_empty(), "{text}");
        }
        let most = u64::MAX;
        assert_eq!(cpu(&format!("cpu {most} {most} {most}"), 100).user, most);
        assert_eq!(disks(&format!("8 0 sda 1 1 {most} 1"))[0].incoming, most);
        assert_eq!(memory("MemTotal: 5 kB\nMemAvailable: 9 kB").used, 0);
    }

    #[test]
    fn this_host_can_be_read() {
        let reading = Reading::take(1, &places(Path::new("/")), &MountedDevices::new());
        assert!(reading.cpu.cores > 0 && reading.cpu.idle > 0, "{reading:?}");
        assert!(reading.memory.total > reading.memory.used, "{reading:?}");
        assert!(reading.space.total >= reading.space.used, "{reading:?}");
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange(text in "[ \\na-z0-9:./\\\\-]{0,200}", any in ".{0,200}") {
            for text in [text, any] {
                cpu(&text, 100);
                memory(&text);
                disks(&text);
                interfaces(&text);
                mounts(&text);
                stalled(&text);
            }
        }
    }
}
