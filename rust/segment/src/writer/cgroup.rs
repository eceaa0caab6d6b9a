//! What the cgroup of this process allows: memory, in which pages of shared memory count, and CPU.

use std::path::{Path, PathBuf};

const MEMBERSHIP: &str = "/proc/self/cgroup";
const GROUPS: &str = "/sys/fs/cgroup";

/// Bytes; `u64::MAX` when nothing limits them.
pub(super) fn memory_limit() -> u64 {
    limit_of(Path::new(MEMBERSHIP), Path::new(GROUPS))
}

/// The smallest limit of the groups that `membership` names, versions 1 and 2.
fn limit_of(membership: &Path, groups: &Path) -> u64 {
    let text = std::fs::read_to_string(membership).unwrap_or_default();
    let limits = paths(&text, "memory").map(|(is_version_2, path)| {
        if is_version_2 {
            along(groups, path, "memory.max")
        } else {
            along(&groups.join("memory"), path, "memory.limit_in_bytes")
        }
    });
    limits.min().unwrap_or(u64::MAX)
}

/// The paths of the groups that a controller limits, and whether each is of version 2.
fn paths<'a>(membership: &'a str, controller: &str) -> impl Iterator<Item = (bool, &'a str)> {
    membership.lines().filter_map(move |line| {
        // hierarchy:controllers:path; version 2 names no controllers
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        let is_its =
            controllers.is_empty() || controllers.split(',').any(|name| name == controller);
        is_its.then_some((controllers.is_empty(), path))
    })
}

/// Smallest limit from the group up to the root; in a container the path may lie outside.
fn along(root: &Path, path: &str, file: &str) -> u64 {
    let mut group = root.to_path_buf();
    let mut least = read(&group.join(file));
    for name in path.split('/').filter(|name| !name.is_empty()) {
        if name == ".." {
            break;
        }
        group.push(name);
        least = least.min(read(&group.join(file)));
    }
    least
}

fn read(file: &Path) -> u64 {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.trim().parse().unwrap_or(u64::MAX)
}

/// How long limits of CPU time have kept threads of the groups of this process from running.
#[derive(Debug, Default)]
pub(super) struct Throttling {
    /// `cpu.stat` of its group and of those above, and what each said last, ns.
    groups: Vec<(PathBuf, u64)>,
}

impl Throttling {
    /// ns since the last look, over all CPUs, of the group that was kept from running for longest;
    /// 0 of the first look of a recording, which finds out what groups there are.
    pub fn look(&mut self, is_first: bool) -> u64 {
        if is_first {
            let files = cpu_stats(Path::new(MEMBERSHIP), Path::new(GROUPS));
            let now = |file: PathBuf| throttled(&file).map(|now| (file, now));
            self.groups = files.into_iter().filter_map(now).collect();
            return 0;
        }
        let grown = self.groups.iter_mut().map(|(file, last)| {
            let now = throttled(file).unwrap_or(*last);
            now.saturating_sub(std::mem::replace(last, now))
        });
        grown.max().unwrap_or(0)
    }
}

/// From the root to the group; in a container the path may lie outside, and the root is its own.
fn cpu_stats(membership: &Path, groups: &Path) -> Vec<PathBuf> {
    let text = std::fs::read_to_string(membership).unwrap_or_default();
    let mut found = Vec::new();
    for (is_version_2, path) in paths(&text, "cpu") {
        // version 1 has the controllers' names as a folder, or one of them as a link to it
        let mut group = if is_version_2 { groups.to_owned() } else { groups.join("cpu") };
        found.push(group.join("cpu.stat"));
        for name in path.split('/').filter(|name| !name.is_empty()).take_while(|name| *name != "..")
        {
            group.push(name);
            found.push(group.join("cpu.stat"));
        }
    }
    found
}

/// ns; version 1 says `throttled_time` in ns, version 2 `throttled_usec`.
fn throttled(cpu_stat: &Path) -> Option<u64> {
    let text = std::fs::read_to_string(cpu_stat).ok()?;
    text.lines().find_map(|line| {
        let (name, number) = line.split_once(' ')?;
        let number: u64 = number.trim().parse().ok()?;
        match name {
            "throttled_time" => Some(number),
            "throttled_usec" => Some(number.saturating_mul(1000)),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::ScratchDir;

    fn limit_in(membership: &str, files: &[(&str, &str)]) -> u64 {
        let dir = ScratchDir::new();
        std::fs::write(dir.path().join("self"), membership).unwrap();
        for (name, text) in files {
            let path = dir.path().join("sys").join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        limit_of(&dir.path().join("self"), &dir.path().join("sys"))
    }

    #[test]
    fn the_smallest_limit_on_the_way_up_counts() {
        let two = [("a/memory.max", "2000\n"), ("a/b/memory.max", "max\n")];
        assert_eq!(limit_in("0::/a/b\n", &two), 2000);
        let one = [("memory/x/memory.limit_in_bytes", "3000\n")];
        assert_eq!(limit_in("5:cpu,memory:/x\n3:cpu:/y\n", &one), 3000);
    }

    #[test]
    fn both_versions_say_how_long_they_throttled() {
        let dir = ScratchDir::new();
        let file = dir.path().join("cpu.stat");
        for (text, expected) in [
            ("nr_periods 9\nnr_throttled 3\nthrottled_time 1234567\n", Some(1_234_567)),
            ("usage_usec 5\nnr_throttled 3\nthrottled_usec 42\n", Some(42_000)),
            ("usage_usec 5\n", None), // the root of version 2 has no limit
        ] {
            std::fs::write(&file, text).unwrap();
            assert_eq!(throttled(&file), expected);
        }
        let membership = dir.path().join("self");
        std::fs::write(&membership, "4:cpuacct,cpu:/yarn/c1\n3:cpuset:/x\n0::/../y\n").unwrap();
        let names = |path: &PathBuf| path.to_string_lossy().into_owned();
        let found: Vec<_> = cpu_stats(&membership, Path::new("/g")).iter().map(names).collect();
        let of_cpu = ["/g/cpu/cpu.stat", "/g/cpu/yarn/cpu.stat", "/g/cpu/yarn/c1/cpu.stat"];
        assert_eq!(found, [&of_cpu[..], &["/g/cpu.stat"]].concat());
    }

    #[test]
    fn what_cannot_be_read_limits_nothing() {
        assert_eq!(limit_in("0::/a\n", &[]), u64::MAX);
        assert_eq!(limit_in("nonsense\n", &[("memory.max", "5")]), u64::MAX);
        assert_eq!(limit_in("0::/../a\n", &[("memory.max", "max")]), u64::MAX);
    }
}
