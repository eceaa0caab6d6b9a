"""Which points of a profile to measure next: those that say most for their time (S5.3).

An ensemble of trees is fitted to what is known. Where its trees disagree, a sample teaches most;
how long it takes follows from what they say of the speed. scikit-learn does the work.
Each point is measured once before any is measured again: for a model, another sample of a point
says less than the first one of another point.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from typing import Any

from iostrata.predict.dimensions import SIZE, Point, at_once, features
from iostrata.predict.heldout import LEAST_POINTS, libraries
from iostrata.predict.samples import SampleFile
from iostrata.predict.spec import ProfileSpec

FIRST = 0.1  # of all points, drawn before there is anything to learn from
BATCH = 4  # points that are measured before the next ones are chosen
TREES = 64
START = 0.5  # s that a sample takes beside what it moves


def batches(spec: ProfileSpec, file: SampleFile) -> Iterator[list[Point]]:
    """Points that want their first sample, until all were tried. Those that were already are left
    out, though all their samples may have been disturbed: then nothing is known of them.
    """
    draw = random.Random(f"{spec.rules.seed} first")
    points = list(spec.points())
    first = draw.sample(points, min(len(points), max(LEAST_POINTS, round(FIRST * len(points)))))
    yield [point for point in first if not file.tries(point)]
    while unknown := [point for point in points if not file.tries(point)]:
        known = [point for point in points if file.summary(point).count]
        if len(known) < LEAST_POINTS:
            yield draw.sample(unknown, min(BATCH, len(unknown)))
            continue
        logs = [file.summary(point).log for point in known]
        worth = worths(spec, known, logs, unknown)
        ranked = sorted(zip(worth, range(len(unknown)), strict=True), reverse=True)
        yield [unknown[place] for _, place in ranked[:BATCH]]


def worths(
    spec: ProfileSpec, known: Sequence[Point], logs: Sequence[float], unknown: Sequence[Point]
) -> list[float]:
    """How much the trees disagree about each unknown point, for each second that it takes."""
    numpy = libraries()
    from sklearn.ensemble import ExtraTreesRegressor

    numbers = features(spec.values)

    def rows(points: Sequence[Point]) -> Any:
        return numpy.array([[one.of(point) for one in numbers] for point in points])

    ensemble = ExtraTreesRegressor(TREES, bootstrap=True, random_state=spec.rules.seed)
    ensemble.fit(rows(known), numpy.array(logs))
    said = numpy.array([tree.predict(rows(unknown)) for tree in ensemble.estimators_])
    middles, spreads = said.mean(axis=0), said.std(axis=0)
    return [
        float(spread) / seconds(spec, point, math.exp(middle))
        for point, middle, spread in zip(unknown, middles, spreads, strict=True)
    ]


def seconds(spec: ProfileSpec, point: Point, throughput: float) -> float:
    """That a sample of a point takes, as far as its speed is known."""
    moved = at_once(point) * int(point[SIZE.name])
    return START + min(spec.rules.sample, moved / throughput)
