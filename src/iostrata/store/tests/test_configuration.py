"""What is kept of a configuration: settings that advice may name, and nothing else of it."""

from __future__ import annotations

import pytest

from iostrata.store.configuration import kept, of_command


def test_secrets_are_never_kept() -> None:
    configuration = {
        "mapreduce.task.io.sort.mb": "100",
        "mapreduce.map.java.opts": "-Djavax.net.ssl.keyStorePassword=x1 -Xmx600m -Xss1m,x -XX:+Y",
        "mapreduce.reduce.java.opts": "-Dpassword=x2",
        "fs.s3a.secret.key": "x3",
        "dfs.replication": "x4; rm -r /",
        "io.file.buffer.size": "x5\n",
        "spark.serializer": "x" * 201,
    }
    assert kept(configuration) == {
        "io.file.buffer.size": "x5",
        "mapreduce.map.java.opts": "-Xmx600m",
        "mapreduce.task.io.sort.mb": "100",
    }


@pytest.mark.parametrize(
    ("command", "settings"),
    [
        ("hadoop jar a.jar -D mapreduce.job.reduces=4 in", {"mapreduce.job.reduces": "4"}),
        ("hadoop jar a.jar -Dmapreduce.job.reduces=4 in", {"mapreduce.job.reduces": "4"}),
        ("hadoop jar -Ddfs.replication=1 -Ddfs.replication=2", {"dfs.replication": "2"}),
        ("spark-submit --conf spark.serializer=a.B c.py", {"spark.serializer": "a.B"}),
        ("spark-submit --conf=spark.serializer=a.B c.py", {"spark.serializer": "a.B"}),
        ("spark-submit --executor-memory 2g c.py", {"spark.executor.memory": "2g"}),
        ("spark-submit --executor-memory", {}),
        ("java -Dpassword=x Main -D", {}),
        ("", {}),
    ],
)
def test_settings_of_a_command(command: str, settings: dict[str, str]) -> None:
    assert of_command(command.split()) == settings
