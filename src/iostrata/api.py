"""Runs for Python: what `import iostrata` offers, and what the commands are built on.

    import iostrata

    with iostrata.open("latest") as run:
        print(run.text())
        run.sums.group_by("layer").agg(bytes=lambda sums: sums.bytes.sum()).to_pandas()

Sizes are bytes, times are ns since the epoch, durations are ns. Whatever a user can mend raises
`iostrata.UserError`.
"""

from __future__ import annotations

import html
import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Self, TypeVar

from iostrata.explain.verdict import Explanation, explanation
from iostrata.progress import Progress, silent
from iostrata.store.location import default_store
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import Run, find_run, list_runs
from iostrata.text import seconds

if TYPE_CHECKING:
    from ibis.backends.duckdb import Backend
    from ibis.expr import types as ir

    from iostrata.analyse.summary import Summary
    from iostrata.explain.finding import Finding
    from iostrata.show.report.model import ReportDocument

LATEST = "latest"
_R = TypeVar("_R")


def open_run(run: str | Path | Run = LATEST, store: str | Path | None = None) -> TracedRun:
    """A run of the store by its name, the latest run, a run of `runs`, or the folder of a run.

    The store is $IOSTRATA_STORE, else ~/.local/share/iostrata. Raises UserError.
    """
    if isinstance(run, Run):
        return TracedRun(OpenedRun(run))
    folder = Path(run)
    if len(folder.parts) > 1:
        return TracedRun(OpenedRun(find_run(folder.parent, folder.name)))
    name = None if str(run) == LATEST else str(run)
    return TracedRun(OpenedRun(find_run(_store(store), name)))


def runs(store: str | Path | None = None) -> list[Run]:
    """What is known of each run of a store without reading it, the newest first."""
    return list_runs(_store(store))


def _store(store: str | Path | None) -> Path:
    return default_store() if store is None else Path(os.fspath(store))


class TracedRun:
    """A run that is open for reading.

    It closes at the end of a `with` block, by `close`, or when neither it nor one of its tables is
    in use any more. `facts` is what the recorder wrote down: command, start, end, state, exit.
    """

    def __init__(self, opened: OpenedRun) -> None:
        self.facts = opened.run
        self.opened = opened
        self._summary: Summary | None = None
        self._explanation: Explanation | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, at: object) -> None:
        self.opened.__exit__(kind, error, at)

    def close(self) -> None:
        """Ends it; its tables cannot be read any more."""
        self.opened.close()

    @property
    def name(self) -> str:
        """The name in the store."""
        return self.facts.name

    @property
    def incomplete(self) -> list[str]:
        """What of the run is missing, a line each; empty when all of it is there."""
        return self.opened.incomplete

    @cached_property
    def connection(self) -> Backend:
        """Ibis on the tables of the run.

        Its `to_pandas` takes expressions of `iostrata.analyse`, its `raw_sql` takes SQL and returns
        a cursor of DuckDB.
        """
        from iostrata.analyse.connection import connected

        return connected(self.opened)

    @property
    def sums(self) -> ir.Table:
        """Exact totals of all calls: add `count`, `bytes` and `timed_dur` up."""
        return self.connection.table("sums")

    @property
    def calls(self) -> ir.Table:
        """The calls that were recorded individually, a row each; not all of them, as a rule."""
        return self.connection.table("calls")

    @property
    def processes(self) -> ir.Table:
        """A row for each process, with what it lost."""
        return self.connection.table("processes")

    @property
    def children(self) -> ir.Table:
        """A row for each child of the run's own processes that was not traced and has ended."""
        return self.connection.table("children")

    @property
    def threads(self) -> ir.Table:
        """A row for each thread of the run's own processes that made a call: its CPU time."""
        return self.connection.table("threads")

    @property
    def usage(self) -> ir.Table:
        """CPU and I/O of each process by the kernel's account, a row a second."""
        return self.connection.table("usage")

    @property
    def system(self) -> ir.Table:
        """CPU, memory, disks and network of each host, a row a second."""
        return self.connection.table("system")

    @property
    def devices(self) -> ir.Table:
        """Requests and bytes of each block device that is mounted, a row a second."""
        return self.connection.table("devices")

    def ask(self, expression: ir.Table, kind: type[_R]) -> list[_R]:
        """The rows of an analysis as its records: see docs/guide/analyses.md."""
        from iostrata.analyse.engine import DuckDb

        return DuckDb(self.opened).records(expression, kind)

    def summarize(self, progress: Progress = silent) -> Summary:
        """As `summary`; says each of analyse.summary.SUMMARY_STEPS."""
        from iostrata.analyse.summary import summary

        if self._summary is None:
            self._summary = summary(self.opened, step=progress)
        return self._summary

    @property
    def summary(self) -> Summary:
        """The numbers of `iostrata summary`: completeness, totals by layer, operation, target."""
        return self.summarize()

    @property
    def completeness(self) -> list[str]:
        """How much of what should have been traced was, as `iostrata summary --full` begins."""
        from iostrata.show.completeness import completeness_lines
        from iostrata.show.summary import picture

        return completeness_lines(picture(self.summary))

    @property
    def empty(self) -> str:
        """Why the run has no calls; the empty string when it has some."""
        from iostrata.show.summary import reason_empty

        return "" if self.summary.layers else reason_empty(self.summary)

    def explain(self, progress: Progress = silent) -> Explanation:
        """The verdict and the findings; says each of explain.rank.RULE_STEPS."""
        if self._explanation is None:
            self._explanation = explanation(self.opened, progress)
        return self._explanation

    def findings(self) -> list[Finding]:
        """What held the run back, the most important cause first."""
        return self.explain().findings

    def text(self, progress: Progress = silent, full: bool = False) -> str:
        """What `iostrata summary` prints, with `--full` if `full`; says the steps of `summarize`
        and `explain`.
        """
        from iostrata.show.findings import short_lines
        from iostrata.show.screen import screen_lines
        from iostrata.show.summary import summary_lines

        whole = self.summarize(progress)
        explained = self.explain(progress) if whole.layers else None
        if not full:
            return "\n".join(screen_lines(whole, explained))
        lines = summary_lines(whole)
        return "\n".join([*lines, "", *short_lines(explained)] if explained else lines)

    def report(self, progress: Progress = silent) -> Report:
        """The report, which a notebook shows; says each of show.report.document.STEPS."""
        from iostrata.show.report.document import document

        return Report(document(self.opened, progress))

    def export(self, format_name: str, to: str | Path | BinaryIO) -> int:
        """Writes the calls that were recorded individually for another tool; how many they are.

        The formats are those of `iostrata export`: perfetto, speedscope, otlp, strace, csv.
        """
        from iostrata.show.export.formats import FORMATS
        from iostrata.show.export.selection import Selection
        from iostrata.show.export.source import Source

        chosen = FORMATS.named(format_name)
        source = Source(self.opened, Selection(), chosen.pauses)
        if not isinstance(to, str | Path):
            return chosen.writer()(source, to)
        with Path(to).open("wb") as file:
            return chosen.writer()(source, file)

    def __repr__(self) -> str:
        facts = self.facts
        took = f", {seconds(facts.end - facts.start)}" if facts.end else ""
        return f"<run {facts.name}: {facts.state}{took}, {facts.label}>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text())}</pre>"


class Report:
    """A page of HTML that needs no network. `document` has its numbers."""

    def __init__(self, document: ReportDocument) -> None:
        self.document = document

    @cached_property
    def html(self) -> str:
        """The page."""
        from iostrata.show.report.page import page

        return page(self.document)

    def save(self, path: str | Path) -> Path:
        """Writes the page to a file, and returns its absolute path."""
        file = Path(path).absolute()
        file.write_text(self.html, "utf-8")
        return file

    def _repr_html_(self) -> str:
        # a document of its own: neither the page nor the notebook can change the other
        page = html.escape(self.html)
        style = "width: 100%; height: 80vh; border: 0"
        return f'<iframe sandbox="allow-scripts" srcdoc="{page}" style="{style}"></iframe>'
