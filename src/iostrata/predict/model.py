"""A fitted model of a storage: trees of numbers, which need no library to be asked (S5.4)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from iostrata.errors import UserError
from iostrata.predict.dimensions import (
    ACCESS,
    DIMENSIONS,
    FIO,
    SEQUENTIAL,
    DimensionValue,
    Point,
    features,
    shown,
    skew,
)
from iostrata.records import Count, Rate, Record, Share

COVERAGE = 0.9  # nominal, of intervals
TREE, BOOSTING = "tree", "boosting"  # what a model may use


class Tree(Record, frozen=True):
    """A decision tree as arrays, a place for each node; the root is the first.

    A node whose `left` is less than 0 is a leaf: `value` is the logarithm of a throughput in
    bytes/s, or in a tree of Boosting a part of it. Of any other one, a row goes left where its
    number `feature` is at most `threshold`. `samples`: how many it was fitted to.
    """

    feature: list[int]
    threshold: list[float]
    left: list[int]
    right: list[int]
    value: list[float]
    samples: list[Count]


class Boosting(Record, frozen=True):
    """The logarithm of a throughput is `base` and the sum of what the trees say."""

    base: float
    trees: list[Tree]


class ModelQuality(Record, frozen=True):
    """On points that nothing was fitted to, each once (cross-validation by points).

    Errors are of the throughput, as a share of what was measured; `coverage`: the share of samples
    in intervals that were made without them.
    """

    points: Count
    samples: Count
    folds: Count
    depth: Count
    leaves: Count
    mean_error: Share
    median_error: Share
    worst_error: Share
    coverage: Share


class StorageModel(Record, frozen=True):
    """Throughput of a storage by the dimensions that were profiled.

    `features` are the names of a tree's numbers, `dimensions` the values that were profiled, and
    `spread` half of the interval of the logarithm of a throughput. `uses`: `tree`, or `boosting`
    where that errs less by more than noise. `qualities`: of both.
    """

    name: str
    dimensions: dict[str, list[str | int]]
    features: list[str]
    tree: Tree
    boosting: Boosting | None
    uses: str
    spread: float
    qualities: dict[str, ModelQuality]

    @property
    def quality(self) -> ModelQuality:
        """Of what it uses."""
        return self.qualities[self.uses]

    def log(self, row: Sequence[float]) -> float:
        """The logarithm of the throughput at a row of `features`."""
        if self.boosting is None:
            return evaluate(self.tree, row)
        return self.boosting.base + sum(evaluate(tree, row) for tree in self.boosting.trees)


class Prediction(Record, frozen=True):
    """With an interval that holds COVERAGE of all samples; `outside` are values beyond those that
    were profiled.
    """

    throughput: Rate
    low: Rate
    high: Rate
    outside: list[str]


def evaluate(tree: Tree, row: Sequence[float]) -> float:
    """The value of the leaf that a row comes to."""
    at = 0
    while tree.left[at] >= 0:
        goes_left = row[tree.feature[at]] <= tree.threshold[at]
        at = tree.left[at] if goes_left else tree.right[at]
    return tree.value[at]


def predict(model: StorageModel, given: Point) -> Prediction:
    """`given`: a value of each dimension that the model has several of."""
    fixed = {name: values[0] for name, values in model.dimensions.items() if len(values) == 1}
    point = {**fixed, **given}
    row = [feature.of(point) for feature in features(model.dimensions)]
    log = model.log(row)
    low, middle, high = (math.exp(log + by * model.spread) for by in (-1, 0, 1))
    return Prediction(middle, low, high, outside(model.dimensions, point))


def outside(values: Mapping[str, Sequence[DimensionValue]], point: Point) -> list[str]:
    """What of a point lies beyond the values that were profiled, as text."""
    return [
        f"{name} {shown(name, point[name])} (profiled: {_range(name, profiled)})"
        for name, profiled in values.items()
        if not _is_within(name, point[name], profiled)
    ]


def _is_within(name: str, value: DimensionValue, profiled: Sequence[DimensionValue]) -> bool:
    if value in profiled:
        return True
    if name == ACCESS.name:
        skews = [skew(str(one))[0] for one in profiled if one != SEQUENTIAL]
        is_between = bool(skews) and value != SEQUENTIAL
        return is_between and min(skews) <= skew(str(value))[0] <= max(skews)
    numbers = [one for one in profiled if isinstance(one, int)]
    is_number = isinstance(value, int) and len(numbers) == len(profiled)
    return is_number and min(numbers) <= int(value) <= max(numbers)


def _range(name: str, profiled: Sequence[DimensionValue]) -> str:
    numbers = [one for one in profiled if isinstance(one, int)]
    if len(numbers) < len(profiled) or len(numbers) == 1:
        return ", ".join(shown(name, one) for one in profiled)
    return f"{shown(name, min(numbers))} to {shown(name, max(numbers))}"


def given(model: StorageModel, words: Sequence[str]) -> dict[str, DimensionValue]:
    """The point of `NAME=VALUE` words; raises UserError where one is wrong or missing."""
    found: dict[str, DimensionValue] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or name not in model.dimensions:
            raise UserError(f"{word!r} names no dimension", f"say {', '.join(model.dimensions)}")
        try:
            found[name] = _value(name, text)
        except ValueError:
            raise UserError(f"{word!r} is no value", f"say {DIMENSIONS[name].says}") from None
    missing = [
        name for name, values in model.dimensions.items() if len(values) > 1 and name not in found
    ]
    if missing:
        first = missing[0]
        values = " or ".join(shown(first, value) for value in model.dimensions[first])
        raise UserError(f"{', '.join(missing)} not given", f"say {first}=…, one of {values}")
    return found


def _value(name: str, text: str) -> DimensionValue:
    number = int(text) if text.isdecimal() else text
    return number if name.startswith(FIO) else DIMENSIONS[name].read(number)


def read_model(path: Path) -> StorageModel:
    """Raises UserError where the file is no model."""
    try:
        found = msgspec.json.decode(path.read_bytes(), type=StorageModel)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}", "make a model: iostrata fit PROFILE") from None
    except msgspec.MsgspecError as error:
        raise UserError(f"{path} is no model: {error}", "make one: iostrata fit PROFILE") from None
    trees = [found.tree, *(found.boosting.trees if found.boosting else [])]
    if not all(_ends(tree, len(found.features)) for tree in trees):
        raise UserError(
            f"{path} is no model: a tree has a node that is none", "make one: iostrata fit PROFILE"
        )
    return found


def _ends(tree: Tree, features: int) -> bool:
    """Whether each row comes to a leaf: children stand behind their node, as they were fitted."""
    size = len(tree.left)
    arrays = (tree.feature, tree.threshold, tree.right, tree.value, tree.samples)
    if not size or any(len(each) != size for each in arrays):
        return False
    return all(
        left < 0 or (at < left < size and at < right < size and 0 <= feature < features)
        for at, (left, right, feature) in enumerate(
            zip(tree.left, tree.right, tree.feature, strict=True)
        )
    )


def tree_lines(model: StorageModel, at: int = 0, depth: int = 0) -> list[str]:
    """The tree as text: conditions, and throughputs in MB/s."""
    tree, indent = model.tree, "  " * depth
    if tree.left[at] < 0:
        rate = math.exp(tree.value[at]) / 1e6
        return [f"{indent}{rate:.4g} MB/s ({tree.samples[at]} samples)"]
    condition = condition_text(model.features[tree.feature[at]], tree.threshold[at])
    return [
        f"{indent}{condition}",
        *tree_lines(model, tree.left[at], depth + 1),
        f"{indent}else",
        *tree_lines(model, tree.right[at], depth + 1),
    ]


def condition_text(feature: str, threshold: float) -> str:
    """`size at most 128 MiB`."""
    if feature in ("size", "request"):
        return f"{feature} at most {shown(feature, round(2**threshold))}"
    if " is " in feature:
        return feature.replace(" is ", " is not ")
    if feature == "access.random":
        return "access is sequential"
    return f"{feature} at most {threshold:g}"
