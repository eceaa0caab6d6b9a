import assert from "node:assert/strict";
import { test } from "node:test";
import { beside, difference, index, off, stacked } from "./what-if.ts";

test("combinations are in order, those of the last dimension change first", () => {
  const dimensions = [
    { values: ["0.5x", "1x", "2x"] },
    { values: ["4", "8"] },
    { values: ["1x", "2x"] },
  ];
  const every = [0, 1, 2].flatMap((a) => [0, 1].flatMap((b) => [0, 1].map((c) => [a, b, c])));
  assert.deepEqual(
    every.map((places) => index(dimensions, places)),
    Array.from({ length: 12 }, (_, place) => place),
  );
  assert.equal(index([], []), 0);
});

test("a time is beside the recorded one", () => {
  assert.equal(beside(85, 100), "15 % less than recorded");
  assert.equal(beside(104, 100), "4.0 % more than recorded");
  assert.equal(beside(100.01, 100), "as recorded");
  assert.equal(off(32.43, 32.3), "+0.4 %");
  assert.equal(off(99, 100), "−1.0 %");
});

test("a difference has a sign", () => {
  assert.deepEqual([-1.2e9, 3e8, 10].map(difference), ["−1.20 s", "+300.0 ms", "–"]);
});

test("lengths follow each other", () => {
  assert.deepEqual(stacked([3, 0, 2]), [
    [0, 3],
    [3, 3],
    [3, 5],
  ]);
});
