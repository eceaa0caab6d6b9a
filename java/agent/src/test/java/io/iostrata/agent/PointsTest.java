package io.iostrata.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.util.CheckClassAdapter;

/** Every declared point against the real classes: the JDKs of this machine and Hadoop 3.5.0. */
class PointsTest {
  private static final Path HADOOP = Path.of("target/hadoop");

  /** Points that a version lacks, as their {@code since} says. */
  private static boolean expected(Point point, int jdk) {
    String since = PointSince.of(point.id);
    return !since.startsWith("jdk ") || Integer.parseInt(since.substring(4)) <= jdk;
  }

  @Test
  void everyJdkHasThePointsOfItsVersion() throws Exception {
    for (Jdks.Jdk jdk : Jdks.all()) {
      Map<String, String> home = Map.of("java.home", jdk.home().toString());
      try (FileSystem runtime = FileSystems.newFileSystem(URI.create("jrt:/"), home)) {
        Path base = runtime.getPath("/modules/java.base");
        for (Point point : PointNames.ALL) {
          Path file = base.resolve(point.internalName + ".class");
          if (!point.internalName.startsWith("org/")) {
            assertThat(found(point, Files.readAllBytes(file)))
                .as("%s in %s", PointNames.of(point), jdk)
                .isEqualTo(expected(point, jdk.version()));
          }
        }
      }
    }
  }

  @Test
  void hadoopHasEveryPoint() throws Exception {
    try (URLClassLoader hadoop = new URLClassLoader(jars(), null)) {
      for (Point point : PointNames.ALL) {
        if (point.internalName.startsWith("org/")) {
          assertThat(found(point, bytes(hadoop, point))).as(PointNames.of(point)).isTrue();
        }
      }
    }
  }

  private static boolean found(Point point, byte[] original) {
    Weaver.Woven woven = Weaver.weave(original, new Point[] {point});
    if (woven.bytes == null) {
      return false;
    }
    // Frames, stack and types of all that was added; throws what is wrong.
    new ClassReader(woven.bytes)
        .accept(new CheckClassAdapter(new ClassWriter(0), true), ClassReader.EXPAND_FRAMES);
    return true;
  }

  @Test
  void noTwoPointsOfAClassShareAMethod() {
    assertThat(PointNames.ALL)
        .extracting(p -> p.internalName + p.method + p.descriptor)
        .doesNotHaveDuplicates();
  }

  /** A thread keeps the open layers and flows in the bits of a long: 15 and 48, counted from 1. */
  @Test
  void flowsOfBytesFitIntoTheMaskOfOpenOnes() {
    byte[] flows = PointTable.parse(PointText.table()).flowOfPoint;

    for (byte flow : flows) {
      assertThat(flow).isBetween((byte) 0, (byte) 48);
    }
  }

  private static byte[] bytes(ClassLoader loader, Point point) throws IOException {
    try (InputStream in = loader.getResourceAsStream(point.internalName + ".class")) {
      return in == null ? new byte[0] : in.readAllBytes();
    }
  }

  static URL[] jars() throws IOException {
    List<URL> urls = new ArrayList<>();
    try (Stream<Path> jars = Files.list(HADOOP)) {
      for (Path jar : jars.toList()) {
        urls.add(jar.toUri().toURL());
      }
    }
    assertThat(urls).as("jars in %s", HADOOP).hasSize(7);
    return urls.toArray(new URL[0]);
  }
}
