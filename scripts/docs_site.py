"""What MkDocs reads besides docs/: files of the repository where they lie, and the references.

Every page keeps its path in the repository, so that links lead to the same page in both.
"""

from __future__ import annotations

import logging
import re
import subprocess
from pathlib import Path
from typing import Any

import grimp
import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from typer.cli import get_docs_for_click

from iostrata.cli.app import whole_command

ROOT = Path(__file__).parent.parent
# Pages, what they show, and the few files of code that they link to.
PUBLISHED = (
    "*.md",
    "docs/**/*",
    "schema/SEGMENT.md",
    "schema/events.toml",
    "bench/rules/causes.py",
    "bench/runs/**/README.md",
    "bench/runs/**/*.svg",
    "tests/e2e/test_spark.py",
)
log = logging.getLogger("mkdocs.site")
ANALYSES = sorted(path.stem for path in (ROOT / "src/iostrata/analyse").glob("[!_]*.py"))
REFERENCES = (
    ("python", "Python", "`iostrata.open` is `iostrata.api.open_run`.", ["iostrata.api"]),
    ("analyses", "Analyses", "", [f"iostrata.analyse.{name}" for name in ANALYSES]),
)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Puts what a pattern of the navigation stands for in its place."""
    for section in config.nav or []:
        for title, pages in section.items():
            if isinstance(pages, list):
                section[title] = [each for page in pages for each in _expanded(page)]
    return config


def _expanded(page: str | dict[str, str]) -> list[str | dict[str, str]]:
    if not isinstance(page, str) or "*" not in page:
        return [page]
    found = sorted(path.relative_to(ROOT) for path in ROOT.glob(page))
    found.sort(key=lambda path: path.name != "README.md")  # first what introduces
    return [path.as_posix() for path in found]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Takes the files of docs/ at their path in the repository, and adds all others."""
    for file in list(files.documentation_pages()) + list(files.media_files()):
        if file.src_dir == config.docs_dir:
            files.remove(file)
    for path in sorted({path for pattern in PUBLISHED for path in ROOT.glob(pattern)}):
        if path.is_file():
            name = path.relative_to(ROOT).as_posix()
            files.append(File(name, str(ROOT), config.site_dir, config.use_directory_urls))
    files.append(File.generated(config, "reference/commands.md", content=commands()))
    for name, title, text, modules in REFERENCES:
        content = "\n\n".join([f"# {title}", text, *(f"::: {module}" for module in modules)])
        files.append(File.generated(config, f"reference/{name}.md", content=content))
    return files


def commands() -> str:
    """The help of every command, as Markdown."""
    group = whole_command()
    _give_whole_sentences(group)
    text = get_docs_for_click(obj=group, ctx=typer.Context(group), name="iostrata")
    return re.sub(r"(?m)^(    .*)\n\n(?=    )", r"\1\n", text)  # examples stand together


def _give_whole_sentences(group: Any) -> None:
    """Lists show the first paragraph of each help, not its first 45 letters; none is hidden."""
    group.commands = {name: one for name, one in group.commands.items() if not one.hidden}
    for command in group.commands.values():
        command.short_help = " ".join((command.help or "").split("\n\n")[0].split())
        if hasattr(command, "commands"):
            _give_whole_sentences(command)


def on_page_markdown(markdown: str, page: Page, **_: object) -> None:
    """Raw results are found last; the files of the code that ARCHITECTURE.md names exist."""
    if page.file.src_uri.startswith("bench/"):
        page.meta["search"] = {"boost": 0.2}
    if page.file.src_uri != "ARCHITECTURE.md":
        return
    for line in wrong_imports(markdown):
        log.warning(f"{page.file.src_uri}: {line}")
    known = tracked()
    for name in re.findall(
        r"`(?:[^`\s]*…/)?([\w./-]+(?:\.(?:java|md|py|rs|toml|ts)|/))`", markdown
    ):
        if f"/{name}" not in known:
            log.warning(f"{page.file.src_uri} names {name}, which is not in the repository")


def tracked() -> set[str]:
    """Every tail of the path of a file or folder of the repository, from a / on."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    tails = set()
    for path in listed.stdout.splitlines():
        parts = path.split("/")
        for end in range(1, len(parts) + 1):
            whole = "/".join(parts[:end]) + ("/" if end < len(parts) else "")
            tails |= {"/" + "/".join(whole.split("/")[begin:]) for begin in range(end)}
    return tails


def wrong_imports(markdown: str) -> list[str]:
    """Rows of the table of folders whose last column is not what the package imports."""
    graph = grimp.build_graph("iostrata", "iostrata_lab")
    above = {name for name in graph.modules if name.count(".") == 1 and graph.find_children(name)}
    above |= {"iostrata.api", "iostrata_lab.recording"}
    wrong = []
    rows = r"(?m)^\| `(?:lab/)?src/(iostrata\w*)/(\w+)(?:/|\.py)` \|.*\| ([^|]*) \|$"
    for root, name, column in re.findall(rows, markdown):
        package = f"{root}.{name}"
        modules = {package} | {m for m in graph.find_descendants(package) if ".tests" not in m}
        found = {".".join(m.split(".")[:2]) for m in _imported(graph, modules)} & above
        names = {module.split(".")[1] for module in found - {package}}
        if not column.startswith("all ") and names != set(re.findall(r"`(\w+)`", column)):
            wrong.append(f"{package} imports {', '.join(sorted(names)) or 'nothing'}")
    return wrong


def _imported(graph: grimp.ImportGraph, modules: set[str]) -> set[str]:
    return {each for m in modules for each in graph.find_modules_directly_imported_by(m)}
