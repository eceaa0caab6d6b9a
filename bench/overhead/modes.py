"""The ways of recording that are measured, each with the cost that it promises to stay below."""

from __future__ import annotations

from dataclasses import dataclass

from bench.measure.cluster import options_missing


@dataclass(frozen=True)
class Mode:
    """Options of `iostrata record`, and the bar as a share of the cluster's CPU."""

    name: str
    options: tuple[str, ...]
    bar: float

    @property
    def missing(self) -> list[str]:
        """Options that this build does not have."""
        return options_missing(self.options)

    @property
    def present(self) -> tuple[str, ...]:
        """The options, as far as this build has them; each is followed by its value."""
        gone = self.missing
        pairs = zip(self.options[::2], self.options[1::2], strict=True)
        return tuple(word for pair in pairs if pair[0] not in gone for word in pair)

    @property
    def problems(self) -> list[str]:
        """Why what is measured is not what the mode promises."""
        return [f"this build has no {', '.join(self.missing)}"] if self.missing else []


# The default is spelled out, so that a build without a budget is not taken for one with it.
DEFAULT = Mode("default", ("--budget", "1%"), 0.01)
RECORD = Mode("record", ("--level", "record", "--budget", "off"), 0.03)
MODES = (DEFAULT, RECORD)


def level(name: str) -> Mode:
    """One of the coarser levels, with its detail whole."""
    return Mode(f"level-{name}", ("--level", name, "--budget", "off"), 0.03)


LEVELS = tuple(level(name) for name in ("thread", "phase", "task", "job"))
ALL = {mode.name: mode for mode in (*MODES, *LEVELS)}
