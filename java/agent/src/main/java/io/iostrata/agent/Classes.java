package io.iostrata.agent;

/** What the JVM does for us besides handing over classes as it loads them. */
interface Classes {
  /** All classes that are loaded; more than asked for is fine, fewer is not. */
  Class<?>[] loaded();

  /** Hands these classes over again, from their original bytes. */
  void retransform(Class<?>[] classes) throws Exception;

  /** From here on no class is handed over. */
  void end();
}
