"""The cache of Hadoop's jars, with a program of ours in the place of Maven."""

import multiprocessing
import os
import shutil
from pathlib import Path

import pytest

from iostrata_lab.clusters import layout
from iostrata_lab.clusters.errors import LabError
from iostrata_lab.clusters.hadoop import jars

MAVEN = """#!/bin/sh
echo call >> {calls}
for word in "$@"; do case "$word" in -DoutputDirectory=*) out="${{word#*=}}" ;; esac; done
mkdir -p "$out" && : > "$out/hadoop-common-3.5.0.jar"
{rest}
"""


class Cache:
    """A cache of its own, and a `mvn` that notes its calls and then does `rest`."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.folder, self.calls = folder, folder / "calls"
        (folder / "bin").mkdir()
        patch.setenv("PATH", f"{folder / 'bin'}:{os.environ['PATH']}")
        patch.setenv("IOSTRATA_CACHE", str(folder / "cache"))

    def maven(self, rest: str) -> None:
        path = self.folder / "bin" / "mvn"
        path.write_text(MAVEN.format(calls=self.calls, rest=rest))
        path.chmod(0o755)

    def times_called(self) -> int:
        return len(self.calls.read_text().splitlines())


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cache:
    return Cache(tmp_path, monkeypatch)


def fetch_quietly() -> Path:
    return jars.fetch(lambda _: None)


def test_two_processes_at_once_fetch_once(cache: Cache) -> None:
    cache.maven("sleep 0.3")
    context = multiprocessing.get_context("spawn")
    fetchers = [context.Process(target=fetch_quietly) for _ in range(2)]
    for fetcher in fetchers:
        fetcher.start()
    for fetcher in fetchers:
        fetcher.join()
        assert fetcher.exitcode == 0
        fetcher.close()
    assert cache.times_called() == 1
    assert [jar.name for jar in fetch_quietly().iterdir()] == ["hadoop-common-3.5.0.jar"]


def test_a_failure_leaves_no_half_cache_and_shows_what_maven_said(cache: Cache) -> None:
    cache.maven("echo Could not resolve; exit 1")
    with pytest.raises(LabError, match=r"Maven could not fetch Hadoop 3\.5\.0") as caught:
        fetch_quietly()
    assert caught.value.log == "Could not resolve"
    assert [path.name for path in jars.cache().iterdir()] == ["hadoop-3.5.0.lock"]

    cache.maven("")
    assert fetch_quietly().exists()


def test_a_cache_of_another_pom_or_without_its_mark_is_fetched_again(cache: Cache) -> None:
    cache.maven("")
    lib = fetch_quietly()
    (lib.parent / jars.COMPLETE).write_text("<project/>")
    (lib / "old.jar").touch()
    assert [jar.name for jar in fetch_quietly().iterdir()] == ["hadoop-common-3.5.0.jar"]
    (lib.parent / jars.COMPLETE).unlink()
    fetch_quietly()
    assert cache.times_called() == 3


def test_links_are_readable_by_others(cache: Cache, tmp_path: Path) -> None:
    cache.maven("")
    layout.link(fetch_quietly(), tmp_path / "lib")
    jar = tmp_path / "lib" / "hadoop-common-3.5.0.jar"
    assert jar.stat().st_mode & 0o777 == 0o644
    assert jar.stat().st_nlink == 2


def test_no_maven(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(cache.folder / "bin"))
    assert shutil.which("mvn") is None
    with pytest.raises(LabError, match=r"Maven \(mvn\) is not on the PATH"):
        fetch_quietly()
