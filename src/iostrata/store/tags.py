"""Tags of runs, `key=value`: what their user says of them, and finds them by."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from iostrata.errors import UserError

MOST_TAGS = 32
LONGEST_VALUE = 200  # characters
_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,31}")


def tags_of(texts: Iterable[str]) -> dict[str, str]:
    """The tags that `key=value` texts say, the last of each key; raises UserError for no tag."""
    tags = dict(_tag(text) for text in texts)
    if len(tags) > MOST_TAGS:
        raise UserError(f"{len(tags)} tags are too many", f"a run has at most {MOST_TAGS}")
    return tags


def _tag(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not _KEY.fullmatch(key):
        raise UserError(
            f"--tag {text!r} is no tag",
            "say key=value; the key has 1 to 32 letters, digits, dots, underscores or dashes",
        )
    if len(value) > LONGEST_VALUE or not value.isprintable():
        raise UserError(
            f"--tag {key}: the value is not allowed",
            f"at most {LONGEST_VALUE} printable characters",
        )
    return key, value


def has_tags(tags: Mapping[str, str], wanted: Iterable[str]) -> bool:
    """Whether a run has all tags that are wanted: `key`, or `key=value`, which may have `*`."""
    return all(_has(tags, *text.partition("=")) for text in wanted)


def _has(tags: Mapping[str, str], key: str, equals: str, value: str) -> bool:
    return key in tags and (not equals or fnmatchcase(tags[key], value))


def tags_text(tags: Mapping[str, str]) -> str:
    """`cluster=prod nightly=1`; '' without any."""
    return " ".join(f"{key}={value}" for key, value in tags.items())
