"""The tree of a model as a picture (Fig. 2 of S5): SVG."""

from __future__ import annotations

import math
from collections.abc import Iterator
from xml.sax.saxutils import escape

from iostrata.predict.model import StorageModel, Tree, condition_text

WIDTH, HEIGHT, GAP, MARGIN = 132, 34, 12, 16
_BELOW = 44  # from a box to those below it
_FONT = 'font-family="sans-serif" font-size="11"'


def svg(model: StorageModel) -> str:
    """Leaves stand side by side; where the condition of a box holds, the way goes left."""
    tree = model.tree
    places = dict(_places(tree))
    width = max(x for x, _ in places.values()) + WIDTH / 2 + MARGIN
    height = max(y for _, y in places.values()) + HEIGHT + MARGIN
    title = f"throughput of {model.name}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" role="img">',
        f"<title>{escape(title)}</title>",
        '<rect width="100%" height="100%" fill="white"/>',
        *_lines(tree, places),
        *(_box(model, at, *place) for at, place in places.items()),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _places(tree: Tree) -> Iterator[tuple[int, tuple[float, float]]]:
    """Middle and top of each node's box."""
    leaves = 0

    def place(at: int, depth: int) -> Iterator[tuple[int, tuple[float, float]]]:
        nonlocal leaves
        y = MARGIN + depth * (HEIGHT + _BELOW)
        if tree.left[at] < 0:
            x = MARGIN + WIDTH / 2 + leaves * (WIDTH + GAP)
            leaves += 1
        else:
            below = [*place(tree.left[at], depth + 1), *place(tree.right[at], depth + 1)]
            yield from below
            known = dict(below)
            x = (known[tree.left[at]][0] + known[tree.right[at]][0]) / 2
        yield at, (x, y)

    return place(0, 0)


def _lines(tree: Tree, places: dict[int, tuple[float, float]]) -> Iterator[str]:
    for at, (x, y) in places.items():
        for below, says in ((tree.left[at], "yes"), (tree.right[at], "no")):
            if below < 0:
                continue
            to_x, to_y = places[below]
            yield (
                f'<line x1="{x:g}" y1="{y + HEIGHT:g}" x2="{to_x:g}" y2="{to_y:g}" stroke="#888"/>'
            )
            yield (
                f'<text x="{(x + to_x) / 2:g}" y="{(y + HEIGHT + to_y) / 2 - 3:g}" '
                f'text-anchor="middle" fill="#555" {_FONT}>{says}</text>'
            )


def _box(model: StorageModel, at: int, x: float, y: float) -> str:
    tree = model.tree
    is_leaf = tree.left[at] < 0
    text = (
        f"{math.exp(tree.value[at]) / 1e6:.4g} MB/s"
        if is_leaf
        else condition_text(model.features[tree.feature[at]], tree.threshold[at])
    )
    fill = "#dbe9f6" if is_leaf else "#f4f4f4"
    return (
        f'<g><rect x="{x - WIDTH / 2:g}" y="{y:g}" width="{WIDTH}" height="{HEIGHT}" rx="4" '
        f'fill="{fill}" stroke="#888"/>'
        f'<text x="{x:g}" y="{y + HEIGHT / 2 + 4:g}" text-anchor="middle" {_FONT}>'
        f"{escape(text)}</text></g>"
    )
