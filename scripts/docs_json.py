"""The JSON that commands print, as a page of the documentation: made of its schemas."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

FOLDER = Path(__file__).parent.parent / "docs/reference/json"
Schema = dict[str, Any]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the page."""
    files.append(File.generated(config, "reference/json.md", content=page(FOLDER)))
    return files


def page(folder: Path) -> str:
    """A section for each schema of the folder: its types, and the fields of each."""
    parts = [
        "# JSON",
        "`--json` of a command prints one document of these types.",
    ]
    for file in sorted(folder.glob("*.schema.json")):
        schema = json.loads(file.read_text("utf-8"))
        command = file.name.removesuffix(".schema.json")
        parts.append(f"## iostrata {command} --json")
        parts.append(
            f"The document is {_linked(schema, command)}; "
            f"as a JSON schema: [{file.name}]({'../docs/reference/json/' + file.name})."
        )
        for name, each in schema["$defs"].items():
            parts += [f'### {_title(name)} {{ id="{command}-{name}" }}', *_described(each, command)]
    return "\n\n".join(parts) + "\n"


def _described(schema: Schema, command: str) -> list[str]:
    text = " ".join(schema.get("description", "").split())
    rows = ["| field | type | unit |", "|---|---|---|"]
    for name, field in schema.get("properties", {}).items():
        rows.append(f"| `{name}` | {_linked(field, command)} | {_unit(field)} |")
    fields = "\n".join(rows) if len(rows) > 2 else _linked(schema, command)
    return [part for part in (text, fields) if part]


def _linked(schema: Schema, command: str) -> str:
    """The type as text, with links to the types of the same document."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{_title(name)}](#{command}-{name})"
    if "enum" in schema:
        return ", ".join(f"`{json.dumps(value)}`" for value in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(_linked(each, command) for each in schema["anyOf"])
    if schema.get("type") == "array":
        items = schema.get("items")
        return f"array of {_linked(items, command)}" if isinstance(items, dict) else "array"
    if isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_linked(schema['additionalProperties'], command)}"
    return str(schema.get("type", "any value"))


def _unit(schema: Schema) -> str:
    """What the schema says of a number, also of one that may be null or stands in a list."""
    inner = [schema, *schema.get("anyOf", ()), schema.get("items") or {}]
    return next((str(one["description"]) for one in inner if "description" in one), "")


def _title(name: str) -> str:
    """`Bounded_Task_` is how a schema spells `Bounded[Task]`."""
    outer, _, rest = name.partition("_")
    return f"{outer}[{rest.rstrip('_')}]" if rest else name
