"""One file per command. Each has `register(app)`, and stands in COMMANDS in the order of --help."""

from __future__ import annotations

from iostrata.cli.commands import (
    demo,
    doctor,
    lab,
    points,
    prepare,
    query,
    record,
    report,
    runs,
    summary,
    weave,
)

COMMANDS = (demo, doctor, record, summary, report, query, runs, points, lab, prepare, weave)
