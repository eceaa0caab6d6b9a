#!/usr/bin/env python3
"""What the adaptive order of a profile gains: error on held-out points by time spent measuring.

    bench/predict/orders.py PROFILE FOLDER [--seeds 5]

PROFILE is the folder of a profile in which every point was measured (`iostrata profile`, order
"rounds"). Its samples are dealt out again, nothing is measured: for each seed a fifth of the
points is held out, and the others come in the order of the grid, in a random one, and in the
two that `iostrata profile` has. In the first two each point has all its samples before the next
one; in rounds all points have one before any has another; the adaptive order chooses the first
sample of each, and goes on in rounds. After each twentieth of the time a model is fitted as
`iostrata fit` does, and asked for the points that were held out. Writes FOLDER/orders.json and
prints, for each order, the median error at shares of the time that all samples take, and where it
is first as low as with all of them.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT)]

from bench.measure import stats  # noqa: E402
from bench.measure.results import machine  # noqa: E402

from iostrata.predict.adaptive import batches  # noqa: E402
from iostrata.predict.dimensions import Point  # noqa: E402
from iostrata.predict.fitting import fit  # noqa: E402
from iostrata.predict.heldout import LEAST_POINTS  # noqa: E402
from iostrata.predict.model import predict  # noqa: E402
from iostrata.predict.samples import PointSummary, Sample, key, read_facts, read_samples  # noqa: E402
from iostrata.predict.spec import MeasureRules, ProfileSpec  # noqa: E402

HELD_OUT = 0.2  # of all points
SHARES = [share / 10 for share in range(1, 11)]  # of the time
SAME = 1.1  # as low as with all points: within a tenth
STEP = 0.05  # of the time, between two models
ORDERS = ("grid", "random", "rounds", "adaptive")


@dataclass(frozen=True)
class Dealt(ProfileSpec):
    """The points that may be measured."""

    left: tuple[Point, ...] = ()

    def points(self) -> Iterator[Point]:
        yield from self.left


class Hand:
    """The samples that were dealt so far, as `batches` asks for them."""

    def __init__(self, of: dict[str, list[Sample]]) -> None:
        self.of = of
        self.dealt: Counter[str] = Counter()
        self.samples: list[Sample] = []

    def has_more(self, point: Point) -> bool:
        return self.tries(point) < len(self.of[key(point)])

    def take(self, point: Point) -> float:
        """Its next sample; the seconds that it took."""
        sample = self.of[key(point)][self.tries(point)]
        self.dealt[key(point)] += 1
        self.samples.append(sample)
        return sample.circumstances.wall / 1e9

    def tries(self, point: Point) -> int:
        return self.dealt[key(point)]

    def summary(self, point: Point) -> PointSummary:
        own = self.of[key(point)][: self.tries(point)]
        return PointSummary([one.throughput for one in own])


def in_order(order: str, spec: Dealt, hand: Hand) -> Iterator[Point]:
    """Points, each as often as it has samples."""
    points, draw = list(spec.left), random.Random(f"{spec.rules.seed} {order}")
    if order in ("grid", "random"):
        if order == "random":
            draw.shuffle(points)
        for point in points:
            yield from [point] * len(hand.of[key(point)])
        return
    if order == "adaptive":
        for batch in batches(spec, hand):  # type: ignore[arg-type]
            yield from batch
    while left := [point for point in points if hand.has_more(point)]:
        draw.shuffle(left)
        yield from left


def curve(order: str, spec: Dealt, hand: Hand, held_out: list[Point], facts: Any) -> list[Any]:
    """Seconds spent, and the median error on the points that were held out, after each step."""
    truth = {key(point): median(s.throughput for s in hand.of[key(point)]) for point in held_out}
    whole = sum(s.circumstances.wall for point in spec.left for s in hand.of[key(point)]) / 1e9
    samples = sum(len(hand.of[key(point)]) for point in spec.left)
    spent, found = 0.0, []
    for point in in_order(order, spec, hand):
        spent += hand.take(point)
        is_due = spent >= (found[-1][0] if found else 0) + STEP * whole
        if len(hand.dealt) < LEAST_POINTS or not (is_due or len(hand.samples) == samples):
            continue
        model = fit(facts, hand.samples)
        off = [abs(predict(model, one).throughput / truth[key(one)] - 1) for one in held_out]
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
