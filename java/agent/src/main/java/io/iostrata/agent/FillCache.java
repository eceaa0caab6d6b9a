package io.iostrata.agent;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;

/**
 * {@code iostrata weave}: fills the cache of the native loader that this JVM has been started with,
 * with all classes of a folder that have points, and with those of this JDK.
 */
public final class FillCache {
  private FillCache() {}

  /** Prints a line for each class: what became of it, its name, points found and missing. */
  public static void main(String[] arguments) throws IOException {
    System.out.println("cache\t" + NativeClasses.cache());
    File folder = new File(arguments[0]);
    for (Point[] points : PointTable.parse(PointText.table()).classes()) {
      String name = points[0].internalName;
      byte[] classFile = read(folder, name + ".class");
      if (classFile == null) {
        continue;
      }
      int[] found = new int[2];
      String state = NativeClasses.fill(name, classFile, found);
      System.out.println(state + "\t" + name + "\t" + found[0] + "\t" + found[1]);
    }
  }

  private static byte[] read(File folder, String name) throws IOException {
    File file = new File(folder, name);
    if (file.isFile()) {
      return Files.readAllBytes(file.toPath());
    }
    // Classes of the JDK that are loaded already went through the loader when it started.
    try (InputStream of = ClassLoader.getSystemResourceAsStream(name)) {
      return of == null ? null : all(of);
    }
  }

  private static byte[] all(InputStream of) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    byte[] buffer = new byte[1 << 16];
    for (int size = of.read(buffer); size >= 0; size = of.read(buffer)) {
      bytes.write(buffer, 0, size);
    }
    return bytes.toByteArray();
  }
}
