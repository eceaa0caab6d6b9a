"""All studies, each a line."""

from __future__ import annotations

from iostrata.errors import UserError
from iostrata_lab.studies.compression import COMPRESSION
from iostrata_lab.studies.creation import CREATION
from iostrata_lab.studies.functions import FUNCTIONS
from iostrata_lab.studies.interface import Study
from iostrata_lab.studies.layers import LAYERS
from iostrata_lab.studies.requests import REQUESTS

STUDIES: tuple[Study, ...] = (FUNCTIONS, CREATION, REQUESTS, LAYERS, COMPRESSION)


def study_named(name: str) -> Study:
    """Raises UserError for one that is not there."""
    for study in STUDIES:
        if study.name == name:
            return study
    raise UserError(f"no study {name}", ", ".join(study.name for study in STUDIES))
