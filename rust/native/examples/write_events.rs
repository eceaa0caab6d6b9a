//! A traced process made of Rust: writes numbered events the way an agent does. Tests start it,
//! kill it, and compare what the collector published with what it says it wrote.
//!
//! Event `i` of a thread has span `i + 1`, `i % 1000` bytes, offset `i`, and a target that changes
//! every 64 events. Its last line says what was written in all.

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Parser;
use iostrata_segment::points::POINTS_HASH;
use iostrata_segment::ring::Event;
use iostrata_segment::schema::{CATEGORY_CLIENT, CATEGORY_CONTEXT, CATEGORY_FILE, CATEGORY_JOB};
use iostrata_segment::writer::{Entry, Options, Process, Thread, now};

#[derive(Parser)]
struct Arguments {
    #[arg(long)]
    dir: PathBuf,
    /// Hex
    #[arg(long)]
    proc: String,
    /// Line of the process text; may be repeated
    #[arg(long)]
    text: Vec<String>,
    #[arg(long, default_value_t = 1)]
    threads: u64,
    /// Per thread; 0: until killed
    #[arg(long, default_value_t = 1000)]
    events: u64,
    /// Wait for room in the ring instead of dropping
    #[arg(long)]
    wait: bool,
    /// Sleep this long every 1,000 events
    #[arg(long, default_value_t = 0)]
    pause_us: u64,
    #[arg(long, default_value_t = 1 << 20)]
    dictionary: u32,
    /// Bytes of all segments
    #[arg(long, default_value_t = 256 << 20)]
    cap: u64,
    /// Entry of category job to announce first
    #[arg(long)]
    job: Option<String>,
    /// Entry of category client to announce first
    #[arg(long)]
    client: Option<String>,
    /// Context of all events: run|job|task|phase|client
    #[arg(long)]
    context: Option<String>,
    /// Leave this many operations open, and the segment unsealed
    #[arg(long, default_value_t = 0)]
    open: u64,
    /// Live this long after the last event
    #[arg(long, default_value_t = 0)]
    linger_ms: u64,
    /// Do not mark the end in the page
    #[arg(long)]
    abrupt: bool,
    /// Value of `points_hash`, if not the right one
    #[arg(long)]
    hash: Option<u64>,
}

fn main() {
    let arguments = Arguments::parse();
    let proc = u64::from_str_radix(&arguments.proc, 16).expect("--proc is hex");
    let options = Options {
        text: arguments.text.join("\n"),
        points_hash: arguments.hash.unwrap_or(POINTS_HASH),
        dictionary: arguments.dictionary,
        cap: arguments.cap,
        ..Options::default()
    };
    let process = Process::create(&arguments.dir, proc, options).expect("a directory");
    if let Some(job) = &arguments.job {
        process.name(CATEGORY_JOB, job);
    }
    if let Some(client) = &arguments.client {
        process.name(CATEGORY_CLIENT, client);
    }
    let control = std::fs::read(arguments.dir.join("control")).unwrap_or_default();
    if control.len() > 20 {
        process.saw_control(u32::from_le_bytes([
            control[16],
            control[17],
            control[18],
            control[19],
        ]));
    }
    println!("ready");
    let begin = Instant::now();
    let totals: Vec<(u64, u64)> = std::thread::scope(|scope| {
        let threads = (0..arguments.threads).map(|tid| {
            let (process, arguments) = (&process, &arguments);
            scope.spawn(move || write(process, arguments, tid))
        });
        let threads: Vec<_> = threads.collect();
        threads.into_iter().map(|thread| thread.join().expect("writes")).collect()
    });
    let (events, bytes) = totals.iter().fold((0, 0), |(e, b), (te, tb)| (e + te, b + tb));
    let ns = begin.elapsed().as_nanos() as f64 / events as f64;
    println!("events={events} bytes={bytes} ns_per_event={ns:.1}");
    std::io::stdout().flush().expect("a reader");
    std::thread::sleep(Duration::from_millis(arguments.linger_ms));
    if !arguments.abrupt {
        process.end();
    }
}

fn write(process: &std::sync::Arc<Process>, arguments: &Arguments, tid: u64) -> (u64, u64) {
    let mut thread = process.thread(tid, &format!("writer-{tid}"));
    if let Some(context) = &arguments.context {
        let id = process.name(CATEGORY_CONTEXT, &context.replace('|', "\t"));
        thread.push_context(0, id, None);
    }
    let (mut bytes, mut target) = (0, 0);
    let last = if arguments.events == 0 { u64::MAX } else { arguments.events };
    for i in 0..last {
        if i % 64 == 0 {
            let name = format!("/data/{tid}/{}", i / 64 % 4096);
            target = process.name(CATEGORY_FILE, &name);
        }
        if i % 256 == 0 && arguments.wait {
            while thread.free_slots() < 512 {
                std::thread::sleep(Duration::from_micros(200));
            }
        }
        if i % 1000 == 999 && arguments.pause_us > 0 {
            std::thread::sleep(Duration::from_micros(arguments.pause_us));
        }
        let size = (i % 1000) as i64;
        bytes += size as u64;
        let event = Event {
            start: now(),
            dur: 100 + i % 7,
            bytes: size,
            offset: i as i64,
            target,
            point: 1 + (i % 3) as u16,
            asked: size as u32,
            span: i + 1,
            ..Event::default()
        };
        thread.call(event, CATEGORY_FILE);
    }
    leave_open(&mut thread, arguments.open, target);
    if arguments.open == 0 {
        thread.end();
    }
    (last, bytes)
}

fn leave_open(thread: &mut Thread, calls: u64, target: u32) {
    let target = u64::from(CATEGORY_FILE) << 32 | u64::from(target);
    for _ in 0..calls {
        thread.enter(&Entry { point: 1, target, offset: -1, ..Entry::default() }, None);
    }
}
