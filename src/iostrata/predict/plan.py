"""What a profile will take, said before it starts: points, time, space and place (S5.1)."""

from __future__ import annotations

import math
import os
import shutil
from dataclasses import dataclass

from iostrata.errors import UserError
from iostrata.predict import rbd
from iostrata.predict.hadoop import space
from iostrata.predict.spec import MeasureRules, ProfileSpec
from iostrata.text import plural, seconds, size

_SPARE = 0.05  # of the free space, which a profile leaves


@dataclass(frozen=True)
class ProfilePlan:
    """What a profile will take: s and bytes. `least` and `most` samples of all points."""

    spec: ProfileSpec
    least: int
    most: int
    space: int
    free: int

    def lines(self) -> list[str]:
        """For who has to agree to it."""
        rules = self.spec.rules
        longest = [count * rules.sample for count in (self.least, self.most)]
        within = f", {_time(rules.budget)} in all" if math.isfinite(rules.budget) else ""
        each = f"{rules.least} to {rules.most} samples each"
        return [
            f"{self.spec.name}: {plural(self.spec.count, 'point')}, {each}, "
            f"of {rules.sample:g} s at most{within}",
            f"time: {_time(longest[0])} to {_time(longest[1])} at most, less where a sample is "
            "through earlier",
            *([f"on {', '.join(self.spec.hosts.names)}"] if self.spec.hosts else []),
            f"writes {size(self.space)} into {self.spec.place}, which has "
            f"{size(self.free)} free, and deletes it at the end",
            *([f"before each sample: {rules.before}"] if rules.before else []),
        ]


def _time(of: float) -> str:
    return seconds(round(of * 1e9))


def plan(spec: ProfileSpec) -> ProfilePlan:
    """Raises UserError where it cannot be measured here: before anything has been written."""
    if spec.filesystem:
        needed, free = _space_of_hadoop(spec)
    elif spec.pool:
        needed, free = spec.space, rbd.space(spec.pool)
    else:
        needed, free = _space_of_hosts(spec) if spec.hosts else _space_of_folder(spec)
    if needed > free * (1 - _SPARE):
        raise UserError(
            f"{spec.name} needs {size(needed)}, and {spec.place} has {size(free)} free",
            "say smaller dimensions.size or fewer dimensions.clients",
        )
    rules: MeasureRules = spec.rules
    return ProfilePlan(spec, spec.count * rules.least, spec.count * rules.most, needed, free)


def _space_of_hadoop(spec: ProfileSpec) -> tuple[int, int]:
    """Bytes: what it needs, all copies of it, and what is free."""
    found = space(spec.data)
    return spec.space_of_copies(found.copies), found.free


def _space_of_hosts(spec: ProfileSpec) -> tuple[int, int]:
    """What it needs, and the least that a host has free: all may write to the same storage."""
    free = []
    for host in spec.hosts:
        if spec.mount is not None:
            host.do("mountpoint", "-q", str(spec.mount))
        said = host.do("df", "--block-size=1", "--output=avail", str(spec.folder))
        free.append(int(said.split()[-1]))
    return spec.space, min(free)


def _space_of_folder(spec: ProfileSpec) -> tuple[int, int]:
    if spec.mount is not None and not spec.mount.is_mount():
        raise UserError(f"nothing is mounted at {spec.mount}", "mount it, or say folder alone")
    folder = spec.folder
    if not folder.is_dir():
        raise UserError(f"{folder} is no folder", "make it, or name another one")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UserError(f"{folder} cannot be written to", "name another folder")
    return spec.space, shutil.disk_usage(folder).free
