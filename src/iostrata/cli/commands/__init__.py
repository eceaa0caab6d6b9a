"""One file per command. COMMANDS lists them in the order of --help.

A command is imported when it is called, so that --help and every other command start at once.
Another package brings the modules of its commands by entry points of the group GROUP: each has
`register(app)`.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, NamedTuple, NoReturn

from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from iostrata.errors import UserError

GROUP = "iostrata.commands"
LAB = "iostrata-lab"


class Command(NamedTuple):
    """A line of --help. `package` is the one that brings the command, where it is not ours."""

    name: str
    help: str
    package: str = ""


COMMANDS = (
    Command("demo", "Records a job on a real cluster and shows what it did.", LAB),
    Command("doctor", "Says what would not be traced here, and how to mend it."),
    Command("record", "Runs a command and records the I/O of its Java processes."),
    Command("level", "Changes how much detail a run records while it goes on."),
    Command("top", "Shows what a run is doing now, once a second."),
    Command("summary", "Says what held a run back, how completely it was traced, and what it did."),
    Command("findings", "Says what held a run back and what to change."),
    Command("bottlenecks", "Ranks the functions that held a run back."),
    Command("patterns", "Shows in which order files and blocks were read and written."),
    Command("calltree", "Shows what calls cause, across threads, processes and hosts."),
    Command("report", "Writes a run as one HTML file."),
    Command("compare", "Says what changed from some runs to others."),
    Command("query", "Answers a question about a run in SQL."),
    Command("runs", "Lists recorded runs, newest first."),
    Command("export", "Writes the calls of a run for another tool."),
    Command("import", "Makes a run of what another tool has traced."),
    Command("profile", "Measures how fast a storage is."),
    Command("fit", "Fits a model of a storage to its profile."),
    Command("predict", "Says how fast a storage is at what was not measured."),
    Command("what-if", "Says how long a recorded job would take with a change."),
    Command("place", "Says where files of jobs are to lie."),
    Command("points", "Lists the methods that are traced."),
    Command("attach", "Brings the agent into running JVMs."),
    Command("detach", "Takes the agent out of running JVMs."),
    Command("weave", "Fills the cache of woven classes ahead of time."),
    Command("lab", "Starts and ends Hadoop clusters on this machine.", LAB),
    Command("workload", "Runs workloads on a cluster.", LAB),
    Command("mix", "Runs programs alone and together, and says what they collide in.", LAB),
    Command("study", "Repeats the measurements of papers.", LAB),
    Command("prepare", "Prints the change that traces a cluster of your own."),
)


class LazyGroup(TyperGroup):
    """The commands, each of them imported when it is called."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._modules = {point.name: point for point in entry_points(group=GROUP)}
        for command in COMMANDS:
            absent = bool(command.package) and command.name not in self._modules
            self.commands[command.name] = TyperCommand(
                command.name, help=command.help, hidden=absent
            )
        for name in sorted(self._modules.keys() - self.commands.keys()):
            self._load(name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is called: imported."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, self._load(name) if name else None, rest

    def load_all(self) -> None:
        """Imports every command that is installed, for who walks over all of them."""
        for name, command in list(self.commands.items()):
            if not command.hidden:
                self._load(name)

    def _load(self, name: str) -> Any:
        from iostrata.cli.arguments import commands

        if name in self._modules:
            self._modules[name].load().register(commands)
        elif self.commands[name].hidden:
            _absent(name)
        else:
            module = "import_" if name == "import" else name.replace("-", "_")
            import_module(f"{__name__}.{module}")
        self.commands[name] = get_group(commands).commands[name]
        return self.commands[name]


def _absent(name: str) -> NoReturn:
    package = next(command.package for command in COMMANDS if command.name == name)
    raise UserError(f"iostrata {name} is in a package of its own", f"pip install {package}")
