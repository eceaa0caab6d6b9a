"""What changes would bring to a run, for the section of the page that has sliders."""

from __future__ import annotations

from iostrata.errors import UserError
from iostrata.progress import Progress
from iostrata.replay.choices import WHAT_IF, Choices, choices
from iostrata.replay.fitted import Replays


def what_if(replays: Replays, step: Progress) -> Choices | None:
    """The run replayed with a grid of changes; None where it cannot be replayed. Says WHAT_IF."""
    step(WHAT_IF)
    try:
        return choices(replays, step)
    except UserError:
        return None
