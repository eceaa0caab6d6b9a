"""Thousands of virtual threads (JDK 21 and newer): each its own, none pinned, nothing left."""

from __future__ import annotations

import json
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.drawn import SOAK
from tests.e2e.footprint import footprint
from tests.e2e.jdks import JDKS
from tests.e2e.serving import Node, Serving, serving, wait_until
from tests.e2e.truth import Run

JDK = JDKS["25"]
BATCHES, THREADS, CALLS = (15 if SOAK else 6), 80, 5  # and as many threads again that echo
AT_ONCE = 3_000
# schema/events.toml [segment]
EPOCH, STATE, DRAINED = 20, 36, 136
ACTIVE = 1
PINNED = """<?xml version="1.0"?><configuration version="2.0">
<event name="jdk.VirtualThreadPinned"><setting name="enabled">true</setting>
<setting name="threshold">0 ms</setting><setting name="stackTrace">true</setting></event>
</configuration>"""


@pytest.fixture(scope="module")
def virtual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class path with VirtualThreads.java, compiled for what has virtual threads."""
    folder = tmp_path_factory.mktemp("classes")
    source = Path(__file__).with_name("VirtualThreads.java")
    subprocess.run(
        [JDK / "bin/javac", "--release", "21", "-d", str(folder), str(source)], check=True
    )
    return folder


def work(jvm: Serving, folder: Path, threads: int, before: int) -> None:
    """Lets that many threads do their work; `before` have done so."""
    answer = jvm.tell("work", folder, threads, CALLS)
    assert answer == f"work {before + threads} 0"


def segments(on: Node, pid: int) -> list[tuple[int, bool]]:
    """State of each segment, and whether it has been read to its end."""
    (traces,) = on.traces(pid)
    found = []
    for path in traces.glob("*.seg"):
        with path.open("rb") as file:
            head = file.read(DRAINED + 4)
        epoch, state, drained = (
            struct.unpack_from("<I", head, at)[0] for at in (EPOCH, STATE, DRAINED)
        )
        found.append((state, drained == epoch))
    return found


def free(on: Node, pid: int) -> bool:
    """What ended threads had is drained; a few platform threads have theirs still."""
    found = segments(on, pid)
    busy = [one for one in found if not one[1]]
    return len(busy) <= 8 and all(state == ACTIVE for state, _ in busy)


def sums(
    run: Run, where: str = "thread LIKE 'v-%' OR thread = 'echo'"
) -> dict[tuple[str, str], tuple[int, int]]:
    """Calls and bytes of files and sockets by operation; outermost ones."""
    query = (
        "SELECT op, category, sum(count)::BIGINT, sum(bytes)::BIGINT FROM events "
        f"WHERE kind = 'sum' AND layer = 'java' AND ({where}) "
        "AND category IN ('file', 'socket') AND flags = 0 AND op IN "
        "('read', 'write', 'send', 'receive', 'transfer') GROUP BY ALL"
    )
    return {(op, of): (count, size) for op, of, count, size in run.rows(query)}


def happened(threads: int) -> dict[tuple[str, str], tuple[int, int]]:
    """The program writes each file by CALLS calls, twice, reads it so once, and transfers it."""
    calls = threads * CALLS
    return {
        ("write", "file"): (2 * calls, 2 * calls * 16),
        ("read", "file"): (calls, calls * 16),
        ("transfer", "file"): (threads, calls * 16),
        ("send", "socket"): (2 * threads, 2 * threads),
        ("receive", "socket"): (2 * threads, 2 * threads),
    }


def test_each_call_is_that_of_its_thread(tmp_path: Path, virtual: Path, here: Node) -> None:
    """GIVEN batches of threads, each as large as rings allow at a time THEN every call counts,
    none is another's, and neither rings nor logs of theirs are left."""
    option = f"-javaagent:{here.dir}/iostrata-agent.jar=dir={here.dir},run=one"
    files = tmp_path / "files"
    files.mkdir()
    counts = []
    with serving(virtual, JDK, option, main="VirtualThreads") as jvm, here.recording("one"):
        for batch in range(BATCHES):
            work(jvm, files, THREADS, batch * THREADS)
            wait_until(lambda: free(here, jvm.pid))
            counts.append(len(segments(here, jvm.pid)))
        left = footprint(jvm.pid, JDK, here.dir)
    run, threads = Run(here.store, "one"), BATCHES * THREADS
    print(counts, left.row(), run.losses())
    assert not any(run.losses().values())
    assert sums(run) == happened(threads)
    # segments are given again: no more than two batches ever had
    assert counts[-1] <= 2 * (2 * THREADS + 8)
    assert left.instances("ThreadLog") <= left.threads + 1
    assert left.instances("Probe") <= left.threads
    whose(run, files)


def whose(run: Run, files: Path) -> None:
    """File N belongs to thread v-N, whatever carried it; so does what a call is inside of."""
    of_files = (
        "kind = 'call' AND layer = 'java' AND thread LIKE 'v-%' AND starts_with(target, "
        f"'{files}/')"
    )
    total, strange = run.rows(
        "SELECT count(*), count(*) FILTER (regexp_extract(target, '/(\\d+)\\.[abc]$', 1) "
        f"<> substr(thread, 3)) FROM events WHERE {of_files}"
    )[0]
    # 2 x CALLS writes, CALLS reads, a transfer and two reads inside it, the last at the end
    assert total >= BATCHES * THREADS * (3 * CALLS + 2)
    assert strange == 0
    inside, elsewhere = run.rows(
        "SELECT count(*), count(*) FILTER (inner_.thread <> outer_.thread) FROM events inner_ "
        "JOIN events outer_ ON inner_.proc = outer_.proc AND inner_.parent = outer_.span "
        "WHERE inner_.kind = 'call' AND outer_.kind = 'call' AND inner_.thread LIKE 'v-%'"
    )[0]
    assert inside >= BATCHES * THREADS
    assert elsewhere == 0


def test_more_at_once_than_there_is_room_for(tmp_path: Path, virtual: Path, here: Node) -> None:
    """GIVEN thousands in one moment THEN the program is as without us, and every call is in a sum:
    detail of those without a segment is dropped and counted."""
    option = f"-javaagent:{here.dir}/iostrata-agent.jar=dir={here.dir},run=one"
    files = tmp_path / "files"
    files.mkdir()
    with serving(virtual, JDK, option, main="VirtualThreads") as jvm, here.recording("one"):
        work(jvm, files, AT_ONCE, 0)
        wait_until(lambda: free(here, jvm.pid))
        # and then there is room again
        work(jvm, files, THREADS, AT_ONCE)
    assert all(
        (files / f"{i}.{end}").stat().st_size == CALLS * 16 for i in range(AT_ONCE) for end in "ab"
    )
    run = Run(here.store, "one")
    late = f"try_cast(substr(thread, 3) AS INTEGER) >= {AT_ONCE}"
    found, expected = sums(run, late), happened(THREADS)
    for key in ("write", "file"), ("read", "file"), ("transfer", "file"):
        assert found[key] == expected[key]
    losses = run.losses()
    print(losses)
    assert losses["lost"] == 0
    # calls without a row of their own have neither category nor thread: what the program itself
    # reads and writes is all that it has of these operations, but for its classes and its pipes
    of_all = whole(run)
    for (op, _), (count, size) in happened(AT_ONCE + THREADS).items():
        if op != "read":
            assert of_all[op][0] >= count
            assert of_all[op][1] >= size


def whole(run: Run) -> dict[str, tuple[int, int]]:
    """Calls and bytes by operation, of all threads and categories."""
    query = (
        "SELECT op, sum(count)::BIGINT, sum(bytes)::BIGINT FROM events "
        "WHERE kind = 'sum' AND layer = 'java' AND flags = 0 GROUP BY op"
    )
    return {op: (count, size) for op, count, size in run.rows(query)}


@dataclass(frozen=True)
class Pin:
    """A time that a virtual thread held its carrier while it waited."""

    reason: str
    stack: list[str]  # class.method, the innermost first

    @property
    def is_ours(self) -> bool:
        return any("iostrata" in frame for frame in self.stack)

    @property
    def is_for_a_class(self) -> bool:
        """Somebody waits until a class is there, once: whoever is the first to use it."""
        first_use = ("VM call to ", "Waited for initialization of ")
        loads = ("ClassLoader.loadClass", "InstrumentationImpl.transform")
        return self.reason.startswith(first_use) or any(f.endswith(loads) for f in self.stack)


def pins(folder: Path, virtual: Path, word: str, *options: str) -> list[Pin]:
    """As JFR sees them."""
    folder.mkdir()
    (folder / "pinned.jfc").write_text(PINNED)
    record = f"filename={folder}/all.jfr,settings={folder}/pinned.jfc"
    flight = (f"-XX:StartFlightRecording:{record}", "-Xlog:jfr=off", "-Xlog:jfr+startup=off")
    with serving(virtual, JDK, *flight, *options, main="VirtualThreads") as jvm:
        for done in (1, 2):
            answer = jvm.tell(word, folder, THREADS * 5, CALLS)
            assert answer == f"{word} {THREADS * 5 * done} 0"
    said = subprocess.run(
        [JDK / "bin/jfr", "print", "--json", "--stack-depth", "64", str(folder / "all.jfr")],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    events: list[dict[str, Any]] = json.loads(said)["recording"]["events"]
    return [pin_of(event["values"]) for event in events]


def pin_of(event: dict[str, Any]) -> Pin:
    methods = [frame["method"] for frame in event["stackTrace"]["frames"]]
    stack = [f"{method['type']['name']}.{method['name']}" for method in methods]
    return Pin(event["pinnedReason"], stack)


def test_none_is_pinned_by_us(tmp_path: Path, virtual: Path, here: Node) -> None:
    """GIVEN JFR, which sees a thread that is pinned THEN none is while it is in our code."""
    (seen,) = pins(tmp_path / "pins", virtual, "pin")[:1]
    assert (seen.is_ours, seen.is_for_a_class) == (False, True)
    option = f"-javaagent:{here.dir}/iostrata-agent.jar=dir={here.dir},run=one"
    with here.recording("one"):
        found = pins(tmp_path / "with", virtual, "work", option)
    print(found)
    assert [pin for pin in found if pin.is_ours and not pin.is_for_a_class] == []
