"""All studies of predictions, each a line."""

from __future__ import annotations

from iostrata.registry import Registry
from iostrata_lab.predict.paper import PREDICT_PAPER
from iostrata_lab.predict.study import PredictStudy

PREDICT_STUDIES = Registry[PredictStudy]("study", (PREDICT_PAPER,))
