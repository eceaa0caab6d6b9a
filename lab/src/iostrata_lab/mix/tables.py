"""Tables and figure of studies of programs at the same time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from iostrata_lab.mix.figures import Ratio
from iostrata_lab.mix.page import ratio_cells, verdict
from iostrata_lab.mix.result import MixDocument, MixedProgram, MixOnLab
from iostrata_lab.studies.figure import Group, bars
from iostrata_lab.studies.interface import ClaimVerdict, Table

_MB = 1e6


@dataclass(frozen=True)
class Pictured:
    """A mix whose programs have names (`called`) and move so many bytes (`sizes`)."""

    found: MixDocument
    called: Mapping[str, str]
    sizes: Mapping[str, float]

    def tables(self) -> list[Table]:
        return [
            Table("Bandwidth: bytes of a program over its time", *self._bandwidths(), names=3),
            Table("Together against the same work one after the other", *self._in_turn(), names=2),
            Table("What they collide in", ["on", "together", "verdict"], self._verdicts(), names=3),
        ]

    def figure(self) -> str:
        groups = [self._group(one) for one in self.found.labs]
        return bars("Bandwidth alone and together", "MB/s", groups)

    def together(self, one: MixOnLab) -> str:
        return " and ".join(self.called[name] for name in one.together)

    def beside(self, one: MixOnLab, program: str) -> str:
        return " and ".join(self.called[name] for name in one.together if name != program)

    def _bandwidths(self) -> tuple[list[str], list[list[str]]]:
        rows = []
        for one in self.found.labs:
            for each in one.programs:
                size = self.sizes[each.name]
                alone, beside = (mean(times, size) for times in (each.alone, each.together))
                numbers = [f"{alone:.1f}", f"{beside:.1f}", *ratio_cells(each.slowdown)]
                locality = ["" if share is None else f"{share:.0%}" for share in local(each)]
                names = [one.lab, self.called[each.name], self.beside(one, each.name)]
                rows.append([*names, *numbers, *locality])
        columns = ["on", "program", "beside", "alone, MB/s", "together, MB/s", "slowdown", "95 %"]
        return [*columns, "data-local alone", "data-local together"], rows

    def _in_turn(self) -> tuple[list[str], list[list[str]]]:
        rows = [[one.lab, self.together(one), *ratio_cells(one.in_turn)] for one in self.found.labs]
        return ["on", "together", "of the time", "95 %"], rows

    def _verdicts(self) -> list[list[str]]:
        """The programs by their names: a verdict has their letters."""
        letters = [f"{letter}: {self.called[letter]}" for letter in self.called]
        rows = [[one.lab, self.together(one), " ".join(verdict(one))] for one in self.found.labs]
        return [*rows, ["", "", ", ".join(letters)]]

    def _group(self, one: MixOnLab) -> Group:
        return (
            f"{self.together(one)} on {one.lab}",
            [
                (f"{self.called[each.name]} {how}", mean(times, self.sizes[each.name]))
                for each in one.programs
                for how, times in (("alone", each.alone), ("together", each.together))
            ],
        )


def by_lab(found: MixDocument) -> dict[str, dict[str, MixedProgram]]:
    """The programs of each lab by name, of whichever trials together."""
    labs: dict[str, dict[str, MixedProgram]] = {}
    for one in found.labs:
        programs = labs.setdefault(one.lab, {})
        for each in one.programs:
            programs.setdefault(each.name, each)
    return labs


def beyond_chance(found: Ratio) -> ClaimVerdict:
    """Of a claim that a ratio is above 1; what chance alone could have made has no verdict."""
    verdicts = {1: ClaimVerdict.agrees, 0: ClaimVerdict.unknown, -1: ClaimVerdict.differs}
    return verdicts[found.says]


def mean(times: Sequence[float], size: float) -> float:
    """MB/s: the mean of the bandwidths of the repeats, as in the paper."""
    return sum(size / time for time in times) / len(times) / _MB


def local(of: MixedProgram) -> tuple[float | None, float | None]:
    """Part of its maps that were data-local, alone and together."""
    return of.data_local_alone, of.data_local_together
