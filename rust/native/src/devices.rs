/*!
Block devices that hold file systems which processes of this node see, by the kernel's statistics.

Everything but [`Mounts`] is a function of text. What a text lacks counts as 0.
*/

use std::collections::{BTreeMap, HashSet};
use std::fs;

use serde::{Deserialize, Serialize};

/// `/proc/diskstats` counts in these, whatever the disk's own sectors are.
pub const SECTOR: u64 = 512;
const MS: u64 = 1_000_000;
/// Devices that are looked at, and mount namespaces that these are found in.
const MOST_DEVICES: usize = 64;
const MOST_SPACES: usize = 256;
/// Processes whose namespace is known; then all are asked again.
const MOST_PROCESSES: usize = 1 << 16;
const LONGEST_POINT: usize = 512; // bytes

/// Major and minor.
pub type Number = (u32, u32);

/// What a device did since boot.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockDevice {
    pub name: String,
    /// Of the processes that see it mounted, if not this one.
    pub host: Option<String>,
    pub mount: String,
    pub reads: u64,
    pub writes: u64,
    /// Bytes.
    pub read: u64,
    pub written: u64,
    /// Ns with a request under way.
    pub busy: u64,
    /// Ns that all requests together took, from their arrival at the device.
    pub waited: u64,
}

/// Where a device is mounted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mounted {
    pub host: Option<String>,
    pub point: String,
}

pub type MountedDevices = BTreeMap<Number, Mounted>;

/// The devices that are mounted where this program and processes of runs are.
#[derive(Debug, Default)]
pub struct Mounts {
    pub devices: MountedDevices,
    spaces: HashSet<String>,
    processes: HashSet<(u32, u64)>,
}

impl Mounts {
    /// All anew, beginning with those of this program's own namespace.
    pub fn look_here(&mut self) {
        *self = Mounts::default();
        self.look_into("self", None);
    }

    /// Those of the namespace of a process that started at `start`, if that is a new one.
    pub fn look_at(&mut self, pid: u32, start: u64, host: Option<&str>) {
        if self.processes.len() >= MOST_PROCESSES {
            self.processes.clear();
        }
        if self.processes.insert((pid, start)) {
            self.look_into(&pid.to_string(), host);
        }
    }

    fn look_into(&mut self, process: &str, host: Option<&str>) {
        let Ok(space) = fs::read_link(format!("/proc/{process}/ns/mnt")) else { return };
        let space = space.to_string_lossy().into_owned();
        if self.spaces.len() >= MOST_SPACES || !self.spaces.insert(space) {
            return;
        }
        let text = fs::read(format!("/proc/{process}/mountinfo")).unwrap_or_default();
        for (number, point) in mounted(&String::from_utf8_lossy(&text)) {
            if self.devices.len() < MOST_DEVICES {
                let host = host.map(str::to_owned);
                self.devices.entry(number).or_insert(Mounted { host, point });
            }
        }
    }
}

/// The block devices of a `/proc/PID/mountinfo`, each with the first place where it is mounted.
/// What has no device (FUSE, overlay, memory) has the major number 0.
pub fn mounted(mountinfo: &str) -> Vec<(Number, String)> {
    let mut found: Vec<(Number, String)> = Vec::new();
    for line in mountinfo.lines() {
        let mut fields = line.split(' ').skip(2);
        let Some((major, minor)) = fields.next().and_then(|field| field.split_once(':')) else {
            continue;
        };
        let (Ok(major), Ok(minor)) = (major.parse(), minor.parse()) else { continue };
        let Some(point) = fields.nth(1) else { continue };
        if major != 0 && found.iter().all(|(number, _)| *number != (major, minor)) {
            found.push(((major, minor), shortened(point)));
        }
    }
    found
}

/// Blanks and their like stand as `\040`.
fn shortened(point: &str) -> String {
    let plain = point.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\");
    let mut end = plain.len().min(LONGEST_POINT);
    while !plain.is_char_boundary(end) {
        end -= 1;
    }
    plain[..end].to_owned()
}

/// `/proc/diskstats`, of devices that are `mounted`.
pub fn devices(diskstats: &str, mounted: &MountedDevices) -> Vec<BlockDevice> {
    diskstats.lines().filter_map(|line| device(line, mounted)).collect()
}

/// Major, minor, name; reads, merged ones, sectors, ms; of writes likewise; requests under way, ms
/// with one, ms of all.
fn device(line: &str, mounted: &MountedDevices) -> Option<BlockDevice> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let number = |place: usize| -> u64 {
        fields.get(place).and_then(|field| field.parse().ok()).unwrap_or(0)
    };
    let which = (fields.first()?.parse().ok()?, fields.get(1)?.parse().ok()?);
    let Mounted { host, point } = mounted.get(&which)?;
    Some(BlockDevice {
        name: (*fields.get(2)?).to_owned(),
        host: host.clone(),
        mount: point.clone(),
        reads: number(3),
        writes: number(7),
        read: number(5).saturating_mul(SECTOR),
        written: number(9).saturating_mul(SECTOR),
        busy: number(12).saturating_mul(MS),
        waited: number(13).saturating_mul(MS),
    })
}

/// What each device did between two readings; one that is new counts from the next on.
pub fn growth(before: &[BlockDevice], after: &[BlockDevice]) -> Vec<BlockDevice> {
    let grown = |is: &BlockDevice| {
        let was = before.iter().find(|was| was.name == is.name && was.mount == is.mount)?;
        Some(BlockDevice {
            reads: is.reads.saturating_sub(was.reads),
            writes: is.writes.saturating_sub(was.writes),
            read: is.read.saturating_sub(was.read),
            written: is.written.saturating_sub(was.written),
            busy: is.busy.saturating_sub(was.busy),
            waited: is.waited.saturating_sub(was.waited),
            ..is.clone()
        })
    };
    after.iter().filter_map(grown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTINFO: &str = "\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw
23 22 0:21 / /proc rw,nosuid shared:12 - proc proc rw
31 22 254:0 /var/lib/x /etc/hosts rw shared:1 - ext4 /dev/root rw
40 22 7:3 / /data/a\\040b rw,relatime - ext4 /dev/loop3 rw
41 22 0:44 / /mnt rw - fuse.ceph-fuse ceph-fuse rw
broken
42 22 x:y / /z rw
";
    const DISKSTATS: &str = "\
   7       3 loop3 10 1 80 5 20 2 160 6 0 9 11 0 0 0 0
 254       0 vda 1 0 8 1 2 0 16 1 0 2 3
 254       1 vda1 1 0 8 1 2 0 16 1 0 2 3
   7       4 loop4 1 1 1 1
";

    #[test]
    fn file_systems_on_devices_are_found_where_they_are_first_mounted() {
        let found = [((254, 0), "/".to_owned()), ((7, 3), "/data/a b".to_owned())];
        assert_eq!(mounted(MOUNTINFO), found);
        assert_eq!(mounted(""), []);
        let long = format!("1 2 8:1 / /{} rw - ext4 x rw", "é".repeat(LONGEST_POINT));
        assert!(mounted(&long)[0].1.len() <= LONGEST_POINT);
    }

    #[test]
    fn devices_that_are_mounted_are_counted() {
        let mounts: MountedDevices = [
            ((7, 3), Mounted { host: Some("node-1".into()), point: "/data".into() }),
            ((254, 0), Mounted { host: None, point: "/".into() }),
        ]
        .into();
        let found = devices(DISKSTATS, &mounts);
        let loop3 = BlockDevice {
            name: "loop3".into(),
            host: Some("node-1".into()),
            mount: "/data".into(),
            reads: 10,
            writes: 20,
            read: 80 * SECTOR,
            written: 160 * SECTOR,
            busy: 9 * MS,
            waited: 11 * MS,
        };
        assert_eq!(found.len(), 2);
        assert_eq!(found[0], loop3);
        assert_eq!((found[1].name.as_str(), found[1].reads), ("vda", 1));
        assert_eq!(devices("7 3\n\n7", &mounts), []);
    }

    #[test]
    fn what_has_just_come_grew_by_nothing_yet() {
        let named =
            |name: &str, reads| BlockDevice { name: name.into(), reads, ..BlockDevice::default() };
        let before = [named("a", 5), named("b", 9)];
        let after = [named("a", 7), named("b", 1), named("c", 1 << 40)];
        assert_eq!(growth(&before, &after), [named("a", 2), named("b", 0)]);
    }

    #[test]
    fn a_namespace_is_looked_into_once() {
        let mut mounts = Mounts::default();
        mounts.look_here();
        let known = mounts.devices.clone();
        mounts.look_at(std::process::id(), 1, Some("other"));
        assert_eq!(mounts.devices, known);
        assert_eq!(mounts.spaces.len(), 1);
        mounts.look_at(u32::MAX, 1, None);
        assert_eq!(mounts.spaces.len(), 1);
    }
}
