package io.iostrata.agent;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;

/** {@code -javaagent}, the portable way. */
final class InstrumentedClasses implements Classes {
  private final Instrumentation instrumentation;
  private final ClassFileTransformer transformer;

  InstrumentedClasses(Instrumentation instrumentation, ClassFileTransformer transformer) {
    this.instrumentation = instrumentation;
    this.transformer = transformer;
    instrumentation.addTransformer(transformer, true);
  }

  @Override
  public Class<?>[] loaded() {
    return instrumentation.getAllLoadedClasses();
  }

  @Override
  public void retransform(Class<?>[] classes) throws Exception {
    instrumentation.retransformClasses(classes);
  }

  @Override
  public void end() {
    instrumentation.removeTransformer(transformer);
  }
}
