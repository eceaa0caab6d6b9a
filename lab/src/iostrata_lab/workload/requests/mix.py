"""How often each operation is asked for."""

from __future__ import annotations

import math
from collections.abc import Mapping

from iostrata.errors import UserError

# In the order of Operation.java.
OPERATIONS = ("read", "stat", "list", "create", "append", "rename", "delete")
# HopsFS (FAST '17), shares in % of what Spotify's clients asked of HDFS. Its 1.5 % of added blocks
# are the blocks that `create` writes and, for the rest, `append`: a substitute. What is not listed
# there (permissions, owners, quotas) is counted as `read`.
MIXES: Mapping[str, Mapping[str, float]] = {
    "spotify": {
        "read": 69.25, "stat": 17, "list": 9, "create": 1.2, "append": 0.3, "rename": 1.3,
        "delete": 0.75,
    },
    "spotify-reads": {"read": 74, "stat": 17, "list": 9},
    "stat": {"stat": 1},
    "equal": dict.fromkeys(OPERATIONS, 1),
}  # fmt: skip


def weights_of(text: str) -> dict[str, float]:
    """The weight of each operation, of the name of a mix or of weights; raises UserError."""
    given = MIXES[text] if text in MIXES else dict(_weight(part) for part in text.split(","))
    weights = {operation: float(given.get(operation, 0)) for operation in OPERATIONS}
    if not 0 < sum(weights.values()) < math.inf:
        raise UserError(f"mix={text}: nothing is asked for", "give an operation a weight above 0")
    return weights


def _weight(part: str) -> tuple[str, float]:
    operation, _, number = part.partition(":")
    try:
        weight = float(number)
    except ValueError:
        weight = math.nan
    if operation not in OPERATIONS or not 0 <= weight < math.inf:
        raise UserError(
            f"mix: {part} is no weight",
            f"say {', '.join(MIXES)}, or OPERATION:WEIGHT,… of {', '.join(OPERATIONS)}",
        )
    return operation, weight
