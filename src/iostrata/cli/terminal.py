"""Standard output and standard error as rich writes to them. Rich takes long to import."""

from __future__ import annotations

from rich.console import Console

out = Console(highlight=False, soft_wrap=True, markup=False)
err = Console(stderr=True, highlight=False, soft_wrap=True, markup=False)
