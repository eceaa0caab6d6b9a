"""What a mix comes to: records, as JSON has them."""

from __future__ import annotations

from iostrata.records import Bytes, Count, Ns, Record, Share
from iostrata_lab.mix.counters import Kind, MovedSeries
from iostrata_lab.mix.figures import Ratio


class MixedProgram(Record, frozen=True):
    """A program on a lab. Times in s are those of its first repetition in each trial, `alone` and
    `together` in the order of the repeats; `overlap` with all others is the least of all trials.

    `again` is the mean of its other repetitions, null where there are none: if that is far below
    `alone`, they found what they read in a cache, and were less of a load for the others.
    `data_local`: part of the maps of its jobs that ran on a node with their input; null where it
    has none. Of trials in which it is alone: bytes that went through networks of nodes (both ends
    count), and that tasks wrote to and read from local files for their own use, spilled or
    shuffled; the latter none of trials that are not recorded.
    """

    name: str
    command: str
    alone: list[float]
    together: list[float]
    slowdown: Ratio
    overlap: Share
    repetitions: list[Count]  # of each trial with the others
    again: float | None
    data_local_alone: Share | None
    data_local_together: Share | None
    network_alone: list[Bytes] = []  # noqa: RUF012 - msgspec copies it
    temporary_alone: list[Bytes] = []  # noqa: RUF012


class SharedResource(Record, frozen=True):
    """How far a resource was in use, the mean of the repeats, by each program alone and by all of
    them; see counters.Use.
    """

    kind: Kind
    name: str
    alone: dict[str, Share | None]
    together: Share | None

    @property
    def demand(self) -> float:
        """What all of them would use together if nobody waited."""
        return sum(share or 0.0 for share in self.alone.values())


class GrownOperation(Record, frozen=True):
    """Time of an operation of all threads, the mean of the repeats: in the first repetition of a
    program, alone and together. In servers (program '') `together` is that of a whole trial, and
    `alone` what as many calls take where the programs are alone.
    """

    program: str
    role: str
    layer: str
    op: str
    alone: Ns
    together: Ns

    @property
    def grown(self) -> int:
        return self.together - self.alone


class MixOnLab(Record, frozen=True):
    """Programs `together` (`AB`) on a lab, '' for none.

    `in_turn`: time of all together, beside that of the same work one after the other. `collision`:
    the resource that they collide in, if one of those that were measured is used up; `layers`: by
    program the operation that grows most, the deepest one of those that explain it. `series`: what
    servers moved in the last trial together. `runs`: those recorded of all together.
    """

    lab: str
    together: str
    programs: list[MixedProgram]
    in_turn: Ratio
    resources: list[SharedResource]
    collision: SharedResource | None
    operations: list[GrownOperation]
    layers: dict[str, GrownOperation]
    series: list[MovedSeries]
    runs: list[str]


class TracingCost(Record, frozen=True):
    """What a recording costs a program on a lab, alone (`together` is its own name) or together.

    s of its first repetition, `bare` and `recorded`, and their quotient; likewise CPU s of the
    whole machine of trials in which it is alone, the collector's included. `bytes_per_call`: of
    the trace in the store, calls of all processes of the run.
    """

    lab: str
    together: str
    program: str
    bare: list[float]
    recorded: list[float]
    time: Ratio
    cpu_bare: list[float]
    cpu_recorded: list[float]
    cpu: Ratio | None
    bytes_per_call: float


class MixDocument(Record, frozen=True):
    """A mix. `dropped`: caches, before every trial; `incomplete`: what runs do not have."""

    name: str
    commands: dict[str, str]
    setup: str
    prepare: str
    repeats: Count
    trials: Count
    seed: Count
    recorded: bool
    budget: str
    dropped: bool
    labs: list[MixOnLab]
    incomplete: list[str]
    costs: list[TracingCost] = []  # noqa: RUF012 - msgspec copies it
