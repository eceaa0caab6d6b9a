"""Makes what is handed out: wheels, and tarballs for nodes without a new Python.

    python scripts/dist.py                 for all of SYSTEMS, linked by Zig
    python scripts/dist.py --only TARGET   for one of them; may be repeated
    python scripts/dist.py --here          against this machine's glibc: what the tests install
    python scripts/dist.py --to FOLDER     another folder than dist/

For each system there is a wheel of iostrata and a tarball with the same binary, the same loader of
the agent and the same jars. The wheel of iostrata-lab, one for all, holds the jar of jobs that
workloads run on clusters. Run by `make dist`, which builds the jars first.
"""

from __future__ import annotations

import argparse
import gzip
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NODE = ROOT / "scripts" / "node"
JOBS = ROOT / "java/jobs/target/iostrata-jobs.jar"
AGENT = ROOT / "java/agent/target/iostrata-agent.jar"
TFS = ROOT / "java/tfs/target/iostrata-tfs.jar"
LOAD = ROOT / "java/load/target/iostrata-load.jar"
LOADER = "libiostrata_loader.so"
NATIVES = ("iostrata-native", LOADER, "libiostrata_preload.so")
# The oldest that Rust's standard library runs on; CentOS 7 has it.
GLIBC = (2, 17)
MUSL = (1, 2)
# Of an ELF file: where it names its processor, and how.
E_MACHINE = 18
PROCESSORS = {"x86_64": 62, "aarch64": 183}
JAVA_NAMES = {"x86_64": "amd64", "aarch64": "aarch64"}
TOOLS = ROOT / ".venv-dist"  # cargo-zigbuild and Zig, 100 MB: for this script only
# Where the version stands; Python's is that of both wheels.
VERSIONS = {
    "src/iostrata/version.py": r'__version__ = "(.*)"',
    "Cargo.toml": r'version = "(.*)"',
    "java/pom.xml": r"<version>(.*)</version>",
    "report/package.json": r'"version": "(.*)"',
}
NEEDS = re.compile(rb"\0GLIBC_(\d+)\.(\d+)(?:\.\d+)?(?=\0)")  # versions named by .gnu.version_r


class DistError(Exception):
    """What cannot be made and the way out, one line."""


@dataclass(frozen=True)
class System:
    """A processor and a C library; `glibc`: the oldest that it may need, None: it has musl."""

    processor: str
    glibc: tuple[int, int] | None = GLIBC

    @property
    def target(self) -> str:
        """As Rust names it."""
        return f"{self.processor}-unknown-linux-{'gnu' if self.glibc else 'musl'}"

    @property
    def wheel_tag(self) -> str:
        kind, (major, minor) = ("many", self.glibc) if self.glibc else ("musl", MUSL)
        return f"{kind}linux_{major}_{minor}_{self.processor}"

    @property
    def tarball(self) -> str:
        return f"iostrata-node-{self.processor}{'' if self.glibc else '-musl'}.tar.gz"

    def check(self, name: str, binary: bytes) -> None:
        """Raises DistError when an ELF binary would not run on this system."""
        processor = int.from_bytes(binary[E_MACHINE : E_MACHINE + 2], "little")
        if processor != PROCESSORS[self.processor]:
            raise DistError(f"{name} is for processor {processor}, not {self.processor}")
        needed = needed_glibc(binary)
        if self.glibc is None and needed:
            raise DistError(f"{name} needs a glibc, and shall run on musl")
        if self.glibc and (needed is None or needed > self.glibc):
            raise DistError(f"{name} needs glibc {needed}, not {self.glibc} or older")


SYSTEMS = tuple(
    System(processor, glibc) for glibc in (GLIBC, None) for processor in ("x86_64", "aarch64")
)


def needed_glibc(binary: bytes) -> tuple[int, int] | None:
    """The oldest glibc that has every symbol version which an ELF binary names; None: no glibc."""
    return max(((int(major), int(minor)) for major, minor in NEEDS.findall(binary)), default=None)


def version() -> str:
    """The version of all that is handed out; raises DistError where two files name two, or the
    change log none.
    """
    named = {}
    for file, pattern in VERSIONS.items():
        match = re.search(pattern, (ROOT / file).read_text("utf-8"))
        named[file] = match[1] if match else "no version"
    if len(set(named.values())) > 1:
        raise DistError(", ".join(f"{file} has {found}" for file, found in named.items()))
    found = named.popitem()[1]
    if f"## {found} (" not in (ROOT / "CHANGELOG.md").read_text("utf-8"):
        raise DistError(f"CHANGELOG.md has no section ## {found} (DATE)")
    return found


def lacks(system: System) -> str:
    """Why there is no standard library of Rust for a system, after rustup was asked for it; empty
    where there is one.
    """
    asked = ["rustc", "--print", "target-libdir", "--target", system.target]
    folder = subprocess.run(asked, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    if Path(folder.strip()).is_dir():
        return ""
    if not shutil.which("rustup"):
        return "this Rust has no standard library for it, and there is no rustup"
    add = ["rustup", "target", "add", system.target]
    done = subprocess.run(add, cwd=ROOT, capture_output=True, text=True, check=False)
    return f"{' '.join(add)}: {done.stderr.strip().splitlines()[-1]}" if done.returncode else ""


def zig_environment() -> dict[str, str]:
    """That of a build with Zig as compiler of C and linker, both locked."""
    uv = sorted((ROOT / ".uv").glob("*/bin/uv"))
    if not uv:
        raise DistError("no .uv/*/bin/uv: run make setup")
    quiet = {"UV_PROJECT_ENVIRONMENT": str(TOOLS), "UV_PYTHON_DOWNLOADS": "never"}
    sync = [str(uv[-1]), "sync", "--quiet", "--frozen", "--only-group", "dist"]
    subprocess.run(sync, cwd=ROOT, env={**os.environ, **quiet}, check=True)
    return {
        **os.environ,
        "PATH": f"{TOOLS / 'bin'}:{os.environ['PATH']}",
        "CARGO_PROFILE_RELEASE_DEBUG": "none",
        "CARGO_PROFILE_RELEASE_STRIP": "debuginfo",  # names of functions stay, for backtraces
    }


def cross_built(system: System) -> Path:
    """The folder of binary and loader for a system, linked by Zig."""
    environment = zig_environment()
    target = system.target
    if system.glibc:
        target += f".{system.glibc[0]}.{system.glibc[1]}"
    else:  # a JVM loads no library that brings a C library of its own
        environment["RUSTFLAGS"] = "-C target-feature=-crt-static"
    build = ["cargo", "zigbuild", "--release", "--locked", "--target", target]
    build += ["-p", "iostrata-native", "-p", "iostrata-jvmti", "-p", "iostrata-preload"]
    subprocess.run(build, cwd=ROOT, env=environment, check=True)
    return ROOT / "target" / system.target / "release"


def stage(folder: Path, built: Path, system: System) -> None:
    """Copy binary, loader and jars into `folder`; they must run on the system."""
    natives = [built / name for name in NATIVES]
    for path in (*natives, AGENT, TFS, LOAD, JOBS):
        if not path.is_file():
            raise DistError(f"no {path}: make build")
    folder.mkdir()
    for path in natives:
        system.check(path.name, path.read_bytes())
        shutil.copyfile(path, folder / path.name)
        (folder / path.name).chmod(0o755)
    for jar in (AGENT, LOAD):
        shutil.copyfile(jar, folder / jar.name)
        (folder / jar.name).chmod(0o644)
    make_tfs(folder, system)


def make_tfs(folder: Path, system: System) -> None:
    """The jar of tfs:// with the loader that is staged in the folder, which has the writer."""
    place = "io/iostrata/tfs/linux-"
    loader = f"{place}{JAVA_NAMES[system.processor]}/{LOADER}"
    with zipfile.ZipFile(TFS) as built, zipfile.ZipFile(folder / TFS.name, "w") as made:
        for entry in built.infolist():
            if not entry.filename.startswith(place):
                made.writestr(entry, built.read(entry), zipfile.ZIP_DEFLATED, 9)
        entry = zipfile.ZipInfo(loader, (2026, 1, 1, 0, 0, 0))
        made.writestr(entry, (folder / LOADER).read_bytes(), zipfile.ZIP_DEFLATED, 9)
    (folder / TFS.name).chmod(0o644)


def here(folder: Path) -> tuple[System, Path]:
    """This machine as a system; `folder` gets what was built on it, without debug information."""
    glibc = GLIBC
    for name in NATIVES:
        copy = folder / name
        shutil.copyfile(ROOT / "target/release" / name, copy)
        subprocess.run(["strip", "--strip-debug", str(copy)], check=True)
        glibc = max(glibc, needed_glibc(copy.read_bytes()) or GLIBC)
    return System(platform.machine(), glibc), folder


def make_wheel(project: Path, target: Path, **settings: str) -> Path:
    """One wheel for every Python; hatchling, locked as a development dependency, writes it.

    `settings` go to the project's hatch_build.py in its environment.
    """
    environment = {**os.environ, **settings}
    with tempfile.TemporaryDirectory(dir=target) as fresh:
        build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", fresh]
        done = subprocess.run(
            build, cwd=project, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise DistError(f"hatchling failed:\n{done.stderr}")
        (wheel,) = Path(fresh).glob("*.whl")
        return wheel.rename(target / wheel.name)


def make_tarball(staged: Path, path: Path) -> Path:
    """What a node needs; the same bytes for the same content."""
    needed = [path for path in staged.iterdir() if path.name != LOAD.name]
    files = sorted([*needed, *NODE.iterdir(), ROOT / "LICENSE"], key=lambda p: p.name)

    def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = member.mtime = 0
        member.uname = member.gname = "root"
        member.mode = 0o755 if member.mode & 0o100 else 0o644
        return member

    with (
        path.open("wb") as raw,
        gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w") as tar,
    ):
        for file in files:
            tar.add(file, f"iostrata-node/{file.name}", filter=plain)
    return path


def make_both(system: System, built: Path, to: Path) -> list[Path]:
    """Wheel of iostrata and tarball for one system."""
    with tempfile.TemporaryDirectory(prefix="iostrata-dist-") as folder:
        staged = Path(folder) / "staged"
        stage(staged, built, system)
        wheel = make_wheel(
            ROOT, to, IOSTRATA_STAGED=str(staged), IOSTRATA_PLATFORM=system.wheel_tag
        )
        return [wheel, make_tarball(staged, to / system.tarball)]


def make_all(wanted: list[System], to: Path) -> tuple[list[Path], list[System]]:
    """For each system that can be built for here; says of the others why not.

    Returns also the systems that could be built for and were not.
    """
    made, failed = [], []
    for system in wanted:
        why = lacks(system)
        if not why:
            try:
                made += make_both(system, cross_built(system), to)
            except subprocess.CalledProcessError as error:
                why = str(error)
                failed.append(system)
        if why:
            print(f"not made for {system.target}: {why}", file=sys.stderr)
    return made, failed


def main() -> None:
    parser = argparse.ArgumentParser(description="Makes the wheels and the tarballs for nodes.")
    parser.add_argument("--here", action="store_true", help="for this machine's glibc, no Zig")
    names = {system.target: system for system in SYSTEMS}
    parser.add_argument("--only", action="append", choices=names, help="this system")
    parser.add_argument("--to", type=Path, default=ROOT / "dist", help="folder to write to")
    options = parser.parse_args()
    version()
    options.to.mkdir(parents=True, exist_ok=True)
    to = options.to.resolve()
    failed: list[System] = []
    if options.here:
        with tempfile.TemporaryDirectory(prefix="iostrata-dist-") as folder:
            made = make_both(*here(Path(folder)), to)
    else:
        made, failed = make_all([names[name] for name in options.only or names], to)
    made.append(make_wheel(ROOT / "lab", to, IOSTRATA_STAGED_JOBS=str(JOBS)))
    for path in made:
        print(f"{path.stat().st_size / 1e6:5.1f} MB  {path}")
    if failed:
        raise DistError(f"failed for {', '.join(system.target for system in failed)}")


if __name__ == "__main__":
    try:
        main()
    except (DistError, subprocess.CalledProcessError) as error:
        sys.exit(f"dist: {error}")
