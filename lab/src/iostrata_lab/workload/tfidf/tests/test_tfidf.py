"""What is impossible is refused, what is sent is what Java reads, and sums of its result."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from iostrata.errors import UserError
from iostrata.progress import silent
from iostrata_lab.workload.cluster import ClusterClient, Facts
from iostrata_lab.workload.interface import Context
from iostrata_lab.workload.parameters import values
from iostrata_lab.workload.tfidf import TFIDF
from iostrata_lab.workload.tfidf.classify import said_of
from iostrata_lab.workload.tfidf.parameters import (
    ATTACK_CLASSES,
    LARGEST_REQUEST,
    MEAN_REQUEST,
    PUBLISHED,
    PUBLISHED_ATTACKS,
    attacks_of,
    check,
    maps_of,
    options,
    stored,
)

JAVA = Path(__file__).parents[6] / "java/jobs/src/main/java/io/iostrata/jobs/tfidf"
# That of a lab: two containers of 768 MiB.
FACTS = Facts(
    free=1 << 40, replication=1, datanodes=1, nodemanagers=1, memory=3 << 30, cores=4,
    job=1536 << 20,
)  # fmt: skip


def asked(*given: str, scale: float = 1) -> Context:
    cluster = ClusterClient({})
    vars(cluster)["facts"] = FACTS  # as the cached property keeps what it was told
    chosen = values(TFIDF.parameters, given, scale)
    return Context(chosen, 5, cluster, "/tmp/here", Path(), silent, "tag")


def test_its_default_is_one_copy_of_the_published_set() -> None:
    check(asked())
    assert asked().number("requests") == PUBLISHED
    assert attacks_of(asked(), "requests") == PUBLISHED_ATTACKS
    assert maps_of(asked()) == 2


def test_by_64_it_has_the_shape_of_the_paper() -> None:
    full = asked(scale=64)
    check(full)
    assert full.number("requests") == 64 * PUBLISHED
    assert full.number("requests") * MEAN_REQUEST == pytest.approx(7.2e9, rel=1e-3)
    # by the least and the most that the sum of 3.2 million sizes can be off, too
    assert maps_of(full) == 114
    total, split = full.number("requests") * MEAN_REQUEST, full.number("split")
    assert 113.5 < total / split < 114
    assert full.number("training") == pytest.approx(PUBLISHED, rel=1e-3)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            ("training=10",),
            "training=10 with attacks=0.301501 has 3 attacks for 7 classes of them",
        ),
        (
            ("training=100", "attacks=0.001"),
            "training=100 with attacks=0.001 has 0 attacks for 7 classes of them",
        ),
        (
            ("training=100", "attacks=0.999"),
            "training=100 with attacks=0.999 has no valid request",
        ),
        (
            ("requests=1000000000", "split=1MB"),
            "requests=1000000000 are 2140999 maps of 1.0 MiB, 100000 at the most",
        ),
        (
            ("training=1000000",),
            "training=1000000 makes a model of up to 1.8 GiB, 3 times that in the memory of a "
            "map: a job has 1.5 GiB with its ApplicationMaster",
        ),
    ],
)
def test_the_impossible_is_one_line(given: tuple[str, ...], said: str) -> None:
    with pytest.raises(UserError) as refused:
        check(asked(*given))
    assert refused.value.message == said


@pytest.mark.parametrize("given", ["attacks=1.1", "attacks=-0.1", "requests=0", "split=1024"])
def test_values_out_of_range_are_named(given: str) -> None:
    with pytest.raises(UserError, match=re.escape(given)):
        asked(given)


@pytest.mark.parametrize(("attacks", "requests"), [("0", 0), ("1", 7)])
def test_all_or_none_may_be_attacks(attacks: str, requests: int) -> None:
    all_or_none = asked(f"attacks={attacks}", "training=7")
    check(all_or_none)
    assert attacks_of(all_or_none, "training") == requests
    # what lies between needs one of each kind
    for between in ("attacks=0.1", "attacks=0.99"):
        with pytest.raises(UserError):
            check(asked(between, "training=7"))


def test_what_is_said_to_have_too_few_suffices_when_it_is_asked_for() -> None:
    with pytest.raises(UserError) as refused:
        check(asked("training=10"))
    found = re.search(r"training=\d+", refused.value.remedy)
    assert found
    check(asked(found[0]))


def test_space_is_for_the_largest_requests() -> None:
    bytes_of_requests = (1000 + 100) * LARGEST_REQUEST
    assert stored(asked("requests=1000", "training=100")) > bytes_of_requests


def test_java_reads_each_option_and_knows_the_same_numbers() -> None:
    source = (JAVA / "TfidfSettings.java").read_text()
    sent = [word.split("=")[0] for word in options(asked()) if word.startswith("-Diostrata.tfidf")]
    read = re.findall(r'number\(from, "(\w+)"\)', source)
    assert sorted(sent) == sorted(f"-Diostrata.tfidf.{name}" for name in read)
    assert f"MEAN_SIZE = {MEAN_REQUEST};" in (JAVA / "RequestGenerator.java").read_text()
    labels = re.findall(r'^  [A-Z_]+\("(\w+)"\)', (JAVA / "RequestClass.java").read_text(), re.M)
    assert len(labels) == ATTACK_CLASSES + 1


def test_shares_and_rates_are_those_of_the_matrix() -> None:
    made = {"model_bytes": 100, "input_bytes": 8_000_000}
    said = {
        "classify_job": "job_1_2",
        "maps": 4,
        "model_bytes_read": 400,
        "hdfs_bytes_read": 8_000_500,
        "model_nanos": 2_000_000_000,
        "model_cpu_nanos": 1_000_000_000,
        "request_nanos": 4_000_000_000,
        "request_cpu_nanos": 500_000_000,
        "classes": ["Valid", "XSS", "SSI"],
        "confusion": [[6, 2, 0], [1, 1, 0], [0, 0, 0]],
    }
    result = said_of(made, said)
    assert (result["requests"], result["accuracy"]) == (10, 0.7)
    assert (result["model_read"], result["model_read_expected"]) == (400, 400)
    assert (result["mb_per_s_of_map"], result["mb_per_s_of_map_with_model"]) == (2.0, 1.333)
    assert (result["classify_cpu_s"], result["mb_per_cpu_s"]) == (0.5, 16.0)
    assert result["classes"][0] == {
        "class": "Valid", "requests": 8, "right": 6, "recall": 0.75, "precision": 0.857143,
    }  # fmt: skip
    # none of it was there, and nothing was taken for it
    assert (result["classes"][2]["recall"], result["classes"][2]["precision"]) == (None, None)
    assert result["confusion"]["XSS"] == {"Valid": 1, "XSS": 1, "SSI": 0}
