import assert from "node:assert/strict";
import { test } from "node:test";
import { lasted, partName, rates } from "./programs.ts";

test("what no program is named for are the servers", () => {
  assert.equal(partName(""), "servers");
  assert.equal(partName("A again"), "A again");
});

test("a program lasts from its first process to its last, and servers go on", () => {
  assert.equal(lasted({ part: "A", start: 5, end: 12 }), 7);
  assert.equal(lasted({ part: "A", start: 5, end: null }), 0);
  assert.equal(lasted({ part: "", start: 5, end: 12 }), 0);
});

test("bytes of bins are rates, and bins behind the last one have none", () => {
  assert.deepEqual(rates([10, 30], 4, 0.5), [20, 60, 0, 0]);
});
