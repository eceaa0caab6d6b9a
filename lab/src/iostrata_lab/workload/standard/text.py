"""RandomTextWriter, and what reads its words: WordCount, Sort, Grep, the identity."""

from __future__ import annotations

from collections.abc import Callable

from iostrata_lab.workload import mapreduce
from iostrata_lab.workload.interface import Context, Result, Workload
from iostrata_lab.workload.parameters import BYTES, Parameter

PACKAGE = "org.apache.hadoop.examples"
SIZE = Parameter(
    "size", "size of the text, without the format of its files", 64 << 20, BYTES, low=1 << 10,
    high=1 << 50, scaled=True,
)  # fmt: skip
MAPS = Parameter("maps", "maps that write the text", 2, "tasks", low=1, high=10_000)
REDUCES = Parameter("reduces", "reduces of the job", 2, "tasks", low=0, high=10_000)
PATTERN = Parameter("pattern", "a regular expression that is looked for", "[a-z]*ness")
# Text in sequence files takes up to a third more than its words: lengths and marks.
FORMAT = 4 / 3
_TEXT_INPUT = "org.apache.hadoop.mapreduce.lib.input.SequenceFileAsTextInputFormat"
_AS_TEXT = f"-Dmapreduce.job.inputformat.class={_TEXT_INPUT}"


def _size(context: Context) -> int:
    return int(context.number("size") * FORMAT)


def _write(context: Context, folder: str) -> mapreduce.Job:
    maps, size = context.number("maps"), context.number("size")
    each = -(-size // maps)
    # its number of maps is total bytes by bytes of a map
    total = f"-Dmapreduce.randomtextwriter.totalbytes={each * maps}"
    part = f"-Dmapreduce.randomtextwriter.bytespermap={each}"
    jobs, _ = mapreduce.run(context, f"{PACKAGE}.RandomTextWriter", total, part, folder)
    return jobs[0]


def _randomtext(context: Context) -> Result:
    context.step("run")
    job = _write(context, context.folder)
    return {"asked_bytes": context.number("size"), "jobs": [job.answer()]}


def _input(context: Context) -> None:
    context.step("input")
    _write(context, f"{context.folder}/in")


def _over_text(context: Context, program: str, *options: str, last: tuple[str, ...] = ()) -> Result:
    context.step("run")
    places = (f"{context.folder}/in", f"{context.folder}/out")
    jobs, _ = mapreduce.run(context, f"{PACKAGE}.{program}", *options, *places, *last)
    return {"asked_bytes": context.number("size"), "jobs": [job.answer() for job in jobs]}


def _reduces(context: Context) -> str:
    return f"-Dmapreduce.job.reduces={context.number('reduces')}"


def _wordcount(context: Context) -> Result:
    return _over_text(context, "WordCount", _AS_TEXT, _reduces(context))


def _sort(context: Context) -> Result:
    words = ("-r", str(context.number("reduces")))
    text = "org.apache.hadoop.io.Text"
    return _over_text(context, "Sort", *words, "-outKey", text, "-outValue", text)


def _grep(context: Context) -> Result:
    return _over_text(context, "Grep", _AS_TEXT, last=(context.text("pattern"),))


def _identity(context: Context) -> Result:
    context.step("run")
    words = (str(context.number("reduces")), f"{context.folder}/in", f"{context.folder}/out")
    jobs = mapreduce.run_ours(context, "identity", *words)
    return {"asked_bytes": context.number("size"), "jobs": [job.answer() for job in jobs]}


RANDOMTEXT = Workload(
    name="randomtextwriter",
    about="writes sequence files of random words",
    stresses="the write pipeline of HDFS, the format of records",
    parameters=(SIZE, MAPS),
    run=_randomtext,
    bytes=_size,
    steps=("run",),
    sources=("Fig. 4 of IOSIG+ (S1)",),
)


def _reader(
    name: str,
    about: str,
    stresses: str,
    last: Parameter,
    run: Callable[[Context], Result],
    times: int = 1,
) -> Workload:
    """A job over a text that is written before; it has `times` the text's bytes at the most."""
    return Workload(
        name=name,
        about=about,
        stresses=stresses,
        parameters=(SIZE, MAPS, last),
        run=run,
        prepare=_input,
        bytes=lambda context: times * _size(context),
        steps=("input", "run"),
    )  # fmt: skip


WORDCOUNT = _reader(
    "wordcount",
    "counts the words of a text",
    "CPU of maps, combiners; little shuffle",
    REDUCES,
    _wordcount,
)
SORT = _reader(
    "sort",
    "sorts records: map and reduce hand on what they get",
    "spills, shuffle, merging; nothing is computed",
    REDUCES,
    _sort,
    times=2,
)
IDENTITY = _reader(
    "identity",
    "map and reduce hand on what they get; without reduces maps alone",
    "the framework itself: records, spills, shuffle, commit; no code of a user",
    REDUCES,
    _identity,
    times=2,
)
GREP = _reader(
    "grep",
    "counts what matches a pattern, then sorts the counts",
    "reading; two jobs in a row, hardly any output",
    PATTERN,
    _grep,
)
