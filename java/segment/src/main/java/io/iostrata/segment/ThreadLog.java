package io.iostrata.segment;

/**
 * What one thread records; used by that thread only. Nothing here throws or blocks: after a fault
 * inside, the calls of the thread are only counted as lost.
 *
 * <p>Every enter needs its exit or failed, every enterCounted its exitCounted or dropCounted, also
 * when the point has been switched off in between.
 */
public final class ThreadLog {
  /** Bytes of a call at its end that say: those given at its begin. */
  public static final long AS_ENTERED = Long.MIN_VALUE;

  final Thread thread;

  /**
   * Before the handle is read: native code runs for this thread, what it uses must stay. Hooks set
   * it themselves, and call native code with the handle: a method in between costs them 65 ns each
   * until it is compiled.
   */
  public boolean inside;

  private final Recorder recorder;

  /** Name of the thread when it began, until it serves somebody; then null. */
  private String unsettled;

  /**
   * Of the native thread; 0: none yet, or no more. Zeroed by the thread that ends the recording.
   */
  public long handle;

  /** Nothing is recorded any more. */
  private volatile boolean over;

  ThreadLog(Recorder recorder, Thread thread) {
    this.recorder = recorder;
    this.thread = thread;
  }

  /** A log that only counts what it loses, for any thread. */
  static ThreadLog rejecting(Recorder recorder) {
    ThreadLog log = new ThreadLog(recorder, null);
    log.over = true;
    return log;
  }

  /**
   * A call begins.
   *
   * @param target handle of {@link Recorder#name}; 0: that of the enclosing open span
   * @param asked bytes asked for, 0 none
   * @param offset -1 none
   * @param bytes what {@link #exit} adds to
   */
  public void enter(int point, long target, long asked, long offset, long bytes) {
    inside = true;
    long mine = handle;
    Native.enter(mine != 0 ? mine : begin(), point, target, asked, offset, bytes);
    inside = false;
  }

  /**
   * {@link #enter} of a call that belongs to somebody, until its end. The first one settles the
   * name of the thread: many have none of their own yet when they load their classes, such as
   * Hadoop's DataXceiver.
   *
   * @param context of {@link Recorder#context}, 0: nobody's
   * @param cause why it happens; null: as before
   */
  public void enterFor(
      int point, long target, long asked, long offset, long bytes, int context, Cause cause) {
    long[] words = cause == null ? null : cause.words();
    inside = true;
    long mine = handle();
    if (unsettled != null) {
      settleName(mine);
    }
    Native.enterFor(mine, point, target, asked, offset, bytes, context, words);
    inside = false;
  }

  /**
   * A call returns.
   *
   * @param bytes {@link #AS_ENTERED}, or what to add to those given at its begin
   */
  public void exit(int point, long bytes) {
    inside = true;
    Native.exit(handle, point, bytes);
    inside = false;
  }

  /**
   * A call throws.
   *
   * @param exception dictionary id
   */
  public void failed(int point, int exception) {
    inside = true;
    Native.failed(handle, point, exception);
    inside = false;
  }

  /** Adds to the bytes of the open calls that consist of such calls. */
  public void addUp(int operation, long moved) {
    inside = true;
    Native.addUp(handle, operation, moved);
    inside = false;
  }

  /**
   * A counted-only call begins. Its clocks are sampled.
   *
   * @param target handle; 0: that of the enclosing open span
   * @param bytes what {@link #exitCounted} adds to
   */
  public void enterCounted(int point, long target, long asked, long bytes) {
    inside = true;
    long mine = handle;
    Native.enterCounted(mine != 0 ? mine : begin(), point, target, asked, bytes);
    inside = false;
  }

  /**
   * A counted-only call begins whose bytes are known, and is counted at once.
   *
   * @return true: it is as after {@link #enterCounted}, because its time is wanted. False: its end
   *     is not told here, unless {@link #openCounted} comes before; if it fails, {@link
   *     #failCounted} says so.
   */
  public boolean count(int point, long target, long asked, long bytes) {
    inside = true;
    long mine = handle;
    boolean open = Native.count(mine != 0 ? mine : begin(), point, target, asked, bytes);
    inside = false;
    return open;
  }

  /** Something happens inside the call that was counted last. */
  public void openCounted(int point) {
    inside = true;
    Native.openCounted(handle, point);
    inside = false;
  }

  /** The call that was counted last fails. */
  public void failCounted(int point) {
    inside = true;
    Native.failCounted(handle, point);
    inside = false;
  }

  /**
   * A counted-only call ends: it is added to its counter row and gets no slot.
   *
   * @param moved {@link #AS_ENTERED}, or what to add to the bytes given at entry
   */
  public void exitCounted(int point, long moved, boolean error) {
    inside = true;
    Native.exitCounted(handle, point, moved, error);
    inside = false;
  }

  /** A counted-only call ends as if it had not been. */
  public void dropCounted(int point) {
    inside = true;
    Native.dropCounted(handle, point);
    inside = false;
  }

  /** What other threads and processes do for this one now is caused by. Never null. */
  public Cause cause() {
    long[] words = new long[Cause.WORDS];
    inside = true;
    Native.cause(handle(), words);
    inside = false;
    return new Cause(words);
  }

  private void settleName(long mine) {
    String name = thread.getName();
    if (!name.equals(unsettled)) {
      Native.rename(mine, name);
    }
    unsettled = null;
  }

  private long handle() {
    long mine = handle;
    return mine != 0 ? mine : begin();
  }

  /** 0 when nothing is recorded any more; the call that was to be is counted as lost. */
  private long begin() {
    try {
      if (!over) {
        unsettled = thread.getName();
        handle = recorder.begin(this, unsettled);
      }
    } catch (Throwable e) {
      // The name of a thread may be the host's own code.
      recorder.count(Schema.PROCESS_COUNTER_FAULTS, 1);
      over = true;
    }
    if (handle == 0) {
      recorder.count(Schema.PROCESS_COUNTER_LOST_CALLS, 1);
    }
    return handle;
  }

  /** Nothing more is recorded; what the thread does just now goes on. Its handle, to be freed. */
  long close() {
    long mine = handle;
    over = true;
    handle = 0;
    return mine;
  }
}
