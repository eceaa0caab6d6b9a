"""The classifier of HTTP attacks of S4 (section 3.2): each map reads the model, no map shuffles.

What runs on the cluster is java/jobs, package `tfidf`.
"""

from iostrata_lab.workload.interface import Workload
from iostrata_lab.workload.tfidf.classify import classify, prepare
from iostrata_lab.workload.tfidf.parameters import PARAMETERS, check, stored

TFIDF = Workload(
    name="tfidf",
    about="classifies HTTP requests by TF-IDF: each map reads the whole model from HDFS",
    stresses="CPU of maps, many readers of one file; no shuffle, little output",
    parameters=PARAMETERS,
    run=classify,
    check=check,
    prepare=prepare,
    bytes=stored,
    steps=("input", "train", "classify"),
    sources=(
        "TFIDF workload of S4 (section 3.2): 7.2 GB in 114 maps, a model of 69 MB",
        "form, classes and shares: ECML/PKDD 2007 Discovery Challenge, 50,116 requests",
        "substitute: all requests are made up, none is of that data set",
        "substitute: classes are documents of TF-IDF, as far as the papers say",
    ),
)
