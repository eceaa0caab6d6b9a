"""Each rule on a run that has its cause, and that nothing is said of one that has it not."""

from __future__ import annotations

from typing import Any

import pytest
from tests.drawn import draw

from iostrata.analyse.spark import Spark
from iostrata.explain.facts import Workforce
from iostrata.explain.rank import explain
from iostrata.explain.rules import RULES
from iostrata.explain.tests.cases import CASES, TASKS
from iostrata.explain.tests.conftest import Made
from iostrata.explain.tests.made import MB, MS, PROGRAM, US, Case, attempt, call, did
from iostrata.store.files import run_files
from iostrata.store.tests.made import SECOND, sample

ON_SPARK = (
    25  # rules that are asked of both engines, drawn anew each day: Spark takes seconds for one
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_the_cause_ranks_first(facts_of: Made, case: Case) -> None:
    tables = {"processes": case.processes} if case.processes else {}
    findings = explain(facts_of(case.events, **tables, **case.facts))
    first = findings[0]
    assert (first.rule, first.seen) == (case.rule, case.seen)
    assert first.share == pytest.approx(case.share, rel=0.01)
    assert first.query.startswith(("SELECT", "WITH"))
    assert first.change
    # AND no value is named that was not seen
    assert {change.before for each in findings for change in each.change} == {""}


def test_input_of_the_same_rack_is_counted_apart(facts_of: Made) -> None:
    case = next(case for case in CASES if case.rule == "low-locality")
    nodes = [
        {"name": host, "host": host, "pid": None, "rack": "/one"} for host in ("node0", "node1")
    ]
    facts = facts_of(case.events, processes=case.processes, cluster={"datanodes": nodes})
    finding = explain(facts)[0]
    assert (finding.rule, finding.seen) == (case.rule, case.seen)
    values = {one.what: one.value for one in finding.evidence}
    assert (
        values["bytes from other hosts"] == values["bytes of these from the same rack"] == 80 * MB
    )


def test_a_busy_core_is_no_matter_of_storage(facts_of: Made) -> None:
    tasks = [attempt("map", n, 0, 30, cpu=29 * SECOND) for n in range(4)]
    (finding,) = explain(facts_of([], processes=tasks))
    assert (finding.rule, finding.severity) == ("cpu-bound", "warning")
    assert finding.gain is None


@pytest.mark.parametrize(
    ("role", "setting"),
    [
        ("map", "mapreduce.map.java.opts"),
        ("executor", "spark.executor.memory"),
        ("HRegionServer", "-Xmx in HBASE_OPTS"),
        ("org.h2.Main", "-Xmx"),
    ],
)
def test_advice_names_settings_of_what_runs(facts_of: Made, role: str, setting: str) -> None:
    process = {**attempt(role, 0, 0, 60), "task": ""}
    pauses = [did("jvm", "gc_pause", 300, 50 * MS, role, proc=process["proc"])]
    (finding,) = explain(facts_of(pauses, processes=[process]))
    assert (finding.rule, finding.change[0].setting) == ("gc-bound", setting)


def test_what_the_jvm_itself_used_is_said(facts_of: Made) -> None:
    program = {**PROGRAM, "cpu": 90 * SECOND, "cpu_jvm": 45 * SECOND, "queued": 0}
    (found,) = explain(facts_of([], processes=[program]))
    assert found.seen == (
        "processes used 90.00 s of CPU time (50 % of it by the JVM's own compilers and garbage "
        "collectors) while they ran for 60.00 s, so they hardly wait for storage"
    )
    assert found.change[0].what.startswith("start fewer JVMs that live longer")


def test_every_rule_has_a_case() -> None:
    assert {case.rule for case in CASES} | {
        "cpu-bound",
        "cpu-taken",
        "disk-bound",
        "disk-taken",
        "memory-short",
    } == set(RULES)


def test_nothing_is_found_where_nothing_is_wrong(facts_of: Made) -> None:
    healthy = [
        did("hdfs", "read", 600, 20 * MS, bytes=600 * MB, category="hdfs", size_class=21),
        did("hdfs", "open", 5, MS),
        did("datanode", "send_packet", 9600, US, "DataNode", bytes=600 * MB),
        did("datanode", "disk_transfer", 9600, US, "DataNode", bytes=600 * MB),
        did("fs", "connect", 1, SECOND, category="hdfs"),
    ]
    assert explain(facts_of(healthy)) == []


def test_standard_input_is_of_no_child(facts_of: Made) -> None:
    read = did("java", "read", 150, 100 * MS, category="pipe", thread="main")
    stdin = call("java", "read", "stdin", 100 * MS, category="pipe", thread="main")
    assert explain(facts_of([read, stdin])) == []


def test_others_that_were_never_timed_are_no_measure(facts_of: Made) -> None:
    sent = {"bytes": 500 * MB, "category": "socket"}
    slow = did("java", "send", 1000, 20 * MS, "DataNode", proc=2, host="a", **sent)
    other = did("java", "send", 1000, 0, "DataNode", proc=3, host="b", timed=0, **sent)
    assert explain(facts_of([slow, other])) == []


def test_a_run_without_workers_has_no_findings(facts_of: Made) -> None:
    assert explain(facts_of([], processes=[])) == []


def test_rules_have_names_of_files_and_explain_each_other(facts_of: Made) -> None:
    names = set(RULES)
    assert all(set(rule.explains) <= names - {rule.name} for rule in RULES.values())


@pytest.mark.spark
def test_spark_has_the_same_evidence(facts_of: Made, spark: Any) -> None:
    # GIVEN a run that has all causes at once
    events = [event for case in CASES for event in case.events]
    processes = [process for case in CASES for process in case.processes]
    samples = [sample(second, cpu_idle=0, cpu_user=2 * SECOND) for second in range(3)]
    facts = facts_of(events, processes=[*TASKS, *processes], system=samples)
    engine, everybody = Spark(run_files(facts.run)), Workforce(("map", "reduce", "client"))
    # THEN what each rule judges is the same on both engines
    for name in draw(RULES, ON_SPARK, "rules on Spark"):
        rule = RULES[name]
        expression, row = rule.evidence.expression(everybody), rule.evidence.row
        rows, other = (
            sorted(each.records(expression, row), key=repr) for each in (facts.engine, engine)
        )
        assert rows, rule.name
        assert rows == other, rule.name
