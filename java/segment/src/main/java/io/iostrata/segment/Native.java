package io.iostrata.segment;

import java.io.IOException;

/**
 * The native writer, {@code rust/jvmti/src/recording.rs}: rings, counter rows, open spans, names.
 *
 * <p>A process and a thread are handles of its own; 0 is none, and nothing is done for it. Nothing
 * here throws but {@link #open}.
 */
public final class Native {
  private Native() {}

  /**
   * Makes DIR/UID/PID-PROC with its process page.
   *
   * @param numbers proc, pid (0: of this process), identity of the point table, bytes of all
   *     segments (0: 64 MiB or 1 % of the cgroup's memory limit, the smaller), seed of what is
   *     drawn at random (0: another each time)
   * @throws IOException in one line: DIR is missing, read-only, full or another user's
   */
  static native long open(String dir, String text, long[] numbers) throws IOException;

  static native String directory(long process);

  static native long clockCost(long process);

  /**
   * @param facts layer | direction &lt;&lt; 8 | scope &lt;&lt; 16 | begin &lt;&lt; 17 | only summed
   *     under budget &lt;&lt; 18 | operation that it adds up &lt;&lt; 24 | operation that it is
   *     part of &lt;&lt; 32
   */
  static native void point(long process, int point, long facts);

  /** {@link #point} of each point, by its id; 0: there is none. */
  static native void points(long process, long[] facts);

  static native void off(long process, int point, boolean off);

  static native int uid();

  /** A dictionary id; 0 when it could not be written, which is counted. */
  static native int name(
      long process, int category, String name, int parent, long block, long generation);

  static native void processContext(long process, int id);

  static native void beginRecording(long process);

  static native void count(long process, int counter, long add);

  static native void pointState(long process, int point, int state);

  static native void fault(long process, int point);

  static native void acknowledge(long process, int word);

  static native void account(
      long process, long hooks, long thread, long collector, long cpu, long over);

  static native void lookAtKernel(long process, boolean records);

  /** See {@link Recorder#child}. */
  static native void child(long process, Object task);

  static native void summedFor(long process, int point, int seconds);

  static native void detail(long process, int level, int sampling, boolean budgeted);

  static native void summed(long process, int point, boolean only);

  /** See {@link Recorder#allow}. */
  static native void allow(long process, long calls);

  static native boolean isUsedUp(long process);

  static native long slots(long process);

  static native void end(long process);

  static native void detach(long process);

  /** Fills the page from a file of {@code uid} or root; false when there is none. */
  static native boolean readControl(String path, byte[] page, int uid);

  static native long begin(long process, long tid, String name);

  /** See {@link ThreadLog#enterFor}. */
  static native void rename(long thread, String name);

  /** The thread has ended, or can never come again. */
  static native void endThread(long thread);

  /** The current thread ends, and its log later. */
  static native void threadStops(long process);

  /** See {@link ThreadLog#enter}. */
  public static native void enter(
      long thread, int point, long target, long asked, long offset, long bytes);

  static native void enterFor(
      long thread,
      int point,
      long target,
      long asked,
      long offset,
      long bytes,
      int context,
      long[] cause);

  /** See {@link ThreadLog#exit}. */
  public static native void exit(long thread, int point, long bytes);

  static native void failed(long thread, int point, int exception);

  static native void addUp(long thread, int operation, long moved);

  /** See {@link ThreadLog#enterCounted}. */
  public static native void enterCounted(
      long thread, int point, long target, long asked, long bytes);

  /** See {@link ThreadLog#count}. */
  public static native boolean count(long thread, int point, long target, long asked, long bytes);

  static native void openCounted(long thread, int point);

  static native void failCounted(long thread, int point);

  /** See {@link ThreadLog#exitCounted}. */
  public static native void exitCounted(long thread, int point, long moved, boolean error);

  static native void dropCounted(long thread, int point);

  /** Fills {@code words}, see {@link Cause#words}. */
  static native void cause(long thread, long[] words);
}
