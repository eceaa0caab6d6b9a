"""Class data sharing: a program that has an archive of its own classes keeps it under iostrata."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tests.e2e.conftest import Iostrata
from tests.e2e.truth import Run


def test_the_classes_of_a_programs_archive_come_from_there(
    tmp_path: Path, program: Path, iostrata: Iostrata
) -> None:
    jar, archive, data = (str(tmp_path / name) for name in ("busy.jar", "busy.jsa", "data"))
    Path(data).write_bytes(bytes(64))
    subprocess.run(["jar", "cf", jar, "-C", program, "Busy.class"], check=True)
    busy = ["-cp", jar, "Busy", data, "0", "1"]
    subprocess.run(["java", f"-XX:ArchiveClassesAtExit={archive}", *busy], check=True)
    java = ["java", f"-XX:SharedArchiveFile={archive}", "-Xlog:class+load", *busy]
    alone = subprocess.run(java, check=True, capture_output=True, text=True)
    done = iostrata("record", "--run", "r", "--", *java)
    assert done.returncode == 0, done.stderr
    # an archive that the JVM does not take is no error: it says so on standard output
    assert where(alone.stdout) == where(done.stdout) == ["shared objects file (top)"]
    assert "[warning]" not in done.stdout
    run = Run(tmp_path / "store", "r")
    ((reads,),) = run.rows(
        "SELECT count(*) FROM events WHERE kind = 'call' AND layer = 'java' AND op = 'read' "
        f"AND target = '{data}'"
    )
    assert reads > 0


def where(log: str) -> list[str]:
    return re.findall(r" Busy source: (.*)", log)
