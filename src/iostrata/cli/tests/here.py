"""The command line in the process of a test: without the second that imports take."""

from __future__ import annotations

import contextlib
import io
import sys
from subprocess import CompletedProcess

import pytest

from iostrata import cli


def here(*arguments: str) -> CompletedProcess[str]:
    """Runs a command; its exit code and what it wrote. A traceback is the test's."""
    out, err, code = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO(), 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["iostrata", *arguments])
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                cli.main()
            except SystemExit as end:
                code = int(end.code or 0)
    out.flush()
    said = out.detach().getvalue().decode()
    return CompletedProcess(["iostrata", *arguments], code, said, err.getvalue())
