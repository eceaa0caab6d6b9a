"""One trial: its folders, caches that are dropped, its programs, and what was counted meanwhile."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from iostrata.errors import UserError
from iostrata.record.command import CommandEnd, Signals
from iostrata.records import Record
from iostrata_lab.clusters.mounted import VARIABLE
from iostrata_lab.mix.counters import Kind, MovedSeries, Resource, ResourceWatch, Use
from iostrata_lab.mix.schedule import Trial
from iostrata_lab.mix.together import Repetition, Side, Together

DROP = Path("/proc/sys/vm/drop_caches")
# That have bytes over time.
_SERVERS: tuple[Kind, ...] = ("server disk", "server network", "machine disk")
_LAST = 400  # characters of a log that are shown


class TrialOutcome(Record, frozen=True):
    """What a trial came to: s, each program's repetitions, how far resources were in use; the name
    of the run that was recorded of it, '' where none was; `dropped` caches before it; CPU s of the
    whole machine, until what was recorded is published.
    """

    key: str
    seconds: float
    sides: dict[str, list[Repetition]]
    uses: list[Use]
    series: list[MovedSeries]
    run: str
    dropped: bool
    cpu: float = 0.0


@dataclass(frozen=True)
class Folders:
    """Where programs of a mix read and write. `files`: a folder that only it has, of which Hadoop
    says `path` if it sees one.
    """

    files: Path
    path: str

    @classmethod
    def on(cls, environment: Mapping[str, str], name: str) -> Folders:
        """In the mount of a lab, else where we are; of HDFS in its /tmp."""
        mount = environment.get(VARIABLE)
        return cls(Path(mount or Path.cwd()) / name, f"/{name}" if mount else f"/tmp/{name}")

    def shared(self) -> dict[str, str]:
        """Variables of what is the same in all trials."""
        return {"MIX_SHARED": f"{self.files}/shared", "HADOOP_MIX_SHARED": f"{self.path}/shared"}

    def own(self, key: str, name: str, number: int) -> dict[str, str]:
        """Those of a repetition: its folder of files is there, that of Hadoop maybe not."""
        own = f"{key}-{name}-{number}"
        try:
            (self.files / own).mkdir()
        except OSError as error:
            raise UserError(f"{self.files / own}: {error.strerror}", exit_code=1) from error
        found = {"MIX_OWN": f"{self.files}/{own}", "HADOOP_MIX_OWN": f"{self.path}/{own}"}
        return {**self.shared(), **found, "MIX_REPETITION": str(number)}


@dataclass(frozen=True)
class MixPrograms:
    """What a mix runs: commands of a shell by name, and one before each trial, '' for none."""

    commands: Mapping[str, str]
    prepare: str = ""


@dataclass
class RunningTrial:
    """A trial on a lab, to be run in the `environment` of its recording or in that of the lab."""

    trial: Trial
    programs: MixPrograms
    folders: Folders
    logs: Path
    resources: Sequence[Resource]

    def run(self, environment: Mapping[str, str], go_on: Callable[[], bool]) -> TrialOutcome:
        """Ends its programs where one fails, or `go_on` says false."""
        sides = [self._side(name) for name in self.trial.programs]
        watch = ResourceWatch(self.resources)

        def tick() -> bool:
            watch.look()
            return go_on()

        watch.look(at_once=True)
        seconds = Together(sides, environment).run(tick)
        watch.look(at_once=True)
        found = {side.name: side.repetitions for side in sides}
        return TrialOutcome(
            self.trial.key, round(seconds, 4), found, watch.uses(), watch.series(_SERVERS), "",
            dropped=False,
        )  # fmt: skip

    def act(self, environment: Mapping[str, str], signals: Signals, keep: list[TrialOutcome],
            tick: Callable[[], None] | None) -> CommandEnd:  # fmt: skip
        """The same as what a recorder does in place of a command; the outcome goes to `keep`."""

        def go_on() -> bool:
            if tick:
                tick()
            return not signals.received

        try:
            outcome = self.run(environment, go_on)
        except UserError as error:
            return CommandEnd(1, bool(signals.received), error.message)
        keep.append(outcome)
        codes = [one.code for each in outcome.sides.values() for one in each if one.code]
        return CommandEnd(max(map(abs, codes), default=0), bool(signals.received))

    def _side(self, name: str) -> Side:
        def own(number: int) -> dict[str, str]:
            return self.folders.own(self.trial.key, name, number)

        return Side(name, self.programs.commands[name], self.log(name), own)

    def log(self, name: str) -> Path:
        """All that a program said in this trial."""
        return self.logs / f"{self.trial.key}-{name}.log"

    def check(self, outcome: TrialOutcome) -> None:
        """Raises UserError where a program failed: by itself, not since another one did."""
        for name, repetitions in outcome.sides.items():
            for one in repetitions:
                if one.code and not one.was_ended:
                    raise UserError(
                        f"{name} failed with {one.code} in {self.trial.key}: "
                        f"{last_words(self.log(name))}",
                        f"all it said: {self.log(name)}",
                        exit_code=1,
                    )
            if not repetitions or repetitions[0].was_ended:
                raise UserError(
                    f"{name} was ended in {self.trial.key} before it was done",
                    f"all it said: {self.log(name)}",
                    exit_code=1,
                )


def drop_caches() -> bool:
    """Writes back what is dirty and forgets what is clean; false where that is not allowed."""
    os.sync()
    with suppress(OSError):
        DROP.write_text("3\n")
        return True
    return False


def shell(command: str, environment: Mapping[str, str], log: Path, what: str) -> None:
    """Runs a command; raises UserError where it fails."""
    with log.open("ab") as said:
        done = subprocess.run(
            ["sh", "-c", command],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            check=False,
        )
    if done.returncode:
        raise UserError(
            f"{what} failed with {done.returncode}: {last_words(log)}", f"all it said: {log}"
        )


def last_words(log: Path) -> str:
    """The last line of a log."""
    with suppress(OSError):
        lines = log.read_text("utf-8", "replace").strip().splitlines()
        return lines[-1][:_LAST] if lines else "it said nothing"
    return "it said nothing"
