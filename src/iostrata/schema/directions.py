"""Which operations move data, and which way."""

# The bytes of other operations (asked of a NameNode …) move nothing.
DIRECTIONS: dict[str, tuple[str, ...]] = {
    "read": ("read", "read_vectored", "transfer", "disk_transfer"),
    "written": ("write",),
    "received": ("receive_packet", "receive"),
    "sent": ("send_packet", "serve_part", "send"),
}
MOVING = tuple(op for ops in DIRECTIONS.values() for op in ops)
