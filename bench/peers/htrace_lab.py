#!/usr/bin/env python3
"""The command line of iostrata with one version of Hadoop more: 3.2.4, the last with HTrace.

No lab of users runs it, and no point of iostrata was tested on it. Maven Central has no examples
of it: those of 3.2.1 run (3.3 calls what 3.2 has not).
"""

from __future__ import annotations

from iostrata.cli import main
from iostrata_lab.clusters.hadoop import versions

HTRACE = versions.Version("3.2.4", examples="3.2.1", java=8, opens=("java.lang",))
versions.VERSIONS = (*versions.VERSIONS, HTRACE)  # type: ignore[assignment]

if __name__ == "__main__":
    main()
