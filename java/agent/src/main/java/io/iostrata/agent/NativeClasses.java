package io.iostrata.agent;

/** The native loader ({@code rust/jvmti}), which hands over classes of the point table only. */
final class NativeClasses implements Classes {
  /** From here on classes are handed over as they are loaded. */
  static native void begin();

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
}
