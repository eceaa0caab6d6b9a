package io.iostrata.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.iostrata.segment.Schema;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LocalNameTest {
  @ParameterizedTest
  @CsvSource({
    "/data/current/finalized/subdir0/blk_1073741825,           blk,        1073741825, -1",
    "/data/current/rbw/blk_-5,                                 blk,        -5,         -1",
    "/data/current/rbw/blk_1073741825_1001.meta,               blk_meta,   1073741825, 1001",
    "/data/blk_something,                                      file,       -1,         -1",
    "/data/blk_,                                               file,       -1,         -1",
    "/data/blk_1_2,                                            file,       -1,         -1",
    "/opt/lib/a.jar,                                           jars,       -1,         -1",
    "/usr/lib/jvm/17/lib/modules,                              classes,    -1,         -1",
    "/opt/classes/A.class,                                     classes,    -1,         -1",
    "/conf/log4j.properties,                                   properties, -1,         -1",
    "/conf/core-site.xml,                                      xml,        -1,         -1",
    "/var/log/hadoop.log,                                      log,        -1,         -1",
    "/var/log/hadoop.log.3,                                    log,        -1,         -1",
    "/yarn/userlogs/application_1_1/container_1_1_1_1/syslog,  log,        -1,         -1",
    "/home/user/syslog,                                        file,       -1,         -1",
    "/tmp/attempt_1/spill12.out,                               spill,      -1,         -1",
    "/tmp/attempt_1/file.out,                                  spill,      -1,         -1",
    "/tmp/attempt_1_m_0_0_spill_0.out,                         spill,      -1,         -1",
    "/tmp/attempt_1_m_0_0_spill_0.out.index,                   file,       -1,         -1",
    "/tmp/blockmgr-1/0c/shuffle_0_1_0.data,                    shuffle,    -1,         -1",
    "/tmp/blockmgr-1/0c/shuffle_0_1_0.index.a1b2,              shuffle,    -1,         -1",
    "/tmp/blockmgr-1/0c/temp_local_a1b2,                       spill,      -1,         -1",
    "/tmp/blockmgr-1/0c/temp_shuffle_a1b2,                     spill,      -1,         -1",
    "/tmp/blockmgr-1/0c/rdd_3_0,                               file,       -1,         -1",
    "/home/user/shuffle_0_1_0.data,                            file,       -1,         -1",
    "/name/current/edits_inprogress_0000000000000000001,       namenode,   -1,         -1",
    "/name/current/fsimage_0000000000000000000,                namenode,   -1,         -1",
    "/name/current/fsimage_0000000000000000000.md5,            namenode,   -1,         -1",
    "/,                                                        file,       -1,         -1",
  })
  void theNameTellsTheCategory(String path, String category, long block, long generation)
      throws ReflectiveOperationException {
    LocalName name = LocalName.of(path);

    assertThat(name.category)
        .isEqualTo(Schema.class.getField("CATEGORY_" + category.toUpperCase()).getInt(null));
    assertThat(name.block).isEqualTo(block);
    assertThat(name.generation).isEqualTo(generation);
  }

  @ParameterizedTest
  @CsvSource({
    "'/hbase/WALs/a.b,16020,17/a.b%2C16020%2C17.1712', wal",
    "'/hbase/MasterData/WALs/a,1,2/a%2C1%2C2.3', wal",
    "'/hbase/oldWALs/a%2C1%2C2.3', wal",
    "'/home/user/WALs/notes', file",
    "'/hbase/data/default/t/1588230740/info/0123456789abcdef0123456789abcdef', hfile",
    "'/hbase/data/default/t/9e39394d22ad423ee75d7f3c487e2261/f/0123456789abcdef0123456789abcdef_SeqId_4_', hfile",
    "'/hbase/data/default/t/9e39394d22ad423ee75d7f3c487e2261/.tmp/f/0123456789abcdef0123456789abcdef', hfile",
    "'/hbase/data/default/t/9e39394d22ad423ee75d7f3c487e2261/f/.0123456789abcdef0123456789abcdef.crc', hfile",
    "'/hbase/data/default/t/9e39394d22ad423ee75d7f3c487e2261/.regioninfo', file",
    "'/hbase/data/default/t/9e39394d22ad423ee75d7f3c487e2261/recovered.edits/2.seqid', file",
    "'/cache/0123456789abcdef0123456789abcdef', file",
    "'/a/b/0123456789abcdef0123456789abcdef', file",
  })
  void filesOfHBaseAreKnownByTheirPlace(String path, String category)
      throws ReflectiveOperationException {
    assertThat(LocalName.of(path).category)
        .isEqualTo(Schema.class.getField("CATEGORY_" + category.toUpperCase()).getInt(null));
  }

  @ParameterizedTest
  @CsvSource({
    "'load,00000200,1795715511516.b9425dcec086af2116df7132aa1d54a0.',"
        + " load/b9425dcec086af2116df7132aa1d54a0",
    "'hbase:meta,,1', hbase:meta/1588230740",
    "b9425dcec086af2116df7132aa1d54a0, b9425dcec086af2116df7132aa1d54a0",
  })
  void regionsHaveOneName(String given, String expected) {
    assertThat(RegionTarget.shortened(given)).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource({
    "hdfs://127.0.0.1:8020/a/b, /a/b",
    "hdfs://name, /",
    "/a/b, /a/b",
    "/a://b, /a://b",
    "relative, relative",
  })
  void pathsOfHdfsHaveOneName(String given, String expected) {
    assertThat(HdfsTarget.withoutAuthority(given)).isEqualTo(expected);
  }
}
