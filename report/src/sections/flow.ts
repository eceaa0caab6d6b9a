// Bytes through the layers: those that applications asked for, and those of each step down to the disks.

import * as Plot from "@observablehq/plot";
import { DIRECTIONS } from "../directions.ts";
import type { Category, ReportDocument, Step } from "../document.ts";
import { caption, h, section } from "../dom.ts";
import { COLOURS, drawn, figure, LEFT, legend } from "../figure.ts";
import { table } from "../table.ts";
import { shortSize, size } from "../text.ts";
import { directions, moved } from "./layers.ts";

export function flow(run: ReportDocument): HTMLElement {
  const used = directions(run.layers).filter((name) =>
    run.layers.some((row) => row[`bytes_${name}`] > 0),
  );
  const rows = run.layers.flatMap((row) =>
    used.map((name) => ({ layer: row.layer, direction: name, bytes: row[`bytes_${name}`] })),
  );
  const names = run.layers.map((row) => row.layer);
  const height = 26 * names.length + 34;
  return section(
    "flow",
    "Bytes through the layers",
    ...run.flow.map(({ direction, steps }) => steps_(direction, steps)),
    run.flow.length
      ? caption(
          "The factor is the bytes of a step over those of the first step, which applications " +
            "asked for. At the DataNodes it includes replication, at the disks it includes what " +
            "is stored beside the data.",
        )
      : null,
    h("h3", {}, "Bytes by layer"),
    figure(
      "Bytes of each layer, by direction.",
      legend(used.map((name) => [name, COLOURS[name] ?? ""])),
      drawn(
        "Bytes by layer and direction, the same numbers as the table of layers",
        height,
        (width) =>
          Plot.plot({
            width,
            height,
            marginLeft: LEFT + 14,
            marginRight: 16,
            marginTop: 4,
            marginBottom: 28,
            x: { label: null, grid: false },
            y: { domain: names, label: null, padding: 0.3 },
            marks: [
              Plot.gridX({ ticks: powers(rows, width), stroke: "var(--grid)", strokeOpacity: 1 }),
              Plot.axisX({
                ticks: powers(rows, width),
                tickFormat: shortSize,
                tickSize: 0,
                fill: "var(--muted)",
                fontSize: 11,
              }),
              Plot.axisY({ tickSize: 0, fontSize: 12 }),
              Plot.barX(rows, {
                x: "bytes",
                y: "layer",
                fill: (row: { direction: string }) => COLOURS[row.direction],
                order: DIRECTIONS as unknown as string[],
                z: "direction",
              }),
            ],
          }),
      ),
    ),
    h("h3", {}, "Bytes by kind of data"),
    table<Category>(
      [
        { title: "layer", cell: (row) => row.layer, by: (row) => row.layer },
        { title: "kind", cell: (row) => row.category || "–", by: (row) => row.category },
        { title: "process", cell: (row) => row.role || "–", by: (row) => row.role },
        ...moved(run.categories.rows),
      ],
      run.categories.rows,
      {
        label: "kinds of data",
        most: 10,
        search: (row) => `${row.layer} ${row.category} ${row.role}`,
      },
    ),
    caption("Bytes of each layer, by the kind of data and by the kind of process."),
  );
}

function powers(rows: { layer: string; bytes: number }[], width: number): number[] {
  const sums = new Map<string, number>();
  for (const row of rows) sums.set(row.layer, (sums.get(row.layer) ?? 0) + row.bytes);
  const most = Math.max(1, ...sums.values());
  const step = 2 ** Math.ceil(Math.log2(most / Math.max(2, Math.floor(width / 130))));
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, i) => i * step);
}

function steps_(direction: string, steps: Step[]): HTMLElement {
  const longest = Math.max(1, ...steps.map((step) => step.bytes ?? 0));
  return h(
    "div",
    {},
    h("h3", {}, `${direction.charAt(0).toUpperCase()}${direction.slice(1)}`),
    table<Step>(
      [
        { title: "step", cell: (row) => row.title },
        { title: "layer", cell: (row) => row.layer },
        {
          title: "bytes",
          number: true,
          cell: (row) => (row.bytes === null ? "not counted" : size(row.bytes)),
          bar: (row) => (row.bytes ?? 0) / longest,
        },
        {
          title: "times",
          number: true,
          cell: (row) => (row.factor === null ? "–" : `× ${row.factor.toFixed(3)}`),
        },
      ],
      steps,
      { label: `bytes ${direction}`, most: steps.length },
    ),
  );
}
