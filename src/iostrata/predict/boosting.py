"""Many small trees, each fitted to what those before it left over (Friedman, Greedy Function
Approximation, 2001): where throughput changes smoothly, a single tree has steps.
"""

from __future__ import annotations

from typing import Any

from iostrata.predict.heldout import SEED, FitData, by_point, held_out, quality, tree_of
from iostrata.predict.model import Boosting, ModelQuality
from iostrata.predict.samples import half_width

TREES = 100
DEPTH = 3
_SHARE = 0.1  # of what is left over, that each tree takes away


def fit_boosting(data: FitData) -> tuple[Boosting, Any, ModelQuality]:
    """With what it says of each row, held out."""
    said = held_out(data, _regressor)
    fitted = _regressor().fit(data.rows, data.logs)
    trees = [tree_of(one.tree_, _SHARE) for one in fitted.estimators_[:, 0]]
    found = Boosting(base=float(fitted.init_.constant_.ravel()[0]), trees=trees)
    return found, said, quality(data, said, DEPTH, trees)


def wins(data: FitData, one: Any, other: Any) -> bool:
    """Whether what `one` says errs less than what `other` says, by more than noise.

    That is: the whole 95 % interval of the mean difference, over points, is below zero.
    """
    less = by_point(data, abs(one - data.logs)) - by_point(data, abs(other - data.logs))
    return float(less.mean()) + half_width(less.tolist()) < 0


def _regressor() -> Any:
    from sklearn.ensemble import GradientBoostingRegressor

    return GradientBoostingRegressor(
        n_estimators=TREES, max_depth=DEPTH, learning_rate=_SHARE, random_state=SEED
    )
