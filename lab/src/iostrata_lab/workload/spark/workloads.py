"""Four workloads of HiBench on Spark: their parameters, and the programs that do them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from iostrata.errors import UserError
from iostrata_lab.workload.interface import Context, Result, Workload
from iostrata_lab.workload.parameters import Parameter
from iostrata_lab.workload.spark import submit

PROGRAMS = Path(__file__).with_name("programs")
HIBENCH = "HiBench (Huang et al., ICDEW 2010): the algorithm; input of our own, seeded"
PAGES = Parameter("pages", "pages that link to each other", 20_000, low=2, high=1e9, scaled=True)
LINKS = Parameter("links", "mean number of links of a page", 8, low=1, high=1e6)
ROUNDS = Parameter(
    "iterations", "number of iterations, each with a shuffle of all ranks", 3, low=1, high=1000
)
EXAMPLES = Parameter(
    "examples",
    "number of examples, of which a fifth judges",
    20_000,
    low=100,
    high=1e10,
    scaled=True,
)
FEATURES = Parameter("features", "numbers of an example", 20, low=1, high=100_000)
NOISE = Parameter("noise", "added before an example gets its label", 0.1, low=0.0, high=100.0)
STEPS = Parameter("iterations", "at most", 20, low=1, high=10_000)
DOCUMENTS = Parameter(
    "documents",
    "number of documents, of which a fifth judges",
    10_000,
    low=100,
    high=1e10,
    scaled=True,
)
WORDS = Parameter("words", "words of a document", 60, low=1, high=1_000_000)
CLASSES = Parameter("classes", "classes of documents", 10, low=2, high=10_000)
VOCABULARY = Parameter("vocabulary", "words that all classes use", 20_000, low=1, high=10**9)
SIGNAL = Parameter("signal", "share of words that are the class's own", 0.1, low=0.0, high=1.0)
BUCKETS = Parameter("buckets", "buckets that words are hashed into", 1 << 16, low=1, high=1 << 30)
VERTICES = Parameter("vertices", "vertices of the graph", 2000, low=2, high=1e9, scaled=True)
EDGES = Parameter("edges", "edges that leave a vertex", 6, low=1, high=100_000)
HOPS = Parameter("hops", "edges of a path", 3, low=1, high=20)
MOST = Parameter("most", "strongest ties kept of a vertex after a hop; 0: all", 0, low=0, high=1e9)


def _workload(
    name: str,
    about: str,
    stresses: str,
    parameters: tuple[Parameter, ...],
    stored: Callable[[Context], int],
    check: Callable[[Context], None] = submit.check,
) -> Workload:
    program = PROGRAMS / f"{name}.py"

    def prepare(context: Context) -> None:
        submit.make_input(context, program)

    def run(context: Context) -> Result:
        return submit.run(context, program)

    return Workload(
        name=name,
        about=about,
        stresses=stresses,
        parameters=(*parameters, *submit.COMMON),
        run=run,
        check=check,
        prepare=prepare,
        bytes=stored,
        steps=("input", "run"),
        yarn=submit.on_yarn,
        sources=(HIBENCH,),
    )


def _nweight_check(context: Context) -> None:
    submit.check(context)
    edges, vertices = context.number("edges"), context.number("vertices")
    if edges >= vertices:
        raise UserError(f"edges={edges} is not allowed", f"{vertices} vertices: say fewer")


# What they have in HDFS at the most: bytes of a line of text, or of a number in a column.
def _pagerank_bytes(context: Context) -> int:
    return context.number("pages") * (20 * context.number("links") + 40)


def _logistic_bytes(context: Context) -> int:
    return context.number("examples") * (9 * context.number("features") + 8)


def _bayes_bytes(context: Context) -> int:
    return context.number("documents") * (10 * context.number("words") + 8)


def _nweight_bytes(context: Context) -> int:
    vertices, edges = context.number("vertices"), context.number("edges")
    reached: int = edges ** context.number("hops")
    ties = min(vertices, reached, context.number("most") or vertices)
    return vertices * (edges + ties) * 40


PAGERANK = _workload(
    "pagerank",
    "ranks the pages of a web by who links to them, on Spark",
    "shuffles of all ranks in each iteration; memory for the links",
    (PAGES, LINKS, ROUNDS),
    _pagerank_bytes,
)
LOGISTIC = _workload(
    "logistic",
    "logistic regression of examples with planted weights, on Spark",
    "one read, then CPU and memory: an aggregation of little data in each iteration",
    (EXAMPLES, FEATURES, NOISE, STEPS),
    _logistic_bytes,
)
BAYES = _workload(
    "bayes",
    "naive Bayes over documents of several classes, on Spark",
    "reading text, and one shuffle of the counts of words",
    (DOCUMENTS, WORDS, CLASSES, VOCABULARY, SIGNAL, BUCKETS),
    _bayes_bytes,
)
NWEIGHT = _workload(
    "nweight",
    "ties between vertices of a graph over paths of n edges, on Spark",
    "joins whose results are far larger than their input: shuffle, spills, memory",
    (VERTICES, EDGES, HOPS, MOST),
    _nweight_bytes,
    _nweight_check,
)

SPARK = (PAGERANK, LOGISTIC, BAYES, NWEIGHT)
