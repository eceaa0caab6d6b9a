// The merged call tree as values: what is hidden, found, laid out and summed by function.

import type { CallNode } from "./document.ts";
import { called } from "./text.ts";

export type Measure = "total" | "self";

/** A node as it is shown: hidden functions are left out, what is below them is its parent's. */
export interface Shown {
  node: CallNode;
  key: string;
  self: number; // its own, and that of hidden functions below it
  inner: number; // self of it and of all below it
  above: Shown | null;
  below: Shown[];
}

/** A rectangle: left edge and width as shares of the whole, row 0 on top. */
export interface Placed {
  shown: Shown;
  x: number;
  width: number;
  row: number;
}

/** What makes two nodes calls of the same function. */
export function keyOf(node: CallNode): string {
  return JSON.stringify([node.layer, node.op]);
}

const WHOLE: CallNode = {
  layer: "",
  op: "all",
  calls: 0,
  calls_bound: 0,
  time: 0,
  time_bound: 0,
  self: 0,
  self_bound: 0,
  bytes: 0,
  bytes_bound: 0,
  scaled: 0,
  errors: 0,
  min: 0,
  max: 0,
  p50: 0,
  p99: 0,
  estimated: false,
  below: [],
  collapsed: 0,
};

/** One root above all trees of the run, without the functions that a reader hides. */
export function rooted(tree: CallNode[], hidden: ReadonlySet<string>): Shown {
  const scaled = tree.reduce((sum, node) => sum + node.scaled, 0);
  const calls = tree.reduce((sum, node) => sum + (node.calls ?? 0), 0);
  return show({ ...WHOLE, calls, time: scaled, scaled, below: tree }, null, hidden);
}

function show(node: CallNode, above: Shown | null, hidden: ReadonlySet<string>): Shown {
  const made: Shown = { node, key: keyOf(node), self: node.self ?? 0, inner: 0, above, below: [] };
  adopt(made, node.below, hidden);
  made.inner = made.below.reduce((sum, child) => sum + child.inner, made.self);
  made.below.sort((a, b) => b.node.scaled - a.node.scaled);
  return made;
}

function adopt(parent: Shown, below: CallNode[], hidden: ReadonlySet<string>): void {
  for (const node of below) {
    if (hidden.has(keyOf(node))) {
      parent.self += node.self ?? 0;
      adopt(parent, node.below, hidden);
    } else {
      parent.below.push(show(node, parent, hidden));
    }
  }
}

/** The node and all below it, the outer ones first. */
export function* within(root: Shown): Generator<Shown> {
  yield root;
  for (const child of root.below) yield* within(child);
}

export function widthOf(shown: Shown, measure: Measure): number {
  return measure === "total" ? shown.node.scaled : shown.inner;
}

/**
 * Rectangles of `root` and what is below it, those of at least `least` of the whole. Where calls
 * below a node ran at the same time their totals exceed its own: they share its width.
 */
export function layout(root: Shown, measure: Measure, least: number): Placed[] {
  const found: Placed[] = [];
  const place = (shown: Shown, x: number, width: number, row: number) => {
    found.push({ shown, x, width, row });
    const sum = shown.below.reduce((total, child) => total + widthOf(child, measure), 0);
    const whole = Math.max(widthOf(shown, measure), sum);
    let left = x;
    for (const child of shown.below) {
      const share = whole > 0 ? (widthOf(child, measure) / whole) * width : 0;
      if (share >= least) place(child, left, share, row + 1);
      left += share;
    }
  };
  place(root, 0, 1, 0);
  return found;
}

/** Nodes whose function, layer or operation hold all words. */
export function matching(root: Shown, text: string): Set<Shown> {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return new Set();
  const holds = ({ node }: Shown) => {
    const name = `${called(node)} ${node.layer} ${node.op}`.toLowerCase();
    return words.every((word) => name.includes(word));
  };
  return new Set([...within(root)].filter((shown) => shown.above !== null && holds(shown)));
}

/** The time of nodes without counting what lies in another of them twice. */
export function timeOf(found: ReadonlySet<Shown>): { total: number; self: number } {
  let total = 0;
  let self = 0;
  for (const shown of found) {
    self += shown.self;
    if (!isInside(shown, (above) => found.has(above))) total += shown.node.scaled;
  }
  return { total, self };
}

function isInside(shown: Shown, test: (above: Shown) => boolean): boolean {
  for (let above = shown.above; above; above = above.above) if (test(above)) return true;
  return false;
}

/** A function wherever it stands in the tree. */
export interface Sum {
  node: CallNode;
  calls: number;
  total: number; // calls of it within itself are counted once
  self: number;
  bytes: number;
  errors: number;
}

/** Sums by function, most self time first. */
export function byFunction(root: Shown): Sum[] {
  const found = new Map<string, Sum>();
  for (const shown of within(root)) {
    if (!shown.above) continue;
    const { node, key } = shown;
    const sum = found.get(key) ?? { node, calls: 0, total: 0, self: 0, bytes: 0, errors: 0 };
    sum.calls += node.calls ?? 0;
    sum.self += shown.self;
    sum.bytes += node.bytes ?? 0;
    sum.errors += node.errors;
    if (!isInside(shown, (above) => above.key === key)) sum.total += node.scaled;
    found.set(key, sum);
  }
  return [...found.values()].sort((a, b) => b.self - a.self || b.total - a.total);
}

/** From the root down to a node, both included. */
export function pathTo(shown: Shown): Shown[] {
  const found = [shown];
  for (let above = shown.above; above; above = above.above) found.unshift(above);
  return found;
}
