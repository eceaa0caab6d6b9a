"""All studies of predictions, each a line."""

from __future__ import annotations

from iostrata.registry import Registry
from iostrata_lab.predict.order import PredictStudy
from iostrata_lab.predict.paper import PREDICT_PAPER

PREDICT_STUDIES = Registry[PredictStudy]("study", (PREDICT_PAPER,))
