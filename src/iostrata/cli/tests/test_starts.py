"""What is imported when: --help must be there at once."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"duckdb", "ibis", "msgspec", "numpy", "perfetto", "pyarrow", "pyspark", "scipy"}
MODULES = "import sys; print(*{name.split('.')[0] for name in sys.modules})"
OURS = "import sys; print(*(name for name in sys.modules if name.startswith('iostrata')))"


def after(program: str, printed: str) -> set[str]:
    """What `printed` prints of a process that has run `program`, which may call exit."""
    code = f"try:\n    {program}\nexcept SystemExit:\n    print()\n{printed}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def run(*words: str) -> str:
    return f"import sys; sys.argv = ['iostrata', *{words!r}]; from iostrata.cli import main; main()"


@pytest.mark.parametrize("words", [("--help",), ("--version",)])
def test_no_library_of_analyses_is_imported(words: tuple[str, ...]) -> None:
    assert after(run(*words), MODULES) & HEAVY == set()


def test_help_imports_no_command() -> None:
    loaded = after(run("--help"), OURS)
    assert {
        name for name in loaded if name.startswith(("iostrata.cli.commands.", "iostrata_lab"))
    } == set()
    assert len(loaded) <= 9, loaded


def test_a_command_imports_no_other() -> None:
    loaded = after(run("runs", "--help"), OURS)
    commands = {name for name in loaded if name.startswith("iostrata.cli.commands.")}
    assert commands == {"iostrata.cli.commands.runs"}
    # facts of runs are records
    assert after(run("runs", "--help"), MODULES) & HEAVY <= {"msgspec"}


def test_a_recorder_imports_nothing_that_takes_long() -> None:
    loaded = after(run("record", "--dir", "/no/such", "--", "true"), MODULES)
    assert "iostrata" in loaded
    assert loaded & {*HEAVY, "importlib_metadata", "pydantic", "rich", "typer"} == set()
