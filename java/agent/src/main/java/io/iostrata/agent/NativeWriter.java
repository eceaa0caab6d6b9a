package io.iostrata.agent;

import java.io.File;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URI;
import java.util.Collections;
import java.util.Map;
import java.util.Set;

/** The library of the native writer where no native loader has brought it: beside the jar. */
final class NativeWriter {
  private static final String LIBRARY = "libiostrata_loader.so";

  private NativeWriter() {}

  /**
   * Loads it, which binds the methods of {@code io.iostrata.segment.Native}.
   *
   * @param instrumentation opens what a JVM of today has to be asked by
   * @throws IOException in one line: it is not there, or not for this system
   */
  static void load(Instrumentation instrumentation) throws IOException {
    File library = new File(jar().getParentFile(), LIBRARY);
    if (!library.isFile()) {
      throw new IOException(library + " is missing: install it beside " + jar().getName());
    }
    try {
      if (!loadQuietly(library, instrumentation)) {
        System.load(library.getPath());
      }
    } catch (UnsatisfiedLinkError e) {
      throw new IOException(library + " does not load here: " + reason(e.getMessage()), e);
    }
  }

  /** What a C library says of a noexec mount does not name it. */
  private static String reason(String said) {
    boolean noexec =
        String.valueOf(said).contains("failed to map segment") // glibc
            || String.valueOf(said).contains("Operation not permitted"); // musl
    return noexec
        ? "its file system is mounted noexec: put it and the jar into a folder that is not"
        : said;
  }

  /**
   * As System.load does behind its warning, which JDK 24 and later print for each of its callers
   * (JEP 472): output of the host would not be its own. By names alone, since Java 8 lacks all of
   * them.
   *
   * @return false where there is no such way
   * @throws UnsatisfiedLinkError it does not load
   */
  private static boolean loadQuietly(File library, Instrumentation instrumentation) {
    try {
      Class<?> module = Class.forName("java.lang.Module");
      Method moduleOf = Class.class.getMethod("getModule");
      Set<?> ours = Collections.singleton(moduleOf.invoke(NativeWriter.class));
      Map<?, ?> exports = Collections.singletonMap("jdk.internal.loader", ours);
      Instrumentation.class
          .getMethod(
              "redefineModule", module, Set.class, Map.class, Map.class, Set.class, Map.class)
          .invoke(
              instrumentation,
              moduleOf.invoke(Object.class),
              Collections.emptySet(),
              exports,
              Collections.emptyMap(),
              Collections.emptySet(),
              Collections.emptyMap());
      Object libraries =
          Class.forName("jdk.internal.loader.BootLoader")
              .getMethod("getNativeLibraries")
              .invoke(null);
      Method load = libraries.getClass().getMethod("loadLibrary", Class.class, File.class);
      return load.invoke(libraries, NativeWriter.class, library) != null;
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof UnsatisfiedLinkError) {
        throw (UnsatisfiedLinkError) e.getCause(); // nor would it load the other way
      }
      return false;
    } catch (ReflectiveOperationException | RuntimeException e) {
      return false; // a JDK before 15 has no such class, and none before 24 warns
    }
  }

  /** {@code jar:file:/DIR/iostrata-agent.jar!/io/…}, whose class loader has no name for it. */
  private static File jar() throws IOException {
    String url = String.valueOf(NativeWriter.class.getResource("NativeWriter.class"));
    int end = url.indexOf("!/");
    if (!url.startsWith("jar:file:") || end < 0) {
      throw new IOException("cannot tell where the jar of the agent is: " + url);
    }
    return new File(URI.create(url.substring("jar:".length(), end)));
  }
}
