"""The metadata and the wheel of iostrata-lab, as hatchling asks for them."""

from __future__ import annotations

import os
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface


class SameVersionHook(MetadataHookInterface):
    """iostrata is needed in the very version that this package has."""

    def update(self, metadata: dict[str, Any]) -> None:
        metadata["dependencies"] = [f"iostrata=={metadata['version']}"]


class StagedHook(BuildHookInterface[Any]):
    """Puts the jar of jobs, which `dist.py` names as IOSTRATA_STAGED_JOBS, into the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        jobs = os.environ.get("IOSTRATA_STAGED_JOBS")
        if version != "editable" and jobs:
            build_data["force_include"][jobs] = "iostrata_lab/iostrata-jobs.jar"
