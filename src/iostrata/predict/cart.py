"""A regression tree (S5.4; Breiman et al., Classification and Regression Trees)."""

from __future__ import annotations

from functools import partial
from typing import Any

from iostrata.predict.heldout import SEED, FitData, held_out, quality, tree_of
from iostrata.predict.model import ModelQuality, Tree

DEEPEST = 12


def fit_tree(data: FitData) -> tuple[Tree, Any, ModelQuality]:
    """Of the depth that errs least on what is held out; with what it says of each row then."""
    said = {depth: held_out(data, partial(_regressor, depth)) for depth in range(1, DEEPEST + 1)}

    def error(depth: int) -> float:
        return round(float(abs(said[depth] - data.logs).mean()), 6)

    depth = min(said, key=lambda depth: (error(depth), depth))
    tree = tree_of(_regressor(depth).fit(data.rows, data.logs).tree_)
    return tree, said[depth], quality(data, said[depth], depth, [tree])


def _regressor(depth: int) -> Any:
    from sklearn.tree import DecisionTreeRegressor

    return DecisionTreeRegressor(max_depth=depth, random_state=SEED)
