from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest
from bench.measure.group import Group
from bench.measure.taskstats import EndedThreads
from bench.measure.threads import OTHERS, by_threads, group_of

root = pytest.mark.skipif(os.geteuid() != 0, reason="taskstats and control groups need root")
BURN = "import time\nend = time.process_time() + {}\nwhile time.process_time() < end: pass"


def test_names_of_threads_have_their_group() -> None:
    names = ("C2 CompilerThre", "C1 CompilerThre", "GC Thread#0", "iostrata", "iostrata-native")
    groups = ["second compiler", "first compiler", "garbage collector", "our thread", "collector"]
    assert [group_of(name) for name in names] == groups
    assert group_of("IPC Server hand") == OTHERS


@root
def test_a_thread_that_ended_says_what_it_took() -> None:
    with EndedThreads() as watch:
        child = subprocess.Popen([sys.executable, "-c", BURN.format(0.2)])
        child.wait()
        time.sleep(0.1)
    (ended,) = (one for one in watch.ended if one.tid == child.pid)
    assert ended.tgid == child.pid
    assert 0.2e9 <= ended.cpu < 0.6e9
    assert watch.missed == 0


@root
def test_groups_of_threads_add_up_to_the_control_group() -> None:
    cluster = Group("iostrata-test-threads")
    # what other tests start meanwhile counts, too, and is called otherwise
    named = "open('/proc/self/comm', 'w').write('SpillThread')\n"
    burns = BURN.format(0.2).replace("\n", "\n ")
    stays = f"{named}import sys, time\nfor line in sys.stdin:\n {burns}"
    lasting = subprocess.Popen(
        [sys.executable, "-c", stays + "\n print(flush=True)"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=cluster.enter,
    )
    assert lasting.stdin is not None
    assert lasting.stdout is not None
    found: dict[str, float] = {}
    try:
        lasting.stdin.write("before\n")
        lasting.stdin.flush()
        lasting.stdout.readline()
        with by_threads(cluster, found):
            before = cluster.cpu()
            lasting.stdin.write("now\n")
            lasting.stdin.flush()
            lasting.stdout.readline()
            subprocess.run(
                [sys.executable, "-c", named + BURN.format(0.3)],
                preexec_fn=cluster.enter,
                check=True,
            )
            time.sleep(0.1)
            took = cluster.cpu() - before
    finally:
        lasting.communicate()
        cluster.remove()
    assert took >= 0.5
    assert found["spills"] == pytest.approx(took, rel=0.02)
