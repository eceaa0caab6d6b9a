//! A child that a recording process forks, and that calls no exec, leaves what its parent records
//! alone. It runs in a process of its own: others' tests run no threads in it.

use std::collections::BTreeMap;
use std::fs;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use iostrata_segment::schema::CATEGORY_FILE;
use iostrata_segment::scratch::ScratchDir;
use iostrata_segment::writer::{Entry, Options, Process, Thread};

/// Seconds after which a child that waits for a lock is ended.
const PATIENCE: u32 = 20;

fn calls(thread: &mut Thread, count: u32) {
    for _ in 0..count {
        thread.enter(&Entry { point: 1, ..Entry::default() }, None);
        thread.exit(1, 8, 0);
    }
}

/// Runs `work` in a child; the status with which it has ended.
fn in_child(work: impl FnOnce()) -> i32 {
    // SAFETY: the child does what a traced program might, and ends without running any handler
    unsafe {
        let pid = libc::fork();
        if pid == 0 {
            libc::alarm(PATIENCE);
            let done = catch_unwind(AssertUnwindSafe(work));
            libc::_exit(i32::from(done.is_err()));
        }
        let mut status = -1;
        libc::waitpid(pid, &raw mut status, 0);
        status
    }
}

fn files(of: &Path) -> BTreeMap<String, Vec<u8>> {
    let all = fs::read_dir(of).unwrap().map(|file| file.unwrap());
    all.map(|file| (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap()))
        .collect()
}

/// All that a child might do: calls in the thread that has forked it, until its ring is full and
/// beyond, an open call, names, a thread of its own, the end of both and of the process.
fn everything(process: &Arc<Process>, mut thread: Thread) {
    calls(&mut thread, 5_000);
    thread.enter(&Entry { point: 1, ..Entry::default() }, None);
    process.name(CATEGORY_FILE, "/of/the/child");
    process.fault(1);
    let mut own = process.thread(2, "own");
    calls(&mut own, 10);
    own.end();
    thread.fail();
    thread.end();
    process.end();
    process.detach();
}

#[test]
fn no_byte_of_the_parents_files_changes() {
    let dir = ScratchDir::new();
    let process = Process::create(dir.path(), 7, Options::default()).unwrap();
    let mut thread = process.thread(1, "main");
    calls(&mut thread, 3);
    process.name(CATEGORY_FILE, "/of/the/parent");
    let before = files(&process.path);
    assert_eq!(before.keys().collect::<Vec<_>>(), ["1.seg", "dict-0", "process"]);
    // WHEN
    // SAFETY: the child's copy is the child's; this process goes on with the original
    let copy = ManuallyDrop::new(unsafe { std::ptr::read(&raw const thread) });
    let status = in_child(|| everything(&process, ManuallyDrop::into_inner(copy)));
    // THEN
    assert_eq!(status, 0);
    assert!(before == files(&process.path), "files differ");
    // AND the parent goes on
    calls(&mut thread, 3);
    assert!(before["1.seg"] != files(&process.path)["1.seg"]);
    // AND what a child forks is no better
    assert_eq!(in_child(|| assert_eq!(in_child(|| calls(&mut thread, 3)), 0)), 0);
    // AND the child of a process may record into files of its own
    let own = || {
        let process = Process::create(dir.path(), 8, Options::default()).unwrap();
        calls(&mut process.thread(1, "main"), 3);
        assert!(process.path.join("1.seg").is_file());
    };
    assert_eq!(in_child(own), 0);
}

#[test]
fn a_child_waits_for_no_lock_that_another_thread_had() {
    let dir = ScratchDir::new();
    let process = Process::create(dir.path(), 7, Options::default()).unwrap();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for tid in 0..4 {
            let (process, over) = (&process, &over);
            scope.spawn(move || {
                for name in 0.. {
                    let mut thread = process.thread(10 + tid, "busy");
                    process.name(CATEGORY_FILE, &format!("/{tid}/{name}"));
                    calls(&mut thread, 2);
                    thread.end();
                    if over.load(Ordering::Relaxed) {
                        return;
                    }
                }
            });
        }
        let forked = (0..100).map(|_| {
            let thread = process.thread(1, "main");
            in_child(|| everything(&process, thread))
        });
        let ends: Vec<i32> = forked.collect();
        over.store(true, Ordering::Relaxed);
        assert_eq!(ends, [0; 100]);
    });
}
