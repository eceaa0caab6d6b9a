from __future__ import annotations

import re
import subprocess
import time
from pathlib import Path

import pytest

from iostrata.record import checks
from iostrata.record.checks import CHECKS, run_checks
from iostrata.record.jvms import main_class, running_jvms

PROGRAM = (
    "class Waits { public static void main(String[] a) throws Exception { System.in.read(); }}"
)


def test_every_check_says_what_it_found() -> None:
    found = run_checks()
    assert {check.name for check in found} >= {
        "java", "/dev/shm", "rights", "agent", "native", "collector", "limits", "jvms",
    }  # fmt: skip
    assert all(check.found for check in found)
    assert all(check.remedy for check in found if check.state != "ok")
    assert len({check.__name__ for check in CHECKS}) == len(CHECKS)


def test_missing_agent_names_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IOSTRATA_AGENT", "/no/such.jar")
    (found,) = checks.agent()
    assert (found.state, found.found, found.remedy) == (
        "bad",
        "IOSTRATA_AGENT=/no/such.jar: no such file",
        "unset IOSTRATA_AGENT or correct it",
    )


def test_agent_that_other_users_cannot_reach(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jar = tmp_path / "iostrata-agent.jar"
    jar.write_bytes(b"PK")
    jar.chmod(0o600)
    monkeypatch.setenv("IOSTRATA_AGENT", str(jar))
    (found,) = checks.agent()
    assert found.state == "warning"
    assert found.remedy == "put a copy where all may read it and set IOSTRATA_AGENT"


def test_native_binary_that_does_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "iostrata-native"
    broken.write_bytes(b"\x7fELF not really")
    broken.chmod(0o755)
    monkeypatch.setenv("IOSTRATA_NATIVE", str(broken))
    (found,) = checks.native()
    assert found.state == "bad"
    assert found.found.startswith(f"{broken} does not run: ")


def test_a_running_jvm_without_agent_is_named(tmp_path: Path) -> None:
    # GIVEN a real JVM
    (tmp_path / "Waits.java").write_text(PROGRAM)
    with subprocess.Popen(["java", str(tmp_path / "Waits.java")], stdin=subprocess.PIPE) as jvm:
        time.sleep(0.3)
        found = {each.pid: each for each in running_jvms()}
        jvm.kill()
    # THEN
    assert jvm.pid in found
    assert found[jvm.pid].reason == "no agent"
    assert re.fullmatch(r"start it again with JAVA_TOOL_OPTIONS .*", found[jvm.pid].remedy)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["java", "-Xmx1g", "-cp", "a:b", "org.x.NameNode", "-format"], "NameNode"),
        (["java", "-jar", "/opt/app.jar", "x"], "app.jar"),
        (["java", "-javaagent:a=b", "-m", "mod/org.x.Main"], "Main"),
        (["java", "-version"], "java"),
        (["java", "--class-path", "lib", "Job", ""], "Job"),
    ],
)
def test_names_of_jvms(words: list[str], name: str) -> None:
    assert main_class(words) == name
