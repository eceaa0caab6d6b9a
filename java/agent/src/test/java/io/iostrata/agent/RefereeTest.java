package io.iostrata.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.Opcodes;

/** Hadoop's own counters are the referee: no value of a trace may come from them. */
class RefereeTest {
  private static final Pattern COUNTER =
      Pattern.compile(
          "Statistics|StatisticsSource|Counters?\\b|CounterGroup|Metrics|javax[./]management|JMX"
              + "|MBean|getBytesRead|getBytesWritten");

  /** Ours, though they are called so: counters of what the agent itself lost. */
  private static final Pattern OUR_OWN = Pattern.compile("PROCESS_COUNTER\\w*|processCounter");

  /** A stream in spite of its name: what is read is what the stream is made of, and no number. */
  private static final String STREAM_CALLED_SO = "BufferedIOStatisticsOutputStream";

  /** Called where a block of a shuffle has arrived; its point asks the block's buffer alone. */
  private static final String ARRIVAL = "shuffleMetricsUpdate";

  @Test
  void theAgentNamesNoCounterOfHadoop() throws Exception {
    List<String> named = new ArrayList<>();
    int classes = 0;
    try (JarFile jar = new JarFile(TracedJvm.JAR.toFile())) {
      for (JarEntry entry : jar.stream().toList()) {
        // the point table holds descriptors, which the other test looks at
        if (entry.getName().endsWith(".class") && !entry.getName().endsWith("PointText.class")) {
          classes++;
          try (InputStream in = jar.getInputStream(entry)) {
            named.addAll(suspects(entry.getName(), in.readAllBytes()));
          }
        }
      }
    }
    assertThat(classes).isGreaterThan(50);
    assertThat(named).isEmpty();
  }

  /** All names and texts of a class are UTF-8 entries of its constant pool. */
  private static List<String> suspects(String where, byte[] bytes) {
    ClassReader reader = new ClassReader(bytes);
    List<String> found = new ArrayList<>();
    for (int i = 1; i < reader.getItemCount(); i++) {
      int at = reader.getItem(i);
      if (at > 0 && bytes[at - 1] == 1) {
        int length = reader.readUnsignedShort(at);
        String text = new String(bytes, at + 2, length, java.nio.charset.StandardCharsets.UTF_8);
        String others = OUR_OWN.matcher(text).replaceAll("");
        if (COUNTER.matcher(others).find() && !others.endsWith(STREAM_CALLED_SO)) {
          found.add(where + ": " + text);
        }
      }
    }
    return found;
  }

  @Test
  void theTestWouldFindOne() throws Exception {
    String name = "/" + RefereeTest.class.getName().replace('.', '/') + ".class";
    try (InputStream in = RefereeTest.class.getResourceAsStream(name)) {
      assertThat(suspects("RefereeTest", in.readAllBytes())).isNotEmpty();
    }
  }

  @Test
  void noPointReadsACounter() throws Exception {
    try (URLClassLoader netty = new URLClassLoader(PointsTest.jars("netty-4.1.118"), null);
        URLClassLoader spark = new URLClassLoader(PointsTest.jars("spark-4.0.1"), netty);
        URLClassLoader hbase = new URLClassLoader(PointsTest.jars("hbase-2.6.4"), spark);
        URLClassLoader hadoop = new URLClassLoader(PointsTest.jars("3.5.0"), hbase)) {
      for (Point point : PointNames.ALL) {
        if (!point.internalName.endsWith(STREAM_CALLED_SO)) {
          assertThat(point.internalName).doesNotContainPattern(COUNTER);
        }
        if (!point.method.equals(ARRIVAL)) {
          assertThat(point.method).doesNotContainPattern(COUNTER);
        }
        boolean atHand = !point.internalName.startsWith(PointsTest.SPARK_ON_YARN);
        for (String type : atHand ? typesRead(hadoop, point) : List.<String>of()) {
          assertThat(type).as(PointNames.of(point)).doesNotContainPattern(COUNTER);
        }
      }
    }
  }

  /** Descriptors of all fields and arguments that the point reads. */
  private static List<String> typesRead(ClassLoader hadoop, Point point) throws Exception {
    List<Value> values = new ArrayList<>();
    values.add(point.bytes);
    values.add(point.asked);
    values.add(point.offset);
    for (Extraction extraction : new Extraction[] {point.target, point.context, point.effect}) {
      if (extraction != null) {
        values.add(extraction.first);
        values.add(extraction.second);
      }
    }
    List<String> types = new ArrayList<>();
    org.objectweb.asm.Type[] arguments = org.objectweb.asm.Type.getArgumentTypes(point.descriptor);
    for (Value value : values) {
      if (value != null && value.kind == Value.ARGUMENT) {
        types.add(arguments[value.number - 1].getDescriptor());
      } else if (value != null && value.kind == Value.FIELD) {
        types.add(value.field + " " + fieldType(hadoop, point, value.field));
      }
    }
    return types;
  }

  private static String fieldType(ClassLoader hadoop, Point point, String field) throws Exception {
    StringBuilder type = new StringBuilder();
    String file = point.internalName + ".class";
    try (InputStream own = hadoop.getResourceAsStream(file);
        InputStream in = own != null ? own : ClassLoader.getSystemResourceAsStream(file)) {
      new ClassReader(in)
          .accept(
              new ClassVisitor(Opcodes.ASM9) {
                @Override
                public FieldVisitor visitField(
                    int access, String name, String desc, String sign, Object value) {
                  if (name.equals(field)) {
                    type.append(desc);
                  }
                  return null;
                }
              },
              ClassReader.SKIP_CODE);
    }
    return type.toString();
  }
}
