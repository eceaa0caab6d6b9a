package io.iostrata.posixfs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** On a mount that every Linux has. */
class MountedFileSystemTest {
  private static final java.nio.file.Path MOUNT = Paths.get("/dev/shm");

  private final Configuration conf = new Configuration();
  private java.nio.file.Path folder;
  private Path asked;
  private FileSystem files;

  @BeforeEach
  void make() throws IOException {
    folder = Files.createTempDirectory(MOUNT, "posixfs");
    asked = new Path("/" + folder.getFileName());
    conf.set("fs.defaultFS", "posix:///");
    conf.set("fs.posix.impl", MountedFileSystem.class.getName());
    conf.set("fs.AbstractFileSystem.posix.impl", MountedFs.class.getName());
    conf.set(MountedFileSystem.MOUNT, MOUNT.toString());
    files = FileSystem.newInstance(URI.create("posix:///"), conf);
  }

  @AfterEach
  void clear() throws IOException {
    files.delete(asked, true);
    assertThat(folder).doesNotExist();
    files.close();
  }

  @Test
  void whatIsWrittenLiesBelowTheMount() throws IOException {
    write(new Path(asked, "a/b"), "some text");
    assertThat(folder.resolve("a/b")).hasContent("some text");
    try (FSDataInputStream in = files.open(new Path(asked, "a/b"))) {
      in.seek(5);
      assertThat(in.read()).isEqualTo('t');
    }
    assertThat(files.rename(new Path(asked, "a/b"), new Path(asked, "c d"))).isTrue();
    assertThat(
            Arrays.stream(files.listStatus(asked))
                .map(status -> status.getPath().toString())
                .collect(Collectors.toList()))
        .containsExactlyInAnyOrder("posix:" + asked + "/a", "posix:" + asked + "/c d");
  }

  @Test
  void whatIsWrittenIsThereForOthersOnceItIsFlushed() throws IOException {
    Path path = new Path(asked, "flushed");
    try (FSDataOutputStream out = files.create(path)) {
      assertThat(out.hasCapability("hsync")).isTrue();
      out.writeBytes("abc");
      out.hflush();
      assertThat(folder.resolve("flushed")).hasContent("abc");
      out.writeBytes("def");
      out.hsync();
      assertThat(out.getIOStatistics()).isNotNull();
    }
    assertThat(folder.resolve("flushed")).hasContent("abcdef");
    try (FSDataOutputStream out = files.append(path)) {
      out.writeBytes("g");
    }
    assertThat(folder.resolve("flushed")).hasContent("abcdefg");
  }

  @Test
  void aFileThatIsGoneBeforeItIsClosedIsNoError() throws IOException {
    FSDataOutputStream out = files.create(new Path(asked, "gone"));
    files.delete(new Path(asked, "gone"), false);
    out.close();
    assertThat(folder.resolve("gone")).doesNotExist();
  }

  @Test
  void aStatusIsThatOfTheFile() throws IOException {
    write(new Path(asked, "a"), "12345");
    Files.setPosixFilePermissions(
        folder.resolve("a"), PosixFilePermissions.fromString("rw-r-x--x"));
    FileStatus status = files.getFileStatus(new Path(asked, "a"));
    assertThat(status.getLen()).isEqualTo(5);
    assertThat(status.getPermission().toString()).isEqualTo("rw-r-x--x");
    assertThat(status.getOwner()).isEqualTo(Files.getOwner(folder).getName());
    assertThat(status.getModificationTime())
        .isEqualTo(Files.getLastModifiedTime(folder.resolve("a")).toMillis());
    files.setPermission(new Path(asked, "a"), new FsPermission((short) 0600));
    assertThat(files.getFileStatus(new Path(asked, "a")).getPermission().toShort())
        .isEqualTo((short) 0600);
    assertThatThrownBy(() -> files.getFileStatus(new Path(asked, "none")))
        .isInstanceOf(FileNotFoundException.class)
        .hasMessage(asked + "/none does not exist");
  }

  @Test
  void blocksAreNamedEvenWhereNobodyKnowsWhereTheyAre() throws IOException {
    write(new Path(asked, "a"), "12345");
    BlockLocation[] found = files.getFileBlockLocations(new Path(asked, "a"), 0, 5);
    assertThat(found).hasSize(1);
    assertThat(found[0].getLength()).isEqualTo(5);
    assertThat(found[0].getHosts()).isEmpty();
    assertThat(files.listLocatedStatus(asked).next().getBlockLocations()).hasSize(1);
  }

  @Test
  void fileContextDoesTheSame() throws IOException {
    FileContext context = FileContext.getFileContext(conf);
    context
        .create(
            new Path(asked, "x/y"),
            EnumSet.of(CreateFlag.CREATE),
            Options.CreateOpts.createParent())
        .close();
    assertThat(folder.resolve("x/y")).exists();
    assertThat(context.getWorkingDirectory())
        .isEqualTo(new Path("posix:/user/" + System.getProperty("user.name")))
        .isEqualTo(files.getWorkingDirectory());
    assertThat(context.listStatus(new Path(asked, "x")).next().getPath())
        .isEqualTo(new Path("posix:" + asked + "/x/y"));
  }

  @Test
  void nothingOutsideOfTheMountCanBeNamed() {
    assertThatThrownBy(() -> files.exists(new Path("/../../etc/passwd")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("/../../etc/passwd is not below the mount /dev/shm");
  }

  @Test
  void whatIsNotMountedIsNotUsed() {
    Configuration wrong = new Configuration(conf);
    wrong.set(MountedFileSystem.MOUNT, folder.toString());
    assertThatThrownBy(() -> FileSystem.newInstance(URI.create("posix:///"), wrong))
        .isInstanceOf(IOException.class)
        .hasMessage("nothing is mounted at fs.posix.mount=" + folder);
  }

  private void write(Path path, String text) throws IOException {
    try (FSDataOutputStream out = files.create(path)) {
      out.writeBytes(text);
    }
  }
}
