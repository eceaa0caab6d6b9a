"""iostrata doctor"""

from __future__ import annotations

import sys

import typer

from iostrata.cli.arguments import JsonOption, examples
from iostrata.cli.console import print_json
from iostrata.records import builtins
from iostrata.text import printable

_MARKS = {"ok": "ok  ", "warning": "warn", "bad": "BAD "}


def register(app: typer.Typer) -> None:
    app.command(epilog=examples("iostrata doctor", "iostrata doctor --json"))(doctor)


def doctor(json: JsonOption = False) -> None:
    """Says what would not be traced on this machine, and how to mend it.

    It checks Java, shared memory, rights, agent, collector, limits and the running JVMs.
    It ends with exit code 1 when recording would fail.
    """
    from iostrata.record.checks import run_checks

    checks = run_checks()
    if json:
        print_json(builtins(checks))
    else:
        for check in checks:
            print(printable(f"{_MARKS[check.state]}  {check.name}: {check.found}"))
            if check.remedy:
                print(printable(f"      → {check.remedy}"))
    sys.exit(1 if any(check.state == "bad" for check in checks) else 0)
