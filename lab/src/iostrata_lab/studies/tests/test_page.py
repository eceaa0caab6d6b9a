from __future__ import annotations

import json
from dataclasses import replace

from iostrata.records import builtins
from iostrata_lab.studies.catalog import STUDIES
from iostrata_lab.studies.interface import Claim, ClaimVerdict, Outcome, StudyRun, Table
from iostrata_lab.studies.page import alike, document, markdown, text
from iostrata_lab.studies.tests.made import WHOLE, sample

STUDY = replace(STUDIES.named("layers"), differences=("one machine",))
OUTCOME = Outcome(
    [Table("Calls", ["layer", "calls"], [["a|b", "12"], ["c", "3"]])],
    [Claim("more above", ClaimVerdict.agrees, "12 over 3")],
    "<svg/>",
)

MISSING = ["not traced: map pid 7 (no agent)"]
LESS = replace(sample("b", {}), traced=WHOLE | {"traced": 2, "dropped": 4, "missing": MISSING})


def test_the_page_has_tables_figure_claims_and_differences() -> None:
    page = markdown(STUDY, OUTCOME, [sample("a", {})], "iostrata study run layers")
    assert (
        page
        == """\
# Two layers of RandomTextWriter over time

After S1: Feng et al., IOSIG+, CLUSTER 2015, section III.D, Fig. 4.

    iostrata study run layers

From 1 recorded run: 3 of 3 processes traced, 0 calls dropped, 0 collapsed, 0 lost.

Calls

| layer | calls |
| --- | ---: |
| a\\|b | 12 |
| c | 3 |

![two layers of RandomTextWriter over time](layers.svg)

| the paper says | here | why |
|---|---|---|
| more above | agrees | 12 over 3 |

Differences from the paper:

- one machine
"""
    )


def test_a_terminal_gets_the_same() -> None:
    assert text(STUDY, OUTCOME, [sample("a", {}), LESS])[2:] == [
        "From 2 recorded runs: 5 of 6 processes traced, 4 calls dropped, 0 collapsed, 0 lost.",
        "",
        "- run-b-1: not traced: map pid 7 (no agent)",
        "",
        "Calls", "",
        "layer  calls",
        "a|b       12",
        "c          3",
        "",
        "agrees: more above",
        "    12 over 3",
        "",
        "Differences from the paper:",
        "- one machine",
    ]  # fmt: skip


def test_samples_come_back_from_the_document() -> None:
    samples = [sample("a", {"x": 1}), sample("a", {"x": 2}, repeat=2, asked_bytes=5)]
    said = json.loads(json.dumps(builtins(document(STUDY, OUTCOME, samples))))
    assert [StudyRun(**row) for row in said["samples"]] == samples
    assert said["claims"] == [{"says": "more above", "verdict": "agrees", "because": "12 over 3"}]


def test_what_is_missing_in_many_runs_is_one_line() -> None:
    daemon = "not traced: NodeManager pid {} (no agent)"
    lines = [("a", daemon.format(7)), ("a", daemon.format(8)), ("b", daemon.format(7))]
    assert alike([*lines, ("b", "3 calls dropped")]) == [
        "2 runs, 3 times: not traced: NodeManager pid … (no agent)",
        "b: 3 calls dropped",
    ]
    assert alike([]) == []
