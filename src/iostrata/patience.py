"""How long one waits for somebody else."""

from __future__ import annotations

import time

_STEP = 0.5  # longer than any nap between two looks, also on a busy machine


class Patience:
    """So many seconds of looking now and then.

    What passes between two looks counts for half a second at most: where a virtual machine was
    paused, or this process stopped, whom we wait for had no time either. So it is not for who waits
    longer than that within a look.
    """

    def __init__(self, seconds: float) -> None:
        self._left = seconds
        self._looked = time.monotonic()

    def lasts(self) -> bool:
        """One more look; False once it is used up."""
        now = time.monotonic()
        self._left -= min(now - self._looked, _STEP)
        self._looked = now
        return self._left > 0
