from __future__ import annotations

from pathlib import Path

import pytest

from iostrata.errors import UserError
from iostrata.record.environment import agent_option, with_agent, with_preload

JAR = Path("/opt/iostrata-agent.jar")


def test_option_of_a_run() -> None:
    assert agent_option(JAR, Path("/dev/shm/d"), "r-1") == (
        "-javaagent:/opt/iostrata-agent.jar=dir=/dev/shm/d,run=r-1,quiet"
    )


def test_the_native_loader_is_a_library() -> None:
    assert agent_option(Path("/opt/libiostrata_loader.so"), Path("/dev/shm/d"), "r-1") == (
        "-agentpath:/opt/libiostrata_loader.so=dir=/dev/shm/d,run=r-1,quiet"
    )


def test_option_with_a_blank_is_quoted() -> None:
    assert agent_option(JAR, Path("/dev/shm/my dir"), "r") == (
        '"-javaagent:/opt/iostrata-agent.jar=dir=/dev/shm/my dir,run=r,quiet"'
    )


@pytest.mark.parametrize("name", ["a,b", 'a"b', "a'b", "a=b", "a\nb"])
def test_directory_that_no_option_can_hold(name: str) -> None:
    with pytest.raises(UserError, match="cannot stand in a JVM option"):
        agent_option(JAR, Path("/dev/shm") / name, "r")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, "NEW"),
        ("", "NEW"),
        ("-Xmx1g -Da=b", "-Xmx1g -Da=b NEW"),
        ("-javaagent:/other.jar=x", "-javaagent:/other.jar=x NEW"),
        ("-Xmx1g -javaagent:/x/iostrata-agent.jar=dir=/d,run=outer -Da=b", "-Xmx1g -Da=b NEW"),
        ("-agentpath:/x/libiostrata_loader.so=dir=/d -Da=b", "-Da=b NEW"),
        ('"-agentpath:/x y/libiostrata_loader.so=dir=/d,run=r" -Da=b', "-Da=b NEW"),
        ('"-javaagent:/x y/iostrata-agent.jar=dir=/d,run=outer" -Da=b', "-Da=b NEW"),
    ],
)
def test_what_java_tool_options_said_before_stays(before: str | None, after: str) -> None:
    environment = {"HOME": "/h"} | ({} if before is None else {"JAVA_TOOL_OPTIONS": before})
    assert with_agent(environment, "NEW") == {"HOME": "/h", "JAVA_TOOL_OPTIONS": after}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, "/d/libiostrata_preload.so"),
        ("/x/libjemalloc.so", "/x/libjemalloc.so:/d/libiostrata_preload.so"),
        ("/x/a.so /x/b.so", "/x/a.so:/x/b.so:/d/libiostrata_preload.so"),
        ("/outer/libiostrata_preload.so", "/d/libiostrata_preload.so"),
    ],
)
def test_what_ld_preload_said_before_stays(before: str | None, after: str) -> None:
    environment = {"HOME": "/h"} | ({} if before is None else {"LD_PRELOAD": before})
    assert with_preload(environment, Path("/d/libiostrata_preload.so"), Path("/d"), "r-1") == {
        "HOME": "/h",
        "LD_PRELOAD": after,
        "IOSTRATA_PRELOAD": "dir=/d,run=r-1",
    }


@pytest.mark.parametrize("name", ["a b", "a:b", "a,b"])
def test_a_directory_that_ld_preload_cannot_hold(name: str) -> None:
    with pytest.raises(UserError, match="cannot stand in LD_PRELOAD"):
        with_preload({}, Path("/d/libiostrata_preload.so"), Path("/dev/shm") / name, "r")
