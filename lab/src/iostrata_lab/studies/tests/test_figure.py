from __future__ import annotations

from xml.etree import ElementTree

import pytest

from iostrata_lab.studies.figure import Panel, bars, panels

SVG = "{http://www.w3.org/2000/svg}"


def test_bars_are_as_long_as_their_values_and_alike_in_color() -> None:
    groups = [("one", [("fs.connect", 4.0), ("hdfs.close", 1.0)]), ("two", [("fs.connect", 2.0)])]
    root = ElementTree.fromstring(bars("a & b", "s", groups))
    _, *drawn = root.findall(f"{SVG}rect")
    widths = [float(bar.attrib["width"]) for bar in drawn]
    assert [width / widths[1] for width in widths] == pytest.approx([4, 1, 2], rel=1e-3)
    colors = [bar.attrib["fill"] for bar in drawn]
    assert colors[0] == colors[2] != colors[1]
    assert root.findtext(f"{SVG}title") == "a & b"
    texts = [text.text for text in root.findall(f"{SVG}text")]
    assert texts == ["a & b", "one", "fs.connect", "4 s", "hdfs.close", "1 s", "two",
                     "fs.connect", "2 s"]  # fmt: skip


def points(root: ElementTree.Element) -> list[list[tuple[float, float]]]:
    """Of each line that is no line of the grid."""
    lines = [line for line in root.findall(f"{SVG}polyline") if line.attrib["stroke"] != "#ddd"]
    return [
        [
            (float(x), float(y))
            for x, y in (pair.split(",") for pair in line.attrib["points"].split())
        ]
        for line in lines
    ]


def test_a_logarithmic_panel_has_the_same_way_for_the_same_factor() -> None:
    panel = Panel("s", "α", {"mean": [(0.01, 0.1), (0.1, 1.0), (1.0, 10.0)]}, log=True)
    ((first, second, third),) = points(ElementTree.fromstring(panels("delay", [panel])))
    assert second[0] - first[0] == pytest.approx(third[0] - second[0], abs=0.2)
    assert first[1] - second[1] == pytest.approx(second[1] - third[1], abs=0.2)
    assert first[1] > third[1]  # up is more


def test_a_logarithmic_panel_leaves_out_what_has_no_logarithm() -> None:
    panel = Panel("s", "α", {"mean": [(0.01, 0.0), (0.1, 1.0)], "none": [(0.1, 0.0)]}, log=True)
    drawn = points(ElementTree.fromstring(panels("delay", [panel])))
    assert [len(line) for line in drawn] == [1, 0]


def test_nothing_is_a_figure_too() -> None:
    empty = ElementTree.fromstring(bars("t", "s", []))
    assert [text.text for text in empty.findall(f"{SVG}text")] == ["t"]
    assert len(empty.findall(f"{SVG}rect")) == 1  # the ground
    root = ElementTree.fromstring(panels("t", [Panel("p", "x", {}), Panel("q", "x", {"a": []})]))
    assert points(root) == [[]]
    axes = ["0", "0.5", "1", "0", "0.5", "1", "x"]
    assert [text.text for text in root.findall(f"{SVG}text")] == ["t", "p", *axes, "q", *axes]
