"""SWIM: the jobs of published traces, or of one's own, at their times and with their bytes."""

from iostrata.workload.interface import Workload
from iostrata.workload.swim.asked import PARAMETERS
from iostrata.workload.swim.replay import check, inputs, replay, stored

SWIM = Workload(
    name="swim",
    about="replays jobs of a trace: their times, their bytes of input, shuffle and output",
    stresses="what the trace stresses: map-, shuffle- and reduce-heavy jobs, side by side",
    parameters=PARAMETERS,
    run=replay,
    check=check,
    prepare=inputs,
    bytes=stored,
    steps=("input", "replay"),
    sources=(
        "SWIM (S3, section 3): github.com/SWIMProjectUCB/SWIM",
        "its traces of Facebook, (c) 2011 Regents of the University of California, New BSD",
    ),
)
