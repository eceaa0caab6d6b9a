"""iostrata fit"""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Annotated

import typer

from iostrata.cli.arguments import JsonOption, command
from iostrata.cli.console import print_json
from iostrata.cli.files import whole_file


@command(
    "iostrata fit ~/.local/share/iostrata/.profiles/disk",
    "iostrata fit profiles/disk --json",
)
def fit(
    profile: Annotated[Path, typer.Argument(help="Folder that iostrata profile has made.")],
    json: JsonOption = False,
) -> None:
    """Fits a model of a storage to its profile: model.json, and its tree as model.svg.

    The errors are those on points which were held out: what a model says of a point that it has not
    seen. Gradient boosting is used in place of the tree where it errs less by more than noise.
    """
    from iostrata.predict import fitting, picture
    from iostrata.predict.model import BOOSTING, COVERAGE, TREE, ModelQuality, tree_lines
    from iostrata.predict.samples import read_facts, read_samples
    from iostrata.records import builtins
    from iostrata.text import percent

    model = fitting.fit(read_facts(profile), read_samples(profile))
    written = profile / "model.json"
    text = json_text.dumps(builtins(model), indent=1) + "\n"
    for path, content in ((written, text), (written.with_suffix(".svg"), picture.svg(model))):
        with whole_file(path) as file:
            file.write(content.encode())
    if json:
        print_json(model)
        return

    def errors(of: ModelQuality) -> str:
        found = {"median": of.median_error, "mean": of.mean_error, "worst": of.worst_error}
        return ", ".join(f"{name} {percent(share, 1)}" for name, share in found.items())

    tree, boosting = model.qualities[TREE], model.qualities[BOOSTING]
    used = "used" if model.uses == BOOSTING else "not used, as no better beyond noise"
    print("\n".join(tree_lines(model)))
    print(
        f"\n{tree.leaves} leaves, depth {tree.depth}, of {tree.samples} samples of "
        f"{tree.points} points\n"
        f"error on points that were held out: {errors(tree)}\n"
        f"that of gradient boosting, which is {used}: {errors(boosting)}\n"
        f"intervals of {percent(COVERAGE)} hold {percent(model.quality.coverage)} of what was "
        f"held out\n"
        f"model: {written}"
    )
