"""Files that commands write for people."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from iostrata.errors import UserError


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write, which is at `path` whole or not at all. A device or a pipe is written as it
    is: to put a file in the place of /dev/null would take it from everybody.

    Raises UserError where that cannot be written.
    """
    in_place = path.exists() and not path.is_file()
    draft = path if in_place else path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with draft.open("wb") as file:
            yield file
        if not in_place:
            draft.replace(path)
    except OSError as error:
        raise UserError(
            f"{path} cannot be written: {error.strerror}", "name another file with -o"
        ) from error
    finally:
        if not in_place:
            draft.unlink(missing_ok=True)
