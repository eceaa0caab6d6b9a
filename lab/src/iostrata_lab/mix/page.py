"""What a mix came to, as lines of text, as Markdown, and as a figure."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from statistics import geometric_mean

from iostrata.analyse.parts import SHARED
from iostrata.text import columns, percent, plural, seconds
from iostrata_lab.mix.figures import Ratio
from iostrata_lab.mix.result import (
    GrownOperation,
    MixDocument,
    MixedProgram,
    MixOnLab,
    SharedResource,
    TracingCost,
)
from iostrata_lab.studies.figure import Panel, panels
from iostrata_lab.studies.interface import Table
from iostrata_lab.studies.page import alike, grid

MOST_RESOURCES, MOST_OPERATIONS, WIDTH = 8, 10, 100
CACHED, MATTERS = 0.7, 0.1  # of the time alone, of the time together
LEAST_GROWN = 0.05  # of the largest growth
_MB = 1e6


def text(mix: MixDocument) -> list[str]:
    """For a terminal: what collides first, then the tables."""
    lines = [*_head(mix)]
    for one in mix.labs:
        lines += ["", _where(one), ""]
        for line in verdict(one):
            lines += textwrap.wrap(line, WIDTH)
        for table in _tables(one):
            numbers = range(table.names, len(table.columns))
            lines += ["", *columns(table.columns, table.rows, numbers)]
        lines += ["", *(f"see all in one run: iostrata report {run}" for run in one.runs[-1:])]
    if mix.costs:
        table = cost_table(mix.costs)
        lines += ["", table.title, "", *columns(table.columns, table.rows, range(3, 8))]
    return [*lines, *_incomplete(mix)]


def markdown(mix: MixDocument, command: str) -> str:
    """A page of its own, with the figure `mix.svg` beside it."""
    lines = ["# Programs alone and together", "", f"    {command}", ""]
    lines += [f"- {line}" for line in _head(mix)]
    for one in mix.labs:
        lines += ["", f"## {_where(one)}", "", *verdict(one)]
        for table in _tables(one):
            lines += ["", *grid(table)]
    if mix.costs:
        table = cost_table(mix.costs)
        lines += ["", f"## {table.title}", "", *grid(table)]
    lines += ["", "![Bytes that servers moved](mix.svg)"]
    if mix.incomplete:
        lines += ["", *(f"- {line}" for line in _incomplete(mix))]
    return "\n".join(lines) + "\n"


def cost_table(costs: Sequence[TracingCost], called: Mapping[str, str] | None = None) -> Table:
    """Recorded beside untraced; `called`: programs by their letters."""

    def name(letters: str) -> str:
        return " and ".join((called or {}).get(one, one) for one in letters)

    rows = [
        [
            one.lab or "here",
            name(one.program),
            "" if one.together == one.program else name(one.together.replace(one.program, "")),
            *ratio_cells(one.time),
            *(("", "") if one.cpu is None else ratio_cells(one.cpu)),
            f"{one.bytes_per_call:.1f}",
        ]
        for one in costs
    ]
    heads = [
        "on",
        "program",
        "beside",
        "time",
        "95 %",
        "CPU of the machine",
        "95 %",
        "bytes a call",
    ]
    return Table("What recording costs: recorded beside untraced", heads, rows, names=3)


def _incomplete(mix: MixDocument) -> list[str]:
    parted = [line.partition(": ") for line in mix.incomplete]
    return alike([(run, line) for run, _, line in parted])


def figure(mix: MixDocument) -> str:
    """Bytes that disks and links of servers moved over time, in the last trial together."""
    shown = []
    for one in mix.labs:
        for kind in dict.fromkeys(each.kind for each in one.series):
            lines = {
                each.name: [
                    (at, rate / _MB) for at, rate in zip(each.times, each.rates, strict=True)
                ]
                for each in one.series
                if each.kind == kind and each.times
            }
            if lines:
                shown.append(Panel(f"{_where(one)}: {kind}, MB/s", "s", lines))
    return panels("What servers moved, all programs together", shown)


def verdict(one: MixOnLab) -> list[str]:
    """Whether they slow each other down, what they collide in, and in which layers it shows."""
    found = _collision(one)
    slowed = [each.name for each in one.programs if each.slowdown.says > 0]
    unknown = [each.name for each in one.programs if each.slowdown.low is None]
    if slowed:
        first = f"{_and(slowed)} {'is' if len(slowed) == 1 else 'are'} slowed down. "
    elif unknown:
        first = "One repeat says nothing of chance: --repeats 5 does. "
    else:
        first = "No slowdown is beyond chance. "
    layers = [_layer(name, each) for name, each in one.layers.items()]
    longest = max(geometric_mean(each.together) for each in one.programs)
    cached = [_cached(each) for each in one.programs if _is_cached(each, longest)]
    return [first + found, *layers, *cached]


def _is_cached(one: MixedProgram, longest: float) -> bool:
    """Repetitions took far less than the first, and a part of the time that matters."""
    if one.again is None:
        return False
    took = one.again * (max(one.repetitions) - 1)
    return one.again < CACHED * geometric_mean(one.alone) and took > MATTERS * longest


def _cached(one: MixedProgram) -> str:
    return (
        f"{one.name} takes {one.again} s when it runs again: it finds in a cache what it reads, "
        f"and is less of a load for the others. Make it longer, or give each repetition data of "
        f"its own ($MIX_REPETITION)."
    )


def _collision(one: MixOnLab) -> str:
    if one.collision is None:
        known = [each for each in one.resources if each.together is not None]
        most = f": most in use is {_share(known[0])}" if known else ""
        return f"No resource that was measured is used up{most}."
    return f"They collide in {_share(one.collision)}."


def _share(one: SharedResource) -> str:
    """`the server disk of node-1: A alone uses 71 %, B alone 64 %, together 97 %`."""
    alone = [f"{name} alone uses {percent(share or 0.0)}" for name, share in one.alone.items()]
    return f"the {_named(one)}: {', '.join(alone)}, together {percent(one.together or 0.0)}"


def _named(one: SharedResource) -> str:
    if one.kind == "machine CPU":
        return "CPU of this machine"
    is_part = one.kind.startswith(("server ", "machine "))
    return f"{one.kind} of {one.name}" if is_part else f"CPU of {one.kind} {one.name}"


def _layer(name: str, one: GrownOperation) -> str:
    who = "Servers wait" if name == SHARED else f"{name} waits"
    times = f"{seconds(one.alone)} alone, {seconds(one.together)} together"
    return f"{who} in {one.layer}.{one.op} ({one.role}): {times}."


def _head(mix: MixDocument) -> list[str]:
    lines = [f"{name}: {command}" for name, command in mix.commands.items()]
    lines += [f"before the first trial: {mix.setup}"] * bool(mix.setup)
    lines += [f"before each trial: {mix.prepare}"] * bool(mix.prepare)
    caches = "caches dropped before each" if mix.dropped else "caches warm: only root drops them"
    which = "half of them" if mix.costs else "each"
    traced = f"{which} recorded with a budget of {mix.budget}" if mix.recorded else "none recorded"
    lines.append(
        f"{plural(mix.trials, 'trial')} in random order (seed {mix.seed}), {caches}, {traced}"
    )
    return lines


def _where(one: MixOnLab) -> str:
    return f"{_and(one.together)} {f'on {one.lab}' if one.lab else 'on this machine'}"


def _tables(one: MixOnLab) -> list[Table]:
    return [_programs(one), _resources(one), *_operations(one)]


def _programs(one: MixOnLab) -> Table:
    titles = ["program", "alone", "together", "slowdown", "95 %", "overlap", "repetitions"]
    has_maps = any(each.data_local_alone is not None for each in one.programs)
    rows = []
    for each in one.programs:
        row = [each.name, _time(each.alone), _time(each.together), *ratio_cells(each.slowdown)]
        row += [percent(each.overlap), ", ".join(map(str, each.repetitions))]
        local = [each.data_local_alone, each.data_local_together] if has_maps else []
        rows.append([*row, *("" if share is None else percent(share) for share in local)])
    turn = ["together / in turn", "", "", *ratio_cells(one.in_turn), "", ""]
    titles += ["data-local alone", "together"] * has_maps
    return Table("", titles, [*rows, turn + ["", ""] * has_maps])


def _time(values: Sequence[float]) -> str:
    return f"{geometric_mean(values):.2f} s"


def ratio_text(of: Ratio) -> str:
    """`1.50 · 1.40 to 1.61`."""
    return " · ".join(filter(None, ratio_cells(of)))


def ratio_cells(of: Ratio) -> list[str]:
    """Value and interval, the latter '' where there is none."""
    if of.low is None or of.high is None:
        return [f"{of.value:.2f}", ""]
    return [f"{of.value:.2f}", f"{of.low:.2f} to {of.high:.2f}"]


def _resources(one: MixOnLab) -> Table:
    names = [each.name for each in one.programs]
    known = [each for each in one.resources if each.together is not None]
    rows = [
        [_named(each), *(_part(each.alone.get(name)) for name in names), _part(each.together)]
        for each in known[:MOST_RESOURCES]
    ]
    return Table("", ["in use", *(f"{name} alone" for name in names), "together"], rows)


def _part(share: float | None) -> str:
    return "" if share is None else percent(share)


def _operations(one: MixOnLab) -> list[Table]:
    rows = []
    for name in dict.fromkeys(each.program for each in one.operations):
        of_program = [each for each in one.operations if each.program == name]
        least = LEAST_GROWN * of_program[0].grown
        rows += [
            [
                name or "servers",
                f"{each.layer}.{each.op}",
                each.role,
                *map(seconds, (each.alone, each.together)),
            ]
            for each in of_program
            if each.grown >= least
        ][:MOST_OPERATIONS]
    titles = ["program", "operation", "in", "alone", "together"]
    return [Table("", titles, rows, names=3)] if rows else []


def _and(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
