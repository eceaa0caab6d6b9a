package io.iostrata.agent;

import io.iostrata.segment.Recorder;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.Collection;

/** {@code -javaagent} and attached jars, the portable way. */
final class InstrumentedClasses implements Classes, ClassFileTransformer {
  private final Instrumentation instrumentation;
  private Loader loader;

  InstrumentedClasses(Instrumentation instrumentation) {
    this.instrumentation = instrumentation;
  }

  @Override
  public void begin(Loader loader, Recorder recorder) {
    this.loader = loader;
    // Reads the table: not while another class is being loaded.
    loader.knows("");
    instrumentation.addTransformer(this, true);
  }

  @Override
  public byte[] transform(
      ClassLoader of, String name, Class<?> old, ProtectionDomain domain, byte[] bytes) {
    return loader.transform(of, name, bytes);
  }

  @Override
  public Class<?>[] loaded() {
    ArrayList<Class<?>> known = new ArrayList<>();
    Class<?>[] all = instrumentation.getAllLoadedClasses();
    for (int i = 0; i < all.length; i++) {
      if (loader.knows(Loader.internalName(all[i]))) {
        known.add(all[i]);
      }
    }
    return known.toArray(new Class<?>[0]);
  }

  @Override
  public void users(Collection<String> names) {
    // All classes are handed over.
  }

  @Override
  public void countRecords(boolean wanted) {
    // The loader, which is asked for each class, knows.
  }

  @Override
  public void retransform(Class<?>[] classes) throws Exception {
    instrumentation.retransformClasses(classes);
  }

  @Override
  public void end() {
    instrumentation.removeTransformer(this);
  }
}
