import assert from "node:assert/strict";
import { test } from "node:test";
import { grew, percent, share } from "./share.ts";
import { seconds } from "./text.ts";

const CHANGE = { first: 2e9, second: 3e9, share: 0.5, low: 0.42, high: 0.61, p: 0.01 };
const change = { ...CHANGE, verdict: "changed" as const, runs: [[], []] as [number[], number[]] };

test("shares are said with as many digits as they have", () => {
  const said = [-1, -0.052, -0.0001, 0, 0.0004, 0.099, 0.1, 0.99, 1, 2.4, 119].map(share);
  assert.deepEqual(said, [
    "-100 %",
    "-5.2 %",
    "-<0.1 %",
    "+0.0 %",
    "+<0.1 %",
    "+9.9 %",
    "+10 %",
    "+99 %",
    "x 2.0",
    "x 3.4",
    "x 120",
  ]);
});

test("a change has its interval where there is one", () => {
  assert.equal(percent(change, seconds, true), "+50 % (+42 % to +61 %)");
  assert.equal(percent(change, seconds), "+50 %");
  assert.equal(percent({ ...change, low: null, high: null }, seconds, true), "+50 %");
  assert.equal(percent({ ...change, second: 2e9 }, seconds), "=");
  assert.equal(percent({ ...change, second: 0, share: -1 }, seconds), "to 0");
  assert.equal(percent({ ...change, first: 0, share: null }, seconds), "0 to 3.00 s");
});

test("differences of times have a sign", () => {
  assert.deepEqual([grew(3.2e9), grew(-12_000)], ["+3.20 s", "-12 µs"]);
});
