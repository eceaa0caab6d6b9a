"""Storages that were profiled, as a change of a recorded run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from iostrata.errors import UserError

if TYPE_CHECKING:
    from iostrata.predict.model import StorageModel
    from iostrata.replay.alternative import Alternative

_SEQUENTIAL = "access=sequential"


def other_storage(storage: str, instead_of: str, words: Sequence[str]) -> Alternative:
    """The model of a storage in place of that of the run's own disks; `words`: of dimensions that
    the run does not say, `NAME=VALUE`. Raises UserError.
    """
    from iostrata.predict.model import read_model
    from iostrata.replay.hardware import storages

    if not storage or not instead_of:
        raise UserError(
            "--storage and --instead-of need each other",
            "say the model.json (iostrata fit) of the other disks, and that of the disks that the "
            "run had",
        )
    new, old = read_model(Path(storage)), read_model(Path(instead_of))

    def times(operation: str, clients: int) -> float:
        rates = [_rate(model, operation, clients, words) for model in (new, old)]
        return rates[0] / rates[1]

    return storages(new.name, old.name, times)


def _rate(model: StorageModel, operation: str, clients: int, words: Sequence[str]) -> float:
    """Bytes a second, in sequence unless `words` say otherwise."""
    from iostrata.predict.model import given, predict

    said = {word.partition("=")[0] for word in words}
    known = (f"operation={operation}", f"clients={clients}", _SEQUENTIAL)
    names = ((word, word.partition("=")[0]) for word in known)
    more = [word for word, name in names if name in model.dimensions and name not in said]
    found = predict(model, given(model, [*more, *words]))
    if found.outside:
        raise UserError(
            f"beyond the profile of {model.name}: {'; '.join(found.outside)}", "profile that, too"
        )
    return found.throughput
