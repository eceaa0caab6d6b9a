"""Class paths of small real classes, compiled on the spot."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from iostrata.errors import UserError
from iostrata.record.classfile import BadClassError, parse
from iostrata.record.classpath import ClassPath, check
from iostrata.schema.points import Point

SOURCE = """
package p;

public abstract class Stream extends java.io.FilterOutputStream {
  private final String src = "";
  private static final String shared = "";
  private static final long LONG = 5000000000L;
  private static final double DOUBLE = 0.5;

  protected Stream(java.io.OutputStream out) { super(out); }
  public int read(byte[] b, int off, int len) { return (int) (len * LONG * DOUBLE); }
  public native int nativeRead();
  public abstract int abstractRead();
  public Runnable lambda() { return () -> System.out.println(src + shared); }
}
"""


def point(method: str, desc: str, cls: str = "p.Stream", **more: str) -> Point:
    """A point without what this test does not say."""
    fields = tuple(more.get("fields", "").split())
    said = {k: v for k, v in more.items() if k != "fields"}
    known = {"since": "", "until": "", "unverified": "", **said}
    return Point(1, "hdfs", "read", cls, method, desc, "call", "ret", fields=fields, **known)


READ = point("read", "([BII)I")


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("source")
    (folder / "Stream.java").write_text(SOURCE)
    subprocess.run(
        [
            "javac",
            "--release",
            "8",
            "-Xlint:-options",
            "-d",
            folder / "classes",
            folder / "Stream.java",
        ],
        check=True,
    )
    return folder / "classes"


def jar(path: Path, classes: Path, version: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    words = ["jar", "cf", str(path), "-C", str(classes), "p"]
    if version:
        text = path.parent / "common-version-info.properties"
        text.write_text(f"# made\nversion={version}\nrevision=1\n")
        words += ["-C", str(path.parent), text.name]
    subprocess.run(words, check=True)
    return path


def states(path: str, *points: Point) -> list[str]:
    return [found.state for found in check(ClassPath(path), points)]


def test_what_is_found_and_what_is_missing(classes: Path) -> None:
    assert states(
        str(classes),
        READ,
        point("read", "([B)I"),
        point("nativeRead", "()I"),
        point("abstractRead", "()I"),
        point("<init>", "(Ljava/io/OutputStream;)V", fields="src out"),
        point("read", "([BII)I", fields="src gone"),
        point("read", "([BII)I", fields="shared"),
        point("read", "([BII)I", cls="p.Gone"),
        point("read", "()I", cls="java.io.FileInputStream"),
        point("run", "()V", cls="org.apache.spark.Gone", since="spark 3.5"),
        point("get", "()V", cls="org.apache.hadoop.hbase.Gone", until="hbase 2.5"),
        point("get", "()V", cls="org.apache.hbase.thirdparty.io.netty.Gone"),
        point("get", "()V", cls="io.netty.Gone"),
    ) == [
        "found",
        "method missing",
        "method missing",
        "method missing",
        "found",
        "field missing",
        "field missing",
        "class missing",
        "of the JDK",
        "of Spark",
        "of HBase",
        "of HBase",
        "of Netty",
    ]


def test_jars_folders_and_stars_in_the_order_of_the_class_path(
    classes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = jar(tmp_path / "lib" / "one.JAR", classes)
    (tmp_path / "lib" / "readme.txt").write_text("no jar")
    for text, source in (
        (f"{packed}:{classes}", packed),
        (f"{classes}:{packed}", classes),
        (f"/nowhere:{tmp_path}/lib/*:{classes}", packed),
    ):
        (found,) = check(ClassPath(text), [READ])
        assert (found.state, found.source) == ("found", str(source))
    assert ClassPath(f"/nowhere:{packed}").absent == ["/nowhere"]
    monkeypatch.chdir(classes)
    assert states("", READ) == ["found"]  # an empty entry is the working directory


@pytest.mark.parametrize(
    ("version", "since", "until", "state"),
    [
        ("3.3.6", "3.3", "", "method missing"),
        ("3.3.6", "3.4", "", "other version"),
        ("3.4.0-amzn-1", "3.4", "", "method missing"),
        ("3.4.0-amzn-1", "", "3.4", "method missing"),
        ("3.4.0-amzn-1", "", "3.3", "other version"),
        ("3.10.1", "3.4", "", "method missing"),
        ("", "3.4", "", "other version"),
        ("", "", "", "method missing"),
    ],
)
def test_a_point_of_another_version_is_no_lack(
    classes: Path, tmp_path: Path, version: str, since: str, until: str, state: str
) -> None:
    path = ClassPath(str(jar(tmp_path / "x.jar", classes, version)))
    assert path.version() == version.partition("-")[0]
    (found,) = check(path, [point("gone", "()V", since=since, until=until)])
    assert (found.state, found.lacking) == (state, state == "method missing")


def test_what_is_there_is_found_whatever_the_version(classes: Path) -> None:
    assert states(str(classes), point("read", "([BII)I", until="3.3")) == ["found"]


def test_bad_input_is_one_line(classes: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.jar"
    broken.write_text("no zip")
    with pytest.raises(UserError, match=f"{broken} is no jar: File is not a zip file"):
        ClassPath(str(broken))
    with pytest.raises(UserError, match="no jar and no folder in the class path '/nowhere:/gone'"):
        ClassPath("/nowhere:/gone")
    (tmp_path / "p").mkdir()
    for raw in (b"", b"PK\3\4", b"\xca\xfe\xba\xbe\0\0\0\x34\xff"):
        (tmp_path / "p" / "Stream.class").write_bytes(raw)
        with pytest.raises(UserError, match=f"p/Stream.class in {tmp_path}: "):
            states(str(tmp_path), READ)


def test_a_class_cut_anywhere_is_refused(classes: Path) -> None:
    raw = (classes / "p" / "Stream.class").read_bytes()
    whole = parse(raw)
    assert whole.parent == "java/io/FilterOutputStream"
    refused = 0
    for size in range(len(raw)):
        try:
            found = parse(raw[:size])
        except BadClassError:
            refused += 1
        else:  # only the class's own attributes, which nobody reads, are cut off
            assert (found.fields, found.methods) == (whole.fields, whole.methods)
    assert refused > len(raw) / 2
