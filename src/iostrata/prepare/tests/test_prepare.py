"""The printed change of configuration, applied and taken back by patch(1)."""

import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from iostrata.prepare import PrepareError, prepare

SHM = Path("/dev/shm/iostrata")
LISTED = "<name>yarn.nodemanager.admin-env</name><value>A=$A,JAVA_TOOL_OPTIONS=-Da=1</value>"
NAME = "yarn.nodemanager.admin-env.JAVA_TOOL_OPTIONS"


@pytest.fixture
def jar(tmp_path: Path) -> Path:
    path = tmp_path / "agent.jar"
    path.touch()
    return path


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    path = tmp_path / "conf"
    path.mkdir()
    (path / "core-site.xml").write_text("<configuration>\n</configuration>\n")
    (path / "hadoop-env.sh").write_text("export JAVA_HOME=/jdk\n")
    (path / "yarn-site.xml").write_text("<configuration>\n</configuration>\n")
    return path


def patch(conf: Path, text: str, *options: str) -> None:
    argv = ["patch", "-p1", "--batch", *options]
    done = subprocess.run(argv, cwd=conf, input=text, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not list(conf.glob("*.orig")), done.stdout


def contents(conf: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in conf.iterdir()}


def admin_env(conf: Path) -> str:
    root = ElementTree.parse(conf / "yarn-site.xml").getroot()
    found = [p.findtext("value", "") for p in root.iter("property") if p.findtext("name") == NAME]
    assert len(found) == 1
    return found[0]


def test_the_whole_text_for_a_small_cluster(conf: Path, jar: Path) -> None:
    option = f"-javaagent:{jar}=dir={SHM}"
    rows = [
        f'+[[ "${{{name}}}" == *"{option}"* ]] || export {name}="${{{name}}} {option}"'
        for name in (
            "HDFS_DATANODE_OPTS",
            "HDFS_NAMENODE_OPTS",
            "YARN_NODEMANAGER_OPTS",
            "YARN_RESOURCEMANAGER_OPTS",
        )
    ]
    expected = ["--- a/hadoop-env.sh", "+++ b/hadoop-env.sh", "@@ -1 +1,5 @@"]
    expected += [" export JAVA_HOME=/jdk", *rows]
    expected += ["--- a/yarn-site.xml", "+++ b/yarn-site.xml", "@@ -1,2 +1,6 @@"]
    expected += [" <configuration>", "+  <property>", f"+    <name>{NAME}</name>"]
    expected += [f"+    <value> {option}</value>", "+  </property>", " </configuration>"]

    found = prepare(conf, jar, SHM)

    assert "yarn.nodemanager.recovery.enabled is not true" in found.notes[-1]
    assert found.patch == "\n".join(expected) + "\n"
    assert [step.split(",")[0] for step in found.restart[:4]] == [
        "DataNodes",
        "NameNodes",
        "NodeManagers",
        "ResourceManagers",
    ]


@pytest.mark.parametrize(
    "yarn",
    [
        "<configuration>\n</configuration>\n",
        "<configuration></configuration>",
        '<?xml version="1.0"?>\n<!-- ours -->\n<configuration>\r\n</configuration>\r\n',
        "<configuration><property><name>a</name><value>ü</value></property></configuration>\n\n",
    ],
)
@pytest.mark.parametrize("env", ["", "a=1", "a=1\n\n", "a=1\r\nb=2\r\n", "a=\x0c1\n"])
def test_patch_applies_and_takes_back(conf: Path, jar: Path, yarn: str, env: str) -> None:
    (conf / "yarn-site.xml").write_bytes(yarn.encode())
    (conf / "hadoop-env.sh").write_bytes(env.encode())
    before = contents(conf)
    found = prepare(conf, jar, SHM)

    patch(conf, str(found) + "\n", "--binary")

    after = contents(conf)
    assert admin_env(conf) == f" -javaagent:{jar}=dir={SHM}"
    patch(conf, str(found), "--binary", "-R")
    assert contents(conf) == before
    patch(conf, found.patch, "--binary")
    assert contents(conf) == after
    patch(conf, found.undo, "--binary")
    assert contents(conf) == before


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        (f"<name>{NAME}</name><value>-Da=1</value>", "-Da=1 {}"),
        (f"<name>{NAME}</name>\n<value>\n  -Da=&lt;1&gt;\n</value>", "\n  -Da=<1> {}\n"),
        (f"<name> {NAME} </name><value/>", "{}"),
        (f"<name>{NAME}</name><value></value>", "{}"),
        (f"<name>{NAME}</name><value><![CDATA[-Da=1]]></value>", "-Da=1 {}"),
        (LISTED, "-Da=1 {}"),
        ("<name>yarn.nodemanager.admin-env</name><value>A=JAVA_TOOL_OPTIONS</value>", " {}"),
    ],
)
def test_existing_values_are_kept(conf: Path, jar: Path, properties: str, expected: str) -> None:
    text = f"<configuration>\n<property>{properties}</property>\n</configuration>\n"
    (conf / "yarn-site.xml").write_text(text)

    patch(conf, prepare(conf, jar, SHM).patch)

    # A name with blanks around it is Hadoop's, but not ElementTree's.
    raw = (conf / "yarn-site.xml").read_text().replace(f" {NAME} ", NAME)
    (conf / "yarn-site.xml").write_text(raw)
    assert admin_env(conf) == expected.format(f"-javaagent:{jar}=dir={SHM}")


def test_the_file_with_the_last_word_is_changed(conf: Path, jar: Path) -> None:
    """yarn-env.sh is read after hadoop-env.sh; an old name wins over the new one."""
    (conf / "yarn-env.sh").write_text("export YARN_NODEMANAGER_OPTS=-Xmx1g\n")
    (conf / "hadoop-env.sh").write_text("HADOOP_DATANODE_OPTS=-Xmx2g\n# HDFS_NAMENODE_OPTS=no\n")

    patch(conf, prepare(conf, jar, SHM).patch)

    script = ". ./hadoop-env.sh; . ./yarn-env.sh; . ./hadoop-env.sh; . ./yarn-env.sh\n"
    script += "for n in HADOOP_DATANODE HDFS_DATANODE HDFS_NAMENODE YARN_NODEMANAGER; do\n"
    script += '  v="${n}_OPTS"; echo "$n${!v}"; done'
    done = subprocess.run(
        ["bash", "-c", script], cwd=conf, capture_output=True, text=True, check=True, env={}
    )
    option = f"-javaagent:{jar}=dir={SHM}"
    assert done.stdout.splitlines() == [
        f"HADOOP_DATANODE-Xmx2g {option}",
        "HDFS_DATANODE",
        f"HDFS_NAMENODE {option}",
        f"YARN_NODEMANAGER-Xmx1g {option}",
    ]


def test_the_jar_must_not_be_written_over(conf: Path, jar: Path) -> None:
    text = str(prepare(conf, jar, SHM))
    assert "Never write a new jar over it while a JVM has it loaded" in text
    assert "SIGBUS" in text


def test_a_missing_env_file_is_made_and_removed(conf: Path, jar: Path) -> None:
    (conf / "hadoop-env.sh").unlink()
    before = contents(conf)
    found = prepare(conf, jar, SHM)
    patch(conf, found.patch)
    assert "hadoop-env.sh" in contents(conf)
    patch(conf, found.patch, "-R")
    assert contents(conf) == before


def test_hdfs_alone(conf: Path, jar: Path) -> None:
    (conf / "yarn-site.xml").unlink()
    found = prepare(conf, jar, SHM)
    assert "YARN_" not in found.patch
    assert "no container is traced" in found.notes[-1]


def test_prepared_already(conf: Path, jar: Path) -> None:
    patch(conf, prepare(conf, jar, SHM).patch)
    with pytest.raises(PrepareError, match="conf is prepared already"):
        prepare(conf, jar, SHM)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("yarn-site.xml", "<configuration>\n<a>\n</configuration>", "line 3: mismatched tag"),
        ("yarn-site.xml", "", "line 1: no element found"),
        ("yarn-site.xml", "<x/>", "line 1: <x> where <configuration> is expected"),
        ("yarn-site.xml", "<configuration/>", "line 1: <configuration/> is empty"),
        ("core-site.xml", "<configuration>\n&nbsp;</configuration>", "line 2: undefined entity"),
        ("hadoop-env.sh", "a\n\udcff", "line 2: not UTF-8"),
    ],
)
def test_bad_files(conf: Path, jar: Path, name: str, text: str, message: str) -> None:
    (conf / name).write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(PrepareError, match=f"{conf / name}, {message}"):
        prepare(conf, jar, SHM)


def test_bad_paths(conf: Path, jar: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(PrepareError, match="is not a directory"):
        prepare(tmp_path / "nowhere", jar, SHM)
    with pytest.raises(PrepareError, match="holds no Hadoop configuration"):
        prepare(tmp_path / "empty", jar, SHM)
    with pytest.raises(PrepareError, match="no agent jar at"):
        prepare(conf, tmp_path / "no.jar", SHM)
    with pytest.raises(PrepareError, match="cannot pass through"):
        prepare(conf, jar, Path("/dev/shm/a b"))
