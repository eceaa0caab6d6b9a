"""Where ranks write in which file, as IOR has it, and what."""

from __future__ import annotations

from typing import Any


def offsets(order: dict[str, Any], rank: int, ranks: int) -> list[int]:
    """Where each transfer of a rank begins in its file."""
    block, transfer = order["block"], order["transfer"]
    each = range(0, block, transfer)
    if order["pattern"] == "n-n":
        return [segment * block + at for segment in range(order["segments"]) for at in each]
    if order["pattern"] == "segmented":
        return [
            (segment * ranks + rank) * block + at
            for segment in range(order["segments"])
            for at in each
        ]
    number = order["segments"] * (block // transfer)  # strided: ranks take turns
    return [(turn * ranks + rank) * transfer for turn in range(number)]


def content(order: dict[str, Any], number: int, rank: int) -> bytes:
    """Bytes of a transfer, others for each rank and checkpoint."""
    word: bytes = (order["seed"] * 1_000_003 + number * 1_009 + rank).to_bytes(8, "little")
    transfer: int = order["transfer"]
    return (word * (transfer // 8 + 1))[:transfer]


def path(order: dict[str, Any], number: int, rank: int) -> str:
    own = f".{rank}" if order["pattern"] == "n-n" else ""
    return f"{order['folder']}/checkpoint-{number}{own}"
