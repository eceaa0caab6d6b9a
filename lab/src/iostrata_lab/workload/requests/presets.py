"""The generator with values that stand for something: from where, and what only stands in.

The fits that Ren et al. made of AliCloud's requests (TPDS 2017), which the paper uses, were never
published; what is known is their form.
"""

from __future__ import annotations

import json
from dataclasses import replace

from iostrata_lab.workload.interface import Context, Result, Workload
from iostrata_lab.workload.parameters import Value
from iostrata_lab.workload.requests.parameters import PARAMETERS, bytes_of, check, words

_HOPSFS = "shares of operations: Niazi et al., HopsFS, FAST '17 (Spotify)"
_ZIPF = "substitute: Zipf 0.8 for how popular files are"
_SIZES = "substitute: constant sizes of files and requests"


def _prepare(context: Context) -> None:
    context.step("input")
    context.cluster.job("requests", "prepare", *words(context))


def _run(context: Context) -> Result:
    context.step("run")
    result: Result = json.loads(
        context.cluster.job("requests", context.text("find"), *words(context))
    )
    return result


def _preset(
    name: str, about: str, stresses: str, sources: tuple[str, ...], **changed: Value
) -> Workload:
    parameters = tuple(
        replace(one, default=changed.get(one.name, one.default)) for one in PARAMETERS
    )
    return Workload(
        name=name,
        about=about,
        stresses=stresses,
        parameters=parameters,
        run=_run,
        check=check,
        prepare=_prepare,
        bytes=bytes_of,
        steps=("input", "run"),
        yarn=lambda _: False,
        sources=sources,
    )


SPOTIFY = _preset(
    "requests",
    "sends requests to HDFS at a rate, whether or not it keeps up: Spotify's operations",
    "NameNode, DataNodes and client, by small requests",
    (_HOPSFS, "substitute: Poisson arrivals", _ZIPF, _SIZES),
)
STAT = _preset(
    "requests-stat",
    "the same with nothing but look-ups of files, 5,000 a second",
    "the NameNode: RPC, read lock",
    ("made up: what the generator itself can send", _ZIPF),
    base=5000.0,
    mix="stat",
    file_size=0,
)
ALICLOUD = _preset(
    "requests-alicloud",
    "the same in the form known of AliCloud: a rate that varies, sessions, no writes",
    "NameNode, DataNodes and client, in bursts",
    (
        "form of arrivals and sessions: Ren et al., TPDS 2017 (lognormal rate, partly open)",
        "substitutes: sigma 0.5, 1 s for a minute, no periods; sessions of 3, 0.1 s of thought",
        "substitute for its operations: " + _HOPSFS,
        _ZIPF,
        "substitute: lognormal sizes with a sigma of 1",
    ),
    arrivals="lognormal",
    session=3.0,
    mix="spotify-reads",
    spread=1.0,
)
