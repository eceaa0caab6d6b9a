import assert from "node:assert/strict";
import { test } from "node:test";
import type { CallNode } from "./document.ts";
import { brief } from "./icicle.ts";
import { byFunction, layout, matching, pathTo, rooted, timeOf, within } from "./tree.ts";

const WHOLE = rooted([], new Set()).node;

function node(op: string, self: number, below: CallNode[] = [], total?: number): CallNode {
  const scaled = total ?? below.reduce((sum, child) => sum + child.scaled, self);
  return { ...WHOLE, layer: "fs", op, calls: 1, bytes: 10, self, scaled, below };
}

// run 100 = copy 60 (read 20, write 30 (read 10)) + close 30, and 10 of its own
const TREE = [
  node("run", 10, [
    node("copy", 10, [node("read", 20), node("write", 20, [node("read", 10)])]),
    node("close", 30),
  ]),
];
const names = (found: Iterable<{ node: CallNode }>) => [...found].map((shown) => shown.node.op);

test("boxes are as wide as their share of what is drawn, in rows below their caller", () => {
  const root = rooted(TREE, new Set());
  const boxes = layout(root, "total", 0).map((at) => [
    at.shown.node.op,
    at.row,
    Math.round(at.x * 100),
    Math.round(at.width * 100),
  ]);
  assert.deepEqual(boxes, [
    ["all", 0, 0, 100],
    ["run", 1, 0, 100],
    ["copy", 2, 0, 60],
    ["write", 3, 0, 30],
    ["read", 4, 0, 10],
    ["read", 3, 30, 20],
    ["close", 2, 60, 30],
  ]);
  // what is too narrow is left out with all below it
  assert.deepEqual(names(layout(root, "total", 0.25).map((at) => at.shown)), [
    "all",
    "run",
    "copy",
    "write",
    "close",
  ]);
});

test("calls that ran at the same time share the width of their caller", () => {
  const root = rooted([node("run", 0, [node("a", 30), node("b", 90)], 100)], new Set());
  assert.deepEqual(
    layout(root, "total", 0).map((at) => [at.shown.node.op, at.x, at.width]),
    [
      ["all", 0, 1],
      ["run", 0, 1],
      ["b", 0, 0.75],
      ["a", 0.75, 0.25],
    ],
  );
});

test("a hidden function's self time and calls become its caller's, and nothing is lost", () => {
  const whole = rooted(TREE, new Set());
  const write = [...within(whole)].find((shown) => shown.node.op === "write");
  const root = rooted(TREE, new Set([write?.key ?? ""]));
  assert.deepEqual(names(within(root)), ["all", "run", "copy", "read", "read", "close"]);
  assert.equal([...within(root)].find((shown) => shown.node.op === "copy")?.self, 30);
  assert.equal(root.inner, whole.inner);
});

test("a search says how much time is in what it finds, nothing twice", () => {
  const root = rooted(TREE, new Set());
  assert.deepEqual(timeOf(matching(root, "READ")), { total: 30, self: 30 });
  // run holds all of what else is found
  assert.deepEqual(timeOf(matching(root, "fs")), { total: 100, self: 100 });
  assert.equal(matching(root, "read fs").size, 2);
  assert.equal(matching(root, " ").size, 0);
});

test("sums by function: self times add up, a function within itself counts once", () => {
  const tree = [node("walk", 5, [node("walk", 10, [node("read", 1)])])];
  const rows = byFunction(rooted(tree, new Set()));
  assert.deepEqual(
    rows.map((row) => [row.node.op, row.calls, row.total, row.self, row.bytes]),
    [
      ["walk", 2, 16, 15, 20],
      ["read", 1, 1, 1, 10],
    ],
  );
});

test("crumbs lead from the root to a node, names lose their package", () => {
  const deepest = [...within(rooted(TREE, new Set()))].find((shown) => !shown.below.length);
  assert.deepEqual(names(pathTo(deepest ?? rooted([], new Set()))), [
    "all",
    "run",
    "copy",
    "write",
    "read",
  ]);
  assert.equal(brief("org.apache.hadoop.hdfs.DFSInputStream.read"), "DFSInputStream.read");
  assert.equal(brief("read"), "read");
});
