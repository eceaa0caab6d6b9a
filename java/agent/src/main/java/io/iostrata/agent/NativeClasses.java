package io.iostrata.agent;

/** The native loader ({@code rust/jvmti}), which hands over classes of the point table only. */
final class NativeClasses implements Classes {
  /** From here on classes are handed over as they are loaded. */
  static native void begin();

  /**
   * From here on pauses of the garbage collector are recorded while a run is.
   *
   * @param context dictionary id of what this process works for, 0 none
   */
  static native void pauses(long proc, int context);

  @Override
  public native Class<?>[] loaded();

  @Override
  public void retransform(Class<?>[] classes) {
    int error = retransformAll(classes);
    if (error != 0) {
      throw new IllegalStateException("JVMTI error " + error + " while weaving loaded classes");
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
