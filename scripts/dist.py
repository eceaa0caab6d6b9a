"""Makes what is handed out: two wheels, and a tarball for nodes without a new Python.

    python scripts/dist.py                 against glibc 2.17, by Zig: runs on every Linux in use
    python scripts/dist.py --here          against this machine's glibc: what the tests install
    python scripts/dist.py --to FOLDER     another folder than dist/

The wheel of iostrata and the tarball hold the same binary, the same loader of the agent and the
same jar. The wheel of iostrata-lab holds the jar of jobs that workloads run on clusters.
Run by `make dist`, which builds the jars first.
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
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NODE = ROOT / "scripts" / "node"
JOBS = ROOT / "java/jobs/target/iostrata-jobs.jar"
AGENT = ROOT / "java/agent/target/iostrata-agent.jar"
NATIVES = ("iostrata-native", "libiostrata_loader.so")
# The oldest that Rust's standard library runs on; CentOS 7 has it.
GLIBC = (2, 17)
TARGET = f"{platform.machine()}-unknown-linux-gnu"
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


def needed_glibc(binary: bytes) -> tuple[int, int]:
    """The oldest glibc that has every symbol version which an ELF binary names."""
    found = {(int(major), int(minor)) for major, minor in NEEDS.findall(binary)}
    if not found:
        raise DistError("the binary names no version of glibc: is it linked dynamically?")
    return max(found)


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


def cross_built() -> Path:
    """The folder of binary and loader against the oldest glibc, linked by Zig."""
    uv = sorted((ROOT / ".uv").glob("*/bin/uv"))
    if not uv:
        raise DistError("no .uv/*/bin/uv: run make setup")
    quiet = {"UV_PROJECT_ENVIRONMENT": str(TOOLS), "UV_PYTHON_DOWNLOADS": "never"}
    sync = [str(uv[-1]), "sync", "--quiet", "--frozen", "--only-group", "dist"]
    subprocess.run(sync, cwd=ROOT, env={**os.environ, **quiet}, check=True)
    environment = {
        **os.environ,
        "PATH": f"{TOOLS / 'bin'}:{os.environ['PATH']}",
        "CARGO_PROFILE_RELEASE_DEBUG": "none",
        "CARGO_PROFILE_RELEASE_STRIP": "debuginfo",  # names of functions stay, for backtraces
    }
    target = f"{TARGET}.{GLIBC[0]}.{GLIBC[1]}"
    build = ["cargo", "zigbuild", "--release", "--locked"]
    build += ["-p", "iostrata-native", "-p", "iostrata-jvmti"]
    subprocess.run([*build, "--target", target], cwd=ROOT, env=environment, check=True)
    return ROOT / "target" / TARGET / "release"


def stage(folder: Path, built: Path) -> tuple[int, int]:
    """Copy binary and loader (without debug information) and the agent's jar into `folder`.

    Returns the glibc that both run on.
    """
    natives = [built / name for name in NATIVES]
    for path in (*natives, AGENT, JOBS):
        if not path.is_file():
            raise DistError(f"no {path}: make build")
    folder.mkdir()
    for path in natives:
        copy = folder / path.name
        shutil.copyfile(path, copy)
        subprocess.run(["strip", "--strip-debug", str(copy)], check=True)
        copy.chmod(0o755)
    shutil.copyfile(AGENT, folder / AGENT.name)
    (folder / AGENT.name).chmod(0o644)
    return max(needed_glibc((folder / name).read_bytes()) for name in NATIVES)


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


def make_tarball(staged: Path, target: Path) -> Path:
    """iostrata-node.tar.gz; the same bytes for the same content."""
    path = target / "iostrata-node.tar.gz"
    files = sorted([*staged.iterdir(), *NODE.iterdir(), ROOT / "LICENSE"], key=lambda p: p.name)

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


def main() -> None:
    parser = argparse.ArgumentParser(description="Makes the wheels and the tarball for nodes.")
    parser.add_argument("--here", action="store_true", help="for this machine's glibc, no Zig")
    parser.add_argument("--to", type=Path, default=ROOT / "dist", help="folder to write to")
    options = parser.parse_args()
    version()
    built = ROOT / "target/release" if options.here else cross_built()
    options.to.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="iostrata-dist-") as folder:
        staged = Path(folder) / "staged"
        glibc = stage(staged, built)
        if not options.here and glibc > GLIBC:
            raise DistError(f"the binary needs glibc {glibc[0]}.{glibc[1]}, not {GLIBC}")
        promised = glibc if options.here else GLIBC
        tag = f"manylinux_{promised[0]}_{promised[1]}_{platform.machine()}"
        to = options.to.resolve()
        made = [
            make_wheel(ROOT, to, IOSTRATA_STAGED=str(staged), IOSTRATA_PLATFORM=tag),
            make_wheel(ROOT / "lab", to, IOSTRATA_STAGED_JOBS=str(JOBS)),
            make_tarball(staged, to),
        ]
    for path in made:
        print(f"{path.stat().st_size / 1e6:5.1f} MB  {path}")


if __name__ == "__main__":
    try:
        main()
    except (DistError, subprocess.CalledProcessError) as error:
        sys.exit(f"dist: {error}")
