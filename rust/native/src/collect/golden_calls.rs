//! The calls of `schema/golden/v1`, made again by the native writer.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use iostrata_segment::schema::{
    CATEGORY_BLK, CATEGORY_BLK_META, CATEGORY_EXCEPTION, CATEGORY_FILE, CATEGORY_HDFS,
    CATEGORY_INPUT, CATEGORY_OUTPUT, FLAG_ERRNO, FLAG_ERROR, LAYER_DATANODE, LAYER_FS, LAYER_HDFS,
    LAYER_JAVA,
};
use iostrata_segment::segment::Segment;
use iostrata_segment::writer::{Cause, Entry, Named, Options, PointFacts, Process, Thread};

const JAVA_READ: u16 = 1;
const HDFS_READ: u16 = 2;
const READ_BLOCK: u16 = 3;
const COUNTED_WRITE: u16 = 4;

fn ticking() -> u64 {
    thread_local!(static TIME: Cell<u64> = const { Cell::new(990) });
    TIME.set(TIME.get() + 10);
    TIME.get()
}

fn handle(process: &Process, category: u8, name: &str) -> u64 {
    u64::from(category) << 32 | u64::from(process.name(category, name))
}

fn block(process: &Process, number: i64) -> u64 {
    let parent = process.name(CATEGORY_BLK, "BP-1");
    let (block, generation) = (1_073_741_820 + number, 1000 + number);
    let named = Named { category: CATEGORY_BLK, parent, block, generation };
    u64::from(CATEGORY_BLK) << 32 | u64::from(process.named(named, &format!("blk_{block}")))
}

fn enter(thread: &mut Thread, point: u16, target: u64, asked: u64, offset: i64) {
    thread.enter(&Entry { point, target, asked, offset, bytes: 0 }, None);
}

/// Writes them as process `proc` below `dir`; where to.
pub fn write(dir: &Path, proc: u64) -> PathBuf {
    let options = Options {
        ring_slots: 32,
        table_rows: 32,
        dictionary: 4096,
        cap: 12_000, // one segment, no successor
        clock: Some(ticking),
        ..Options::default()
    };
    let process = Process::create(dir, proc, options).unwrap();
    let layers = [LAYER_JAVA, LAYER_HDFS, LAYER_DATANODE, LAYER_FS];
    for (point, layer) in (JAVA_READ..).zip(layers) {
        let scope = point == READ_BLOCK;
        let direction = u8::from(point == HDFS_READ);
        let facts = PointFacts { layer, direction, scope, begin: scope, ..PointFacts::default() };
        process.points.set(point, facts);
    }
    let mut thread = process.thread(1, "main");
    process.process_context(process.context(["run-1", "job_1", "attempt_1", "map", ""]));
    let input = handle(&process, CATEGORY_INPUT, "/in");
    for _ in 0..34 {
        enter(&mut thread, HDFS_READ, input, 1 << 16, -1);
        thread.exit(HDFS_READ, 1 << 16, 0);
    }
    free(&process);
    let file = handle(&process, CATEGORY_FILE, "/a/b");
    enter(&mut thread, JAVA_READ, file, 4096, 0);
    thread.exit(JAVA_READ, 4096, 0);
    enter(&mut thread, JAVA_READ, file, 5_000_000_000, 4096);
    thread.failed(JAVA_READ, 28, FLAG_ERRNO);
    let cause = block_read(&process, &mut thread);
    let entry = Entry { point: JAVA_READ, asked: 100, ..Entry::default() };
    thread.enter(&entry, Some((cause.context, Some(cause))));
    thread.exit(JAVA_READ, 100, 0);
    let output = handle(&process, CATEGORY_OUTPUT, "/out");
    for _ in 0..3 {
        thread.enter_counted(COUNTED_WRITE, output, 1, 1);
        thread.exit_counted(COUNTED_WRITE, Thread::AS_ENTERED, false);
    }
    enter(&mut thread, READ_BLOCK, block(&process, 2), 0, 0);
    let named = handle(&process, CATEGORY_FILE, "/ä/€/😀");
    enter(&mut thread, JAVA_READ, named, 512, 512);
    process.path.clone()
}

/// The first slot from here on is the gap.
fn free(process: &Process) {
    let folder = std::fs::File::open(&process.path).unwrap();
    let own = rustix::process::geteuid().as_raw();
    let fd = std::os::fd::AsFd::as_fd(&folder);
    let segment = Segment::open(fd, "1.seg", own, process.proc).unwrap().unwrap();
    segment.free(segment.published(segment.tail()).unwrap());
}

/// A block read for a client in another process: an HDFS read with two reads of a file inside, one
/// failing. Gives it as the cause of later work.
fn block_read(process: &Process, thread: &mut Thread) -> Cause {
    let client = process.context(["run-1", "", "", "", "DFSClient_attempt_1"]);
    let remote = Cause { trace: 0x7777, proc: 0x8888, span: (9 << 40) + 5, ..Cause::default() };
    let remote = Cause { context: client, ..remote };
    let target = block(process, 5);
    let entry = Entry { point: READ_BLOCK, target, ..Entry::default() };
    thread.enter(&entry, Some((client, Some(remote))));
    enter(thread, HDFS_READ, 0, 1024, 65536);
    enter(thread, HDFS_READ, handle(process, CATEGORY_HDFS, "/user/x"), 1024, 65536);
    enter(thread, JAVA_READ, 0, 1024, 0);
    let meta = handle(process, CATEGORY_BLK_META, "blk_1073741825_1005.meta");
    thread.exit(JAVA_READ, 7, meta);
    enter(thread, JAVA_READ, 0, 1024, 7);
    let exception = process.name(CATEGORY_EXCEPTION, "java.io.EOFException");
    thread.failed(JAVA_READ, exception as i32, FLAG_ERROR);
    thread.exit(HDFS_READ, 1000, 0);
    thread.exit(HDFS_READ, 1000, 0);
    let local = thread.cause();
    thread.exit(READ_BLOCK, 1024, 0);
    local
}
