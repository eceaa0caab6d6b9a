"""All studies of programs at the same time, each a line."""

from __future__ import annotations

from iostrata.registry import Registry
from iostrata_lab.mix.cost import MIX_COST
from iostrata_lab.mix.locality import MIX_LOCALITY
from iostrata_lab.mix.paper import MIX_PAPER
from iostrata_lab.mix.reduce import MIX_REDUCE
from iostrata_lab.mix.study import MixStudy

MIX_STUDIES = Registry[MixStudy]("study", (MIX_PAPER, MIX_LOCALITY, MIX_REDUCE, MIX_COST))
