from __future__ import annotations

import _ctypes
import os
from pathlib import Path

import pytest

from iostrata.artifacts import (
    agent_for,
    agent_jar,
    installed_agent,
    native_binary,
    stage_agent,
)
from iostrata.errors import UserError


@pytest.fixture
def jar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "built.jar"
    path.write_bytes(b"PK first")
    library = Path(_ctypes.__file__).read_bytes()  # any that this machine can load
    path.with_name("libiostrata_loader.so").write_bytes(library)
    monkeypatch.setenv("IOSTRATA_AGENT", str(path))
    return path


def test_the_environment_names_them(jar: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert agent_jar() == jar
    jar.chmod(0o644)
    monkeypatch.setenv("IOSTRATA_NATIVE", str(jar))
    with pytest.raises(UserError) as caught:
        native_binary()
    assert (caught.value.message, caught.value.remedy) == (
        f"{jar} may not be run",
        f"chmod +x {jar}",
    )


def test_a_jar_built_again_leaves_the_staged_one(jar: Path, tmp_path: Path) -> None:
    # GIVEN a directory whose JVMs have the agent mapped
    directory = tmp_path / "d"
    directory.mkdir()
    library = stage_agent(directory)
    staged = library.with_name("iostrata-agent.jar")
    with staged.open("rb") as mapped:
        # WHEN the jar is built again, and staged again
        jar.write_bytes(b"PK second")
        assert stage_agent(directory) == library
        # THEN what was mapped has not changed, and new JVMs get the new one
        assert mapped.read() == b"PK first"
    assert staged.read_bytes() == b"PK second"
    assert staged.stat().st_mode & 0o777 == 0o644
    names = ["iostrata-agent.jar", "libiostrata_loader.so"]
    assert sorted(path.name for path in directory.iterdir()) == names


def test_a_directory_without_a_copy_uses_the_installed_one(jar: Path, tmp_path: Path) -> None:
    directory = tmp_path / "d"
    directory.mkdir()
    assert agent_for(directory) == jar.with_name("libiostrata_loader.so")
    assert agent_for(stage_agent(directory).parent) == directory / "libiostrata_loader.so"


@pytest.mark.skipif(os.getuid() != 0, reason="needs root to give a file away")
def test_a_copy_of_a_third_user_is_not_loaded(jar: Path, tmp_path: Path) -> None:
    directory = tmp_path / "d"
    directory.mkdir()
    stage_agent(directory)
    for copy in directory.iterdir():
        os.chown(copy, 65534, 65534)
    assert agent_for(directory) == jar.with_name("libiostrata_loader.so")


def test_the_library_is_loaded_or_the_jar_that_loads_it(
    jar: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = tmp_path / "d"
    directory.mkdir()
    library = jar.with_name("libiostrata_loader.so")
    assert stage_agent(directory) == agent_for(directory) == directory / library.name
    assert installed_agent() == library
    monkeypatch.setenv("IOSTRATA_LOADER", "javaagent")
    assert agent_for(directory) == directory / "iostrata-agent.jar"
    assert installed_agent() == jar


@pytest.mark.parametrize("how", ["native", "javaagent"])
def test_what_this_machine_cannot_load_is_an_error(
    jar: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setenv("IOSTRATA_LOADER", how)
    library = jar.with_name("libiostrata_loader.so")
    library.write_bytes(b"ELF, but no more")
    (tmp_path / "d").mkdir()
    with pytest.raises(UserError, match="cannot be loaded"):
        stage_agent(tmp_path / "d")
    library.unlink()
    with pytest.raises(UserError, match="is not there"):
        installed_agent()


def test_a_loader_of_another_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("IOSTRATA_LOADER", "nativ")
    with pytest.raises(UserError, match="IOSTRATA_LOADER=nativ"):
        agent_for(tmp_path)
