// The directions of bytes, which name columns of rows: bytes_read, bytes_written …

export const DIRECTIONS = ["read", "written", "received", "sent"] as const;
export type Direction = (typeof DIRECTIONS)[number];
/** A row that has the bytes of each direction. */
export type Moved = Record<`bytes_${Direction}`, number>;
