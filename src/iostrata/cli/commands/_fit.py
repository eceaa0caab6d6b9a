"""The fit of a trace, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iostrata.cli.console import print_table
from iostrata.text import size

if TYPE_CHECKING:
    from iostrata.workload.swim.fit import Fit, SizeFit


def say(fit: Fit) -> None:
    """A table of the models of gaps, one of sizes, and a line about inputs."""
    print(f"{fit.trace}: {fit.jobs} jobs\n")
    gaps = []
    for model in fit.gaps:
        parameters = ", ".join(f"{name} {value:.4g}" for name, value in model.parameters.items())
        gaps.append([model.name, parameters, f"{model.aic:.0f}", f"{model.ks:.4f}"])
    print_table(["gaps (s), best first", "parameters", "AIC", "KS"], gaps, {2, 3})
    print()
    header = ["sizes", "zero", "log mean", "log deviation", "largest", "tail index", "from"]
    kinds = {"input": fit.input, "shuffle": fit.shuffle, "output": fit.output}
    rows = [[name, *_size(one)] for name, one in kinds.items()]
    print_table(header, rows, set(range(1, len(header))))
    if fit.popularity:
        again, exponent = fit.popularity.reread, fit.popularity.zipf
        print(f"\ninputs: {again:.1%} of jobs read one again, Zipf exponent {exponent:.3f}")
    else:
        print("\ninputs: the trace has no paths")


def _size(one: SizeFit) -> list[str]:
    tail = "" if one.tail is None else f"{one.tail:.3f}"
    start = "" if one.tail_from is None else size(one.tail_from)
    return [f"{one.zero:.1%}", f"{one.mu:.2f}", f"{one.sigma:.2f}", size(one.most), tail, start]
