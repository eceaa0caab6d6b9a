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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.util.CheckClassAdapter;

/**
 * Every declared point against the real classes: the JDKs of this machine, three Hadoops, two
 * Sparks, two HBases, two Nettys.
 */
class PointsTest {
  private static final Path HADOOP = Path.of("target/hadoop");
  private static final String SPARK = "org/apache/spark/";
  private static final String HBASE = "org/apache/hadoop/hbase/";
  private static final String NETTY = "io/netty/";

  /** HBase's own copy of Netty, and others. */
  private static final String OF_HBASE = "org/apache/hbase/thirdparty/";

  /** A jar that Maven Central lacks; an end-to-end test fires its points. */
  static final String SPARK_ON_YARN = SPARK + "deploy/yarn/";

  @Test
  void everyJdkHasThePointsOfItsVersion() throws Exception {
    for (Jdks.Jdk jdk : Jdks.all()) {
      Map<String, String> home = Map.of("java.home", jdk.home().toString());
      try (FileSystem runtime = FileSystems.newFileSystem(URI.create("jrt:/"), home)) {
        Path base = runtime.getPath("/modules/java.base");
        for (Point point : PointNames.ALL) {
          Path file = base.resolve(point.internalName + ".class");
          if (!point.internalName.startsWith("org/") && !point.internalName.startsWith(NETTY)) {
            byte[] original = Files.exists(file) ? Files.readAllBytes(file) : new byte[0];
            assertThat(found(point, original))
                .as("%s in %s", PointNames.of(point), jdk)
                .isEqualTo(PointVersions.has(point.id, "jdk " + jdk.version()));
          }
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"3.3.6", "3.4.2", "3.5.0"})
  void everyHadoopHasThePointsOfItsVersion(String version) throws Exception {
    try (URLClassLoader hadoop = new URLClassLoader(jars(version), null)) {
      for (Point point : PointNames.ALL) {
        if (ofHadoop(point.internalName)) {
          assertThat(found(point, bytes(hadoop, point)))
              .as("%s in Hadoop %s", PointNames.of(point), version)
              .isEqualTo(PointVersions.has(point.id, version));
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"3.5.7", "4.0.1"})
  void everySparkHasThePointsOfItsVersion(String version) throws Exception {
    try (URLClassLoader spark = new URLClassLoader(jars("spark-" + version), null)) {
      for (Point point : PointNames.ALL) {
        if (point.internalName.startsWith(SPARK) && !point.internalName.startsWith(SPARK_ON_YARN)) {
          assertThat(found(point, bytes(spark, point)))
              .as("%s in Spark %s", PointNames.of(point), version)
              .isEqualTo(PointVersions.has(point.id, "spark " + version));
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"2.5.13", "2.6.4"})
  void everyHBaseHasThePointsOfItsVersion(String version) throws Exception {
    try (URLClassLoader hbase = new URLClassLoader(jars("hbase-" + version), null)) {
      for (Point point : PointNames.ALL) {
        if (point.internalName.startsWith(HBASE) || point.internalName.startsWith(OF_HBASE)) {
          assertThat(found(point, bytes(hbase, point)))
              .as("%s in HBase %s", PointNames.of(point), version)
              .isEqualTo(PointVersions.has(point.id, "hbase " + version));
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"4.1.89", "4.1.118"})
  void everyNettyHasItsPoints(String version) throws Exception {
    try (URLClassLoader netty = new URLClassLoader(jars("netty-" + version), null)) {
      for (Point point : PointNames.ALL) {
        if (point.internalName.startsWith(NETTY)) {
          assertThat(found(point, bytes(netty, point)))
              .as("%s in Netty %s", PointNames.of(point), version)
              .isTrue();
        }
      }
    }
  }

  private static boolean ofHadoop(String name) {
    return name.startsWith("org/")
        && !name.startsWith(SPARK)
        && !name.startsWith(HBASE)
        && !name.startsWith(OF_HBASE);
  }

  private static boolean found(Point point, byte[] original) {
    if (original.length == 0) {
      return false;
    }
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

  /**
   * A thread keeps the open layers and directions in the bits of a long: 15 and 48, counted from 1.
   */
  @Test
  void flowsOfBytesFitIntoTheMaskOfOpenOnes() {
    for (long facts : PointCodes.install()) {
      assertThat(facts >> 8 & 0xFF).isBetween(0L, 48L);
    }
  }

  private static byte[] bytes(ClassLoader loader, Point point) throws IOException {
    try (InputStream in = loader.getResourceAsStream(point.internalName + ".class")) {
      return in == null ? new byte[0] : in.readAllBytes();
    }
  }

  static URL[] jars(String version) throws IOException {
    List<URL> urls = new ArrayList<>();
    try (Stream<Path> jars = Files.list(HADOOP.resolve(version))) {
      for (Path jar : jars.toList()) {
        urls.add(jar.toUri().toURL());
      }
    }
    assertThat(urls).as("jars of %s", version).isNotEmpty();
    return urls.toArray(new URL[0]);
  }
}
