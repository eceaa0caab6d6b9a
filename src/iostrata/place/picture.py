"""Rates of a disk by address, and its zones, as a picture (Fig. 11 of S3): SVG."""

from __future__ import annotations

from xml.sax.saxutils import escape

from iostrata.place.zones import ZoneMap, megabytes
from iostrata.text import size

_WIDTH, _HEIGHT, _LEFT, _TOP, _RIGHT, _BELOW = 720, 360, 64, 40, 24, 48
_FONT = 'font-family="sans-serif" font-size="11"'
_TICKS = 4


def svg(found: ZoneMap) -> str:
    """A dot for each place and pass, a line for each zone; rates in MB/s from 0."""
    most = max(max(one.rates) for one in found.places) * 1.05

    def x(place: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * place / found.size

    def y(rate: float) -> float:
        return _HEIGHT - _BELOW - (_HEIGHT - _TOP - _BELOW) * rate / most

    title = escape(f"sequential reads of {found.disk} by address, MB/s")
    ticks = [most * number / _TICKS for number in range(_TICKS + 1)]
    places = [found.size * number / _TICKS for number in range(_TICKS + 1)]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'width="{_WIDTH}" height="{_HEIGHT}" role="img">',
        f"<title>{title}</title>",
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{_LEFT}" y="20" {_FONT}>{title}</text>',
        *(
            f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y(rate):.1f}" y2="{y(rate):.1f}" '
            f'stroke="#ddd"/><text x="{_LEFT - 6}" y="{y(rate) + 4:.1f}" text-anchor="end" {_FONT}>'
            f"{megabytes(rate)}</text>"
            for rate in ticks
        ),
        *(
            f'<text x="{x(place):.1f}" y="{_HEIGHT - _BELOW + 18}" text-anchor="middle" {_FONT}>'
            f"{size(round(place))}</text>"
            for place in places
        ),
        *(
            f'<circle cx="{x(one.place + found.each / 2):.1f}" cy="{y(rate):.1f}" r="2" '
            'fill="#4878a8" fill-opacity="0.5"/>'
            for one in found.places
            for rate in one.rates
        ),
        *(
            f'<line x1="{x(zone.begin):.1f}" x2="{x(zone.end):.1f}" y1="{y(zone.rate):.1f}" '
            f'y2="{y(zone.rate):.1f}" stroke="#c44" stroke-width="2"/>'
            for zone in found.zones
        ),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"
