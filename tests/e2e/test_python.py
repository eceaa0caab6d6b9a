"""The guide to runs in Python and its notebook, on a JVM that is recorded for them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

GUIDE = Path(__file__).parents[2] / "docs/guide"
CALLS, SIZE = 200, 4096
EXECUTE = """
import json, sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
print(json.dumps([cell.outputs for cell in notebook.cells if cell.cell_type == "code"]))
"""
# After the tables of the guide: what they hold of the program's file.
OF_THE_FILE = """
import json, sys
of_file = run.calls.filter(run.calls.target == sys.argv[1])
found = of_file.group_by("op").agg(bytes=of_file.bytes.sum()).to_pyarrow().to_pylist()
rows = {row["op"]: row["bytes"] for row in found}
print(json.dumps({"of the file": rows, "sums": by_layer.to_pyarrow().to_pylist()}))
"""


@pytest.fixture
def store(
    tmp_path: Path, program: Path, iostrata: Callable[..., subprocess.CompletedProcess[str]]
) -> Path:
    """A store with the run of a program that writes and reads a file."""
    reads = ["java", "-cp", str(program), "Reads", str(tmp_path / "data"), str(CALLS), str(SIZE)]
    recorded = iostrata("record", "--private", "--run", "reads", "--", *reads, "0")
    assert recorded.returncode == 0
    return tmp_path / "store"


def run(code: str, store: Path, *arguments: str) -> str:
    """What a Python program prints that finds this store."""
    finished = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, "IOSTRATA_STORE": str(store), "PYTHONWARNINGS": "ignore"},
        cwd=store.parent,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def test_the_guide_and_the_notebook(store: Path) -> None:
    """GIVEN a recorded JVM WHEN the code of both is run THEN each number is that of the program."""
    blocks = re.findall(r"^```python\n(.*?)^```$", (GUIDE / "python.md").read_text(), re.M | re.S)
    assert len(blocks) == 6
    blocks.insert(4, OF_THE_FILE)
    said = run("\n".join(blocks), store, str(store.parent / "data"))
    assert "reads ok ('java'," in said
    assert (store.parent / "report.html").read_text("utf-8").startswith("<!doctype html>")
    found = json.loads(said.splitlines()[-1])
    assert found["of the file"] == {"write": CALLS * SIZE, "read": CALLS * SIZE}
    # classes are read, too, and a line is printed
    java = {row["direction"]: row["bytes"] for row in found["sums"] if row["layer"] == "java"}
    assert CALLS * SIZE < java["written"] < CALLS * SIZE + 100
    assert java["read"] >= CALLS * SIZE

    # AND the notebook has the same in its cells
    outputs: list[list[dict[str, Any]]] = json.loads(
        run(EXECUTE, store, str(GUIDE / "python.ipynb")).splitlines()[-1]
    )
    shown = [cell[-1]["data"] for cell in outputs if cell]
    assert len(shown) == len(outputs)
    first_screen = "".join(shown[0]["text/html"])
    assert first_screen.startswith("<pre>")
    assert "\ntraced 1/1 processes" in first_screen
    assert f"<td>{java['written']}</td>" in "".join(shown[1]["text/html"])
    assert "".join(shown[-1]["text/html"]).startswith("<iframe")


def test_the_notebook_has_no_output() -> None:
    """What a machine of ours printed says nothing about the reader's."""
    cells = json.loads((GUIDE / "python.ipynb").read_text())["cells"]
    assert [cell for cell in cells if cell.get("outputs") or cell.get("execution_count")] == []
