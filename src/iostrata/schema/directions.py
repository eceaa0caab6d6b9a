"""Which operations move data, and in which direction."""

from __future__ import annotations

# The bytes of other operations (asked of a NameNode …) move nothing.
DIRECTIONS: dict[str, tuple[str, ...]] = {
    "read": ("read", "read_vectored", "transfer", "disk_transfer"),
    "written": ("write", "raw_write"),
    "received": ("receive_packet", "receive"),
    "sent": ("send_packet", "serve_part", "send"),
}
DIRECTION_OF = {op: direction for direction, ops in DIRECTIONS.items() for op in ops}
# The column of a result that holds the bytes in a direction.
BYTES_COLUMN = {direction: f"bytes_{direction}" for direction in DIRECTIONS}
