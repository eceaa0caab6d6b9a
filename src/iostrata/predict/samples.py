"""Samples of a profile, kept as they are measured: a line of JSON each, and Parquet at the end."""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, variance

import msgspec

from iostrata.analyse.intervals import t_quantile
from iostrata.errors import UserError
from iostrata.predict.dimensions import DimensionValue, Point
from iostrata.predict.pressure import Circumstances
from iostrata.records import Bytes, EpochNs, Ns, Rate, Record, builtins

PROFILE, SAMPLES, TABLE = "profile.json", "samples.jsonl", "samples.parquet"


class Sample(Record, frozen=True):
    """One measurement of a point; a disturbed one does not count."""

    point: dict[str, str | int]
    start: EpochNs
    bytes: Bytes
    wall: Ns
    throughput: Rate
    disturbed: bool
    circumstances: Circumstances


class ProfileFacts(Record, frozen=True):
    """What a profile is of: the same in each session that adds to it."""

    name: str
    folder: str
    dimensions: dict[str, list[str | int]]
    sample: float
    others: float
    before: str = ""
    hosts: list[str] = []  # noqa: RUF012 - msgspec copies it


@dataclass(frozen=True)
class PointSummary:
    """The samples of a point that count. `width`: half of the 95 % interval of the mean of the
    logarithms of their throughputs; infinite of a single one.
    """

    throughputs: Sequence[float]

    @property
    def count(self) -> int:
        return len(self.throughputs)

    @property
    def log(self) -> float:
        """The mean of the logarithms."""
        return fmean(map(math.log, self.throughputs))

    @property
    def width(self) -> float:
        return half_width([math.log(each) for each in self.throughputs])


def half_width(values: Sequence[float]) -> float:
    """Half of the 95 % interval of the mean (Student's t); infinite of a single value."""
    count = len(values)
    if count < 2:
        return math.inf
    return t_quantile(count - 1) * math.sqrt(variance(values) / count)


def key(point: Mapping[str, DimensionValue]) -> str:
    """A text that equal points share."""
    return json.dumps(point, sort_keys=True)


class SampleFile:
    """The folder of a profile. A line that was cut off by a crash is left out, and written anew."""

    def __init__(self, folder: Path, facts: ProfileFacts) -> None:
        self.folder = folder
        self.facts = facts
        self.samples: list[Sample] = []
        self._counted: dict[str, list[float]] = {}  # throughputs, by point
        self._tries: Counter[str] = Counter()

    def open(self) -> None:
        """Makes the folder, or goes on in it; raises UserError where another profile is there."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            writable = os.access(self.folder, os.W_OK | os.X_OK)
        except OSError as error:
            raise UserError(f"{self.folder}: {error.strerror}", "name another --out") from None
        if not writable:
            raise UserError(f"{self.folder} cannot be written to", "name another --out")
        file = self.folder / PROFILE
        if file.exists():
            known = read_facts(self.folder)
            if known != self.facts:
                raise UserError(
                    f"{self.folder} has a profile of {_difference(known, self.facts)}",
                    "give this one another name, or delete that one",
                )
        else:
            _write(file, json.dumps(builtins(self.facts), indent=2) + "\n")
        known_samples = read_samples(self.folder)
        _write(self.folder / SAMPLES, "".join(map(_line, known_samples)))
        for sample in known_samples:
            self._learn(sample)

    def add(self, sample: Sample) -> None:
        """Is on the disk when it returns."""
        with (self.folder / SAMPLES).open("a", encoding="utf-8") as file:
            file.write(_line(sample))
            file.flush()
            os.fsync(file.fileno())
        self._learn(sample)

    def _learn(self, sample: Sample) -> None:
        self.samples.append(sample)
        of = key(sample.point)
        self._tries[of] += 1
        if not sample.disturbed:
            self._counted.setdefault(of, []).append(sample.throughput)

    def summary(self, point: Point) -> PointSummary:
        return PointSummary(self._counted.get(key(point), []))

    def tries(self, point: Point) -> int:
        """Samples, disturbed ones among them."""
        return self._tries[key(point)]

    def table(self) -> Path:
        """Writes the samples as Parquet: a column for each dimension."""
        import duckdb

        place = self.folder / TABLE
        draft = place.with_suffix(".tmp")
        source = str(self.folder / SAMPLES).replace("'", "''")
        query = (
            "SELECT point.*, * EXCLUDE (point, circumstances), circumstances.* EXCLUDE (wall) "
            f"FROM read_json_auto('{source}', format = 'newline_delimited')"
        )
        target = str(draft).replace("'", "''")
        with duckdb.connect() as sql:
            sql.execute(f"COPY ({query}) TO '{target}' (FORMAT parquet)")
        draft.rename(place)
        return place


def _difference(known: ProfileFacts, new: ProfileFacts) -> str:
    for name in known.__struct_fields__:
        before, now = getattr(known, name), getattr(new, name)
        if before != now and isinstance(before, dict):
            name, before, now = next(
                (f"{name}.{each}", before.get(each), now.get(each))
                for each in (*before, *now)
                if before.get(each) != now.get(each)
            )
        if before != now:
            return f"{name} {json.dumps(before)}, not {json.dumps(now)}"
    return "another kind"


def read_facts(folder: Path) -> ProfileFacts:
    """Raises UserError where there is no profile."""
    file = folder / PROFILE
    try:
        return msgspec.json.decode(file.read_bytes(), type=ProfileFacts)
    except OSError as error:
        raise UserError(
            f"{folder} is no profile: {error.strerror}", "make one: iostrata profile SPEC.toml"
        ) from None
    except msgspec.MsgspecError as error:
        raise UserError(f"{file}: {error}", "it is not as iostrata profile wrote it") from None


def read_samples(folder: Path) -> list[Sample]:
    """Those that were written whole; raises UserError where a line before the last is none."""
    file = folder / SAMPLES
    lines = file.read_bytes().split(b"\n") if file.exists() else []
    found: list[Sample] = []
    for number, line in enumerate(lines, 1):
        try:
            if line:
                found.append(msgspec.json.decode(line, type=Sample))
        except msgspec.MsgspecError as error:
            if number < len(lines):
                raise UserError(f"{file}:{number}: {error}", "mend or delete that line") from None
    return found


def _line(sample: Sample) -> str:
    return json.dumps(builtins(sample)) + "\n"


def _write(file: Path, text: str) -> None:
    draft = file.with_suffix(".tmp")
    draft.write_text(text, encoding="utf-8")
    draft.rename(file)
