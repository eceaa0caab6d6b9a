"""Jobs whose output is moved into place file by file after the last task."""

from __future__ import annotations

from iostrata.explain import Change, Evidence, Judgement, RunFacts, rule
from iostrata.explain.rules.parts import OperationSum, by_all, one, operation_sums
from iostrata.text import count, seconds


@rule(
    title="The commit of the job takes long",
    evidence=operation_sums(by_all("task.commit_job", "task.commit_task", "namenode.rename")),
    why="After the last task, one thread moves the output into place: with version 1 of the "
    "committer it lists and renames every file. Nothing else runs meanwhile.",
    unless="readers must never see a part of the output: version 2 shows files as tasks commit.",
    explains=("namenode-edit-log", "metadata-storm"),
)
def judge(rows: list[OperationSum], facts: RunFacts) -> Judgement | None:
    job = one(rows, "task.commit_job")
    renames = one(rows, "namenode.rename").calls
    if not job.calls:
        return None
    return Judgement(
        share=facts.share_of_wall(job.time),
        text=f"the commit of the job took {seconds(job.time)}; the run made {count(renames)} "
        "renames in all",
        evidence=[
            Evidence("time to commit the job", job.time, "ns"),
            Evidence("renames", renames, "count"),
        ],
        change=[
            Change(
                "let tasks move their own output",
                "mapreduce.fileoutputcommitter.algorithm.version",
                after="2",
            ),
            Change("write fewer files, with fewer or larger reduces"),
        ],
    )
