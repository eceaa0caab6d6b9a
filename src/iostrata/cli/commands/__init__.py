"""One file per command. Each has `register(app)`, and stands in COMMANDS in the order of --help."""

from __future__ import annotations

from iostrata.cli.commands import (
    attach,
    calltree,
    demo,
    detach,
    doctor,
    lab,
    level,
    points,
    prepare,
    query,
    record,
    report,
    runs,
    summary,
    weave,
)

COMMANDS = (
    demo,
    doctor,
    record,
    level,
    summary,
    calltree,
    report,
    query,
    runs,
    points,
    attach,
    detach,
    lab,
    prepare,
    weave,
)
