"""Advice names what a job had where that is known, and nothing where it is not."""

from __future__ import annotations

from typing import Any

import pytest

from iostrata.explain.finding import Change, Finding
from iostrata.explain.rank import finding_of
from iostrata.explain.rules import RULES
from iostrata.explain.tests.cases import CASES, TASKS, maps
from iostrata.explain.tests.conftest import Made
from iostrata.explain.tests.made import JOB, KB, MB, MS, Case, attempt, attempts, call, did
from iostrata.store.tests.made import SECOND

OTHER = "job_1_0002"
FORMAT = "mapreduce.job.inputformat.class"
OLD_FORMAT = "mapred.input.format.class"
SORT_MB = "mapreduce.task.io.sort.mb"
COMPRESS = "mapreduce.map.output.compress"
COPY = "org.apache.hadoop.tools.mapred.UniformSizeInputFormat"


def case(rule: str) -> Case:
    return next(case for case in CASES if case.rule == rule)


def found(
    facts_of: Made, rule: str, settings: dict[str, str], made: Case | None = None, **facts: Any
) -> Finding | None:
    """The finding of a rule in its case, whose job had these settings."""
    made = made or case(rule)
    tables = {"processes": made.processes} if made.processes else {}
    facts["cluster"] = {"configuration": {JOB: settings}}
    return finding_of(RULES[rule], facts_of(made.events, **tables, **facts))


def change(finding: Finding | None, setting: str) -> Change | None:
    assert finding
    return next((each for each in finding.change if each.setting == setting), None)


@pytest.mark.parametrize(
    ("rule", "setting", "had", "after"),
    [
        ("merge-passes", "mapreduce.task.io.sort.factor", "12", "100"),
        ("merge-passes", SORT_MB, "40", ""),
        ("too-many-spills", SORT_MB, "40", "240"),
        ("too-many-spills", SORT_MB, "900", "2047"),
        ("one-reduce", "mapreduce.job.reduces", "1", "4"),
        ("reduces-wait", "mapreduce.job.reduce.slowstart.completedmaps", "0.05", "0.9"),
        ("straggler", "mapreduce.map.speculative", "false", "true"),
        ("speculation", "mapreduce.map.speculative", "true", "false"),
        ("uncompressed-intermediate", COMPRESS, "false", "true"),
        ("short-tasks", "mapreduce.input.fileinputformat.split.minsize", "0", str(256 * MB)),
        ("slow-commit", "mapreduce.fileoutputcommitter.algorithm.version", "1", "2"),
        ("small-reads", "io.file.buffer.size", "65536", "131072"),
        ("small-blocks", "dfs.blocksize", "1048576", str(128 * MB)),
        ("fs-creation", "mapreduce.job.ubertask.enable", "false", "true"),
    ],
)
def test_the_value_of_the_job_is_named(
    facts_of: Made, rule: str, setting: str, had: str, after: str
) -> None:
    advised = change(found(facts_of, rule, {setting: had}), setting)
    assert advised
    assert (advised.before, advised.after) == (had, after)


@pytest.mark.parametrize(
    ("rule", "setting", "had"),
    [
        ("merge-passes", "mapreduce.task.io.sort.factor", "200"),
        ("reduces-wait", "mapreduce.job.reduce.slowstart.completedmaps", "1.0"),
        ("straggler", "mapreduce.map.speculative", "true"),
        ("slow-commit", "mapreduce.fileoutputcommitter.algorithm.version", "2"),
        ("small-blocks", "dfs.blocksize", str(256 * MB)),
    ],
)
def test_nothing_is_advised_that_the_job_has(
    facts_of: Made, rule: str, setting: str, had: str
) -> None:
    finding = found(facts_of, rule, {setting: had})
    assert change(finding, setting) is None
    assert finding
    # AND where nothing else is left to change, no gain is promised
    assert bool(finding.change) == bool(finding.gain)


def test_output_that_cannot_be_compressed_is_not_called_uncompressed(facts_of: Made) -> None:
    assert found(facts_of, "uncompressed-intermediate", {COMPRESS: "true"}) is None


@pytest.mark.parametrize(
    ("setting", "had", "after"),
    [
        (
            FORMAT,
            "org.apache.hadoop.mapreduce.lib.input.TextInputFormat",
            "org.apache.hadoop.mapreduce.lib.input.CombineTextInputFormat",
        ),
        (
            OLD_FORMAT,
            "org.apache.hadoop.mapred.SequenceFileInputFormat",
            "org.apache.hadoop.mapred.lib.CombineSequenceFileInputFormat",
        ),
        (FORMAT, "com.example.PdfInputFormat", "a subclass of CombineFileInputFormat"),
    ],
)
def test_small_files_are_packed_with_the_format_of_the_job(
    facts_of: Made, setting: str, had: str, after: str
) -> None:
    advised = change(found(facts_of, "many-small-files", {setting: had}), setting)
    assert advised
    assert (advised.before, advised.after) == (had, after)


def test_an_unknown_format_is_not_named(facts_of: Made) -> None:
    advised = change(found(facts_of, "many-small-files", {}), FORMAT)
    assert advised
    assert (advised.before, advised.after) == ("", "a subclass of CombineFileInputFormat")


def test_a_copy_of_small_files_has_no_task_for_each(facts_of: Made) -> None:
    """GIVEN a DistCp of 500 small files with 5 maps."""
    reads = [
        call("hdfs", "read", f"/in/{n}", 100 * MS, "map", bytes=KB, job=JOB) for n in range(500)
    ]
    copy = Case("many-small-files", "", 0, reads, attempts("map", [60] * 5))
    finding = found(facts_of, copy.rule, {FORMAT: COPY}, copy)
    assert finding
    assert finding.seen == "the job read 500 files of 1.0 KiB on average; this took 50.00 s"
    assert [each.setting for each in finding.change] == [""]
    assert "InputFormat" not in str(finding)


def test_a_copy_in_short_tasks_is_told_how_to_have_fewer(facts_of: Made) -> None:
    finding = found(facts_of, "short-tasks", {FORMAT: COPY})
    assert finding
    assert finding.change[0].what == "copy with fewer maps: distcp -m"
    assert change(finding, "mapreduce.input.fileinputformat.split.minsize") is None


def test_a_reduce_that_is_late_has_a_setting_of_its_own(facts_of: Made) -> None:
    late = Case("straggler", "", 0, [], attempts("reduce", [20, 20, 20, 60]))
    finding = found(facts_of, "straggler", {"mapreduce.reduce.speculative": "false"}, late)
    advised = change(finding, "mapreduce.reduce.speculative")
    assert advised
    assert advised.before == "false"


def test_jobs_that_differ_have_no_value_in_common(facts_of: Made) -> None:
    """GIVEN two jobs that spill, and one that does not."""
    jobs = {JOB: "40", OTHER: "50", "job_1_0003": "400"}
    spilling = [
        event
        for job in (JOB, OTHER)
        for event in (
            maps("spill", 20, MS, job=job),
            maps("merge", 4, 10 * SECOND, job=job),
        )
    ]
    tasks = [*TASKS, *(attempt("map", 20 + n, 30, 60, job=OTHER) for n in range(4))]
    settings = {job: {SORT_MB: value, "dfs.replication": "3"} for job, value in jobs.items()}
    facts = facts_of(spilling, processes=tasks, cluster={"configuration": settings})
    assert facts.configuration("dfs.replication", JOB, OTHER) == "3"
    assert facts.configuration("dfs.replication") == "3"
    assert facts.configuration(SORT_MB, OTHER) == "50"
    assert facts.configuration(SORT_MB, JOB, OTHER) is None
    advised = change(finding_of(RULES["too-many-spills"], facts), SORT_MB)
    assert advised
    assert (advised.before, advised.after) == ("", "6 times as many MB")


def test_without_a_history_the_command_says_it(facts_of: Made) -> None:
    command = ["spark-submit", "--conf", "spark.executor.memory=2g", "job.py"]
    executor = {**attempt("executor", 0, 0, 60), "task": ""}
    pauses = [did("jvm", "gc_pause", 300, 50 * MS, "executor", proc=executor["proc"])]
    finding = finding_of(RULES["gc-bound"], facts_of(pauses, processes=[executor], command=command))
    advised = change(finding, "spark.executor.memory")
    assert advised
    assert advised.before == "2g"
