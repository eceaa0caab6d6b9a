from __future__ import annotations

import msgspec
import pytest

from iostrata.errors import UserError
from iostrata.replay.alternative import changed
from iostrata.replay.codecs import CODECS, COMPRESS, codec
from iostrata.replay.jobs import RecordedJobs, ReplayedJob
from iostrata.replay.schedule import replay
from iostrata.replay.tests.twins import MB, sort


def fetching() -> RecordedJobs:
    """Reduces whose shuffle takes 60 MB of each map, half of them from their own host."""
    made = sort()
    came = {"one": 180 * MB, "two": 180 * MB}
    return made.with_attempts(
        lambda _, one: msgspec.structs.replace(
            one,
            parts=tuple(
                msgspec.structs.replace(part, came=came, read={"one": 10 * MB})
                if part.name == "shuffle"
                else part
                for part in one.parts
            ),
        )
    )


def test_less_is_written_and_fetched_and_more_computed() -> None:
    before = fetching()
    found = changed(before, [codec("lz4=2")])
    how = CODECS["lz4"]
    old, new = (jobs.jobs[0].attempts[0].parts for jobs in (before, found))
    assert [part.dirtied for part in new] == [0, 0, 30 * MB]
    assert new[2].cpu == pytest.approx(old[2].cpu + 60 * MB / how.compresses)
    assert (new[0], new[1]) == (old[0], old[1])
    old, new = (jobs.jobs[0].attempts[-1].parts for jobs in (before, found))
    assert (new[2].dirtied, new[2].read) == (15 * MB, {"one": 5 * MB})
    assert new[2].came == {"one": 90 * MB, "two": 90 * MB}
    # it merges 30 MB on its disk
    more = 390 * MB / how.expands + 30 * MB / how.compresses
    assert new[2].cpu == pytest.approx(old[2].cpu + more)
    assert new[3] == old[3]  # what it writes to HDFS is not map output
    assert replay(found).wall < replay(before).wall


def test_a_codec_says_what_it_assumes() -> None:
    assert codec("gzip").assumes == (
        "gzip makes it 2.7 times smaller, as of mixed files, at 50 MB/s of a core"
    )
    assert codec("gzip=4").assumes == "gzip makes it 4 times smaller, at 50 MB/s of a core"


def test_where_there_is_nothing_to_compress_is_one_line() -> None:
    for text in ("lzx", "", "lz4=much", "lz4=0.5"):
        with pytest.raises(UserError, match="--codec"):
            codec(text)
    made = sort()
    done = msgspec.structs.replace(made, settings={made.jobs[0].name: {COMPRESS: "true"}})
    with pytest.raises(UserError, match="job job_1 compresses its map output"):
        changed(done, [codec("lz4")])
    bare = msgspec.structs.replace(made, jobs=(ReplayedJob("job", 0.0, ()),))
    with pytest.raises(UserError, match="the run has no reduces"):
        changed(bare, [codec("lz4")])
