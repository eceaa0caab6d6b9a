#!/usr/bin/env python3
"""What the adaptive order of a profile gains: error on held-out points by time spent measuring.

    bench/predict/orders.py PROFILE FOLDER [--seeds 5]

PROFILE is the folder of a profile in which every point was measured (`iostrata profile`, order
"rounds"). Its samples are dealt out again, nothing is measured: for each seed a fifth of the
points is held out, and the others come in the order of the grid, in a random one, and in the
adaptive one that `iostrata profile` has, each point with all samples that it has. After each batch
a model is fitted as `iostrata fit` does, and asked for the points that were held out. Writes
FOLDER/orders.json and prints, for each order, the median error at shares of the time that all
points take, and where it is first as low as with all of them.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT)]

from bench.measure import stats  # noqa: E402
from bench.measure.results import machine  # noqa: E402

from iostrata.predict.adaptive import BATCH, batches  # noqa: E402
from iostrata.predict.dimensions import Point  # noqa: E402
from iostrata.predict.fitting import fit  # noqa: E402
from iostrata.predict.heldout import LEAST_POINTS  # noqa: E402
from iostrata.predict.model import predict  # noqa: E402
from iostrata.predict.samples import PointSummary, Sample, key, read_facts, read_samples  # noqa: E402
from iostrata.predict.spec import MeasureRules, ProfileSpec  # noqa: E402

HELD_OUT = 0.2  # of all points
SHARES = [share / 10 for share in range(1, 11)]  # of the time
SAME = 1.1  # as low as with all points: within a tenth
ORDERS = ("grid", "random", "adaptive")


@dataclass(frozen=True)
class Dealt(ProfileSpec):
    """The points that may be measured."""

    left: tuple[Point, ...] = ()

    def points(self) -> Iterator[Point]:
        yield from self.left


class Hand:
    """The samples of points that were dealt so far, as `batches` asks for them."""

    def __init__(self, of: dict[str, list[Sample]]) -> None:
        self.of = of
        self.dealt: set[str] = set()
        self.samples: list[Sample] = []

    def take(self, batch: list[Point]) -> float:
        """Seconds that their samples took."""
        fresh = [sample for point in batch for sample in self.of[key(point)]]
        self.dealt |= set(map(key, batch))
        self.samples += fresh
        return sum(sample.circumstances.wall for sample in fresh) / 1e9

    def tries(self, point: Point) -> int:
        return len(self.of[key(point)]) if key(point) in self.dealt else 0

    def summary(self, point: Point) -> PointSummary:
        own = self.of[key(point)] if self.tries(point) else []
        return PointSummary([one.throughput for one in own if not one.disturbed])


def in_order(order: str, spec: Dealt, hand: Hand) -> Iterator[list[Point]]:
    if order == "adaptive":
        yield from batches(spec, hand)  # type: ignore[arg-type]
        return
    points = list(spec.left)
    if order == "random":
        random.Random(f"{spec.rules.seed} random").shuffle(points)
    first = max(LEAST_POINTS, BATCH)
    yield points[:first]
    for begin in range(first, len(points), BATCH):
        yield points[begin : begin + BATCH]


def curve(order: str, spec: Dealt, hand: Hand, held_out: list[Point], facts: Any) -> list[Any]:
    """Seconds spent, and the median error on the points that were held out, after each batch."""
    truth = {key(point): median(s.throughput for s in hand.of[key(point)]) for point in held_out}
    spent, found = 0.0, []
    for batch in in_order(order, spec, hand):
        spent += hand.take(batch)
        model = fit(facts, hand.samples)
        off = [abs(predict(model, point).throughput / truth[key(point)] - 1) for point in held_out]
        found.append((spent, median(off)))
    return found


def at(curve_: list[Any], seconds: float) -> float:
    """The error when so much has been spent; infinite before the first model."""
    known = [error for spent, error in curve_ if spent <= seconds * (1 + 1e-9)]
    return known[-1] if known else math.inf


def first_as_low(curve_: list[Any]) -> float:
    """The share of the time after which the error stays within SAME of that with all points."""
    whole, last = curve_[-1]
    after = [spent for spent, error in curve_ if error > last * SAME]
    rest = [spent for spent, _ in curve_ if not after or spent > after[-1]]
    return rest[0] / whole


def measured(folder: Path, seeds: int) -> list[dict[str, Any]]:
    facts, of = read_facts(folder), defaultdict(list)
    for sample in read_samples(folder):
        if not sample.disturbed:
            of[key(sample.point)].append(sample)
    points: list[Point] = [json.loads(text) for text in of]
    values = {name: tuple(several) for name, several in facts.dimensions.items()}
    found = []
    for seed in range(1, seeds + 1):
        held_out = random.Random(seed).sample(points, max(1, round(HELD_OUT * len(points))))
        out = set(map(key, held_out))
        left = tuple(point for point in points if key(point) not in out)
        rules = MeasureRules(sample=facts.sample, seed=seed)
        for order in ORDERS:
            spec = Dealt(facts.name, Path(facts.folder), None, values, rules, left=left)
            found.append(
                {
                    "seed": seed,
                    "order": order,
                    "curve": curve(order, spec, Hand(of), held_out, facts),
                }
            )
    return found


def shown(runs: list[dict[str, Any]]) -> list[str]:
    lines = []
    for order in ORDERS:
        curves = [run["curve"] for run in runs if run["order"] == order]
        errors = (fmean(at(one, share * one[-1][0]) for one in curves) for share in SHARES)
        shares = (f"{error:6.1%}" if math.isfinite(error) else "  none" for error in errors)
        lines.append(f"{order:11} " + " ".join(shares))
        lows = stats.mean([first_as_low(one) for one in curves])
        lines.append(
            f"{'':11} as low as with all points after {lows.estimate:.0%} of the time "
            f"({lows.low:.0%} to {lows.high:.0%}, n = {lows.n})"
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("profile", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    runs = measured(given.profile, given.seeds)
    lines = ["of the time " + " ".join(f"{share:6.0%}" for share in SHARES), *shown(runs)]
    given.folder.mkdir(parents=True, exist_ok=True)
    facts = {"machine": machine(), "profile": given.profile.name, "runs": runs, "found": lines}
    (given.folder / "orders.json").write_text(json.dumps(facts, indent=1) + "\n", "utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
