"""A codec for what maps leave to reduces, in place of none."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from iostrata.errors import UserError
from iostrata.replay.alternative import Alternative, positive_number
from iostrata.replay.jobs import (
    SHUFFLE,
    START,
    AttemptPart,
    JobAttempt,
    RecordedJobs,
)

COMPRESS = "mapreduce.map.output.compress"


@dataclass(frozen=True)
class Codec:
    """How many times smaller mixed files become, and bytes a second of one core that it takes and
    that it gives back.
    """

    ratio: float
    compresses: float
    expands: float


# As zstd's README lists them for one core, at half of these speeds: Hadoop copies from buffer to
# buffer on both sides of a codec.
CODECS = {
    "lz4": Codec(2.1, 330e6, 2200e6),
    "snappy": Codec(2.1, 260e6, 780e6),
    "zstd": Codec(2.9, 250e6, 780e6),
    "gzip": Codec(2.7, 50e6, 200e6),
}


def codec(text: str) -> Alternative:
    """`lz4`, or `lz4=1.8` where it makes this job's output so many times smaller; raises
    UserError.
    """
    name, equals, given = text.partition("=")
    if name not in CODECS:
        raise UserError(f"--codec {text!r} is none that is known", f"say {', '.join(CODECS)}")
    known = CODECS[name]
    ratio = positive_number(given, f"--codec {name}", "2.1", 1.0) if equals else known.ratio
    found = Codec(ratio, known.compresses, known.expands)

    def apply(recorded: RecordedJobs) -> RecordedJobs:
        shuffled = [job for job in recorded.jobs if any(_is_reduce(one) for one in job.attempts)]
        if not shuffled:
            raise UserError("the run has no reduces", "there is no map output to compress")
        for job in shuffled:
            if recorded.settings.get(job.name, {}).get(COMPRESS) == "true":
                raise UserError(
                    f"job {job.name} compresses its map output", "another codec is not replayed"
                )
        names = {job.name for job in shuffled}
        return recorded.with_attempts(
            lambda job, one: _compressed(one, found) if job.name in names else one
        )

    own = "" if equals else ", as of mixed files"
    return Alternative(
        f"map output compressed by {name}",
        f"{name} makes it {ratio:g} times smaller{own}, at {found.compresses / 1e6:.0f} MB/s of a "
        "core",
        apply,
    )


def _is_reduce(one: JobAttempt) -> bool:
    return one.role == "reduce"


def _compressed(one: JobAttempt, how: Codec) -> JobAttempt:
    part_of = _part_of_reduce if _is_reduce(one) else _part_of_map
    return msgspec.structs.replace(one, parts=tuple(part_of(part, how) for part in one.parts))


def _part_of_map(part: AttemptPart, how: Codec) -> AttemptPart:
    """All that a map leaves to its own disk is its output."""
    if part.name == START:
        return part
    more = part.dirtied / how.compresses
    return msgspec.structs.replace(part, dirtied=part.dirtied / how.ratio, cpu=part.cpu + more)


def _part_of_reduce(part: AttemptPart, how: Codec) -> AttemptPart:
    """What it fetches, and what it merges on its disk before it reduces: that is compressed again
    (MergeManagerImpl), and expanded where it is read.
    """
    fetches = part.gathers or part.name == SHUFFLE
    if not fetches:
        return part
    more = (sum(part.came.values()) + part.dirtied) / how.expands + part.dirtied / how.compresses
    return msgspec.structs.replace(
        part,
        dirtied=part.dirtied / how.ratio,
        read={host: amount / how.ratio for host, amount in part.read.items()},
        came={host: amount / how.ratio for host, amount in part.came.items()},
        cpu=part.cpu + more,
    )
