from __future__ import annotations

from io import BytesIO
from pathlib import Path

from iostrata.analyse.calltree.tests.job import Job
from iostrata.show.export.formats import FORMATS as EXPORT_FORMATS
from iostrata.show.export.selection import Selection
from iostrata.show.export.source import Source
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
from iostrata.store.tests.made import make_run, row_of_call, row_of_sum
from iostrata_lab.studies.catalog import STUDIES
from iostrata_lab.studies.compression import FORMATS
from iostrata_lab.studies.interface import ClaimVerdict, Row, StudyRun
from iostrata_lab.studies.tests.made import sample

COMPRESSION = STUDIES.named("compression")


def test_every_form_of_the_same_calls_and_their_trees(tmp_path: Path) -> None:
    # GIVEN three requests, each of which reads, the first of them twice: merged, they are alike
    rows: list[Row] = []
    for request in range(3):
        top = {"proc": 1, "tid": 1, "role": "client", "host": "h", "trace": request + 1}
        span = request * 10 + 1
        rows.append(row_of_call("fs", "open", "t", span=span, start=request * 9000, **top))
        rows += [
            row_of_call("java", "read", "t", span=span + at, parent=span, start=at, dur=1, **top)
            for at in range(1, 2 if request else 3)
        ]
    sums = [row_of_sum("fs", "open", count=3, proc=1, tid=1), row_of_sum("java", "read", count=40)]
    folder = make_run(tmp_path, "r", [*rows, *sums], [])
    # WHEN it is measured
    with OpenedRun(find_run(tmp_path, "r")) as opened:
        measured = COMPRESSION.measure(opened)
        texts = {}
        for name in FORMATS:
            text = BytesIO()
            EXPORT_FORMATS[name].writer()(Source(opened, Selection()), text)
            texts[name] = len(text.getvalue())
    # THEN
    stored = sum(path.stat().st_size for path in folder.glob("events/*/*.parquet"))
    assert measured == {
        "calls": 43,
        "kept": 7,
        "events": 9,
        "raw": 7 * 64,
        "stored": stored,
        **texts,
        "spans": 7,
        "trees": 3,
        "sets_trees": 1,
        "sets_nodes": 2,
        "runs_trees": 1,
        "runs_nodes": 2,
    }


def test_trees_of_a_job_become_fewer_and_keep_their_calls(tmp_path: Path) -> None:
    job = Job(seed=7, requests=50)
    make_run(tmp_path, "r", [*job.rows, *job.sums()], [])
    with OpenedRun(find_run(tmp_path, "r")) as opened:
        measured = COMPRESSION.measure(opened)
    assert (measured["spans"], measured["trees"]) == (len(job.rows), 50)
    assert measured["sets_trees"] < 10


def of(label: str, trees: int, after: int, repeat: int = 1) -> StudyRun:
    measured = {
        "calls": 5000, "kept": 100, "events": 120, "raw": 6400, "stored": 800, "otlp": 80_000,
        "strace": 12_000, "spans": 100, "trees": trees, "sets_trees": after, "sets_nodes": 9,
        "runs_trees": 4, "runs_nodes": 20,
    }  # fmt: skip
    return sample(label, measured, repeat)


def test_bytes_a_call_and_trees_before_and_after() -> None:
    outcome = COMPRESSION.conclude([of("sort", 40, 2), of("sort", 40, 30, 2), of("sort", 40, 2, 3)])
    events, trees = outcome.tables
    assert events.rows == [["sort", "5 000", "100", "800.0", "120.0", "64.0", "8.0", "800 B"]]
    assert trees.rows == [["sort", "100", "9", "20", "40", "2", "95.0 %"]]
    fewer, explosion, compressed = outcome.claims
    assert (fewer.verdict, fewer.because) == (
        ClaimVerdict.agrees,
        "by 95.0 % or more (sort least), with exact totals",
    )
    assert explosion.verdict == ClaimVerdict.unknown
    assert compressed.because.startswith("Parquet is 100 to 100 times smaller than JSON spans")


def test_one_workload_whose_trees_stay_is_enough_to_differ() -> None:
    fewer, *_ = COMPRESSION.conclude([of("sort", 40, 2), of("grep", 40, 8)]).claims
    assert (fewer.verdict, fewer.because[:9]) == (ClaimVerdict.differs, "by 80.0 %")


def test_bytes_a_minute_are_those_of_jobs_on_spark() -> None:
    _, alone, _ = COMPRESSION.conclude([of("sort", 40, 2)]).claims
    assert alone.because == "no job on Spark was asked for"
    # 80,000 bytes of JSON and 800 of Parquet in 10 s
    _, claim, _ = COMPRESSION.conclude([of("sort", 40, 2), of("bayes", 40, 2)]).claims
    assert claim.because.startswith("as JSON spans up to 468.8 KiB a minute, as stored up to 4.7 K")
