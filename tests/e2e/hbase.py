"""A whole HBase in one JVM, by the program HBaseLoad.java."""

from __future__ import annotations

import subprocess
from pathlib import Path

from iostrata_lab.predict.hbase import OPENED, SETTINGS, library

HERE = Path(__file__).parent


def load(folder: Path, provider: str, of_meta: str, rows: int, batch: int) -> list[str]:
    """The command that runs HBaseLoad below `folder`, which it compiles there.

    `provider` writes the WAL of tables, `of_meta` that of hbase:meta.
    """
    lib, classes, data = library(), folder / "classes", folder / "data"
    classes.mkdir()
    data.mkdir()
    (classes / "log4j.properties").write_text("log4j.rootLogger=OFF\n")
    sources = [SETTINGS, str(HERE / "HBaseLoad.java")]
    subprocess.run(["javac", "-cp", lib, "-d", str(classes), *sources], check=True)
    jvm = ["java", "-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", *OPENED]
    settings = [provider, of_meta, str(rows), str(batch)]
    return [*jvm, "-cp", f"{classes}:{lib}", "HBaseLoad", str(data), *settings]
