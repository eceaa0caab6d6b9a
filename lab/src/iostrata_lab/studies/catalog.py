"""All studies, each a line."""

from __future__ import annotations

from iostrata.registry import Registry
from iostrata_lab.studies.compression import COMPRESSION
from iostrata_lab.studies.creation import CREATION
from iostrata_lab.studies.functions import FUNCTIONS
from iostrata_lab.studies.interface import Study
from iostrata_lab.studies.layers import LAYERS
from iostrata_lab.studies.requests import REQUESTS

STUDIES = Registry[Study]("study", (FUNCTIONS, CREATION, REQUESTS, LAYERS, COMPRESSION))
