"""JDKs are found wherever they are: by a variable, on the PATH, and beside one that was found."""

from __future__ import annotations

from pathlib import Path

import pytest

from iostrata import jdks


def installed(home: Path, version: str) -> Path:
    (home / "bin").mkdir(parents=True)
    (home / "bin/java").touch(mode=0o755)
    if version:
        (home / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return home


@pytest.fixture(autouse=True)
def nothing_usual(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """This machine's own JDKs are none of the tests' business."""
    for name in ("_USUAL", "_ALTERNATIVES"):
        monkeypatch.setattr(jdks, name, ())
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("JAVA_HOME", raising=False)


def test_of_a_variable_of_the_path_and_beside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = installed(tmp_path / "opt/named", "17.0.2")
    linked = installed(tmp_path / "lib/jdk-21", "21")
    beside = installed(tmp_path / "lib/jdk-25", "25.0.3")
    (tmp_path / "lib/no-jdk").mkdir()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/java").symlink_to(linked / "bin/java")
    monkeypatch.setenv("JAVA_HOME", str(named))
    assert jdks.homes() == [named, linked, beside]


def test_of_update_alternatives_and_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = installed(tmp_path / "usr/java-17", "17")
    own = installed(tmp_path / "home/.sdkman/candidates/java/24-tem", "24")
    table = tmp_path / "alternatives"
    table.write_text(f"auto\n/a/link/java\n\n{known}/bin/java\n1711\n\n")
    monkeypatch.setattr(jdks, "_ALTERNATIVES", (table, tmp_path / "none"))
    assert jdks.homes() == [known, own]


def test_the_newest_of_a_major_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = installed(tmp_path / "a", "17.0.2")
    new = installed(tmp_path / "b", "17.0.15")
    monkeypatch.setenv("JAVA_HOME", str(old))
    assert jdks.newest_of(17) == new
    assert jdks.newest_of(25) is None


@pytest.mark.parametrize(
    ("text", "version"),
    [("1.8.0_392", (8, "1.8.0_392")), ("25", (25, "25")), ("17.0.15", (17, "17.0.15")), ("", None)],
)
def test_versions(tmp_path: Path, text: str, version: tuple[int, str] | None) -> None:
    assert jdks.version(installed(tmp_path / "jdk", text)) == version
