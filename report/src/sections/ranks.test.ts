import assert from "node:assert/strict";
import { test } from "node:test";
import { number } from "./ranks.ts";

test("ranks are in the order of their numbers", () => {
  const ranks = ["rank 10", "rank 9", "main"].map((task) => ({ task }));
  assert.deepEqual(ranks.map(number), [10, 9, -1]);
});
