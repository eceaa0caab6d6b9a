"""SWIM: the jobs of published traces, or of one's own, at their times and with their bytes."""

from iostrata_lab.workload.interface import Workload
from iostrata_lab.workload.swim.asked import PARAMETERS
from iostrata_lab.workload.swim.replay import check, inputs, replay, stored

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
