//! What the kernel counts of the I/O of this process, and what in it moves bytes past Java.

use std::fs;

use super::loading::LoadingAccount;
use crate::process::Moved;
use crate::schema::{
    NATIVE_CODE_CHILDREN, NATIVE_CODE_HADOOP, NATIVE_CODE_LEVELDB, NATIVE_CODE_LIBRARY,
    NATIVE_CODE_NETTY, NATIVE_CODE_ROCKSDB, NATIVE_CODE_SQLITE,
};

/// What is before the name of Netty's library in those whose classes have points (netty.toml).
const TRACED_NETTY: [&str; 2] = ["libnetty", "liborg_apache_hbase_thirdparty_netty"];
/// What stands in the name of a library that does I/O, the first that fits.
const KNOWN: [(&str, usize); 5] = [
    ("netty_transport_native", NATIVE_CODE_NETTY),
    ("sqlitejdbc", NATIVE_CODE_SQLITE),
    ("rocksdb", NATIVE_CODE_ROCKSDB),
    ("leveldb", NATIVE_CODE_LEVELDB),
    ("libhadoop.", NATIVE_CODE_HADOOP),
];
/// Likewise of one that does none: codecs, TLS, consoles, and ourselves.
const HARMLESS: [&str; 11] = [
    "iostrata",
    "snappy",
    "zstd",
    "lz4",
    "brotli",
    "isal",
    "tcnative",
    "crypto",
    "jansi",
    "jline",
    "jnidispatch",
];
/// Where the system has its own.
const SYSTEM: [&str; 4] = ["/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"];
/// Windows, of a second, from one look at the libraries to the next: it takes about a millisecond.
const LIBRARIES_EVERY: u32 = 10;
/// Field 11 of `/proc/PID/stat`, counted from the one after the name.
const CHILD_FAULTS: usize = 8;

/// Since the process started, while something was recorded.
#[derive(Debug, Default)]
pub(super) struct KernelAccount {
    moved: Moved,
    /// What stood when the window began; `None` outside of a recording.
    window: Option<Reading>,
    windows: u32,
    loading: LoadingAccount,
}

#[derive(Debug)]
struct Reading {
    io: Moved,
    /// Page faults of the children that it waited for: each that ran has some.
    child_faults: u64,
}

impl KernelAccount {
    /// A window ends, and the next one begins if `records`.
    pub fn look(&mut self, records: bool) -> Moved {
        self.look_at("/proc/self", records)
    }

    /// After [`KernelAccount::look`]: ns in which this JVM has loaded classes meanwhile.
    pub fn loading(&mut self, records: bool) -> u64 {
        self.loading.look(records)
    }

    /// Likewise of `task`, a folder of `/proc`: of this process, or of one of its threads.
    fn look_at(&mut self, task: &str, records: bool) -> Moved {
        let is_first = self.window.is_none();
        if is_first && !records {
            return self.moved;
        }
        let Some(now) = Reading::of(task) else {
            return self.moved; // `/proc` is not there, or it is not ours
        };
        if let Some(before) = &self.window {
            self.moved = self.moved.and(now.io.since(before.io));
            let has_waited = now.child_faults > before.child_faults;
            self.moved.native |= u64::from(has_waited) << NATIVE_CODE_CHILDREN;
        }
        self.windows += 1;
        if is_first || !records || self.windows.is_multiple_of(LIBRARIES_EVERY) {
            let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
            self.moved.native |= native_code(&maps);
            self.loading.find(&maps);
        }
        // what we have read ourselves is none of the program's
        self.window = if records { Reading::of(task) } else { None };
        self.moved
    }
}

impl Reading {
    fn of(task: &str) -> Option<Reading> {
        let stat = fs::read_to_string(format!("{task}/stat")).ok()?;
        let io = io(&fs::read_to_string(format!("{task}/io")).ok()?)?;
        Some(Reading { io, child_faults: child_faults(&stat).unwrap_or_default() })
    }
}

/// Of the text of `/proc/PID/io`.
pub(super) fn io(text: &str) -> Option<Moved> {
    let field = |name: &str| {
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        value?.parse().ok()
    };
    Some(Moved {
        read: field("rchar")?,
        written: field("wchar")?,
        disk_read: field("read_bytes")?,
        disk_written: field("write_bytes")?,
        native: 0,
    })
}

fn child_faults(stat: &str) -> Option<u64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_whitespace().nth(CHILD_FAULTS)?.parse().ok()
}

/// Bits of the libraries that are mapped, of the text of `/proc/PID/maps`.
fn native_code(maps: &str) -> u64 {
    let paths = || {
        maps.lines().filter_map(|line| Some(line[line.find('/')?..].trim_end_matches(" (deleted)")))
    };
    let of_jdk = paths().find_map(|path| path.strip_suffix("server/libjvm.so"));
    let is_foreign = |path: &&str| {
        format!("{path}.").contains(".so.") && of_jdk.is_none_or(|folder| !path.starts_with(folder))
    };
    paths().filter(is_foreign).fold(0, |bits, path| bits | of_library(path))
}

/// The bit of a library that the JDK has not brought; 0 of one that does no I/O of its own.
fn of_library(path: &str) -> u64 {
    let name = path.rsplit('/').next().unwrap_or(path);
    if TRACED_NETTY.iter().any(|copy| name.starts_with(&format!("{copy}_transport_native_epoll"))) {
        return 0;
    }
    if let Some((_, code)) = KNOWN.iter().find(|(part, _)| name.contains(part)) {
        return 1 << code;
    }
    let is_harmless = HARMLESS.iter().any(|part| name.contains(part));
    let is_system = SYSTEM.iter().any(|folder| path.starts_with(folder));
    u64::from(!is_harmless && !is_system) << NATIVE_CODE_LIBRARY
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::process::Command;

    use super::*;
    use crate::scratch::ScratchDir;

    const CHILDREN: u64 = 1 << NATIVE_CODE_CHILDREN;

    #[test]
    fn what_is_written_while_something_is_recorded_is_counted() {
        let dir = ScratchDir::new();
        let mut file = fs::File::create(dir.path().join("f")).unwrap();
        let mut write = |bytes: usize| file.write_all(&vec![0; bytes]).unwrap();
        // tests beside this one write, too: of the whole process no number would be certain
        let mut account = KernelAccount::default();
        let mut look = |records: bool| account.look_at("/proc/thread-self", records);
        write(1_000_000);
        look(false);
        look(true);
        write(30_000);
        look(true);
        write(4_000);
        look(false);
        write(1_000_000);
        let moved = look(false);
        assert!(moved.is_known());
        assert_eq!(moved.written, 34_000);
    }

    #[test]
    fn a_child_counts_once_it_was_waited_for() {
        let mut account = KernelAccount::default();
        account.look(true);
        let dd = ["if=/dev/zero", "of=/dev/null", "bs=1M", "count=64", "status=none"];
        let mut child = Command::new("dd").args(dd).spawn().unwrap();
        assert!(child.wait().unwrap().success());
        let moved = account.look(false);
        assert!(moved.read >= 64 << 20 && moved.written >= 64 << 20, "{moved:?}");
        assert_eq!(moved.native & CHILDREN, CHILDREN);
    }

    #[test]
    fn libraries_are_known_by_their_names() {
        let line = |path: &str| format!("7f00-7f01 r-xp 00000000 08:01 42    {path}\n");
        let of = |paths: &[&str]| native_code(&paths.iter().map(|p| line(p)).collect::<String>());
        let jdk = "/opt/jdk-17/lib/server/libjvm.so";
        assert_eq!(of(&[jdk, "/opt/jdk-17/lib/libnio.so", "/lib/libc.so.6", "[heap]"]), 0);
        assert_eq!(
            of(&[jdk, "/tmp/libiostrata_jvmti.so", "/tmp/snappy-1.1.10-libsnappyjava.so"]),
            0
        );
        assert_eq!(
            of(&["/tmp/libio_grpc_netty_shaded_netty_transport_native_epoll_x86_641.so"]),
            1 << NATIVE_CODE_NETTY
        );
        assert_eq!(of(&["/tmp/libnetty_transport_native_epoll_x86_641.so"]), 0);
        let of_hbase = "/tmp/liborg_apache_hbase_thirdparty_netty_transport_native_epoll_x86_64.so";
        assert_eq!(of(&[of_hbase]), 0);
        assert_eq!(of(&["/usr/lib/hadoop/libhadoop.so.1.0.0"]), 1 << NATIVE_CODE_HADOOP);
        assert_eq!(of(&[jdk, "/tmp/libmine.so (deleted)"]), 1 << NATIVE_CODE_LIBRARY);
        let both = of(&[jdk, "/srv/app/libmine.so", "/tmp/sqlite-3.46-1f-libsqlitejdbc.so"]);
        assert_eq!(both, 1 << NATIVE_CODE_SQLITE | 1 << NATIVE_CODE_LIBRARY);
    }

    #[test]
    fn a_text_that_lacks_a_field_says_nothing() {
        assert_eq!(io("rchar: 5\nwchar: 6\n"), None);
        let all = "rchar: 5\nwchar: 6\nsyscr: 1\nsyscw: 1\nread_bytes: 7\nwrite_bytes: 8\n";
        let moved = Moved { read: 5, written: 6, disk_read: 7, disk_written: 8, native: 0 };
        assert_eq!(io(all), Some(moved));
        assert_eq!(child_faults("1 (a) b) S 2 3 4 5 6 7 8 9 10 11"), Some(9));
    }
}
