package io.iostrata.segment;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MemoryLimitTest {
  @TempDir Path dir;

  private void write(String path, String text) throws IOException {
    Path file = dir.resolve(path);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text + "\n");
  }

  private long limit(String membership) throws IOException {
    write("self", membership);
    return MemoryLimit.bytes(dir.resolve("self"), dir.resolve("sys"));
  }

  @Test
  void version2TakesTheSmallestLimitUpToTheRoot() throws IOException {
    write("sys/memory.max", "max");
    write("sys/pod/memory.max", "536870912");
    write("sys/pod/task/memory.max", "1073741824");
    assertThat(limit("0::/pod/task")).isEqualTo(536870912);
  }

  @Test
  void version1HasAHierarchyForMemory() throws IOException {
    write("sys/memory/memory.limit_in_bytes", "9223372036854771712");
    write("sys/memory/yarn/c1/memory.limit_in_bytes", "805306368");
    assertThat(limit("5:cpu,cpuacct:/x\n4:freezer,memory:/yarn/c1\n0::/")).isEqualTo(805306368);
  }

  @Test
  void insideAContainerTheRootIsTheContainers() throws IOException {
    write("sys/memory.max", "268435456");
    assertThat(limit("0::/")).isEqualTo(268435456);
    assertThat(limit("0::/../../kubepods/pod1")).isEqualTo(268435456);
  }

  @Test
  void withoutLimitOrWithNonsenseThereIsNone() throws IOException {
    write("sys/memory.max", "max");
    write("sys/a/memory.max", "many");
    assertThat(limit("0::/a")).isEqualTo(Long.MAX_VALUE);
    assertThat(limit("garbage")).isEqualTo(Long.MAX_VALUE);
    assertThat(MemoryLimit.bytes(dir.resolve("none"), dir)).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void theCapIsAHundredthOfIt() throws IOException {
    Recorder.Options options = new Recorder.Options();
    options.dir = dir;
    Recorder.open(options);
    assertThat(options.capBytes).isEqualTo(Math.min(64 << 20, MemoryLimit.bytes() / 100));
  }
}
