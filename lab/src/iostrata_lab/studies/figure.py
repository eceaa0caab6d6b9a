"""Figures as SVG: bars in groups, and panels of lines. Plain text, readable without a script."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

# Okabe and Ito: told apart by color-blind people, too
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
WIDTH, LEFT, RIGHT, TEXT = 760, 64, 24, 12
PANEL, BAR, GAP, HEAD = 190, 15, 12, 40
LABELS = 250  # of bars
_TICKS = 4

Group = tuple[str, Sequence[tuple[str, float]]]


@dataclass(frozen=True)
class Panel:
    """Lines over one x axis; points are (x, y). With `log`, both axes are logarithmic, and x has a
    tick at each of its values.
    """

    title: str
    x: str
    lines: Mapping[str, Sequence[tuple[float, float]]]
    log: bool = False
    filled: bool = False


def bars(title: str, unit: str, groups: Sequence[Group]) -> str:
    """Horizontal bars, each with its value behind it; a function has one color everywhere."""
    names = dict.fromkeys(name for _, rows in groups for name, _ in rows)
    colors = {name: COLORS[place % len(COLORS)] for place, name in enumerate(names)}
    most = max((value for _, rows in groups for _, value in rows), default=0.0) or 1.0
    room = WIDTH - LABELS - 90
    parts, y = [], HEAD
    for group, rows in groups:
        parts.append(_text(RIGHT, y + 12, group, weight="bold"))
        for name, value in rows:
            width = max(1.0, room * value / most)
            y += BAR + 2
            parts.append(_text(LABELS - 6, y + 12, name, "end"))
            parts.append(_rect(LABELS, y, width, BAR, colors[name]))
            parts.append(_text(LABELS + width + 5, y + 12, f"{_number(value)} {unit}"))
        y += BAR + GAP
    return _svg(title, y + GAP, parts)


def panels(title: str, shown: Sequence[Panel]) -> str:
    """Panels one below the other."""
    parts: list[str] = []
    for place, panel in enumerate(shown):
        parts += _panel(panel, HEAD + place * (PANEL + 4 * BAR))
    return _svg(title, HEAD + len(shown) * (PANEL + 4 * BAR), parts)


@dataclass(frozen=True)
class _Scale:
    """From values to pixels."""

    low: float
    high: float
    begin: float
    end: float
    log: bool

    def at(self, value: float) -> float:
        low, high, given = self.low, self.high, value
        if self.log:
            low, high, given = math.log10(low), math.log10(high), math.log10(max(value, low))
        return self.begin + (self.end - self.begin) * (given - low) / ((high - low) or 1.0)

    def ticks(self) -> list[float]:
        """Powers of ten, or multiples of 1, 2 or 5 of one."""
        if self.log:
            powers = range(math.ceil(math.log10(self.low)), math.floor(math.log10(self.high)) + 1)
            return [10.0**power for power in powers]
        step = _step(self.high - self.low)
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        return [step * number for number in range(first, last + 1)]


def _step(length: float) -> float:
    """Between ticks, so that there are five at the most."""
    power = 10.0 ** math.floor(math.log10(length / _TICKS))
    return next(power * times for times in (1, 2, 5, 10) if power * times * _TICKS >= length)


def _panel(panel: Panel, top: float) -> list[str]:
    points = [point for line in panel.lines.values() for point in line]
    if panel.log:
        points = [(x, y) for x, y in points if x > 0 and y > 0]
    across = _scale([x for x, _ in points], LEFT, WIDTH - RIGHT, panel.log)
    up = _scale([y for _, y in points], top + PANEL, top + 22, panel.log, zero=True)
    parts = [_text(LEFT, top + 10, panel.title, weight="bold")]
    for value in up.ticks():
        y = up.at(value)
        parts.append(_line([(LEFT, y), (WIDTH - RIGHT, y)], "#ddd", 1))
        parts.append(_text(LEFT - 5, y + 4, _number(value), "end"))
    parts += [
        _text(across.at(value), top + PANEL + 15, _number(value), "middle")
        for value in (sorted({x for x, _ in points}) if panel.log else across.ticks())
    ]
    parts.append(_text(WIDTH - RIGHT, top + PANEL + 31, panel.x, "end"))
    legend = LEFT
    for place, (name, line) in enumerate(panel.lines.items()):
        color = COLORS[place % len(COLORS)]
        drawn = [(across.at(x), up.at(y)) for x, y in line if not panel.log or (x > 0 and y > 0)]
        if panel.filled and drawn:
            ground = [(drawn[0][0], up.at(0)), *drawn, (drawn[-1][0], up.at(0))]
            parts.append(f'<polygon points="{_points(ground)}" fill="{color}" opacity="0.25"/>')
        parts.append(_line(drawn, color, 2))
        if panel.log:
            parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>' for x, y in drawn]
        if len(panel.lines) > 1:
            parts.append(_rect(legend, top + PANEL + 23, 10, 10, color))
            parts.append(_text(legend + 14, top + PANEL + 32, name))
            legend += 30 + 7 * len(name)
    return parts


def _scale(
    values: Sequence[float], begin: float, end: float, log: bool, zero: bool = False
) -> _Scale:
    low, high = min(values, default=0.0), max(values, default=1.0)
    if log:  # whole decades on the y axis, so that it has ticks
        low, high = low or 1.0, high or 1.0
        if zero:
            low, high = 10 ** math.floor(math.log10(low)), 10 ** math.ceil(math.log10(high))
    elif zero:
        low, step = 0.0, _step(high or 1.0)
        high = step * math.ceil((high or 1.0) / step)
    return _Scale(low, high if high > low else low * 10 if log else low + 1, begin, end, log)


def _number(value: float) -> str:
    if value == 0 or 0.01 <= abs(value) < 1000:
        return f"{value:.3g}"
    exponent = math.floor(math.log10(abs(value)))
    return f"{value:,.0f}".replace(",", " ") if 0 <= exponent < 6 else f"{value:.2g}"


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _line(points: Sequence[tuple[float, float]], color: str, width: int) -> str:
    of = f'fill="none" stroke="{color}" stroke-width="{width}"'
    return f'<polyline points="{_points(points)}" {of}/>'


def _rect(x: float, y: float, width: float, height: float, color: str) -> str:
    size = f'width="{width:.1f}" height="{height:.1f}"'
    return f'<rect x="{x:.1f}" y="{y:.1f}" {size} fill="{color}"/>'


def _text(x: float, y: float, text: str, anchor: str = "start", weight: str = "normal") -> str:
    of = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}"'
    return f"<text {of}>{escape(text)}</text>"


def _svg(title: str, height: float, parts: Sequence[str]) -> str:
    box = f'viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" height="{height:.0f}"'
    font = f'font-family="sans-serif" font-size="{TEXT}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {box} {font} role="img">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{height:.0f}" fill="white"/>',
        _text(RIGHT, 20, title, weight="bold"),
        *parts,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"
