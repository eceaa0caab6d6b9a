"""Ten million distinct paths: agent and dictionaries stay as they are, the collector's memory
has a bound, sums are exact."""

from __future__ import annotations

import os
from pathlib import Path

from tests.e2e.footprint import Footprint, footprint
from tests.e2e.jdks import JDKS
from tests.e2e.serving import Node, Serving, serving
from tests.e2e.truth import Run

NAMES = int(os.environ.get("SOAK_NAMES", "10000000")) if "SOAK" in os.environ else 300_000
CHUNKS = 10 if "SOAK" in os.environ else 4
CAP = 64 << 20  # bytes of all traces of a process, as Recorder.Options
DICTIONARY = 256 << 10  # bytes of a file; of these a quarter of the cap
ENTRY = 40  # bytes of the shortest
# A collector remembers so many names of files of a process, and no more: names.rs.
REMEMBERED = 1 << 20
BYTES_OF_A_NAME = 256
LOOK = """
[[point]]
layer = "record"
op = "look"
class = "Serves"
method = "look"
desc = "(Ljava/lang/String;)V"
target = "file(arg1)"
"""


class Watched:
    """The JVM, its traces and its collector, chunk by chunk."""

    def __init__(self, jvm: Serving, on: Node) -> None:
        self.jvm = jvm
        self.on = on
        self.prints: list[Footprint] = []
        self.collector: list[int] = []

    def look(self) -> None:
        (traces,) = self.on.traces(self.jvm.pid)
        files = [size for path in traces.iterdir() if (size := size_of(path)) is not None]
        dictionaries = sum(size == DICTIONARY for size in files)
        self.prints.append(footprint(self.jvm.pid, JDKS["17"], self.on.dir))
        status = Path(f"/proc/{self.on.collector}/status").read_text()
        (rss,) = (int(x.split()[1]) for x in status.splitlines() if x.startswith("VmRSS"))
        self.collector.append(rss << 10)
        print(dictionaries, sum(files), rss, self.prints[-1].row())
        assert dictionaries <= CAP // 4 // DICTIONARY
        assert sum(files) <= CAP


def size_of(path: Path) -> int | None:
    """None when the collector, which has read it, has removed it since it was listed."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return None


def test_more_names_than_anything_remembers(tmp_path: Path, classes: Path, here: Node) -> None:
    """GIVEN a call for each of NAMES names THEN each is counted, kept or counted as dropped, and
    has its name or is counted as refused one; nothing has grown with them."""
    (tmp_path / "look.toml").write_text(LOOK)
    option = f"-javaagent:{here.dir}/iostrata-agent.jar=dir={here.dir},run=one"
    chunk = NAMES // CHUNKS
    path = "/no/such/folder/a-name-"
    with (
        serving(classes, JDKS["17"], option) as jvm,
        here.recording("one", "--points", str(tmp_path / "look.toml")),
    ):
        watched = Watched(jvm, here)
        for i in range(CHUNKS):
            assert jvm.tell("look", path, chunk, i * chunk) == f"look {chunk}"
            watched.look()
    run = Run(here.store, "one")
    summed = "SELECT sum(count)::BIGINT, sum(errors)::BIGINT FROM events WHERE kind = 'sum'"
    assert run.rows(f"{summed} AND op = 'look'") == [(NAMES, NAMES)]
    losses = run.losses()
    assert (losses["lost"], losses["folded"]) == (0, 0)
    kept, named, distinct = run.rows(
        "SELECT count(*), count(target), count(DISTINCT target) FROM events "
        "WHERE kind = 'call' AND op = 'look'"
    )[0]
    print(f"{kept} kept, {named} named, {losses}")
    assert named == distinct
    assert kept + losses["dropped"] >= NAMES
    assert 0 <= kept - named <= losses["refused"]
    first, last = watched.prints[1], watched.prints[-1]
    # one file's names, whatever their number
    assert last.instances("Dictionary$Name") <= DICTIONARY // ENTRY
    assert last.our_heap <= first.our_heap + DICTIONARY
    assert last.heap <= first.heap + (1 << 20)
    grown = watched.collector[-1] - watched.collector[0]
    assert grown <= (32 << 20) + min(NAMES, REMEMBERED) * BYTES_OF_A_NAME
    if NAMES > REMEMBERED:
        # Between two parts more names may come than the queue of those remembered has room for.
        half = max(watched.collector[: CHUNKS // 2])
        assert max(watched.collector) <= half + REMEMBERED * BYTES_OF_A_NAME // 2
