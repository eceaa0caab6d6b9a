"""Workloads that commands run and record, and their parameters as a table."""

from __future__ import annotations

import json
import shlex
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from iostrata.cli.console import note, print_table
from iostrata.errors import UserError

if TYPE_CHECKING:
    from iostrata.cli.recordline import RecordOptions
    from iostrata.schema.detail import Detail
    from iostrata_lab.workload.interface import Context, Result
    from iostrata_lab.workload.parameters import Parameter
    from iostrata_lab.workload.runner import WorkloadOrder

CONTEXT, RESULT = "context.json", "result.json"  # in the scratch folder of the workload


def clean_up_at_every_end() -> None:
    """SIGTERM and SIGHUP end this command as Ctrl-C does; a SIGHUP that is ignored stays so."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler)


class RecordedWorkload:
    """Runs a workload in a process of its own, which is recorded."""

    def __init__(
        self,
        asked: WorkloadOrder,
        lab: str | None,
        run: str | None,
        store: Path | None,
        quiet: bool,
        detail: Detail | None = None,
        tag: Sequence[str] = (),
    ) -> None:
        self._asked, self._lab, self._store, self._quiet = asked, lab, store, quiet
        self._detail, self._tag = detail, list(tag)
        self.run = run

    def _options(self, command: list[str]) -> RecordOptions:
        """What is no job of a cluster is a native program."""
        from iostrata.cli.recordline import RecordOptions

        return RecordOptions(
            command,
            lab=self._lab,
            run=self.run,
            store=self._store,
            tag=self._tag,
            native=not self._asked.workload.on_cluster,
        )

    def inner(self, context: Context) -> Result:
        """What it said, as it would have said it here."""
        from iostrata.cli.recording import conclude, recording_line, request_for
        from iostrata.record.session import record
        from iostrata_lab.workload.runner import hand_over

        there = context.scratch / CONTEXT
        hand_over(context, self._asked.workload, there)
        command = [sys.executable, "-m", "iostrata", "workload", "inside", str(there)]
        request = request_for(self._options(command))
        request = replace(request, title=self._asked.title)
        if self._detail:
            request = replace(request, detail=self._detail)
        with recording_line(self._quiet) as show:
            recorded = record(request, show)
        self.run = recorded.run
        if recorded.message:
            note(recorded.message)
        if recorded.code:
            raise UserError(
                f"{self._asked.workload.name} failed while it was recorded as {recorded.run}",
                "see above",
                exit_code=recorded.code,
            )
        if not self._quiet:
            conclude(recorded)
        result: Result = json.loads((context.scratch / RESULT).read_text())
        return result


def writable(folder: Path) -> None:
    """Makes the folder of --out; raises UserError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{folder}: {error.strerror}", "name another folder with --out") from error


def keep(folder: Path, name: str, markdown: str, document: object, figure: str) -> None:
    """Writes NAME.md, NAME.json and NAME.svg."""
    from iostrata.cli.files import whole_file
    from iostrata.records import builtins

    whole = json.dumps(builtins(document), indent=1) + "\n"
    for suffix, text in (("md", markdown), ("json", whole), ("svg", figure)):
        with whole_file(folder / f"{name}.{suffix}") as file:
            file.write(text.encode())
    note(f"kept: {folder}/{name}.md, .json, .svg")


def typed() -> str:
    """This command, as it was typed."""
    return shlex.join(["iostrata", *sys.argv[1:]])


def print_parameters(parameters: Sequence[Parameter]) -> None:
    """A table of them."""
    from iostrata.text import size
    from iostrata_lab.workload.parameters import BYTES

    rows = []
    for one in parameters:
        is_size = one.unit == BYTES and isinstance(one.default, int)
        default = size(int(one.default)) if is_size else str(one.default).lower()
        about = f"{one.about} (scaled)" if one.scaled else one.about
        rows.append([one.name, default, "" if one.unit == BYTES else one.unit, one.range, about])
    print_table(["parameter", "default", "unit", "allowed", "what it is"], rows)
