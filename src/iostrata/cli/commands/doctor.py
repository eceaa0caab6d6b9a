"""iostrata doctor"""

from __future__ import annotations

import sys

from iostrata.cli.arguments import JsonOption, command
from iostrata.cli.console import print_json
from iostrata.text import printable

_MARKS = {"ok": "ok  ", "warning": "warn", "bad": "BAD "}


@command("iostrata doctor", "iostrata doctor --json")
def doctor(json: JsonOption = False) -> None:
    """Says what would not be traced on this machine, and how to mend it.

    It checks Java, shared memory, rights, agent, collector, limits and the running JVMs.
    It ends with exit code 1 when recording would fail.
    """
    from iostrata.record.checks import run_checks

    checks = run_checks()
    if json:
        print_json(checks)
    else:
        for check in checks:
            print(printable(f"{_MARKS[check.state]}  {check.name}: {check.found}"))
            if check.remedy:
                print(printable(f"      → {check.remedy}"))
    sys.exit(1 if any(check.state == "bad" for check in checks) else 0)
