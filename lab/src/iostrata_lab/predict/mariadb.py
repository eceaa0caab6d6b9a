"""A server of MariaDB that starts, answers one query, and ends (S5, Fig. 4)."""

from __future__ import annotations

import shutil
from pathlib import Path

from iostrata.errors import UserError
from iostrata.predict import child

ROW = 300  # bytes in a table, with what InnoDB adds
_LONGEST = 1800.0  # s
_PACKAGES = "apt-get install --no-install-recommends mariadb-server-core mariadb-client-core"
_QUERY = """
set -e
mariadbd --no-defaults --user=root --datadir="$1" --socket="$2" --pid-file="$2.pid" \\
    --skip-networking --innodb-buffer-pool-size=64M --innodb-buffer-pool-load-at-startup=0 \\
    --innodb-buffer-pool-dump-at-shutdown=0 2> "$2.log" &
server=$!
trap 'kill -KILL $server 2> "$2.end" || true' EXIT
until mariadb --no-defaults --socket="$2" -e "SELECT 1" > "$2.end" 2>&1; do
    kill -0 $server 2> "$2.end" || { grep ERROR "$2.log" | head -n 1 >&2; exit 1; }
    sleep 0.05
done
mariadb --no-defaults --socket="$2" -e "$3"
kill $server
wait $server
"""
_FILL = (
    "CREATE DATABASE test; CREATE TABLE test.facts (id INT PRIMARY KEY, number INT, "
    "text VARCHAR(255)) ENGINE=InnoDB; USE test; INSERT INTO facts "
    "SELECT seq, seq % 1000, CONCAT(REPEAT(MD5(seq), 7), seq) FROM seq_1_to_{rows}"
)
_SCAN = "SELECT SUM(LENGTH(text)), SUM(number) FROM test.facts"


def check() -> None:
    """Raises UserError where it is not installed."""
    needed = ("mariadb", "mariadb-install-db", "mariadbd")
    if missing := [name for name in needed if not shutil.which(name)]:
        raise UserError(f"{', '.join(missing)}: not installed", _PACKAGES)


def make(own: Path, folder: Path, rows: int) -> None:
    """A table of so many rows in `folder`."""
    folder.mkdir()
    install = ["mariadb-install-db", "--no-defaults", "--user=root", f"--datadir={folder}"]
    fill = ["bash", "-c", _QUERY, "-", str(folder), str(own / "socket"), _FILL.format(rows=rows)]
    for words in ([*install, "--skip-test-db"], fill):
        done = child.run(words, _LONGEST, f"{words[0]} hangs")
        if done.returncode:
            raise UserError(f"{words[0]} failed with {done.returncode}: {child.said(done)[0]}")


def scan(data: Path, own: Path) -> list[str]:
    """The command that goes through the table in `data`; its socket is in `own`."""
    return ["bash", "-c", _QUERY, "-", str(data), str(own / "socket"), _SCAN]
