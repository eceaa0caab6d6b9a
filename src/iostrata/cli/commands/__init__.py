"""One file per command. Each has `register(app)`, and stands in ORDER, the order of --help.

Other packages bring commands, too, by entry points of the group GROUP that name such modules.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points

import typer

from iostrata.errors import UserError

GROUP = "iostrata.commands"
LAB = frozenset({"demo", "lab", "workload", "study"})  # of the package iostrata-lab
ORDER = (
    "demo",
    "doctor",
    "record",
    "level",
    "top",
    "summary",
    "findings",
    "bottlenecks",
    "calltree",
    "report",
    "compare",
    "query",
    "runs",
    "export",
    "import",
    "points",
    "attach",
    "detach",
    "lab",
    "workload",
    "study",
    "prepare",
    "weave",
)


def register_all(app: typer.Typer) -> None:
    """Adds every command: ours, those of other packages, and a remedy for those of the lab."""
    others = {point.name: point for point in entry_points(group=GROUP)}
    for name in (*ORDER, *sorted(others.keys() - set(ORDER))):
        if name in others:
            others[name].load().register(app)
        elif name in LAB:
            _register_absent(app, name)
        else:
            module = "import_" if name == "import" else name
            import_module(f"{__name__}.{module}").register(app)


def _register_absent(app: typer.Typer, name: str) -> None:
    @app.command(
        name,
        hidden=True,
        add_help_option=False,
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    )
    def absent() -> None:
        message = f"`iostrata {name}` is in a package of its own"
        raise UserError(message, "pip install iostrata-lab")
