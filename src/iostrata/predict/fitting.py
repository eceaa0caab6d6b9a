"""Fits a model of a storage to its profile: a tree, and what beats it on points it has not seen."""

from __future__ import annotations

from collections.abc import Sequence

from iostrata.predict.boosting import fit_boosting, wins
from iostrata.predict.cart import fit_tree
from iostrata.predict.dimensions import features
from iostrata.predict.heldout import measured, spread
from iostrata.predict.model import BOOSTING, TREE, StorageModel
from iostrata.predict.samples import ProfileFacts, Sample


def fit(facts: ProfileFacts, samples: Sequence[Sample]) -> StorageModel:
    """Raises UserError where there are too few points, or scikit-learn is missing."""
    data = measured(facts, [one for one in samples if not one.disturbed])
    tree, of_tree, tree_quality = fit_tree(data)
    boosting, of_boosting, boosting_quality = fit_boosting(data)
    wins_over_tree = wins(data, of_boosting, of_tree)
    said = of_boosting if wins_over_tree else of_tree
    return StorageModel(
        name=facts.name,
        dimensions=facts.dimensions,
        features=[feature.label for feature in features(facts.dimensions)],
        tree=tree,
        boosting=boosting if wins_over_tree else None,
        uses=BOOSTING if wins_over_tree else TREE,
        spread=spread(abs(said - data.logs)),
        qualities={TREE: tree_quality, BOOSTING: boosting_quality},
    )
