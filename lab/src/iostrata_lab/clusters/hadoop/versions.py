"""The versions of Hadoop that a lab can run, the newest first."""

from __future__ import annotations

from dataclasses import dataclass

from iostrata_lab.clusters.errors import LabError


@dataclass(frozen=True)
class Version:
    """One release: what else it takes from Maven Central, and what it asks of a JVM."""

    name: str
    examples: str  # version of hadoop-mapreduce-examples: not every release has its own
    java: int  # oldest major version that its servers start on
    opens: tuple[str, ...] = ()  # packages of the JDK it breaks into, closed to it from JDK 16 on

    def options(self, jdk: int) -> str:
        """The JVM options without which it does not run on a JDK of that major version."""
        if jdk < 16:
            return ""
        return " ".join(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in self.opens)


VERSIONS = (
    Version("3.5.0", examples="3.4.2", java=17),
    # Guice before 5 calls ClassLoader#defineClass by reflection: else the ResourceManager dies.
    Version("3.4.2", examples="3.4.2", java=8, opens=("java.lang",)),
    Version("3.3.6", examples="3.3.6", java=8, opens=("java.lang",)),
)
DEFAULT = VERSIONS[0]


def version_named(name: str) -> Version:
    """The version of that name. Raises LabError if no lab runs it."""
    for version in VERSIONS:
        if version.name == name:
            return version
    known = ", ".join(version.name for version in VERSIONS)
    raise LabError(f"no lab runs Hadoop {name!r}", f"choose one of {known}")
