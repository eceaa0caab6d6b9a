"""Call trees on Spark, for runs that one machine should not read.

Rows are dealt by trace: a tree never crosses two. Sums go where the calls are that they name as
their scopes. `iostrata-native calltree --part` reads each partition as an Arrow stream, and
`--merge` makes one document of all, byte for byte that of one machine. Needs the extra `spark`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from iostrata.analyse.calltree.native import CallTrees, Choice, ask
from iostrata.artifacts import native_binary

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# What the native binary reads; it names a column that is not there.
_COLUMNS = (
    *("kind", "host", "role", "layer", "op", "point", "error", "flags", "inclusion"),
    *("proc", "tid", "span", "parent", "parent_proc", "trace", "start", "dur", "bytes"),
    *("count", "errors", "timed", "timed_dur", "weight", "inside", "min", "max", "anchor"),
)
Batches = Iterable[Any]  # of pyarrow.RecordBatch


def spark_call_trees(
    events: DataFrame, choice: Choice | None = None, native: str | None = None
) -> CallTrees:
    """As `native.call_trees`, of the rows of `events` (a DataFrame with its columns).

    `native`: where `iostrata-native` is on the workers; default: where it is here.
    Raises UserError as `call_trees` does; what goes wrong on a worker is an error of Spark.
    """
    arguments = (choice or Choice()).arguments()
    command = [native or str(native_binary()), "calltree", "--arrow", "--part", *arguments]
    dealt = _dealt(events).persist()
    try:
        trees = _merged(_parts(dealt, command))
        if trees.clocks:  # what one partition knows of them is not what all do
            clocks = msgspec.structs.replace(trees, nodes=[], functions=[])
            trees = _merged(_parts(dealt, command, clocks))
    finally:
        dealt.unpersist()
    return trees


def _dealt(events: DataFrame) -> DataFrame:
    """Rows of a trace, with the sums whose scopes are in it, in one partition."""
    from pyspark.sql import functions as f

    rows = events.select(*_COLUMNS).where("NOT (layer <=> 'jvm')")
    trace = f.coalesce("trace", "proc")
    calls = rows.where("kind IN ('call', 'unfinished')").withColumn("home", trace)
    sums = rows.where("kind = 'sum'")
    # their scope, or the call of another process that theirs works for
    sums = sums.withColumn("of", f.coalesce("parent_proc", "proc"))
    sums = sums.withColumn("scope", f.coalesce("anchor", "parent"))
    scopes = sums.select(f.col("of").alias("proc"), f.col("scope").alias("span")).distinct()
    homes = calls.join(scopes, ["proc", "span"]).groupBy("proc", "span").agg(f.min("home"))
    sums = sums.join(homes.toDF("of", "scope", "home"), ["of", "scope"], "left")
    sums = sums.drop("of", "scope").withColumn("home", f.coalesce("home", "proc"))
    return calls.unionByName(sums).repartition("home").drop("home")


def _parts(dealt: DataFrame, command: list[str], clocks: CallTrees | None = None) -> list[str]:
    """Documents, at least one: of each partition that has rows."""
    import pyarrow as pa

    run = _native(command, None if clocks is None else msgspec.json.encode(clocks).decode())
    answers: list[Any] = dealt.mapInArrow(run, "document string").collect()
    if not answers:
        empty = pa.RecordBatch.from_pylist([], schema=dealt.toArrow().schema)
        answers = [row for batch in run([empty]) for row in batch.to_pylist()]
    return [row["document"] for row in answers]


def _native(command: list[str], clocks: str | None) -> Callable[[Batches], Batches]:
    """The function that workers run. They have Python and pyarrow, but maybe not this package: so
    it is sent whole, with all that it names.
    """

    def run(batches: Batches) -> Batches:
        import subprocess
        import tempfile
        from contextlib import suppress

        import pyarrow as pa

        left = iter(batches)
        first = next(left, None)
        if first is None:
            return
        with (
            tempfile.NamedTemporaryFile("w") as file,
            tempfile.TemporaryFile("w+") as out,
            tempfile.TemporaryFile("w+") as err,
        ):
            file.write(clocks or "")
            file.flush()
            known = [] if clocks is None else ["--clocks", file.name]
            with subprocess.Popen(
                [*command, *known], stdin=subprocess.PIPE, stdout=out, stderr=err
            ) as child:
                with (
                    suppress(BrokenPipeError),  # it ended early, and says why
                    pa.ipc.new_stream(child.stdin, first.schema) as stream,
                ):
                    stream.write_batch(first)
                    for batch in left:
                        stream.write_batch(batch)
                child.communicate()
            out.seek(0)
            err.seek(0)
            if child.returncode != 0:
                raise RuntimeError(f"call trees: {err.read().strip()}")
            yield pa.RecordBatch.from_pydict({"document": [out.read()]})

    return run


def _merged(documents: list[str]) -> CallTrees:
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, f"{number}.json") for number in range(len(documents))]
        for file, document in zip(files, documents, strict=True):
            file.write_text(document, "utf-8")
        return ask(CallTrees, ["--merge", *map(str, files)])
