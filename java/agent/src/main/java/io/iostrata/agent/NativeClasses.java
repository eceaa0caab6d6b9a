package io.iostrata.agent;

import io.iostrata.segment.Recorder;
import java.util.Collection;

/**
 * The native loader ({@code rust/jvmti}): hands out the classes of the point table itself and asks
 * {@link NativeAgent} for what its cache lacks.
 */
final class NativeClasses implements Classes {
  @Override
  public void begin(Loader loader, Recorder recorder) {
    NativeAgent.loader = loader;
    pauses(recorder.proc(), recorder.context());
    begin();
  }

  private static native void begin();

  /**
   * From here on pauses of the garbage collector are recorded while a run is.
   *
   * @param context dictionary id of what this process works for, 0 none
   */
  private static native void pauses(long proc, int context);

  @Override
  public native Class<?>[] loaded();

  @Override
  public void users(Collection<String> names) {
    for (String name : names) {
      user(name);
    }
  }

  private static native void user(String name);

  @Override
  public native void countRecords(boolean wanted);

  @Override
  public void retransform(Class<?>[] classes) {
    int error = retransformAll(classes);
    if (error != 0) {
      throw new IllegalStateException("JVMTI error " + error);
    }
  }

  private static native int retransformAll(Class<?>[] classes);

  @Override
  public native void end();

  /** Where woven classes are kept; {@code none: } and why, when nowhere. */
  static native String cache();

  /**
   * Weaves a class for the cache.
   *
   * @param found gets the numbers of points found and missing
   * @return {@code new}, {@code known}, or {@code failed}
   */
  static native String fill(String name, byte[] classFile, int[] found);
}
