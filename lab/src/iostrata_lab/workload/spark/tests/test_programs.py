"""Each program on a small input, against what is worked out without Spark."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from iostrata_lab.workload.spark.programs import bayes, logistic, nweight, pagerank
from iostrata_lab.workload.spark.session import ProgramArguments

pytestmark = pytest.mark.spark


def done(
    spark: Any, folder: Path, program: ModuleType, seed: int = 1, **values: Any
) -> dict[str, Any]:
    asked = ProgramArguments({"partitions": 2, **values}, seed, folder.as_uri())
    program.make(spark, asked)
    found: dict[str, Any] = program.work(spark, asked)
    return found


def lines(folder: Path) -> list[list[str]]:
    files = sorted(folder.glob("in/part-*"))
    return [line.split("\t") for file in files for line in file.read_text().splitlines()]


def test_ranks_are_those_of_the_formula(spark: Any, tmp_path: Path) -> None:
    found = done(spark, tmp_path, pagerank, pages=30, links=4, iterations=4)
    links: dict[int, set[int]] = {}
    for source, target in lines(tmp_path):
        links.setdefault(int(source), set()).add(int(target))
    ranks = dict.fromkeys(range(30), 1.0)
    for _ in range(4):
        shares = dict.fromkeys(range(30), 0.0)
        for page, targets in links.items():
            for other in targets:
                shares[other] += ranks[page] / len(targets)
        ranks = {one: 0.15 + 0.85 * share for one, share in shares.items()}
    top = sorted(ranks, key=lambda one: (-ranks[one], one))[:5]
    assert [one["page"] for one in found["top"]] == top
    assert [one["rank"] for one in found["top"]] == pytest.approx([ranks[one] for one in top])
    assert found["rank_sum"] == pytest.approx(30)
    assert (found["pages"], found["links"]) == (30, sum(map(len, links.values())))


@pytest.mark.parametrize("most", [0, 3])
def test_ties_are_the_power_of_the_matrix(spark: Any, tmp_path: Path, most: int) -> None:
    import numpy as np

    found = done(spark, tmp_path, nweight, vertices=15, edges=3, hops=3, most=most)
    weights = np.zeros((15, 15))
    for source, target, weight in lines(tmp_path):
        weights[int(source), int(target)] = float(weight)
    assert weights.sum(axis=1) == pytest.approx(np.ones(15))
    ties = weights
    for _ in range(2):
        ties = ties @ weights
        if most:
            order = np.argsort(-ties, axis=1, kind="stable")
            np.put_along_axis(ties, order[:, most:], 0.0, axis=1)
    assert (found["edges"], found["pairs"]) == (45, np.count_nonzero(ties))
    assert found["weight_sum"] == pytest.approx(ties.sum())
    for one in found["heaviest"]:
        assert one["weight"] == pytest.approx(ties[one["source"], one["target"]])
    assert found["heaviest"][0]["weight"] == pytest.approx(ties.max())


def test_planted_weights_are_found(spark: Any, tmp_path: Path) -> None:
    found = done(spark, tmp_path, logistic, examples=1000, features=4, noise=0.05, iterations=20)
    assert found["trained_on"] + found["judged_by"] == 1000
    assert found["accuracy"] > 0.95
    assert found["cosine_to_planted"] > 0.99


def test_classes_with_words_of_their_own_are_told_apart(spark: Any, tmp_path: Path) -> None:
    asked = {"documents": 300, "words": 30, "classes": 3, "vocabulary": 500, "buckets": 1 << 12}
    found = done(spark, tmp_path / "apart", bayes, signal=0.3, **asked)
    assert found["trained_on"] + found["judged_by"] == 300
    assert found["accuracy"] > 0.95
    guessed = done(spark, tmp_path / "alike", bayes, signal=0.0, **asked)
    assert guessed["accuracy"] < 0.6  # of nothing to tell them apart by


def test_the_same_seed_makes_the_same_input(spark: Any, tmp_path: Path) -> None:
    made = []
    for name, seed, partitions in (("a", 1, 2), ("b", 1, 3), ("c", 2, 2)):
        asked = ProgramArguments(
            {"partitions": partitions, "pages": 50, "links": 3}, seed, (tmp_path / name).as_uri()
        )
        pagerank.make(spark, asked)
        made.append(lines(tmp_path / name))
    assert made[0] == made[1] != made[2]
