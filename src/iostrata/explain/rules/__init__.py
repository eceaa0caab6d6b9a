"""The registry of rules: one file each, one line here."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from iostrata.explain.finding import Rule

_FILES = (
    "bytewise",
    "cpu_bound",
    "datanode_sync",
    "failed_attempts",
    "frequent_flush",
    "fs_creation",
    "fs_not_cached",
    "gc_bound",
    "local_sync",
    "localization",
    "log_writes",
    "low_locality",
    "many_small_files",
    "many_small_outputs",
    "merge_passes",
    "metadata_storm",
    "namenode_edit_log",
    "namenode_lock",
    "one_reduce",
    "open_churn",
    "read_amplification",
    "reduces_wait",
    "rereading",
    "rpc_queueing",
    "short_tasks",
    "shuffle_skew",
    "slow_commit",
    "slow_disk",
    "slow_network",
    "slow_node",
    "small_blocks",
    "small_reads",
    "small_writes",
    "straggler",
    "too_many_spills",
    "unbalanced_volumes",
    "uncompressed_intermediate",
)
RULES: tuple[Rule[Any], ...] = tuple(import_module(f"{__name__}.{name}").RULE for name in _FILES)
