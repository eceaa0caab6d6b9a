package io.iostrata.agent;

/**
 * Streams that pass on what they are given to another that a FileSystem has opened. IFile puts an
 * FSDataOutputStream around one: what is written there is written to the file's stream next, so it
 * would count twice, and in front of a codec with the bytes before it.
 */
public final class PassingStreams extends ClassValue<Boolean> {
  /** Kept with the class that it is about: no loader is held. */
  private static final PassingStreams OF = new PassingStreams();

  private static final String[] NAMES = {
    "org.apache.hadoop.mapred.IFileOutputStream",
    "org.apache.hadoop.io.compress.CompressionOutputStream",
  };

  private PassingStreams() {}

  /** What woven code asks before each call of a point with {@code through}. Never throws. */
  public static boolean through(Object stream) {
    try {
      return stream != null && OF.get(stream.getClass());
    } catch (Throwable e) {
      return false; // no memory left to remember a class: the call counts
    }
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
