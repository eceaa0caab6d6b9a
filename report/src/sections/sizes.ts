// Request sizes: calls per class of size, per layer and operation.

import * as Plot from "@observablehq/plot";
import type { ReportDocument } from "../document.ts";
import { h, section } from "../dom.ts";
import { drawn, figure, legend, OPERATIONS, SERIES } from "../figure.ts";
import { count } from "../text.ts";

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
        "scale. Calls that were counted after a table of counters was full are unknown.",
      legend(ops.map((op) => [op, colour.get(op) ?? ""])),
      h("div", { class: "grid" }, ...grid),
    ),
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
        Plot.axisX({ tickSize: 0, fill: "var(--muted)", fontSize: 11 }),
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
