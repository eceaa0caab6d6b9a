import assert from "node:assert/strict";
import { test } from "node:test";
import type { AccessStream } from "../document.ts";
import { together } from "./patterns.ts";

const stream = (target: string, more: Partial<AccessStream> = {}): AccessStream => ({
  host: "node",
  layer: "posix",
  direction: "written",
  target,
  block: 0,
  pattern: "contiguous",
  requests: 8,
  bytes: 8,
  size: 1,
  stride: null,
  again: 0,
  task: null,
  points: [],
  ...more,
});

test("streams on one file are one picture, in the order of the first", () => {
  const [a, b, c] = [stream("/shared"), stream("/own"), stream("/shared", { task: "rank 1" })];
  const read = stream("/shared", { direction: "read" });
  assert.deepEqual(together([a, b, c, read]), [[a, c], [b], [read]]);
});
