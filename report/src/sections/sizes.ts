// Request sizes: calls per class of size, per layer and operation.

import * as Plot from "@observablehq/plot";
import type { MergedSizes, ReportDocument } from "../document.ts";
import { h, section } from "../dom.ts";
import { COLOURS, drawn, figure, legend, OPERATIONS, SERIES } from "../figure.ts";
import { count, shortSize, size } from "../text.ts";

const HEIGHT = 168;

interface Cell {
  size: string;
  op: string;
  calls: number;
}

export function sizes(run: ReportDocument): HTMLElement {
  const layers = [...new Set(run.sizes.map((row) => row.layer))];
  const ops = [...new Set(run.sizes.map((row) => row.op))];
  const classes = run.size_classes.map((size, place) => ({ size, place }));
  const used = classes.filter(
    ({ size, place }) => size !== "unknown" || run.sizes.some((row) => row.calls[place]),
  );
  const names = used.map(({ size }) => size);
  const colour = new Map(
    ops.map((op, place) => [op, OPERATIONS[op] ?? SERIES[place % SERIES.length] ?? ""]),
  );
  const grid = layers.map((layer) => {
    const cells = run.sizes
      .filter((row) => row.layer === layer)
      .flatMap(({ op, calls }) =>
        used.map(({ size, place }) => ({ size, op, calls: calls[place] ?? 0 })),
      );
    return h("div", { class: "small" }, h("h3", {}, layer), bars(layer, cells, names, colour));
  });
  return section(
    "sizes",
    "Request sizes",
    figure(
      "Calls that transferred data, by their bytes, stacked by operation; each layer has its own " +
        "scale. Of calls that were counted after a table of counters was full it is unknown (?).",
      legend(ops.map((op) => [op, colour.get(op) ?? ""])),
      h("div", { class: "grid" }, ...grid),
    ),
    merging(run.merged ?? []),
  );
}

/** What a disk could merge: bytes by the size of their request, before and after. */
function merging(rows: MergedSizes[]): HTMLElement | null {
  if (!rows.length) return null;
  const sizes = rows.flatMap((row) => row.classes.map((of) => of.size));
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
  const domain: number[] = [];
  for (let at = least; at <= most; at *= 2) domain.push(at);
  return figure(
    "Bytes by the size of the request that moved them: as requests were, and once those that " +
      "follow each other in their file, within a second, are merged into one. Of the requests " +
      "of one process on one file that were recorded individually, with their place.",
    legend([
      ["as they were", UNMERGED],
      ["merged: read or received", COLOURS.read ?? ""],
      ["merged: written or sent", COLOURS.written ?? ""],
    ]),
    h("div", { class: "grid" }, ...rows.map((row) => merged(row, domain))),
  );
}

const UNMERGED = "var(--rule)";
const INWARD = new Set(["read", "received"]);

function merged(row: MergedSizes, domain: number[]): HTMLElement {
  const mean = (requests: number) => size(Math.round(row.bytes / Math.max(1, requests)));
  const said =
    `${count(row.requests)} × ${mean(row.requests)}, ` +
    `merged ${count(row.merged)} × ${mean(row.merged)}`;
  const every = Math.ceil(domain.length / 6);
  const ticks = domain.filter((_, place) => place % every === 0);
  const colour = (INWARD.has(row.direction) ? COLOURS.read : COLOURS.written) ?? "";
  const title = (of: { size: number; before: number; after: number }) =>
    `${size(of.size)} to ${size(of.size * 2)}: ${size(of.before)} as they were, ` +
    `${size(of.after)} merged`;
  const label = `Request sizes of layer ${row.layer}, bytes ${row.direction}: ${said}`;
  return h(
    "div",
    { class: "small" },
    h("h3", {}, `${row.layer} ${row.direction}`),
    drawn(label, HEIGHT, (width) =>
      Plot.plot({
        width,
        height: HEIGHT,
        marginLeft: 4,
        marginRight: 4,
        marginTop: 8,
        marginBottom: 24,
        x: { domain, label: null, padding: 0.1 },
        y: { axis: null },
        marks: [
          Plot.axisX({ ticks, tickFormat: shortSize, tickSize: 0, fill: "var(--muted)" }),
          Plot.barY(row.classes, { x: "size", y: "before", fill: UNMERGED, title }),
          Plot.barY(row.classes, { x: "size", y: "after", fill: colour, inset: 2, title }),
          Plot.ruleY([0], { stroke: "var(--rule)" }),
        ],
      }),
    ),
    h("p", { class: "caption" }, said),
  );
}

function bars(
  layer: string,
  cells: Cell[],
  used: string[],
  colour: Map<string, string>,
): HTMLElement {
  const sums = used.map((size) =>
    cells.filter((cell) => cell.size === size).reduce((sum, cell) => sum + cell.calls, 0),
  );
  const label = used.map((size, place) => `${size}: ${count(sums[place] ?? 0)}`).join(", ");
  const totals = used.map((size, place) => ({ size, calls: sums[place] ?? 0 }));
  return drawn(`Request sizes of layer ${layer}, calls: ${label}`, HEIGHT, (width) =>
    Plot.plot({
      width,
      height: HEIGHT,
      marginLeft: 4,
      marginRight: 4,
      marginTop: 18,
      marginBottom: 24,
      x: { domain: used, label: null, padding: 0.25 },
      y: { axis: null },
      marks: [
        Plot.axisX({ tickFormat: narrow, tickSize: 0, fill: "var(--muted)", fontSize: 11 }),
        Plot.barY(cells, {
          x: "size",
          y: "calls",
          fill: (cell: Cell) => colour.get(cell.op),
          title: (cell: Cell) => `${cell.op} ${cell.size}: ${count(cell.calls)} calls`,
        }),
        Plot.text(
          totals.filter((total) => total.calls > 0),
          {
            x: "size",
            y: "calls",
            text: (t: { calls: number }) => short(t.calls),
            dy: -8,
            fontSize: 11,
            fill: "currentColor",
          },
        ),
        Plot.ruleY([0], { stroke: "var(--rule)" }),
      ],
    }),
  );
}

/** A name of a size that does not touch its neighbours. */
function narrow(size: string): string {
  return size === "unknown" ? "?" : size.replace(">=", "≥");
}

/** A count in at most four characters. */
export function short(calls: number): string {
  if (calls < 1000) return String(calls);
  for (const [unit, name] of [
    [1e9, "G"],
    [1e6, "M"],
  ] as const) {
    if (calls >= unit * 0.9995)
      return `${(calls / unit).toFixed(calls < 9.95 * unit ? 1 : 0)}${name}`;
  }
  return `${(calls / 1e3).toFixed(calls < 9950 ? 1 : 0)}k`;
}
