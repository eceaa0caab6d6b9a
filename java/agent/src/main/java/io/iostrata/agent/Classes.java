package io.iostrata.agent;

import io.iostrata.segment.Recorder;
import java.util.Collection;

/** Classes as this JVM loads and has them: by {@code -javaagent} or by the native loader. */
interface Classes {
  /** From here on classes are handed over as they are loaded. */
  void begin(Loader loader, Recorder recorder);

  /** Loaded classes that {@link Loader#knows}. */
  Class<?>[] loaded();

  /** Users have points in the classes of these internal names. */
  void users(Collection<String> names);

  /** From here on classes are woven with points that count records, or without. */
  void countRecords(boolean wanted);

  /** Hands these classes over again, from their original bytes. */
  void retransform(Class<?>[] classes) throws Exception;

  /** From here on no class is handed over; one that is retransformed gets its own bytes back. */
  void end();
}
