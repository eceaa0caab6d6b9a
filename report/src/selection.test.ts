import assert from "node:assert/strict";
import { test } from "node:test";
import { mean } from "./history.ts";
import { byFunction } from "./sections/critical.ts";
import { Selection } from "./selection.ts";

const AXIS = { start: 1000e9, bin: 500_000_000, bins: 8 };

function chosen(from: number, until: number): Selection {
  const selection = new Selection(AXIS);
  selection.choose(from, until);
  return selection;
}

test("an interval is whole bins, in any order, never none; all of them are the whole run", () => {
  assert.deepEqual(chosen(2, 4).bins, { from: 2, until: 4 });
  assert.deepEqual(chosen(4, 2).bins, { from: 2, until: 4 });
  assert.deepEqual(chosen(3, 3).bins, { from: 3, until: 4 });
  assert.deepEqual(chosen(99, 99).bins, { from: 7, until: 8 });
  assert.equal(chosen(-5, 99).bins, null);
  assert.equal(chosen(2, 4).text(), "1 s to 2 s");
});

test("who follows is told at once and after every change, but not of none", () => {
  const selection = new Selection(AXIS);
  const told: unknown[] = [];
  selection.follow(() => told.push(selection.bins));
  selection.choose(2, 4);
  selection.choose(2, 4);
  selection.clear();
  selection.clear();
  assert.deepEqual(told, [null, { from: 2, until: 4 }, null]);
});

test("sums and means are those of the bins, times are cut at the edges", () => {
  const selection = chosen(2, 4); // 1 s to 2 s
  assert.equal(selection.sum([1, 2, 4, 8, 16, 32, 64, 128]), 12);
  assert.equal(mean([9, 9, 1, null, 9, 9, 9, 9], selection), 1);
  assert.equal(mean([null, null, null, null], selection), null);
  assert.equal(selection.within(1000.5e9, 1001.25e9), 0.25e9);
  assert.equal(selection.within(1003e9, 1004e9), 0);
  assert.equal(selection.touches(1000e9, 1001e9), true);
  assert.equal(selection.touches(1002e9, 1003e9), false);
  assert.equal(selection.touches(null, null), false);
  assert.equal(new Selection(AXIS).touches(null, null), true);
});

test("the critical path within an interval, working and waiting apart", () => {
  const part = { layer: "fs", op: "read", role: "map", host: "a" };
  const parts = [
    { ...part, start: 1000e9, end: 1001.5e9, waiting: false },
    { ...part, start: 1001.5e9, end: 1004e9, waiting: true },
    { ...part, op: "late", start: 1003e9, end: 1004e9, waiting: false },
  ];
  assert.deepEqual(byFunction(parts, chosen(2, 4)), [
    { layer: "fs", op: "read", working: 0.5e9, waiting: 0.5e9, idle: 0 },
  ]);
});
