"""What a model says of points that it has not seen: cross-validation by points (S5.4).

Rows of features, logarithms of throughputs; so errors are shares of what is measured, whether that
is small or large. scikit-learn does the work.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from iostrata.errors import UserError
from iostrata.predict.dimensions import features
from iostrata.predict.model import COVERAGE, ModelQuality, Tree
from iostrata.predict.samples import ProfileFacts, Sample, key

LEAST_POINTS = 8
MOST_FOLDS = 10
SEED = 1  # of folds, and of ties between splits

Regressor = Callable[[], Any]  # makes one of scikit-learn that nothing was fitted to


@dataclass(frozen=True)
class FitData:
    """Rows of features, logarithms of throughputs, and which point each row is of."""

    rows: Any
    logs: Any
    points: Any
    folds: list[tuple[Any, Any]]  # rows that are fitted to, and that are held out


def libraries() -> Any:
    """NumPy; raises UserError where scikit-learn is not installed."""
    try:
        import numpy
        import sklearn  # noqa: F401
    except ImportError:
        raise UserError(
            "models are fitted by scikit-learn", "pip install 'iostrata[predict]'"
        ) from None
    return numpy


def measured(facts: ProfileFacts, samples: Sequence[Sample]) -> FitData:
    """Raises UserError where there are too few points, or scikit-learn is missing."""
    np = libraries()
    from sklearn.model_selection import GroupKFold

    numbers = {text: number for number, text in enumerate(sorted({key(s.point) for s in samples}))}
    if len(numbers) < LEAST_POINTS:
        raise UserError(
            f"profile {facts.name} has {len(numbers)} measured points, not {LEAST_POINTS}",
            "measure more: add values to its dimensions",
        )
    wanted = features(facts.dimensions)
    rows = np.array([[one.of(sample.point) for one in wanted] for sample in samples])
    logs = np.array([math.log(sample.throughput) for sample in samples])
    points = np.array([numbers[key(sample.point)] for sample in samples])
    folds = GroupKFold(min(MOST_FOLDS, len(numbers)), shuffle=True, random_state=SEED)
    return FitData(rows, logs, points, list(folds.split(rows, logs, points)))


def held_out(data: FitData, regressor: Regressor) -> Any:
    """Of each row what is said by one that has seen no sample of its point."""
    import numpy as np

    found = np.empty_like(data.logs)
    for seen, unseen in data.folds:
        fitted = regressor().fit(data.rows[seen], data.logs[seen])
        found[unseen] = fitted.predict(data.rows[unseen])
    return found


def by_point(data: FitData, of_rows: Any) -> Any:
    """The mean of each point."""
    import numpy as np

    return np.array([of_rows[data.points == one].mean() for one in np.unique(data.points)])


def spread(off: Any) -> float:
    """Of errors: COVERAGE of new ones are at most that (split conformal prediction)."""
    place = math.ceil((len(off) + 1) * COVERAGE)
    return float(sorted(off)[min(place, len(off)) - 1])


def quality(data: FitData, said: Any, depth: int, trees: Sequence[Tree]) -> ModelQuality:
    """`said`: of each row, held out."""
    import numpy as np

    off = abs(said - data.logs)
    within = 0
    for seen, unseen in data.folds:
        within += int((off[unseen] <= spread(off[seen])).sum())
    errors = by_point(data, abs(np.exp(said - data.logs) - 1))
    return ModelQuality(
        points=len(errors),
        samples=len(off),
        folds=len(data.folds),
        depth=depth,
        leaves=sum(left < 0 for tree in trees for left in tree.left),
        mean_error=float(errors.mean()),
        median_error=float(np.median(errors)),
        worst_error=float(errors.max()),
        coverage=within / len(off),
    )


def tree_of(fitted: Any, factor: float = 1.0) -> Tree:
    """What scikit-learn has fitted, with all values times `factor`."""
    return Tree(
        feature=[max(0, int(one)) for one in fitted.feature],
        threshold=[float(one) for one in fitted.threshold],
        left=[int(one) for one in fitted.children_left],
        right=[int(one) for one in fitted.children_right],
        value=[factor * float(one[0][0]) for one in fitted.value],
        samples=[int(one) for one in fitted.n_node_samples],
    )
