from __future__ import annotations

from pathlib import Path

from iostrata.explain.tests.made import MINUTE, MS, PROGRAM, did
from iostrata.explain.verdict import explanation
from iostrata.records import builtins
from iostrata.show.findings import findings_lines
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
from iostrata.store.tests.made import START, make_run

EVENTS = [did("java", "sync", 300, 50 * MS), did("java", "write", 300, 0, bytes=30_000)]


def run_in(store: Path) -> OpenedRun:
    make_run(store, "r", EVENTS, processes=[PROGRAM], start=START, end=START + MINUTE)
    return OpenedRun(find_run(store, "r"))


def test_lines_say_what_was_seen_and_what_to_do(tmp_path: Path) -> None:
    with run_in(tmp_path) as opened:
        found = explanation(opened)
    lines, details = findings_lines(found), findings_lines(found, details=True)
    assert "\n".join(lines) == (
        "Local files are forced to disk too often: programs forced local files to disk\n"
        "300 times, after every 100 bytes on average, which took 15.00 s. A change could\n"
        "save up to 25 % of the run's time.\n"
        "The run took 60.00 s. 1 program ran during 100 % of it, at most 1 at once, and\n"
        "for 60.00 s in total.\n"
        "\n"
        "1. SEVERE 25 % of the run: Local files are forced to disk too often [local-sync]\n"
        "   programs forced local files to disk 300 times, after every 100 bytes on\n"
        "   average, which took 15.00 s.\n"
        "   -> force a file once for many writes (group commit)\n"
        "   expected gain: 15 % to 25 % of the run's time\n"
    )
    assert "   syncs: 300" in details
    # AND the query is there when it is asked for
    assert "   query:" not in details
    assert "   query:" in findings_lines(found, sql=True)
    assert any(line.startswith("   does not apply if each record must survive") for line in details)


def test_the_query_of_a_finding_can_be_asked(tmp_path: Path) -> None:
    with run_in(tmp_path) as opened:
        (finding,) = explanation(opened).findings
        names, rows = opened.user_query(finding.query)
    assert dict(zip(names, rows[0], strict=True))["calls"] == 300
    assert builtins(finding.gain) == {
        "low": 0.15, "high": 0.25, "of": "time of the run", "replayed": "",
    }  # fmt: skip
