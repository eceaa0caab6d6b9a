package io.iostrata.segment;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;

/**
 * The one memory fence of the writer.
 *
 * <p>A plain store after {@link #release} is a release store; a plain load before it is ordered
 * before every later store, which is all that taking back a consumed slot needs.
 */
final class Fence {
  /** Set to {@code unsafe} to use what Java 8 has on a newer JVM: for tests. */
  static final String PROPERTY = "io.iostrata.fence";

  // static final: the JIT sees a constant and leaves a compiler barrier (x86) or one dmb (arm).
  private static final boolean NAMED =
      !System.getProperty("java.specification.version", "1.8").startsWith("1.")
          && !"unsafe".equals(System.getProperty(PROPERTY));

  private Fence() {}

  static void release() {
    if (NAMED) {
      NamedFence.release();
    } else {
      OfJava8.release();
    }
  }

  /** Only Java 8 comes here: newer JVMs warn at some first uses of Unsafe. */
  private static final class OfJava8 {
    private static final MethodHandle RELEASE = find();

    static void release() {
      try {
        RELEASE.invokeExact();
      } catch (Throwable cannotHappen) {
        throw new IllegalStateException(cannotHappen);
      }
    }

    private static MethodHandle find() {
      try {
        Class<?> unsafe = Class.forName("sun.misc.Unsafe");
        Field instance = unsafe.getDeclaredField("theUnsafe");
        instance.setAccessible(true);
        MethodType type = MethodType.methodType(void.class);
        return MethodHandles.lookup()
            .findVirtual(unsafe, "storeFence", type)
            .bindTo(instance.get(null));
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException("no memory fence in this JVM", e);
      }
    }
  }
}
