package io.iostrata.agent;

/**
 * Streams that pass on what they are given to another whose writes count. IFile puts an
 * FSDataOutputStream around one: what is written there is written to the file's stream next, so it
 * would count twice, and in front of a codec with the bytes before it. The file's stream is one of
 * the raw local file system, which buffers: its writes count as they leave the buffer. IFile writes
 * five times a record, and a hook in each was most of what tracing cost a sort.
 */
public final class PassingStreams extends ClassValue<Boolean> {
  /** Kept with the class that it is about: no loader is held. */
  private static final PassingStreams OF = new PassingStreams();

  private static final String[] NAMES = {
    "org.apache.hadoop.mapred.IFileOutputStream",
    "org.apache.hadoop.io.compress.CompressionOutputStream",
    "org.apache.hadoop.fs.statistics.BufferedIOStatisticsOutputStream",
  };

  /**
   * The classes that passed on last: looking here costs a third of a look into a class's values.
   */
  private static Class<?> last;

  private static Class<?> lastButOne;

  private PassingStreams() {}

  /** What woven code asks before each call of a point with {@code through}. Never throws. */
  public static boolean through(Object stream) {
    if (stream == null) {
      return false;
    }
    Class<?> type = stream.getClass();
    return type == last || type == lastButOne || passes(type);
  }

  private static boolean passes(Class<?> type) {
    try {
      if (!OF.get(type)) {
        return false;
      }
      lastButOne = last;
      last = type;
      return true;
    } catch (Throwable e) {
      return false; // no memory left to remember a class: the call counts
    }
  }

  /** Once in a while: what is here must keep no class loader alive. */
  static void forget() {
    last = null;
    lastButOne = null;
  }

  @Override
  protected Boolean computeValue(Class<?> stream) {
    for (Class<?> type = stream; type != null; type = type.getSuperclass()) {
      for (int i = 0; i < NAMES.length; i++) {
        if (type.getName().equals(NAMES[i])) {
          return Boolean.TRUE;
        }
      }
    }
    return Boolean.FALSE;
  }
}
