/*!
The native writer as Java reaches it: methods of `io.iostrata.segment.Native`.

A handle is the address of a [`Process`] or of a [`Thread`], which Java passes back; 0 is none. A
process is never given back: a hook that began before the agent left may still name something. A
thread's handle is used by that thread, and given back once it cannot come any more.
*/

use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use iostrata_segment::schema::{POINT_STATE_ABSENT, PROCESS_MAX_POINTS};
use iostrata_segment::writer::{Cause, Entry, Named, Options, PointFacts, Process, Thread, files};
use jni_sys::{JNIEnv, jboolean, jclass, jint, jlong, jobject};

use crate::handles::{characters, of_process, of_thread, process};
use crate::jni::{JavaException, Jni, native};
use crate::loader;

/// The class of `tfs://`, then the agent's in the package of this version and in that of our own tests.
const CLASSES: [&CStr; 3] = [
    c"io/iostrata/tfs/segment/Native",
    match CStr::from_bytes_with_nul(
        concat!(env!("IOSTRATA_SEGMENT_PACKAGE"), "/Native\0").as_bytes(),
    ) {
        Ok(name) => name,
        Err(_) => unreachable!(),
    },
    c"io/iostrata/segment/Native",
];

/// Binds the methods; the class is there already. `loads`: by the class loader of whom this library is
/// loaded by, where that of `tfs://` is only if it is that one, which brings a copy of its own.
pub fn register(jni: Jni, loads: bool) -> Result<(), JavaException> {
    let known = &CLASSES[usize::from(!loads)..];
    let class = known.iter().find_map(|name| jni.class(name).ok()).ok_or(JavaException)?;
    let methods = [
        native(c"open", c"(Ljava/lang/String;Ljava/lang/String;[J)J", open as *const _),
        native(c"directory", c"(J)Ljava/lang/String;", directory as *const _),
        native(c"clockCost", c"(J)J", clock_cost as *const _),
        native(c"point", c"(JIJ)V", point as *const _),
        native(c"points", c"(J[J)V", points as *const _),
        native(c"off", c"(JIZ)V", off as *const _),
        native(c"name", c"(JILjava/lang/String;IJJ)I", name as *const _),
        native(c"processContext", c"(JI)V", process_context as *const _),
        native(c"beginRecording", c"(J)V", begin_recording as *const _),
        native(c"count", c"(JIJ)V", count as *const _),
        native(c"pointState", c"(JII)V", point_state as *const _),
        native(c"fault", c"(JI)V", fault as *const _),
        native(c"acknowledge", c"(JI)V", acknowledge as *const _),
        native(c"account", c"(JJJJJJ)V", account as *const _),
        native(c"lookAtKernel", c"(JZ)V", look_at_kernel as *const _),
        native(c"child", c"(JLjava/lang/Object;)V", child as *const _),
        native(c"summedFor", c"(JII)V", summed_for as *const _),
        native(c"detail", c"(JIIZ)V", detail as *const _),
        native(c"summed", c"(JIZ)V", summed as *const _),
        native(c"allow", c"(JJ)V", allow as *const _),
        native(c"isUsedUp", c"(J)Z", is_used_up as *const _),
        native(c"slots", c"(J)J", slots as *const _),
        native(c"end", c"(J)V", end as *const _),
        native(c"detach", c"(J)V", detach as *const _),
        native(c"readControl", c"(Ljava/lang/String;[BI)Z", read_control as *const _),
        native(c"uid", c"()I", uid as *const _),
        native(c"begin", c"(JJLjava/lang/String;)J", begin as *const _),
        native(c"rename", c"(JLjava/lang/String;)V", rename as *const _),
        native(c"endThread", c"(J)V", end_thread as *const _),
        native(c"threadStops", c"(J)V", thread_stops as *const _),
        native(c"enter", c"(JIJJJJ)V", enter as *const _),
        native(c"enterFor", c"(JIJJJJI[J)V", enter_for as *const _),
        native(c"exit", c"(JIJ)V", exit as *const _),
        native(c"failed", c"(JII)V", failed as *const _),
        native(c"addUp", c"(JIJ)V", add_up as *const _),
        native(c"enterCounted", c"(JIJJJ)V", enter_counted as *const _),
        native(c"count", c"(JIJJJ)Z", count_call as *const _),
        native(c"openCounted", c"(JI)V", open_counted as *const _),
        native(c"failCounted", c"(JI)V", fail_counted as *const _),
        native(c"exitCounted", c"(JIJZ)V", exit_counted as *const _),
        native(c"dropCounted", c"(JI)V", drop_counted as *const _),
        native(c"cause", c"(J[J)V", cause as *const _),
    ];
    jni.register(class, &methods)
}

/// `numbers`: proc, pid, identity of the point table, bytes of all segments (0: as many as the
/// cgroup can spare), seed.
extern "system" fn open(
    env: *mut JNIEnv,
    _: jclass,
    dir: jobject,
    text: jobject,
    numbers: jobject,
) -> jlong {
    let jni = Jni::new(env);
    let made = || {
        let none = |_| "a text that is none".to_owned();
        let (dir, text) = (jni.text(dir).map_err(none)?, jni.text(text).map_err(none)?);
        let numbers: [i64; 5] = jni.longs(numbers).map_err(none)?;
        let [proc, pid, points_hash, cap, seed] = numbers.map(|number| number as u64);
        let here = Options::here();
        let options = Options {
            text,
            points_hash,
            pid: pid as u32,
            cap: if cap == 0 { here.cap } else { cap },
            seed: if seed == 0 { here.seed } else { seed },
            ..here
        };
        let process = Process::create(Path::new(&dir), proc, options);
        let process = process.map_err(|why| why.to_string())?;
        loader::with(|loader| loader.pauses.record_in(&process.path));
        Ok::<_, String>(Box::into_raw(Box::new(process)) as jlong)
    };
    catch_unwind(AssertUnwindSafe(made))
        .unwrap_or_else(|_| Err("a fault inside".into()))
        .unwrap_or_else(|why| {
            jni.throw(c"java/io/IOException", &why);
            0
        })
}

extern "system" fn directory(env: *mut JNIEnv, _: jclass, handle: jlong) -> jobject {
    let path = process(handle).map(|process| process.path.display().to_string());
    Jni::new(env).string(&path.unwrap_or_default()).unwrap_or(std::ptr::null_mut())
}

extern "system" fn clock_cost(_: *mut JNIEnv, _: jclass, handle: jlong) -> jlong {
    process(handle).map_or(0, |process| process.clock_cost() as jlong)
}

/// `facts`: as [`PointFacts::packed`].
extern "system" fn point(_: *mut JNIEnv, _: jclass, handle: jlong, point: jint, facts: jlong) {
    of_process(handle, |process| {
        process.points.set(point as u16, PointFacts::unpacked(facts as u64));
    });
}

/// [`point`] of each, by its id; 0: there is none.
extern "system" fn points(env: *mut JNIEnv, _: jclass, handle: jlong, facts: jobject) {
    of_process(handle, |process| {
        let facts: [i64; PROCESS_MAX_POINTS] =
            Jni::new(env).longs(facts).unwrap_or([0; PROCESS_MAX_POINTS]);
        for (point, facts) in (0..).zip(facts).filter(|(_, facts)| *facts != 0) {
            process.points.set(point, PointFacts::unpacked(facts as u64));
        }
    });
}

extern "system" fn off(_: *mut JNIEnv, _: jclass, handle: jlong, point: jint, off: jboolean) {
    of_process(handle, |process| process.points.switch(point as u16, off));
}

/// The effective one of this process.
extern "system" fn uid(_: *mut JNIEnv, _: jclass) -> jint {
    rustix::process::geteuid().as_raw() as jint
}

/// A dictionary id; 0 when there is no room.
extern "system" fn name(
    env: *mut JNIEnv,
    _: jclass,
    handle: jlong,
    category: jint,
    name: jobject,
    parent: jint,
    block: jlong,
    generation: jlong,
) -> jint {
    let mut id = 0;
    of_process(handle, |process| {
        let name = characters(env, name);
        let (category, parent) = (category as u8, parent as u32);
        id = process.named(Named { category, parent, block, generation }, &name);
    });
    id as jint
}

extern "system" fn process_context(_: *mut JNIEnv, _: jclass, handle: jlong, id: jint) {
    of_process(handle, |process| process.process_context(id as u32));
}

extern "system" fn begin_recording(_: *mut JNIEnv, _: jclass, handle: jlong) {
    of_process(handle, |process| process.begin_recording());
}

extern "system" fn count(_: *mut JNIEnv, _: jclass, handle: jlong, counter: jint, more: jlong) {
    of_process(handle, |process| process.count(counter as usize, more as u64));
}

extern "system" fn point_state(_: *mut JNIEnv, _: jclass, handle: jlong, point: jint, state: jint) {
    let state = usize::try_from(state).unwrap_or(POINT_STATE_ABSENT);
    of_process(handle, |process| process.point_state(point as u16, state));
}

extern "system" fn fault(_: *mut JNIEnv, _: jclass, handle: jlong, point: jint) {
    of_process(handle, |process| process.fault(point as u16));
}

extern "system" fn acknowledge(_: *mut JNIEnv, _: jclass, handle: jlong, word: jint) {
    of_process(handle, |process| process.saw_control(word as u32));
}

extern "system" fn account(
    _: *mut JNIEnv,
    _: jclass,
    handle: jlong,
    hooks: jlong,
    thread: jlong,
    collector: jlong,
    cpu: jlong,
    over: jlong,
) {
    let cost = [hooks, thread, collector, cpu, over].map(|nanos| nanos as u64);
    of_process(handle, |process| process.account(cost));
}

extern "system" fn look_at_kernel(_: *mut JNIEnv, _: jclass, handle: jlong, records: jboolean) {
    of_process(handle, |process| process.look_at_kernel(records));
}

/// `task`: the JDK's, which has the pid and whether it is its own to reap.
extern "system" fn child(env: *mut JNIEnv, _: jclass, handle: jlong, task: jobject) {
    of_process(handle, |process| {
        let jni = Jni::new(env);
        let Ok(true) = jni.boolean_field(task, c"val$shouldReap") else { return };
        if let Ok(pid) = jni.long_field(task, c"val$pid") {
            process.account_for_child(pid as u32);
        }
    });
}

extern "system" fn summed_for(_: *mut JNIEnv, _: jclass, handle: jlong, point: jint, s: jint) {
    let seconds = u16::try_from(s).unwrap_or(u16::MAX);
    of_process(handle, |process| process.summed_for(point as u16, seconds));
}

extern "system" fn detail(
    _: *mut JNIEnv,
    _: jclass,
    handle: jlong,
    level: jint,
    sampling: jint,
    budgeted: jboolean,
) {
    of_process(handle, |process| {
        process.detail.level(level as u8);
        process.detail.sampling(u32::try_from(sampling).unwrap_or(0));
        process.detail.budgeted(budgeted);
    });
}

extern "system" fn summed(_: *mut JNIEnv, _: jclass, handle: jlong, point: jint, only: jboolean) {
    of_process(handle, |process| process.detail.summed(point as u16, only));
}

extern "system" fn allow(_: *mut JNIEnv, _: jclass, handle: jlong, calls: jlong) {
    of_process(handle, |process| process.detail.allow(calls));
}

extern "system" fn is_used_up(_: *mut JNIEnv, _: jclass, handle: jlong) -> jboolean {
    process(handle).is_some_and(|process| process.detail.is_used_up())
}

extern "system" fn slots(_: *mut JNIEnv, _: jclass, handle: jlong) -> jlong {
    process(handle).map_or(0, |process| process.slots() as jlong)
}

extern "system" fn end(_: *mut JNIEnv, _: jclass, handle: jlong) {
    of_process(handle, |process| process.end());
}

extern "system" fn detach(_: *mut JNIEnv, _: jclass, handle: jlong) {
    of_process(handle, |process| process.detach());
}

extern "system" fn read_control(
    env: *mut JNIEnv,
    _: jclass,
    path: jobject,
    page: jobject,
    uid: jint,
) -> jboolean {
    let jni = Jni::new(env);
    let Ok(path) = jni.text(path) else { return false };
    let Ok(mut bytes) = jni.bytes(page) else { return false };
    files::read_control(Path::new(&path), &mut bytes, uid as u32) && jni.fill(page, &bytes).is_ok()
}

extern "system" fn begin(
    env: *mut JNIEnv,
    _: jclass,
    handle: jlong,
    tid: jlong,
    name: jobject,
) -> jlong {
    let mut thread = 0;
    of_process(handle, |process| {
        let name = characters(env, name);
        thread = Box::into_raw(Box::new(process.thread(tid as u64, &name))) as jlong;
    });
    thread
}

extern "system" fn rename(env: *mut JNIEnv, _: jclass, handle: jlong, name: jobject) {
    of_thread(handle, |thread| thread.rename(&characters(env, name)));
}

extern "system" fn thread_stops(_: *mut JNIEnv, _: jclass, handle: jlong) {
    of_process(handle, |process| process.thread_stops());
}

extern "system" fn end_thread(_: *mut JNIEnv, _: jclass, handle: jlong) {
    if handle != 0 {
        // SAFETY: of `begin`, and Java passes it once
        let thread = unsafe { Box::from_raw(handle as *mut Thread) };
        let _ = catch_unwind(AssertUnwindSafe(|| thread.end()));
    }
}

extern "system" fn enter(
    _: *mut JNIEnv,
    _: jclass,
    handle: jlong,
    point: jint,
    target: jlong,
    asked: jlong,
    offset: jlong,
    bytes: jlong,
) {
    of_thread(handle, |thread| thread.enter(&entry(point, target, asked, offset, bytes), None));
}

fn entry(point: jint, target: jlong, asked: jlong, offset: jlong, bytes: jlong) -> Entry {
    let (target, asked) = (target as u64, asked.max(0) as u64);
    Entry { point: point as u16, target, asked, offset, bytes }
}

/// `cause`: null, or as [`self::cause`] gives it.
extern "system" fn enter_for(
    env: *mut JNIEnv,
    _: jclass,
    handle: jlong,
    point: jint,
    target: jlong,
    asked: jlong,
    offset: jlong,
    bytes: jlong,
    context: jint,
    cause: jobject,
) {
    let jni = Jni::new(env);
    of_thread(handle, |thread| {
        let numbers: Option<[i64; 7]> = if cause.is_null() { None } else { jni.longs(cause).ok() };
        let cause = numbers.map(|[context, trace, proc, span, since, target, sampling]| Cause {
            context: context as u32,
            trace: trace as u64,
            proc: proc as u64,
            span: span as u64,
            since: since as u64,
            target: target as u64,
            sampling: sampling as i32,
        });
        let whose = Some((context as u32, cause));
        thread.enter(&entry(point, target, asked, offset, bytes), whose);
    });
}

extern "system" fn exit(_: *mut JNIEnv, _: jclass, handle: jlong, point: jint, bytes: jlong) {
    of_thread(handle, |thread| thread.exit(point as u16, bytes, 0));
}

/// `exception`: a dictionary id.
extern "system" fn failed(_: *mut JNIEnv, _: jclass, handle: jlong, point: jint, exception: jint) {
    of_thread(handle, |thread| thread.threw(point as u16, exception));
}

extern "system" fn add_up(_: *mut JNIEnv, _: jclass, handle: jlong, operation: jint, moved: jlong) {
    of_thread(handle, |thread| thread.add_up(operation as u8, moved));
}

extern "system" fn enter_counted(
    _: *mut JNIEnv,
    _: jclass,
    handle: jlong,
    point: jint,
    target: jlong,
    asked: jlong,
    bytes: jlong,
) {
    let asked = asked.max(0) as u64;
    of_thread(handle, |thread| thread.enter_counted(point as u16, target as u64, asked, bytes));
}

/// True: it is open, its end is to be told.
extern "system" fn count_call(
    _: *mut JNIEnv,
    _: jclass,
    handle: jlong,
    point: jint,
    target: jlong,
    asked: jlong,
    bytes: jlong,
) -> jboolean {
    let asked = asked.max(0) as u64;
    let mut open = false;
    of_thread(handle, |thread| open = thread.count(point as u16, target as u64, asked, bytes));
    open
}

extern "system" fn open_counted(_: *mut JNIEnv, _: jclass, handle: jlong, point: jint) {
    of_thread(handle, |thread| thread.open_counted(point as u16));
}

extern "system" fn fail_counted(_: *mut JNIEnv, _: jclass, handle: jlong, point: jint) {
    of_thread(handle, |thread| thread.fail_counted(point as u16));
}

extern "system" fn exit_counted(
    _: *mut JNIEnv,
    _: jclass,
    handle: jlong,
    point: jint,
    moved: jlong,
    error: jboolean,
) {
    of_thread(handle, |thread| thread.exit_counted(point as u16, moved, error));
}

extern "system" fn drop_counted(_: *mut JNIEnv, _: jclass, handle: jlong, point: jint) {
    of_thread(handle, |thread| thread.drop_counted(point as u16));
}

/// Fills an array: context, trace, proc, span, since, target, sampling.
extern "system" fn cause(env: *mut JNIEnv, _: jclass, handle: jlong, out: jobject) {
    of_thread(handle, |thread| {
        let cause = thread.cause();
        let words = [cause.trace, cause.proc, cause.span, cause.since, cause.target];
        let [trace, proc, span, since, target] = words.map(|word| word as i64);
        let (context, sampling) = (i64::from(cause.context), i64::from(cause.sampling));
        let numbers = [context, trace, proc, span, since, target, sampling];
        let _ = Jni::new(env).fill_longs(out, &numbers);
    });
}
