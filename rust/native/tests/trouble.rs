//! What goes wrong on real machines: files that lie, disks that fill, recorders that vanish.

mod common;

use std::fs::{self, DirBuilder, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use common::{Row, Site, Writer, is_root, is_true, long, of_kind, skip, text, total, wait};

fn calls(site: &Site, run: &str, proc: i64) -> usize {
    let rows = site.events(run);
    of_kind(&rows, "call").iter().filter(|row| long(row, "proc") == proc).count()
}

fn segment_of(site: &Site, writer: &Writer, proc: u64) -> std::path::PathBuf {
    let uid = rustix::process::geteuid().as_raw();
    site.dir.join(uid.to_string()).join(format!("{}-{proc:016x}", writer.pid())).join("1.seg")
}

#[test]
fn a_segment_truncated_in_use_is_given_up_and_the_rest_goes_on() {
    let site = Site::new();
    let collector = site.collector();
    site.begin("r1");
    let endless = ["--text", "run=r1", "--events", "0", "--pause-us", "1000", "--wait"];
    let victim = site.writer(1, &endless);
    let segment = segment_of(&site, &victim, 1);
    wait("the segment", || segment.exists());
    std::thread::sleep(Duration::from_millis(100));

    // the writer itself gets SIGBUS; the collector must not
    OpenOptions::new().write(true).open(&segment).unwrap().set_len(0).unwrap();
    wait("the rejection", || site.log().contains("truncated while in use"));
    drop(victim);
    let (events, _) = site.writer(2, &["--text", "run=r1", "--events", "1000"]).finish();
    site.end("r1");
    collector.terminate();

    assert_eq!(calls(&site, "r1", 2) as i64, events);
    assert!(site.log().contains("rejected files=1 "), "{}", site.log());
}

#[test]
fn names_and_files_that_make_no_sense_are_rejected_once_each() {
    let site = Site::new();
    let collector = site.collector();
    let own = site.dir.join(rustix::process::geteuid().as_raw().to_string());
    let strangers = site.dir.join("4711");
    fs::create_dir(&strangers).unwrap();
    DirBuilder::new().mode(0o700).create(&own).unwrap();
    fs::create_dir(own.join("no-process")).unwrap();
    let lying = own.join(format!("{}-00000000000000aa", std::process::id()));
    fs::create_dir(&lying).unwrap();
    fs::write(lying.join("process"), vec![0xff; 20_480]).unwrap();
    symlink("/etc", own.join("1-00000000000000bb")).unwrap();
    fs::write(site.dir.join("runs/.hidden.run"), "").unwrap();
    fs::write(site.dir.join("runs/a b.run"), "").unwrap();
    symlink("/etc/passwd", site.dir.join("runs/link.run")).unwrap();
    site.begin("r1");
    let (events, _) = site.writer(2, &["--text", "run=r1", "--events", "1000"]).finish();
    site.end("r1");
    collector.terminate();

    assert_eq!(calls(&site, "r1", 2) as i64, events);
    let log = site.log();
    for name in ["4711:", "no-process:", "00aa:", "00bb:", "a b.run:", "link.run:"] {
        let lines = log.lines().filter(|line| line.contains("rejected") && line.contains(name));
        assert_eq!(lines.count(), 1, "{name} in\n{log}");
    }
    assert!(log.contains("rejected files=6 "), "{log}");
}

#[test]
fn dictionaries_are_unlinked_once_they_are_read() {
    let site = Site::new();
    let collector = site.collector();
    site.begin("r1");
    let daemon = ["--text", "main=x.DataNode", "--context", "r1||||", "--dictionary", "4096"];
    let more = ["--events", "60000", "--wait", "--linger-ms", "60000"];
    let mut writer = site.writer(1, &[&daemon[..], &more].concat());
    writer.written();
    let segment = segment_of(&site, &writer, 1);
    let left = || {
        let files = fs::read_dir(segment.parent().unwrap()).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with("dict-")).count()
    };
    wait("all but the last to go", || left() == 1);
    // a collector that has no spool begins where the dictionaries begin
    collector.kill();
    fs::remove_dir_all(&site.spool).unwrap();
    let collector = site.collector();
    site.wait_for("r1", "recording");
    writer.kill();
    site.end("r1");
    collector.terminate();

    assert!(site.log().contains("ended: rejected files=0 slots=0 names=0 "), "{}", site.log());
}

#[test]
fn an_agent_with_another_point_table_is_named_as_untraced() {
    let site = Site::new();
    let collector = site.collector();
    site.begin("r1");
    site.writer(1, &["--text", "run=r1", "--hash", "7", "--linger-ms", "300"]).finish();
    site.end("r1");
    collector.terminate();

    assert_eq!(site.events("r1").len(), 0);
    let processes = site.processes("r1");
    assert_eq!(processes.len(), 1);
    assert!(!is_true(&processes[0], "traced"));
    let reason = text(&processes[0], "reason");
    assert!(reason.starts_with("agent rejected: its point table 0000000000000007"), "{reason}");
}

/// A process that looks like a JVM to `/proc`: its executable is called java.
fn java(site: &Site, arguments: &[&str]) -> std::process::Child {
    let java = site.path().join("java");
    if !java.exists() {
        fs::copy("/bin/sleep", &java).unwrap();
    }
    Command::new(java).args(arguments).spawn().unwrap()
}

#[test]
fn a_jvm_without_agent_is_named_as_untraced() {
    let site = Site::new();
    let collector = site.collector();
    site.begin("r1");
    let mut untraced = java(&site, &["30"]);
    let traced = site.writer(1, &["--text", "run=r1", "--linger-ms", "800"]);
    let expected = format!("expect=DataNode:{}\nexpect=NameNode:{}\n", untraced.id(), traced.pid());
    site.ask("r2", &expected);
    site.wait_for("r2", "recording");
    std::thread::sleep(Duration::from_millis(600));
    traced.finish();
    site.end("r1");
    site.end("r2");
    untraced.kill().unwrap();
    untraced.wait().unwrap();
    collector.terminate();

    let who = |run: &str| {
        let rows = site.processes(run);
        let mut who: Vec<_> = rows
            .iter()
            .map(|row| (is_true(row, "traced"), text(row, "role").to_owned()))
            .map(|(traced, role)| format!("{} {role}", if traced { "traced" } else { "untraced" }))
            .collect();
        who.sort();
        who
    };
    assert_eq!(who("r1"), ["traced client", "untraced client"]);
    let reasons = site.processes("r1");
    assert!(
        reasons.iter().any(|row| text(row, "reason").starts_with("no agent: JAVA_TOOL_OPTIONS "))
    );
    // r2 expects both, and both descend from its recorder, which is this test
    assert_eq!(who("r2"), ["traced client", "untraced DataNode"]);
}

#[test]
fn a_run_whose_recorder_vanished_is_kept_and_says_so() {
    let site = Site::new();
    let collector = site.collector();
    let mut recorder = Command::new("/bin/sleep").arg("60").spawn().unwrap();
    let start = iostrata_segment::writer::pid_start(recorder.id()).unwrap();
    let order = format!("recorder_pid={}\nrecorder_start={start}\n", recorder.id());
    fs::write(site.dir.join("runs/.new"), order).unwrap();
    fs::rename(site.dir.join("runs/.new"), site.dir.join("runs/r1.run")).unwrap();
    site.wait_for("r1", "recording");
    let (events, _) = site.writer(1, &["--text", "run=r1", "--events", "100"]).finish();
    recorder.kill().unwrap();
    recorder.wait().unwrap();
    site.wait_for("r1", "done");
    collector.terminate();

    let expected = format!("the recorder (pid {}) ended without a stop", recorder.id());
    assert_eq!(site.progress("r1")["message"], expected);
    assert_eq!(calls(&site, "r1", 1) as i64, events);
    assert!(!site.dir.join("runs/r1.run").exists());
}

#[test]
fn a_name_that_the_store_has_already_is_not_recorded_over() {
    let site = Site::new();
    let collector = site.collector();
    site.begin("r1");
    site.writer(1, &["--text", "run=r1", "--events", "100"]).finish();
    site.end("r1");
    site.ask("r1", "");
    wait("the rejection", || {
        site.log().contains("rejected run r1: the store has one of that name")
    });
    wait("the order to go", || !site.dir.join("runs/r1.run").exists());
    collector.terminate();

    assert_eq!(calls(&site, "r1", 1), 100);
}

#[test]
fn a_users_collector_ends_with_its_last_run() {
    let mut site = Site::new();
    site.options = vec!["--exit-when-idle".into()];
    let collector = site.collector();
    site.begin("r1");
    site.end("r1");
    assert!(collector.wait());
    assert!(!site.dir.join("collector").exists());
}

#[test]
fn the_background_is_kept_within_its_size() {
    let mut site = Site::new();
    site.options = ["--background-keep", "20K"].map(str::to_owned).to_vec();
    let collector = site.collector();
    for proc in 1..=4u64 {
        // the end of any run publishes what there is
        let run = format!("r{proc}");
        site.begin(&run);
        site.writer(proc, &["--events", "2000"]).finish();
        std::thread::sleep(Duration::from_millis(300));
        site.end(&run);
    }
    collector.terminate();

    let parts = site.store.join("_background/events/host=here");
    let sizes = fs::read_dir(parts).unwrap().map(|part| part.unwrap().metadata().unwrap().len());
    let sizes: Vec<u64> = sizes.collect();
    assert!(!sizes.is_empty() && sizes.iter().sum::<u64>() <= 20 << 10, "{sizes:?}");
    assert_eq!(calls(&site, "_background", 1), 0);
    assert_eq!(calls(&site, "_background", 4), 2000);
}

/// A small tmpfs of this test's own.
struct Disk<'a>(&'a Path);

impl Disk<'_> {
    fn mount(at: &Path, size: &str) -> bool {
        fs::create_dir(at).unwrap();
        let options = format!("size={size}");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "iostrata-test"])
            .arg(at)
            .status();
        mounted.is_ok_and(|status| status.success()) && is_mount(at)
    }
}

impl Drop for Disk<'_> {
    fn drop(&mut self) {
        if is_mount(self.0) {
            let _ = Command::new("umount").arg("-l").arg(self.0).status();
        }
    }
}

fn is_mount(path: &Path) -> bool {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    mounts.lines().any(|line| line.split(' ').nth(1) == path.to_str())
}

#[test]
fn a_full_spool_disk_costs_detail_only_and_heals() {
    let mut site = Site::new();
    site.options = ["--floor", "0%"].map(str::to_owned).to_vec(); // until it is full
    let name = "a_full_spool_disk_costs_detail_only_and_heals";
    if !is_root() {
        return skip(name, "needs root to mount a small tmpfs");
    }
    if !Disk::mount(&site.spool, "2m") {
        return skip(name, "cannot mount a tmpfs here");
    }
    let _disk = Disk(&site.spool);
    let collector = site.collector();
    site.begin("r1");
    let ballast = site.spool.join("ballast");
    let fill = || fs::write(&ballast, vec![0; 4 << 20]).is_err();
    assert!(fill(), "the disk is full now");
    let arguments = ["--text", "run=r1", "--events", "100000", "--linger-ms", "1500"];
    let mut writer = site.writer(1, &[&arguments[..], &["--cap", "131072"]].concat());
    let (events, bytes) = writer.written();
    wait("the complaint", || site.log().contains("cannot append to the spool"));
    fs::remove_file(&ballast).unwrap();
    writer.finish_silently();
    site.end("r1");
    collector.terminate();

    let rows: Vec<Row> = site.events("r1");
    let sums = of_kind(&rows, "sum");
    assert_eq!((total(&sums, "count"), total(&sums, "bytes")), (events, bytes));
    let dropped = total(&of_kind(&rows, "gap"), "count");
    assert!(dropped > 0);
    assert_eq!(of_kind(&rows, "call").len() as i64 + dropped, events);
    let log = site.log();
    assert_eq!(log.matches("cannot append to the spool").count(), 1, "{log}");
    assert!(log.contains("spool: works again"), "{log}");
}

#[test]
fn the_host_is_sampled_while_a_run_records_and_across_a_kill() {
    let site = Site::new();
    let collector = site.collector();
    site.begin("r1");
    std::thread::sleep(Duration::from_millis(1500));
    collector.kill();
    let collector = site.collector();
    site.wait_for("r1", "recording");
    site.end("r1");
    site.begin("r2");
    site.end("r2");
    collector.terminate();

    let begin = |sample: &Row| long(sample, "time");
    let end = |sample: &Row| long(sample, "time") + long(sample, "interval");
    let (first, second) = (site.samples("r1"), site.samples("r2"));
    // one before the kill or one after it, and one at the end
    assert!(first.len() >= 2, "{first:?}");
    assert!(first.windows(2).all(|pair| end(&pair[0]) == begin(&pair[1])), "{first:?}");
    let used = |sample: &Row| ["cpu_user", "cpu_system", "cpu_idle"].map(|c| long(sample, c));
    assert!(first.iter().flat_map(used).sum::<i64>() > 0, "{first:?}");
    for sample in first.iter().chain(&second) {
        assert_eq!(text(sample, "host"), "here");
        assert!(long(sample, "cores") > 0 && long(sample, "mem_total") > 0, "{sample:?}");
    }
    // what the host did between the runs is in neither
    assert!(!second.is_empty() && begin(&second[0]) >= end(first.last().unwrap()));
}
