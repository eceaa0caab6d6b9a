"""Methods as a live JVM has them, read by the serviceability agent of its own JDK."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

from iostrata.schema.points import POINTS

TOOL = "jdk.hotspot.agent/sun.jvm.hotspot.tools.jcore.ClassDump"
PROPERTY = "sun.jvm.hotspot.tools.jcore"
DECLARATION = re.compile(r"  (\S.*);")
# Places in the constant pool: a class that was retransformed has its own.
PLACES = re.compile(r"#\d+(?:, *(?:\d+|#\d+))?(?::\d*)?")

INSTRUCTION = re.compile(r"^ +(\d+): (?=[a-z])(?!default: )")
TABLE = re.compile(r"^ +(?:\d+ +\d+ +\d+ |-?\d+: \d+$|default: \d+$)")  # exceptions, switches

# (class, declaration, descriptor) -> code with names, without offsets
Methods = dict[tuple[str, str, str], str]


def methods(home: Path, pid: int, out: Path, packages: Iterable[str]) -> Methods:
    """The methods of the classes in these packages that have points and are loaded."""
    subprocess.run(
        [
            str(home / "bin/java"), f"-D{PROPERTY}.outputDir={out}",
            f"-D{PROPERTY}.PackageNameFilter.pkgList={','.join(packages)}",
            "-m", TOOL, str(pid),
        ],
        check=True, capture_output=True, timeout=180,
    )  # fmt: skip
    names = sorted({point.cls for point in POINTS})
    files = {cls: out / f"{cls.replace('.', '/')}.class" for cls in names}
    return _disassembled(home, {cls: file for cls, file in files.items() if file.exists()})


def _disassembled(home: Path, files: dict[str, Path]) -> Methods:
    """All at once: a JVM for each file takes half a second."""
    javap = [str(home / "bin/javap"), "-c", "-p", "-s"]
    done = subprocess.run(
        [*javap, *map(str, files.values())], check=False, capture_output=True, text=True
    )
    if done.returncode == 0:
        texts = done.stdout.split("\n}\n")[:-1]  # members are indented
        found: Methods = {}
        for cls, text in zip(files, texts, strict=True):
            found |= _methods(cls, text)
        return found
    if len(files) > 1:
        halves = list(files.items())
        middle = len(halves) // 2
        return _disassembled(home, dict(halves[:middle])) | _disassembled(
            home, dict(halves[middle:])
        )
    # The tool breaks off at a class that is loaded and was never linked.
    print(f"{next(iter(files))} was not dumped: {done.stderr.strip()}")
    return {}


def _methods(cls: str, text: str) -> Methods:
    lines: dict[tuple[str, str, str], list[str]] = {}
    declaration = descriptor = ""
    for line in text.splitlines():
        if match := DECLARATION.fullmatch(line):
            declaration, descriptor = match[1], ""
        elif line.startswith("    descriptor: ") and not descriptor:
            descriptor = line.removeprefix("    descriptor: ")
        elif descriptor and "(" in descriptor and line.strip():
            lines.setdefault((cls, declaration, descriptor), []).append(line)
    return {key: _comparable(code) for key, code in lines.items()}


def _comparable(code: list[str]) -> str:
    """The code without offsets: the JVM gives constants other places, some of them far ones."""
    offsets = [match[1] for line in code if (match := INSTRUCTION.match(line))]
    order = {offset: f"@{place}" for place, offset in enumerate(offsets)}

    def place(match: re.Match[str]) -> str:
        return order.get(match[0], "@end")

    text = []
    for line in code:
        body = INSTRUCTION.sub("", line)
        if re.match(r"(if\w*|goto\w*|jsr\w*) ", body) or TABLE.match(line):
            body = re.sub(r"\b\d+\b(?!:)", place, body)
        body = re.sub(r"\b(ldc|goto|jsr)_w\b", r"\1", PLACES.sub("#", body))
        # The tool names what a call site is made by only before it was linked.
        body = re.sub(r"^invokedynamic .*", "invokedynamic", body)
        text.append(" ".join(body.split()))
    return "\n".join(text)


def with_point(key: tuple[str, str, str]) -> bool:
    """Whether a method is that of a point."""
    cls, declaration, descriptor = key
    for point in POINTS:
        name = cls if point.method == "<init>" else point.method
        named = re.search(rf"(?:^|[ ]){re.escape(name)}\(", declaration)
        if point.cls == cls and named and point.desc == descriptor:
            return True
    return False
