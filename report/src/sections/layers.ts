// What each layer did in total: the first table of the summary, and its operations.

import { DIRECTIONS, type Direction, type Moved } from "../directions.ts";
import type { LayerTotal, OperationTotal, ReportDocument, ReportTarget } from "../document.ts";
import { caption, h, section } from "../dom.ts";
import { type Column, table } from "../table.ts";
import { count, seconds, size } from "../text.ts";

export function layers(run: ReportDocument): HTMLElement {
  return section(
    "layers",
    "What each layer did",
    table(columns(run.layers), run.layers, { label: "layers" }),
    caption(
      "Totals over the whole run, from counters that lose nothing, as in iostrata summary. " +
        "Time is summed over all threads; ~ marks times that are scaled up from sampled clocks. " +
        "Layers lie within each other, so their bytes and times do not add up across rows.",
    ),
    h("h3", {}, "Operations"),
    table(operations(run.ops), run.ops, {
      label: "operations",
      most: 10,
      search: (row) => `${row.layer} ${row.op}`,
    }),
    caption(
      "Calls in brackets lie within a call of the same layer, so no total of the layer has them.",
    ),
  );
}

/** The directions worth a column: reading and writing always, the network when used. */
export function directions(rows: Moved[]): Direction[] {
  return DIRECTIONS.filter(
    (name) => name === "read" || name === "written" || rows.some((row) => row[`bytes_${name}`] > 0),
  );
}

export function time(row: { time: number; estimated: boolean; time_bound: number | null }): string {
  if (!row.estimated) {
    return seconds(row.time);
  }
  const off = row.time > 0 ? (row.time_bound ?? 0) / row.time : 0;
  return `~${seconds(row.time)}${off > 0 ? ` ${margin(off)}` : ""}`;
}

/** `±15 %`, `±<1 %` of a share. */
function margin(off: number): string {
  return `±${off < 0.01 ? "<1" : Math.round(100 * off)} %`;
}

/** `~450 ±15 %` where a number is scaled back from a sample of requests, `too few` to say. */
export function near(
  row: ReportTarget,
  name: "calls" | "time" | keyof Moved,
  text: (n: number) => string,
): string {
  const value = row[name];
  const bound = row[`${name}_bound`] ?? 0;
  if (row.few) {
    return "too few";
  }
  return bound > 0 ? `~${text(value)} ${margin(bound / value)}` : text(value);
}

/** Bytes; none are there to be seen, but do not draw the eye. */
export function bytesCell(bytes: number): HTMLElement {
  return h("span", bytes ? {} : { class: "zero" }, size(bytes));
}

/** Columns of bytes, one for each direction that was used. */
export function moved<T extends Moved>(rows: T[]): Column<T>[] {
  return directions(rows).map((name) => ({
    title: name,
    number: true,
    cell: (row) => bytesCell(row[`bytes_${name}`]),
    by: (row) => row[`bytes_${name}`],
  }));
}

function columns(rows: LayerTotal[]): Column<LayerTotal>[] {
  return [
    { title: "layer", cell: (row) => row.layer, by: (row) => row.layer },
    { title: "calls", number: true, cell: (row) => count(row.calls), by: (row) => row.calls },
    ...moved(rows),
    { title: "time", number: true, cell: time, by: (row) => row.time },
    { title: "errors", number: true, cell: (row) => count(row.errors), by: (row) => row.errors },
  ];
}

function operations(rows: OperationTotal[]): Column<OperationTotal>[] {
  const longest = Math.max(1, ...rows.map((row) => row.time));
  return [
    { title: "layer", cell: (row) => row.layer, by: (row) => row.layer },
    {
      title: "operation",
      cell: (row) => (row.nested ? `(${row.op})` : row.op),
      by: (row) => row.op,
    },
    { title: "calls", number: true, cell: (row) => count(row.calls), by: (row) => row.calls },
    { title: "bytes", number: true, cell: (row) => bytesCell(row.bytes), by: (row) => row.bytes },
    { title: "errors", number: true, cell: (row) => count(row.errors), by: (row) => row.errors },
    {
      title: "time",
      number: true,
      cell: time,
      by: (row) => row.time,
      bar: (row) => row.time / longest,
    },
  ];
}
