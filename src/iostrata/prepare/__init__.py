"""What it takes to trace a cluster of one's own, as text: never applied from here.

print(prepare(Path("/etc/hadoop/conf"), agent_jar, shm_dir))
"""

from iostrata.prepare.hadoop import Preparation, PrepareError, prepare

__all__ = ["Preparation", "PrepareError", "prepare"]
