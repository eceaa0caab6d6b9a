//! A user's process that does to a collector what a hostile one would, until its input ends.
//!
//! Everything here is what the uid of the process may do: its own folder in the shared directory is
//! its own, and the door is open to all.

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::{Parser, ValueEnum};
use iostrata_segment::door;
use iostrata_segment::points::POINTS_HASH;
use iostrata_segment::ring::Event;
use iostrata_segment::schema::{
    CATEGORY_CLIENT, CATEGORY_CONTEXT, CATEGORY_FILE, CATEGORY_JOB, SEGMENT_HEAD, SEGMENT_HEADER,
    SEGMENT_RING_SLOTS, SEGMENT_ROWS, SEGMENT_SERIAL, SEGMENT_TABLE_ROWS,
};
use iostrata_segment::writer::{Cause, Options, Process, now};

/// Names that it leaves in shared memory at a time: more than are read, and less than would fill it.
const MOST: usize = 40_000;

#[derive(Parser)]
struct Arguments {
    #[arg(long)]
    dir: PathBuf,
    /// Line of the text of its processes; may be repeated
    #[arg(long)]
    text: Vec<String>,
    /// Each in a thread of its own; by default all
    #[arg(value_enum)]
    attacks: Vec<Attack>,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum Attack {
    /// Calls on files that all have names of their own, as long as names may be
    Names,
    /// Threads that change their context all the time, and never make a call
    Contexts,
    /// Jobs and clients of HDFS by the million
    Claims,
    /// A new thread for each segment
    Threads,
    /// A new process for each moment
    Processes,
    /// Files and folders whose names change all the time
    Files,
    /// Segments that promise a gigabyte and hold nothing
    Sparse,
    /// As many segments as there may be
    Mappings,
    /// Files that are cut while they are read
    Cut,
    /// Calls without end
    Calls,
    /// Guests at the door that say nothing, and nonsense
    Door,
}

/// What one attack works with.
struct Attacker {
    dir: PathBuf,
    text: String,
    is_over: Arc<AtomicBool>,
    /// The number of its first process.
    proc: u64,
}

fn main() {
    let arguments = Arguments::parse();
    let all = Attack::value_variants().to_vec();
    let attacks = if arguments.attacks.is_empty() { all } else { arguments.attacks };
    door::hello(&arguments.dir).expect("a folder");
    let is_over = Arc::new(AtomicBool::new(false));
    std::thread::scope(|scope| {
        for attack in attacks {
            let attacker = Attacker {
                dir: arguments.dir.clone(),
                text: arguments.text.join("\n"),
                is_over: Arc::clone(&is_over),
                proc: (u64::from(std::process::id()) << 32) + ((attack as u64 + 1) << 24),
            };
            scope.spawn(move || println!("{attack:?} {}", attacker.run(attack)));
        }
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        is_over.store(true, Ordering::Relaxed);
    });
}

impl Attacker {
    /// How often it did it.
    fn run(&self, attack: Attack) -> u64 {
        match attack {
            Attack::Names => self.names(),
            Attack::Contexts => self.contexts(),
            Attack::Claims => self.claims(),
            Attack::Threads => self.threads(),
            Attack::Processes => self.processes(),
            Attack::Files => self.files(),
            Attack::Sparse => self.sparse(),
            Attack::Mappings => self.mappings(),
            Attack::Cut => self.cut(),
            Attack::Calls => self.calls(),
            Attack::Door => self.door(),
        }
    }

    fn is_on(&self) -> bool {
        !self.is_over.load(Ordering::Relaxed)
    }

    fn process(&self, number: u64) -> Arc<Process> {
        let options = Options {
            text: self.text.clone(),
            points_hash: POINTS_HASH,
            cap: 256 << 20,
            dictionary: 4 << 20,
            ..Options::default()
        };
        Process::create(&self.dir, self.proc + number, options).expect("a process")
    }

    fn names(&self) -> u64 {
        let process = self.process(0);
        let mut thread = process.thread(1, "names");
        let padding = "x".repeat(16 << 10);
        let mut count = 0;
        while self.is_on() {
            let target = process.name(CATEGORY_FILE, &format!("/{count}/{padding}"));
            thread.call(call(count, target), CATEGORY_FILE);
            count += 1;
        }
        count
    }

    fn contexts(&self) -> u64 {
        let process = self.process(0);
        let ids = ["a\t\t\t\t", "b\t\t\t\t"].map(|name| process.name(CATEGORY_CONTEXT, name));
        let mut threads: Vec<_> =
            (1..=64).map(|tid| process.thread(tid, &format!("contexts-{tid}"))).collect();
        let mut count = 0;
        while self.is_on() {
            for thread in &mut threads {
                for id in ids {
                    let cause =
                        Cause { trace: count, proc: count, span: count, ..Cause::default() };
                    thread.push_context(0, id, Some(cause));
                    thread.call(call(count, 0), CATEGORY_FILE);
                    thread.pop_context();
                    count += 1;
                }
            }
        }
        count
    }

    fn claims(&self) -> u64 {
        let process = self.process(0);
        let padding = "c".repeat(1000);
        let mut count = 0;
        while self.is_on() {
            process.name(CATEGORY_CLIENT, &format!("DFSClient_{count}_{padding}"));
            process.name(CATEGORY_JOB, &format!("job_1{count}_0001"));
            count += 2;
        }
        count
    }

    fn threads(&self) -> u64 {
        let process = self.process(0);
        let mut count = 0;
        while self.is_on() {
            let mut thread = process.thread(1000 + count, &format!("thread-{count}"));
            thread.call(call(count, 0), CATEGORY_FILE);
            thread.end();
            count += 1;
        }
        count
    }

    fn processes(&self) -> u64 {
        let mut count = 0;
        let mut made = VecDeque::new();
        while self.is_on() {
            let process = self.process(count);
            process.end();
            made.push_back(process.path.clone());
            if made.len() > MOST {
                let _ = made.pop_front().map(fs::remove_dir_all);
            }
            count += 1;
            std::thread::sleep(Duration::from_micros(200));
        }
        count
    }

    fn files(&self) -> u64 {
        let process = self.process(0);
        let user = process.path.parent().expect("the user's folder").to_owned();
        let (mut count, mut names) = (0, VecDeque::new());
        while self.is_on() {
            while names.len() > MOST {
                let name: PathBuf = names.pop_front().expect("many");
                let _ = fs::remove_file(&name).or_else(|_| fs::remove_dir(&name));
            }
            for place in [&process.path, &user] {
                let segment = place.join(format!("{count}.seg"));
                let folder = place.join(format!("{count}-no-process"));
                let made = File::create(&segment).and_then(|_| fs::create_dir(&folder));
                if made.is_ok() {
                    names.extend([segment, folder]);
                }
            }
            count += 1;
        }
        count
    }

    fn sparse(&self) -> u64 {
        let process = self.process(0);
        let mut count = 0;
        while self.is_on() {
            let number = count % MOST as u64;
            for name in [format!("{}.seg", 1000 + number), format!("dict-{number}")] {
                if let Ok(file) = File::create(process.path.join(name)) {
                    let _ = file.set_len(1 << 30);
                }
            }
            count += 1;
            std::thread::sleep(Duration::from_millis(1));
        }
        count
    }

    /// A segment of one page that is as good as any, in as many copies as the kernel allows.
    fn mappings(&self) -> u64 {
        let process = self.process(0);
        let mut thread = process.thread(1, "mappings");
        thread.call(call(0, 0), CATEGORY_FILE);
        let first = process.path.join("1.seg");
        let Ok(mut bytes) = fs::read(first) else { return 0 };
        bytes.truncate(SEGMENT_HEADER);
        for (at, word) in
            [(SEGMENT_RING_SLOTS, 0), (SEGMENT_TABLE_ROWS, 0), (SEGMENT_HEAD, 0), (SEGMENT_ROWS, 0)]
        {
            bytes[at..at + 4].copy_from_slice(&u32::to_le_bytes(word));
        }
        let mut count = 0;
        while self.is_on() && count < 40_000 {
            let serial = 100 + count as u32;
            bytes[SEGMENT_SERIAL..SEGMENT_SERIAL + 4].copy_from_slice(&serial.to_le_bytes());
            if fs::write(process.path.join(format!("{serial}.seg")), &bytes).is_ok() {
                count += 1;
            }
        }
        while self.is_on() {
            std::thread::sleep(Duration::from_millis(10));
        }
        count
    }

    fn cut(&self) -> u64 {
        let mut count = 0;
        while self.is_on() {
            let process = self.process(count);
            let mut thread = process.thread(1, "cut");
            for number in 0..1000 {
                thread.call(call(number, 0), CATEGORY_FILE);
            }
            std::thread::sleep(Duration::from_millis(120));
            for entry in fs::read_dir(&process.path).into_iter().flatten().flatten() {
                let file = OpenOptions::new().write(true).open(entry.path());
                let _ = file.and_then(|file| {
                    file.write_all_at(&[0xff; 64], 128)?;
                    file.set_len(64)
                });
            }
            count += 1;
            // what it has mapped is no longer there: nothing of it may be touched again
            std::mem::forget(thread);
            std::mem::forget(process);
        }
        count
    }

    fn calls(&self) -> u64 {
        let process = self.process(0);
        let mut thread = process.thread(1, "calls");
        let mut count = 0;
        while self.is_on() {
            for _ in 0..1000 {
                thread.call(call(count, 0), CATEGORY_FILE);
                count += 1;
            }
        }
        count
    }

    fn door(&self) -> u64 {
        let mut held: Vec<OwnedFd> = Vec::new();
        let mut count = 0;
        while self.is_on() {
            if let Some(guest) = knock(&self.dir) {
                let request = match count % 4 {
                    0 => vec![0xff; 200_000],
                    1 => format!("record r{count}\n{}", "x=y\n".repeat(1000)).into_bytes(),
                    2 => b"stop ../../etc".to_vec(),
                    _ => Vec::new(),
                };
                let mut file = File::from(guest.try_clone().expect("a descriptor"));
                let _ = if request.is_empty() { Ok(0) } else { file.write(&request) };
                held.push(guest);
            }
            if held.len() > 100 {
                held.clear();
            }
            count += 1;
        }
        count
    }
}

fn knock(dir: &Path) -> Option<OwnedFd> {
    let directory = File::open(dir).ok()?;
    let socket = door::packets().ok()?;
    rustix::net::connect(&socket, &door::address(directory.as_fd()).ok()?).ok()?;
    Some(socket)
}

fn call(number: u64, target: u32) -> Event {
    let span = number + 1;
    Event { start: now(), dur: 100, bytes: 1, target, point: 1, span, ..Event::default() }
}
