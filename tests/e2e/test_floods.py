"""A user who floods a shared collector with all that there is only so much of (misbehave.rs).

`make test` takes seconds of it beside JVMs of a second user; with SOAK=1 it goes on for
SOAK_SECONDS (half an hour) beside jobs on a lab, and what the collector takes is written to
FLOOD_LOG (bench/runs/DATE-soak/floods.jsonl).
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.e2e.cluster import JOB, ONE_ATTEMPT
from tests.e2e.mapreduce import Job, all_but, examples, problems
from tests.e2e.serving import node
from tests.e2e.site import Site, site_up
from tests.e2e.test_harmless import small_memory_disk
from tests.e2e.test_java import CALLS, SIZE, on_target
from tests.e2e.test_shared_node import ALICE, MALLORY, Order, knock, trace
from tests.e2e.truth import Run

from iostrata.artifacts import native_binary
from iostrata.processes import start_ticks

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="needs root to become other users")

ROOT = Path(__file__).resolve().parents[2]
SECONDS = float(os.environ.get("SOAK_SECONDS", "1800"))
LOG = Path(
    os.environ.get("FLOOD_LOG", ROOT / f"bench/runs/{time.strftime('%F')}-soak/floods.jsonl")
)
# Of what the collector allocates; systemd's unit gives it 1 GiB with what it maps.
LIMIT = 600 << 20
NO_LOSSES = {"dropped": 0, "folded": 0, "lost": 0, "refused": 0}


@pytest.fixture(scope="module")
def misbehave() -> Iterator[Path]:
    """The program that does all that a user may, where every user can run it."""
    words = "cargo build -q --release --locked -p iostrata-native --example misbehave"
    subprocess.run(words.split(), cwd=ROOT, check=True)
    place = Path(f"/var/tmp/iostrata-misbehave-{os.getpid()}")
    shutil.copy(Path(native_binary()).parent / "examples/misbehave", place)
    yield place
    place.unlink()


@contextmanager
def flood(program: Path, directory: Path, run: str, *attacks: str) -> Iterator[None]:
    """All attacks, or those, at once for as long as the block lasts, and two seconds at least."""
    words = [program, "--dir", directory, "--text", f"run={run}", *attacks]
    with subprocess.Popen(
        [str(word) for word in words],
        user=MALLORY,
        group=MALLORY,
        extra_groups=[],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        time.sleep(2)
        yield
        assert child.poll() is None
        said, _ = child.communicate(timeout=120)
        print(said)
        assert child.returncode == 0
        assert len(said.splitlines()) == (len(attacks) or 11)


def assert_exact(order: Order, reachable: Path) -> None:
    """All calls of the order's JVM are there, and nothing is said to be missing."""
    assert on_target(order.shared.store, order.name, reachable / "data" / order.name) == {
        "write": (CALLS, CALLS * SIZE),
        "read": (CALLS + 1, CALLS * SIZE),
    }
    assert Run(order.shared.store, order.name).losses() == NO_LOSSES


def test_floods_of_one_user_take_nothing_from_another(
    tmp_path: Path, reachable: Path, misbehave: Path
) -> None:
    """Row 4: names, contexts, claims, processes and files without end leave the collector below its
    limit of memory, also when it replays them, and the run of another user exact.
    """
    with node(tmp_path / "node", within=["prlimit", f"--data={LIMIT}"]) as shared:
        hers, his = Order(shared, ALICE, "hers"), Order(shared, MALLORY, "his")
        hers.begin()
        his.begin()
        with flood(misbehave, shared.dir, his.name):
            trace(shared, ALICE, hers.name, reachable)
            hers.end()
            # AND her run waited for no process of his that never answers
            assert "did not answer" not in str(hers.progress()["message"])
            assert shared.child.poll() is None, shared.log()
        assert_exact(hers, reachable)
        # AND what was too much is counted, for that user alone, also by a collector that replays it
        shared.child.kill()
        shared.child.wait()
        shared.collect()
        his.end()
        assert shared.child.poll() is None, shared.log()
        assert Run(shared.store, his.name).losses()["refused"] > 0


def test_a_run_takes_half_of_what_the_store_has_left(
    tmp_path: Path, reachable: Path, misbehave: Path
) -> None:
    """Row 11: it ends and says so, and there is room for the next one."""
    place = tmp_path / "node"
    place.mkdir()
    with small_memory_disk(place / "store", "4m"), node(place) as shared:
        hers, his = Order(shared, ALICE, "hers"), Order(shared, MALLORY, "his")
        his.begin()
        with flood(misbehave, shared.dir, his.name, "calls"):
            his.wait_for("done")
            said = str(his.progress()["message"])
            assert re.match(
                r"the run's user has taken \d+\.\d MiB, half of what the store had left.*"
                r"; \d+ rows that came later were left out",
                said,
            ), said
            hers.begin()
            trace(shared, ALICE, hers.name, reachable)
            hers.end()
        assert_exact(hers, reachable)


def test_a_flood_on_a_small_disk(tmp_path: Path, reachable: Path, misbehave: Path) -> None:
    """Row 4: what makes no rows fills no spool: it is begun anew when the disk is short."""
    with (
        small_memory_disk(tmp_path / "disk", "256m") as disk,
        node(disk / "node") as shared,
    ):
        hers, his = Order(shared, ALICE, "hers"), Order(shared, MALLORY, "his")
        his.begin()
        with flood(misbehave, shared.dir, his.name, "contexts", "claims"):
            hers.begin()
            trace(shared, ALICE, hers.name, reachable)
            hers.end()
        assert_exact(hers, reachable)
        assert "free some space" not in shared.log()


@pytest.mark.soak
@pytest.mark.cluster
def test_jobs_of_one_user_beside_floods_of_another(reachable: Path, misbehave: Path) -> None:
    """Each job adds up with Hadoop's counters, and the collector is the same process within its
    limits.
    """
    with site_up(reachable, f"floods-{os.getpid()}", "8g") as site:
        until, number = time.monotonic() + SECONDS, 0
        me = os.getpid()
        order = f"record his.{MALLORY}\nrecorder_pid={me}\nrecorder_start={start_ticks(me)}\n"
        assert knock(site.directory, MALLORY, order) == "ok"
        with flood(misbehave, site.directory, f"his.{MALLORY}"):
            while time.monotonic() < until:
                number += 1
                made, found = f"/made-{number}", f"/sorted-{number}"
                job(site, f"teragen-{number}", "teragen", "100000", made)
                job(site, f"terasort-{number}", "terasort", made, found)
                measure(site, number)
        assert site.collector.poll() is None


def job(site: Site, run: str, name: str, *arguments: str) -> None:
    """A job of which nothing is lost, and whose attempts add up with the job history."""
    words = ("hadoop", "jar", examples(site.cluster), name, *ONE_ATTEMPT, *arguments)
    with site.popen(run, *words, options=all_but("")) as recorder:
        output, _ = recorder.communicate(timeout=900)
    print(output)
    assert recorder.returncode == 0, output[-4000:]
    found = JOB.search(output)
    assert found
    found_problems = problems(site.cluster, Job(run, found[1]))
    print("\n".join(found_problems))
    assert found_problems == []


def measure(site: Site, number: int) -> None:
    status = Path(f"/proc/{site.collector.pid}/status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in status)
    allocated = int(fields["RssAnon"].split()[0]) << 10
    spool = sum(path.stat().st_size for path in (site.cluster.store / ".spool").rglob("*"))
    now = time.strftime("%FT%TZ", time.gmtime())
    row = {"time": now, "rounds": number, "allocated_bytes": allocated, "spool_bytes": spool}
    print(json.dumps(row))
    assert allocated < LIMIT
    LOG.parent.mkdir(parents=True, exist_ok=True)
    with LOG.open("a") as log:
        log.write(json.dumps(row) + "\n")
