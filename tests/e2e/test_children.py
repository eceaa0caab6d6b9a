"""Children that are not traced: what the kernel says of each is what each says of itself."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.conftest import Iostrata
from tests.e2e.jdks import JDKS

from iostrata_lab.clusters.hadoop import jars

HERE = Path(__file__).parent
CHILD = HERE / "measured_child.py"
STREAMING = "org.apache.hadoop:hadoop-streaming:3.4.2"
ANT = ("org.apache.ant:ant:1.10.15", "org.apache.ant:ant-launcher:1.10.15")
FILE = 3_000_000
MS = 10**6
# What a child does after it has looked at itself: it writes that down, and Python ends.
AFTER = 100_000  # bytes


@pytest.fixture
def measured(tmp_path: Path) -> list[str]:
    """The command of a child that says what it has done."""
    (tmp_path / "file").write_bytes(bytes(FILE))
    (tmp_path / "said").mkdir()
    return [sys.executable, str(CHILD), str(tmp_path / "file"), str(tmp_path / "said")]


def starts(jdk: str, program: Path, times: int, *command: str) -> list[str]:
    return [str(JDKS[jdk] / "bin/java"), "-cp", str(program), "Starts", str(times), *command]


def fetch(folder: Path, *artifacts: str) -> None:
    """Jars of Maven, into `jar` below the folder."""
    for artifact in artifacts:
        copy = ("mvn", "-B", "-q", "dependency:copy", f"-Dartifact={artifact}")
        subprocess.run([*copy, f"-DoutputDirectory={folder}/jar"], check=True, cwd=folder)


def children(iostrata: Iostrata) -> list[dict[str, Any]]:
    """Rows of the table, in the order in which they were started."""
    done = iostrata("query", "SELECT * FROM children ORDER BY start", "--format", "json")
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def agree(rows: list[dict[str, Any]], folder: Path) -> None:
    """Each child is there, with what it said of itself."""
    said = {one["pid"]: one for path in folder.iterdir() if (one := json.loads(path.read_text()))}
    assert sorted(row["pid"] for row in rows) == sorted(said)
    for row in rows:
        own = said[row["pid"]]
        assert own["read"] <= row["io_read"] <= own["read"] + AFTER
        assert own["written"] < row["io_written"] <= own["written"] + AFTER
        # each of its two times is cut to a tick of 10 ms
        assert own["cpu"] - 20 * MS <= row["cpu"] <= own["cpu"] + 500 * MS
        assert row["exit"] == 0


@pytest.mark.parametrize("jdk", JDKS)
def test_each_child_of_a_program(
    jdk: str, program: Path, measured: list[str], tmp_path: Path, iostrata: Iostrata
) -> None:
    done = iostrata("record", "--run", "r", "--", *starts(jdk, program, 3, *measured))
    assert done.stdout.splitlines()[:3] == ["0 0"] * 3, done.stderr
    rows = children(iostrata)
    agree(rows, tmp_path / "said")
    assert {row["name"] for row in rows} == {f"{Path(sys.executable).name} {CHILD.name}"}
    (found,) = json.loads(iostrata("summary", "r", "--json").stdout)["children"]
    assert (found["processes"], found["failed"], found["parents"]) == (3, 0, 1)
    assert found["cpu"] == sum(row["cpu"] for row in rows)
    full = iostrata("summary", "r", "--full").stdout.splitlines()
    assert [line for line in full if f"most in {rows[0]['name']} (3 processes" in line]
    assert [line for line in full if line.startswith(rows[0]["name"])]


def test_how_children_end(program: Path, iostrata: Iostrata) -> None:
    """With a code, by a signal, at once, and with a child of their own; the JVM sees it as ever."""
    script = program / "ends.sh"
    script.write_text(
        'n=$(wc -l < "$0.n"); echo >> "$0.n"\n'
        "case $n in 0) exit 7;; 1) kill -9 $$;; 2) exit 0;; 3) sh -c 'exit 3';; esac\n"
    )
    (program / "ends.sh.n").write_text("")
    done = iostrata("record", "--run", "r", "--", *starts("17", program, 4, "sh", str(script)))
    assert done.stdout.splitlines()[:4] == ["7 0", "137 0", "0 0", "3 0"]
    assert [row["exit"] for row in children(iostrata)] == [7, -9, 0, 3]
    # of one that had ended when it was looked at the kernel knows no arguments any more
    found = json.loads(iostrata("summary", "r", "--json").stdout)["children"]
    assert {each["program"] for each in found} <= {"sh ends.sh", "sh"}
    assert [sum(each[name] for each in found) for name in ("processes", "failed")] == [4, 3]


def test_a_child_that_is_traced_is_a_process(program: Path, iostrata: Iostrata) -> None:
    inner = starts("17", program, 1, "true")
    done = iostrata("record", "--run", "r", "--", *starts("17", program, 1, *inner))
    assert done.stdout.splitlines()[0].startswith("0 "), done.stderr
    assert [row["name"] for row in children(iostrata)] == ["true"]
    traced = iostrata("query", "SELECT pid FROM processes WHERE traced", "--format", "json")
    assert len(json.loads(traced.stdout)) == 2


def test_mappers_of_hadoop_streaming(
    tmp_path: Path, measured: list[str], iostrata: Iostrata
) -> None:
    """In one JVM, with Hadoop's local runner: two maps, each with its Python."""
    fetch(tmp_path, STREAMING)
    (tmp_path / "in").mkdir()
    for name in "ab":
        (tmp_path / f"in/{name}").write_text("".join(f"line {n}\n" for n in range(1000)))
    path = f"{jars.fetch(print)}/*:{tmp_path}/jar/*"
    java = ("java", "-XX:TieredStopAtLevel=1", "-cp", path)
    job = ("org.apache.hadoop.streaming.HadoopStreaming", "-D", "mapreduce.job.reduces=0")
    files = ("-input", str(tmp_path / "in"), "-output", str(tmp_path / "out"))
    mapper = ("-mapper", " ".join(measured))
    done = iostrata("record", "--run", "r", "--", *java, *job, *files, *mapper)
    assert done.returncode == 0, done.stderr[-4000:]
    maps = [row for row in children(iostrata) if CHILD.name in row["name"]]
    agree(maps, tmp_path / "said")
    assert len(maps) == 2
    found = json.loads(iostrata("findings", "r", "--json").stdout)["findings"]
    (finding,) = (each for each in found if each["rule"] == "child-process")
    assert CHILD.name in finding["seen"]


def test_a_program_that_ant_waits_for(tmp_path: Path, iostrata: Iostrata) -> None:
    """Ant waits in no call that is traced, and the program computes meanwhile."""
    fetch(tmp_path, *ANT)
    computes = "i=0; while [ $$i -lt 1500000 ]; do i=$$((i+1)); done"
    (tmp_path / "build.xml").write_text(
        f"""<project default="t"><target name="t">
        <exec executable="sh"><arg line="-c '{computes}'"/></exec></target></project>"""
    )
    words = ("-cp", f"{tmp_path}/jar/*", "org.apache.tools.ant.Main", "-q", "-f")
    done = iostrata("record", "--run", "r", "--", "java", *words, str(tmp_path / "build.xml"))
    assert done.returncode == 0, done.stderr
    found = json.loads(iostrata("findings", "r", "--json").stdout)["findings"]
    (finding,) = (each for each in found if each["rule"] == "child-process")
    assert finding["seen"].startswith("1 process did nothing for ")
    assert finding["seen"].endswith(" that were CPU time of programs that it had started: sh")
