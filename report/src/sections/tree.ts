// The call tree: which function called which, across processes, and where time and bytes went.

import type { ReportDocument } from "../document.ts";
import { caption, h, name, section } from "../dom.ts";
import { figure, layerColour, legend } from "../figure.ts";
import { brief, Icicle } from "../icicle.ts";
import { table } from "../table.ts";
import { called, count, printable, seconds } from "../text.ts";
import { byFunction, rooted, type Shown, type Sum, within } from "../tree.ts";
import { bytesCell } from "./layers.ts";

export function tree(run: ReportDocument): HTMLElement | null {
  if (!run.tree?.length) return null;
  const all = rooted(run.tree, new Set());
  const layers = [...new Set([...within(all)].map(({ node }) => node.layer))].filter(Boolean);
  const functions = h("div", {}, functionTable(all));
  const icicle = new Icicle(run.tree, (root) => functions.replaceChildren(functionTable(root)));
  return section(
    "tree",
    "Call tree",
    figure(
      "Calls of all processes and threads of the whole run, merged: equal calls below equal " +
        "callers are one box. Its width is their time, summed over threads, and its colour is " +
        "their layer. The row below a box has the calls that it made, also in other processes. " +
        "Calls that ran at the same time share the width of their caller. By self time, a box is " +
        "as wide as the self times in it and below it. Click or Enter zooms in, Escape zooms " +
        "out, and arrow keys move; h hides a function, and its time becomes its caller's.",
      legend(layers.map((layer) => [printable(layer), layerColour(layer)])),
      icicle.element,
    ),
    h("h3", {}, "Functions"),
    functions,
    caption(
      "The same tree by function, with the most self time first. Self time is time in the " +
        "function and in no traced call below it; self times add up. Total time includes the " +
        "calls below it, and counts a function within itself once.",
    ),
  );
}

function functionTable(root: Shown): HTMLElement {
  const rows = byFunction(root);
  const longest = Math.max(1, ...rows.map((row) => row.self));
  return table<Sum>(
    [
      { title: "function", cell: label, by: (row) => called(row.node) },
      { title: "layer", cell: (row) => name(row.node.layer), by: (row) => row.node.layer },
      { title: "calls", number: true, cell: (row) => count(row.calls), by: (row) => row.calls },
      { title: "bytes", number: true, cell: (row) => bytesCell(row.bytes), by: (row) => row.bytes },
      { title: "errors", number: true, cell: (row) => count(row.errors), by: (row) => row.errors },
      { title: "total", number: true, cell: (row) => seconds(row.total), by: (row) => row.total },
      {
        title: "self",
        number: true,
        cell: (row) => seconds(row.self),
        by: (row) => row.self,
        bar: (row) => row.self / longest,
      },
    ],
    rows,
    {
      label: "functions of the call tree",
      most: 12,
      search: ({ node }) => `${called(node)} ${node.layer} ${node.op}`,
    },
  );
}

/** Without its package; the whole name is its title, and what a search finds. */
function label({ node }: Sum): HTMLElement {
  if (node.collapsed) return name("others, each small");
  const whole = called(node);
  const element = name(brief(whole));
  element.title = printable(whole);
  return element;
}
