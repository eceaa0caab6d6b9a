//! What memory the cgroup of this process allows: pages of shared memory count in it.

use std::path::Path;

/// Bytes; `u64::MAX` when nothing limits them.
pub(super) fn memory_limit() -> u64 {
    limit_of(Path::new("/proc/self/cgroup"), Path::new("/sys/fs/cgroup"))
}

/// The smallest limit of the groups that `membership` names, versions 1 and 2.
fn limit_of(membership: &Path, groups: &Path) -> u64 {
    let text = std::fs::read_to_string(membership).unwrap_or_default();
    let limits = text.lines().filter_map(|line| {
        // hierarchy:controllers:path; version 2 names no controllers
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        if controllers.is_empty() {
            return Some(along(groups, path, "memory.max"));
        }
        let memory = controllers.split(',').any(|name| name == "memory");
        memory.then(|| along(&groups.join("memory"), path, "memory.limit_in_bytes"))
    });
    limits.min().unwrap_or(u64::MAX)
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
    fn what_cannot_be_read_limits_nothing() {
        assert_eq!(limit_in("0::/a\n", &[]), u64::MAX);
        assert_eq!(limit_in("nonsense\n", &[("memory.max", "5")]), u64::MAX);
        assert_eq!(limit_in("0::/../a\n", &[("memory.max", "max")]), u64::MAX);
    }
}
