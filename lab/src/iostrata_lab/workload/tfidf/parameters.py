"""What may be asked of the classifier, checked as a whole."""

from __future__ import annotations

from iostrata.errors import UserError
from iostrata.text import size
from iostrata_lab.workload.interface import Context
from iostrata_lab.workload.parameters import BYTES, Parameter

PUBLISHED, PUBLISHED_ATTACKS = 50_116, 15_110  # requests of the ECML/PKDD 2007 challenge
COPIES = 64  # of them that S4 classified
ATTACK_CLASSES = 7
# By RequestGenerator.java: the mean of a request, and the most that one has.
MEAN_REQUEST, LARGEST_REQUEST = 2245, 3072
RESULT = 64  # the most that a line of results has, bytes
MODEL_OF_REQUEST = 1900  # what a request adds to the model at the most: small models have the most
IN_MEMORY = 3  # times the file, while a map reads it
_MOST_MAPS = 100_000
PARAMETERS = (
    Parameter(
        "requests", "requests that are classified", PUBLISHED, "requests",
        low=1, high=1e9, scaled=True
    ),
    Parameter(
        "training", "requests that the model is made of: about 1.4 KB each, 68 MB for 50,116",
        round(PUBLISHED / COPIES), "requests", low=1, high=1e7, scaled=True,
    ),
    Parameter("attacks", "share of attacks in both", PUBLISHED_ATTACKS / PUBLISHED, low=0, high=1),
    # 7.2 GB in 114 maps; HDFS allows no blocks below 1 MiB
    Parameter("split", "bytes of each map, and block size of its file",
              63_200_256, BYTES, low=1 << 20,
              high=1 << 40),
    Parameter("model_buffer", "buffer with which a map reads the model; 0: a few bytes at a time",
              64 << 10, BYTES, low=0, high=1 << 30),
)  # fmt: skip


def attacks_of(context: Context, name: str) -> int:
    """How many of the requests of a parameter, `requests` or `training`, are attacks."""
    return round(context.number(name) * context.real("attacks"))


def maps_of(context: Context) -> int:
    """About as many as the job has."""
    return -(-context.number("requests") * MEAN_REQUEST // context.number("split"))


def check(context: Context) -> None:
    """Raises UserError for what is impossible together, or too large for this cluster."""
    training, attacks = context.number("training"), attacks_of(context, "training")
    share = context.real("attacks")
    if share > 0 and attacks < ATTACK_CLASSES:
        raise UserError(
            f"training={training} with attacks={share:g} has {attacks} attacks "
            f"for {ATTACK_CLASSES} classes of them",
            f"ask for more: training={-(-ATTACK_CLASSES // share):.0f}",
        )
    if share < 1 and attacks == training:
        raise UserError(
            f"training={training} with attacks={share:g} has no valid request", "ask for more"
        )
    if maps_of(context) > _MOST_MAPS:
        raise UserError(
            f"requests={context.number('requests')} are {maps_of(context)} maps of "
            f"{size(context.number('split'))}, {_MOST_MAPS} at the most",
            "ask for larger ones: split",
        )
    model = training * MODEL_OF_REQUEST
    # what a job needs is the memory of its ApplicationMaster and of one map
    if model * IN_MEMORY > context.cluster.facts.job:
        raise UserError(
            f"training={training} makes a model of up to {size(model)}, {IN_MEMORY} times that in "
            f"the memory of a map: a job has {size(context.cluster.facts.job)} with its "
            "ApplicationMaster",
            "ask for less: training, or give maps more: mapreduce.map.memory.mb",
        )


def stored(context: Context) -> int:
    """Bytes in HDFS at the most: both sets of requests, the model, and the results."""
    training, requests = context.number("training"), context.number("requests")
    return (training + requests) * LARGEST_REQUEST + training * MODEL_OF_REQUEST + requests * RESULT


def options(context: Context) -> tuple[str, ...]:
    """What `TfidfSettings` of java/jobs reads."""
    said = {
        "seed": context.seed,
        "training": context.number("training"),
        "training_attacks": attacks_of(context, "training"),
        "requests": context.number("requests"),
        "request_attacks": attacks_of(context, "requests"),
        "split": context.number("split"),
        "model_buffer": context.number("model_buffer"),
    }
    return (*context.options, *(f"-Diostrata.tfidf.{name}={said[name]}" for name in said))
