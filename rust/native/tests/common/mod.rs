//! A collector with a directory, a store and a spool of its own, and processes that write to it.
#![allow(dead_code)] // each test binary uses a part of it

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use parquet::column::reader::get_typed_column_reader;
use parquet::data_type::Int64Type;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

pub type Row = BTreeMap<String, Field>;

pub struct Site {
    root: PathBuf,
    pub dir: PathBuf,
    pub store: PathBuf,
    pub spool: PathBuf,
    pub options: Vec<String>,
    /// Stderr of all collectors so far.
    pub log: PathBuf,
}

pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Prints why a test is skipped, for the list at the end of the suite.
pub fn skip(test: &str, why: &str) {
    println!("skipped: {test}: {why}");
}

impl Site {
    pub fn new() -> Site {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("iostrata-test-{}-{number}", std::process::id());
        let root = Path::new("/dev/shm").join(name);
        fs::create_dir(&root).unwrap();
        fs::set_permissions(&root, fs::Permissions::from_mode(0o755)).unwrap();
        let at = |name: &str| root.join(name);
        Site {
            dir: at("dir"),
            store: at("store"),
            spool: at("spool"),
            log: at("log"),
            options: Vec::new(),
            root,
        }
    }

    pub fn path(&self) -> &Path {
        &self.root
    }

    /// Starts a collector and waits until it drains the directory.
    pub fn collector(&self) -> Collector {
        let log = File::options().append(true).create(true).open(&self.log).unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_iostrata-native"))
            .args(["collect", "--host", "here", "--grace", "5s"])
            .args([Path::new("--dir"), &self.dir])
            .args([Path::new("--store"), &self.store])
            .args([Path::new("--spool"), &self.spool])
            .args(&self.options)
            .stderr(log)
            .spawn()
            .unwrap();
        let pid = format!("pid={}\n", child.id());
        let collector = Collector { child };
        wait("the collector to say who it is", || {
            fs::read_to_string(self.dir.join("collector")).is_ok_and(|text| text.contains(&pid))
                && self.dir.join("anchor").exists()
        });
        collector
    }

    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Asks for a run of which this process is the recorder, and waits until it records.
    pub fn begin(&self, run: &str) {
        self.ask(run, "");
        self.wait_for(run, "recording");
    }

    pub fn ask(&self, run: &str, more: &str) {
        let pid = std::process::id();
        let start = iostrata_segment::writer::pid_start(pid).unwrap();
        let order = format!("recorder_pid={pid}\nrecorder_start={start}\ncommand=test\n{more}");
        let new = self.dir.join("runs").join(format!(".{run}.new"));
        fs::write(&new, order).unwrap();
        fs::rename(new, self.dir.join("runs").join(format!("{run}.run"))).unwrap();
    }

    pub fn stop(&self, run: &str) {
        fs::write(self.dir.join("runs").join(format!("{run}.stop")), "").unwrap();
    }

    /// Stops the run and waits until it is published.
    pub fn end(&self, run: &str) {
        self.stop(run);
        self.wait_for(run, "done");
    }

    pub fn progress(&self, run: &str) -> serde_json::Value {
        let text = fs::read_to_string(self.store.join(run).join("progress.json"));
        text.ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }

    pub fn wait_for(&self, run: &str, state: &str) {
        let is = || self.progress(run)["state"] == state;
        let end = Instant::now() + Duration::from_secs(60);
        while !is() {
            let late = Instant::now() > end;
            assert!(!late, "run {run} is not {state}: {}\n{}", self.progress(run), self.log());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub fn writer(&self, proc: u64, arguments: &[&str]) -> Writer {
        self.writer_as(0, proc, arguments)
    }

    /// A writing process with another uid, if that is not 0.
    pub fn writer_as(&self, uid: u32, proc: u64, arguments: &[&str]) -> Writer {
        let mut command = Command::new(example("write_events"));
        command.arg("--dir").arg(&self.dir).args(["--proc", &format!("{proc:x}")]);
        command.args(arguments).stdout(Stdio::piped());
        if uid != 0 {
            command.uid(uid).gid(uid);
        }
        let mut child = command.spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        Writer { child, out }
    }

    /// Rows of a run's parts, in the order of files and rows.
    pub fn events(&self, run: &str) -> Vec<Row> {
        let files = self.parts("events", run);
        files.iter().flat_map(|file| read(file)).collect()
    }

    /// Events and bytes of a run, of calls and of sums, read column by column; asserts that the
    /// spans of each thread are numbered from 1.
    pub fn long_columns(&self, run: &str) -> [i64; 4] {
        let mut totals = [0; 4];
        let mut last: BTreeMap<i64, i64> = BTreeMap::new();
        for file in self.parts("events", run) {
            let [span, tid, bytes, count] =
                ["span", "tid", "bytes", "count"].map(|column| longs(&file, column));
            for row in 0..span.len() {
                let bytes = bytes[row].unwrap_or(0);
                if let Some(span) = span[row] {
                    let last = last.entry(tid[row].unwrap()).or_default();
                    assert_eq!(span, *last + 1, "{} row {row}", file.display());
                    *last = span;
                    totals[0] += 1;
                    totals[1] += bytes;
                } else {
                    totals[2] += count[row].unwrap_or(0);
                    totals[3] += bytes;
                }
            }
        }
        totals
    }

    /// Samples of the host, in the order of files and rows.
    pub fn samples(&self, run: &str) -> Vec<Row> {
        self.parts("system", run).iter().flat_map(|file| read(file)).collect()
    }

    fn parts(&self, table: &str, run: &str) -> Vec<PathBuf> {
        let parts = self.store.join(run).join(table).join("host=here");
        let entries = fs::read_dir(parts).into_iter().flatten();
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files
    }

    pub fn processes(&self, run: &str) -> Vec<Row> {
        read(&self.store.join(run).join("processes/host=here.parquet"))
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the collector said:\n{}", self.log());
        }
        let _ = fs::remove_dir_all(&self.root);
    }
}

fn example(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let path = tests.ancestors().nth(2).unwrap().join("examples").join(name);
    assert!(path.exists(), "{} is missing: run plain `cargo test`", path.display());
    path
}

pub struct Collector {
    child: Child,
}

impl Collector {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// SIGTERM; asserts that it ends with 0.
    pub fn terminate(mut self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        assert!(self.child.wait().unwrap().success());
    }

    pub fn wait(mut self) -> bool {
        self.child.wait().unwrap().success()
    }

    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub struct Writer {
    child: Child,
    out: BufReader<std::process::ChildStdout>,
}

impl Writer {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for the end; what it wrote: events, bytes.
    pub fn finish(mut self) -> (i64, i64) {
        let patience = if std::env::var_os("SOAK").is_some() { 7200 } else { 120 };
        let end = Instant::now() + Duration::from_secs(patience);
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < end, "the writer did not end within {patience} s");
            std::thread::sleep(Duration::from_millis(5));
        };
        assert!(status.success());
        let mut text = String::new();
        self.out.read_to_string(&mut text).unwrap();
        written(&text)
    }

    /// Waits for the end of one whose totals were read before.
    pub fn finish_silently(mut self) {
        assert!(self.child.wait().unwrap().success());
    }

    /// What it wrote, while it lingers on.
    pub fn written(&mut self) -> (i64, i64) {
        let mut line = String::new();
        self.out.read_line(&mut line).unwrap();
        written(&line)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn written(line: &str) -> (i64, i64) {
    let value = |key: &str| {
        let word = line.split_whitespace().find_map(|word| word.strip_prefix(key));
        word.unwrap().parse::<i64>().unwrap()
    };
    (value("events="), value("bytes="))
}

pub fn read(file: &Path) -> Vec<Row> {
    let reader = SerializedFileReader::new(File::open(file).unwrap()).unwrap();
    let rows = reader.get_row_iter(None).unwrap();
    rows.map(|row| {
        let row = row.unwrap();
        row.get_column_iter().map(|(name, field)| (name.clone(), field.clone())).collect()
    })
    .collect()
}

fn longs(file: &Path, name: &str) -> Vec<Option<i64>> {
    let reader = SerializedFileReader::new(File::open(file).unwrap()).unwrap();
    let columns = reader.metadata().file_metadata().schema_descr().columns();
    let place = columns.iter().position(|column| column.name() == name).unwrap();
    let mut cells = Vec::new();
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).unwrap();
        let mut column =
            get_typed_column_reader::<Int64Type>(group.get_column_reader(place).unwrap());
        let (mut values, mut present) = (Vec::new(), Vec::new());
        let rows = group.metadata().num_rows() as usize;
        column.read_records(rows, Some(&mut present), None, &mut values).unwrap();
        let mut values = values.into_iter();
        cells.extend(present.into_iter().map(|is| if is == 1 { values.next() } else { None }));
    }
    cells
}

pub fn long(row: &Row, column: &str) -> i64 {
    match &row[column] {
        Field::Long(value) => *value,
        Field::Int(value) => i64::from(*value),
        other => panic!("{column} is {other:?}"),
    }
}

/// Empty for null.
pub fn text<'a>(row: &'a Row, column: &str) -> &'a str {
    match &row[column] {
        Field::Str(value) => value,
        Field::Null => "",
        other => panic!("{column} is {other:?}"),
    }
}

pub fn is_true(row: &Row, column: &str) -> bool {
    row[column] == Field::Bool(true)
}

pub fn of_kind<'a>(rows: &'a [Row], kind: &str) -> Vec<&'a Row> {
    rows.iter().filter(|row| text(row, "kind") == kind).collect()
}

pub fn total(rows: &[&Row], column: &str) -> i64 {
    rows.iter().map(|row| long(row, column)).sum()
}

pub fn wait(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < end, "waited 60 s for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
