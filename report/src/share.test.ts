import assert from "node:assert/strict";
import { test } from "node:test";
import { grew, percent, share } from "./share.ts";
import { seconds } from "./text.ts";

const CHANGE = {
  first: 2e9,
  second: 3e9,
  share: 0.5,
  low: 0.42,
  high: 0.61,
  least: null,
  most: null,
  p: 0.01,
};
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

test("an interval is of shares, factors or differences, and no mixture", () => {
  const wide = { ...change, share: 1.4, low: -0.3, high: 2.4 };
  assert.equal(percent(wide, seconds, true), "x 2.4 (x 0.70 to x 3.4)");
  const zeros = { ...change, low: null, high: null, least: -1e9, most: 3e9 };
  assert.equal(percent(zeros, seconds, true), "+1.00 s (-1.00 s to +3.00 s)");
  assert.equal(percent(zeros, seconds), "+50 %");
});

test("differences of times have a sign", () => {
  assert.deepEqual([grew(3.2e9), grew(-12_000)], ["+3.20 s", "-12 µs"]);
});
