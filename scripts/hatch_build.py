"""Puts what `dist.py` has staged into the wheel of iostrata; without it that is Python alone."""

from __future__ import annotations

import os
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class StagedHook(BuildHookInterface[Any]):
    """Reads IOSTRATA_STAGED, a folder, and IOSTRATA_PLATFORM, the platform tag of its binary."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        staged = os.environ.get("IOSTRATA_STAGED")
        if version == "editable" or not staged:
            return
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{os.environ['IOSTRATA_PLATFORM']}"
        build_data["force_include"][staged] = "iostrata/_native"
