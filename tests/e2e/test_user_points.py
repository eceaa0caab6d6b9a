"""Points of users, the whole way: exact, also in running JVMs, and gone after the run."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.jdks import JDKS, JDKS_AND_8
from tests.e2e.serving import Node, serving, wait_until
from tests.e2e.truth import Run

CALLS = 500
# The example of the guide, as it stands there.
GUIDE = Path(__file__).resolve().parents[2] / "docs/add-a-point.md"
PACK, SHIP = (
    GUIDE.read_text().split("```toml\n# mine.toml")[1].split("```")[0].split("\n\n# called")
)
PACK, SHIP = f"# mine{PACK}\n", f"# called{SHIP}"
ABSENT = """
[[point]]
layer = "record"
op = "pack"
class = "Serves"
method = "repack"
desc = "()V"

[[point]]
layer = "record"
op = "pack"
class = "no.Such"
method = "pack"
desc = "()V"
"""
FAULTY = """
[[point]]
layer = "record"
op = "pack"
class = "Serves"
method = "pack"
desc = "(Ljava/lang/String;[B)I"
target = "block(arg1)"
"""


def written(folder: Path, name: str, *texts: str) -> str:
    (folder / name).write_text("".join(texts))
    return str(folder / name)


def sums(run: Run, *ops: str) -> dict[str, tuple[str, int, int, int]]:
    """Layer, calls, bytes and bytes asked for of each operation."""
    listed = ", ".join(f"'{op}'" for op in ops)
    query = (
        "SELECT op, any_value(layer), sum(count)::BIGINT, sum(bytes)::BIGINT, "
        "sum(coalesce(asked, bytes))::BIGINT "
        f"FROM events WHERE kind = 'sum' AND op IN ({listed}) GROUP BY op"
    )
    return {
        op: (layer, int(n), int(size), int(asked)) for op, layer, n, size, asked in run.rows(query)
    }


def summary(on: Node, run: str) -> dict[str, Any]:
    return dict(json.loads(on.iostrata("summary", run, "--json").stdout))


@pytest.mark.one_of("version")
@pytest.mark.parametrize("version", JDKS_AND_8)
def test_a_program_of_its_own(version: str, tmp_path: Path, classes: Path, here: Node) -> None:
    """GIVEN two files WHEN a program is recorded with them THEN each call counts, and what never
    fired is named."""
    first = written(tmp_path, "first.toml", PACK, ABSENT)
    second = written(tmp_path, "second.toml", SHIP)
    script = (
        f"printf 'pack /a/b {CALLS}\\nship x {CALLS}\\n' "
        f"| {JDKS_AND_8[version]}/bin/java -cp {classes} Serves"
    )
    done = here.iostrata(
        "record", "--dir", str(here.dir), "--run", "r", "--points", first, "--points", second,
        "--", "sh", "-c", script,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, f"ready\npack {CALLS * 4}\nship {CALLS * 4}\n")
    run = Run(here.store, "r")
    assert sums(run, "pack", "ship") == {
        "pack": ("record", CALLS, CALLS * 8, 0),
        "ship": ("task", CALLS, CALLS * 4, 0),
    }
    # a call at a time but for the hot one, which has sums only
    kept = run.rows(
        "SELECT op, target, count(*) FROM events WHERE kind = 'call' AND op IN ('pack', 'ship') "
        "GROUP BY op, target"
    )
    assert kept == [("pack", "/a/b", CALLS)]
    assert not any(run.losses().values())
    shown = here.iostrata("summary", "r", "--full").stdout
    assert "point Serves#repack()V: its class has no such method" in shown
    assert "point no.Such#pack()V: no traced process loaded its class" in shown
    fired = here.iostrata("points", "--fired", "r").stdout
    (line,) = (line for line in fired.splitlines() if "Serves#send" in line)
    assert line.split()[:4] == ["yours", "task", "ship", str(CALLS)]
    # AND nothing of them is left for others
    assert list((here.dir / "runs").iterdir()) == []


def test_a_jvm_that_runs(tmp_path: Path, classes: Path, here: Node) -> None:
    """GIVEN a JVM that lives longer than runs THEN the points of each come and go."""
    pack, ship = written(tmp_path, "a.toml", PACK), written(tmp_path, "b.toml", SHIP)
    option = f"-javaagent:{here.dir}/iostrata-agent.jar=dir={here.dir}"
    with serving(classes, JDKS["17"], option) as jvm:

        def work() -> None:
            assert jvm.tell("pack", "/a/b", CALLS) == f"pack {CALLS * 4}"
            assert jvm.tell("ship", "x", CALLS) == f"ship {CALLS * 4}"

        work()
        with here.recording("one", "--points", pack):
            work()
            # a second run, with points of its own, while the first goes on
            with here.recording("two", "--points", ship):
                work()
            work()
        with here.recording("three", "--points", ship):
            work()
        work()
    wait_until(lambda: here.traces(jvm.pid) == [])
    # its calls belong to nobody: it was started by no run
    run = Run(here.store, "_background")
    wait_until(lambda: "ship" in sums(Run(here.store, "_background"), "ship"))
    found = sums(run, "pack", "ship")
    assert found["pack"][1:3] == (CALLS * 3, CALLS * 3 * 8)
    assert found["ship"][1:3] == (CALLS * 2, CALLS * 2 * 4)
    assert found["pack"][0] == "record"
    assert found["ship"][0] == "task"


def test_a_fault_costs_its_point_only(tmp_path: Path, classes: Path, here: Node) -> None:
    """GIVEN an extractor that cannot look at its value THEN the point is off, the rest on."""
    file = written(tmp_path, "a.toml", FAULTY, SHIP)
    data = tmp_path / "data"
    script = (
        f"printf 'pack /a/b {CALLS}\\nship x {CALLS}\\nio {data} {CALLS}\\n' "
        f"| java -cp {classes} Serves"
    )
    done = here.iostrata(
        "record", "--dir", str(here.dir), "--run", "r", "--points", file, "--", "sh", "-c", script
    )
    assert (done.returncode, done.stdout) == (
        0, f"ready\npack {CALLS * 4}\nship {CALLS * 4}\nio {CALLS * 16}\n"
    )  # fmt: skip
    run = Run(here.store, "r")
    assert sums(run, "pack", "ship") == {"ship": ("task", CALLS, CALLS * 4, 0)}
    write = "SELECT count(*) FROM events WHERE kind = 'call' AND op = 'write' AND target = ?"
    assert run.one(write, str(data)) == CALLS
    faulty = "Serves#pack(Ljava/lang/String;[B)I"
    assert summary(here, "r")["faulted_points"] == [faulty]
    assert f"switched off by a fault: {faulty}\n" in here.iostrata("summary", "r", "--full").stdout


def test_points_beside_ours_and_each_other(tmp_path: Path, classes: Path, here: Node) -> None:
    """GIVEN the same method with other values in two runs THEN both count, each for itself."""
    plain = written(tmp_path, "a.toml", PACK)
    other = written(tmp_path, "b.toml", PACK.replace('"pack"\nclass', '"wrap"\nclass'))
    option = f"-javaagent:{here.dir}/iostrata-agent.jar=dir={here.dir}"
    with (
        serving(classes, JDKS["25"], option) as jvm,
        here.recording("one", "--points", plain),
        here.recording("two", "--points", other),
    ):
        jvm.tell("pack", "/a/b", CALLS)
    wait_until(lambda: here.traces(jvm.pid) == [])
    wait_until(lambda: "wrap" in sums(Run(here.store, "_background"), "wrap"))
    found = sums(Run(here.store, "_background"), "pack", "wrap")
    assert found["pack"][1:3] == found["wrap"][1:3] == (CALLS, CALLS * 8)


def test_refused_before_anything_starts(tmp_path: Path, here: Node) -> None:
    file = written(tmp_path, "a.toml", PACK.replace('"record"', '"recrod"'))
    began = tmp_path / "began"
    done = here.iostrata(
        "record", "--dir", str(here.dir), "--points", file, "--", "touch", str(began)
    )
    assert done.returncode == 125
    assert f"{file}:3: layer 'recrod' is none of record, task" in done.stderr
    assert not began.exists()
    assert not here.store.exists() or list(here.store.glob("*-*")) == []


def test_of_somebody_else(tmp_path: Path, classes: Path, here: Node) -> None:
    """GIVEN points that another user has put there THEN a JVM of ours does not take them."""
    if os.getuid() != 0:
        pytest.skip("needs root to write a file of another user")
    option = f"-javaagent:{here.dir}/iostrata-agent.jar=dir={here.dir}"
    with (
        serving(classes, JDKS["17"], option) as jvm,
        here.recording("mine", "--points", written(tmp_path, "a.toml", SHIP)),
    ):
        theirs = (here.dir / "runs/mine.points").read_text().replace("Serves\tsend", "Serves\tpack")
        foreign = here.dir / "runs/foreign.points"
        foreign.write_text(theirs.replace("([BI)J", "(Ljava/lang/String;[B)I"))
        os.chown(foreign, 65534, 65534)
        (here.dir / "runs/foreign.run").write_text("recorder_pid=1\n")
        # makes the agents look again
        with here.recording("again", "--points", written(tmp_path, "b.toml", ABSENT)):
            jvm.tell("pack", "/a/b", CALLS)
            jvm.tell("ship", "x", CALLS)
    wait_until(lambda: here.traces(jvm.pid) == [])
    wait_until(lambda: "ship" in sums(Run(here.store, "_background"), "ship"))
    found = sums(Run(here.store, "_background"), "ship", "pack")
    assert list(found) == ["ship"]
    assert found["ship"][1] == CALLS
