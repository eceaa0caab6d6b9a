"""Programs on storages that were profiled: predicted, and then run there (S5, section VII)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from msgspec import structs

from iostrata.api import open_run
from iostrata.cli.recording import request_for
from iostrata.cli.recordline import RecordOptions
from iostrata.errors import UserError
from iostrata.predict.fio import Fio
from iostrata.predict.program import recorded_program
from iostrata.predict.ranking import rank_program
from iostrata.text import size as size_text
from iostrata_lab.predict import programs, storages
from iostrata_lab.predict.joblab import perform_jobs
from iostrata_lab.predict.jobs import node_counts
from iostrata_lab.predict.order import PredictOrder, record_whole
from iostrata_lab.predict.programs import PredictedProgram
from iostrata_lab.predict.result import KeptResult, MeasuredCase, PredictedCase
from iostrata_lab.predict.storages import PredictedStorage
from iostrata_lab.studies.interface import Outcome, StudyRun
from iostrata_lab.studies.runner import Say, numbered, sample_of

KEPT = ".predictions"  # of a store: a folder for each study and its parameters
SHARED_MEMORY = Path("/dev/shm")
_MORE = 32 << 20  # bytes: what programs say, sockets, and what else lies beside their data


def check(order: PredictOrder) -> None:
    """Raises UserError for what cannot work, before anything starts."""
    if os.geteuid() != 0:
        raise UserError(
            f"{order.study.name} starts file systems, which only root can", "sudo iostrata …"
        )
    Fio.found()
    programs.check(order.study.programs)
    needed, free = (
        programs.space(order.study.programs, order.values),
        shutil.disk_usage(SHARED_MEMORY).free,
    )
    if needed > free:
        raise UserError(
            f"the programs read {size_text(needed)}, and {SHARED_MEMORY} has {size_text(free)}",
            "make them smaller: --scale 0.1",
        )


def perform_predictions(order: PredictOrder, say: Say) -> tuple[Outcome, list[StudyRun]]:
    """Profiles, records, predicts and measures what is not there yet."""
    check(order)
    node_counts(order.values)
    kept = KeptResult(order.store / KEPT / order.called)
    with kept.opened():
        if order.study.programs and (
            not kept.result.predicted
            or any(_wanted(order, kept, one) for one in order.study.storages)
        ):
            with _data(order) as memory:
                _predict(order, kept, memory, say)
                for storage in order.study.storages:
                    _measure(order, storage, kept, memory, say)
        perform_jobs(order, kept, say)
    runs = {one.program: one.run for one in kept.result.predicted}
    runs |= {one.job: one.run for one in kept.result.jobs}
    samples = [sample_of(order.store, run, name, 1, {}) for name, run in runs.items()]
    return order.study.conclude(kept.result), samples


@contextmanager
def _data(order: PredictOrder) -> Iterator[Path]:
    """A folder in memory with what the programs read; it is gone afterwards."""
    folder = SHARED_MEMORY / f"iostrata-{order.called}"
    _remove(folder)  # of one that was killed
    try:
        folder.mkdir(mode=0o700)
    except OSError as error:
        raise UserError(f"{folder}: {error.strerror}", "remove it") from error
    most = programs.space(order.study.programs, order.values) + _MORE
    try:
        # a file system of its own, for in /dev/shm MariaDB maps its log, which it reads elsewhere
        with storages.mounted(folder, "-t", "tmpfs", "-o", f"mode=700,size={most}", "iostrata"):
            programs.make(order.study.programs, folder, order.values, order.seed)
            yield folder
    finally:
        _remove(folder)


def _remove(folder: Path) -> None:
    if folder.is_symlink() or not folder.exists() or folder.stat().st_uid != os.geteuid():
        return
    if folder.is_mount():
        storages.unmount(folder)
    shutil.rmtree(folder, ignore_errors=True)


def _predict(order: PredictOrder, kept: KeptResult, memory: Path, say: Say) -> None:
    """All of it before any program runs on any storage."""
    known = {(one.program, one.storage) for one in kept.result.predicted}
    wanted = {
        (one.name, each.name) for one in order.study.programs for each in order.study.storages
    }
    if known == wanted:
        return
    if kept.result.measured:
        raise UserError(
            f"{kept.folder} has times of programs that nothing was predicted of",
            f"rm -r {kept.folder}",
        )
    models = []
    for storage in order.study.storages:
        with storages.running(storage, kept.folder, order.values) as one:
            models.append(one.model(kept.folder / "profiles", order.values, say))
    found = []
    for program in order.study.programs:
        run = _recorded(order, program, memory)
        say(f"{program.name}: recorded as {run}")
        with open_run(run, order.store) as traced:
            load = recorded_program(traced.opened, str(memory / program.data))
        found += [
            PredictedCase(program.name, one.name, run, one)
            for one in rank_program(models, load, program.point)
        ]
    kept.result = structs.replace(kept.result, predicted=found)
    kept.keep()


def _recorded(order: PredictOrder, program: PredictedProgram, memory: Path) -> str:
    """The name of a run of the program in memory, the second of two; none was recorded before."""
    program.run(memory, memory)
    words = program.command(memory / program.data, memory)
    quietly = ["sh", "-c", 'exec "$@" > "$0"', str(memory / "said"), *words]
    options = RecordOptions(
        quietly, store=order.store, native=True, private=True, budget="off", tag=["study=predict"]
    )
    asked = request_for(options)
    base = f"study-{order.called}-{program.name.replace(', ', '-').replace(' ', '-')}"
    name = next(tried for tried in numbered(base) if not (order.store / tried).exists())
    record_whole(replace(asked, run=name, title=program.name))
    return name


def _wanted(
    order: PredictOrder, kept: KeptResult, storage: PredictedStorage
) -> list[tuple[PredictedProgram, int]]:
    """What is to be measured on a storage, with the repeat."""
    named = {program.name: program for program in order.study.programs}
    measured = [one for one in kept.result.measured if one.storage == storage.name]
    known = {(one.program, one.repeat) for one in measured}
    return [(named[name], repeat) for name, repeat in order.rounds(storage.name, named, known)]


def _measure(
    order: PredictOrder, storage: PredictedStorage, kept: KeptResult, memory: Path, say: Say
) -> None:
    wanted = _wanted(order, kept, storage)
    if not wanted:
        return
    with storages.running(storage, kept.folder, order.values) as running:
        for data in {program.data for program, _ in wanted}:
            running.keep(memory / data)
        for program, repeat in wanted:
            took = running.took(program, memory)
            say(f"{program.name} on {storage.name}, repeat {repeat}: {took:.2f} s")
            kept.result.measured.append(MeasuredCase(program.name, storage.name, repeat, took))
            kept.keep()
