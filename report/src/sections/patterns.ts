// Access patterns: where in its file each request began, over time, stream by stream. Streams of
// several processes on one file are one picture.

import * as Plot from "@observablehq/plot";
import type { AccessStream, ReportDocument } from "../document.ts";
import { h, name, section } from "../dom.ts";
import { drawn, figure, layerColour, SERIES, timeAxis } from "../figure.ts";
import { count, printable, shortSize, size } from "../text.ts";

const HEIGHT = 132;
const MOST = 12;

export function patterns({ streams, axis }: ReportDocument): HTMLElement | null {
  const { rows, more } = streams ?? { rows: [], more: 0 };
  if (!rows.length) return null;
  const files = together(rows);
  const drawnOnes = files.slice(0, MOST).reduce((sum, file) => sum + file.length, 0);
  const left = rows.length - drawnOnes + more;
  const end = (axis.bin * axis.bins) / 1e9;
  return section(
    "patterns",
    "Access patterns",
    figure(
      "Where in its file a request began, over time: what a process read from, or wrote to, one " +
        "file or block, those first that moved most; a colour for each process where several used " +
        "the same one. Of the requests that were recorded individually; of many, every second, " +
        "third or so is drawn." +
        (left > 0 ? ` ${count(left)} more are not drawn.` : ""),
      h("div", { class: "grid" }, ...files.slice(0, MOST).map((file) => small(file, end))),
    ),
  );
}

/** Streams on the same file or block, in the same layer and direction, in the order of the first. */
export function together(rows: AccessStream[]): [AccessStream, ...AccessStream[]][] {
  const files = new Map<string, [AccessStream, ...AccessStream[]]>();
  for (const row of rows) {
    const key = JSON.stringify([row.layer, row.direction, row.target, row.block]);
    const file = files.get(key);
    if (file) file.push(row);
    else files.set(key, [row]);
  }
  return [...files.values()];
}

function small(file: [AccessStream, ...AccessStream[]], end: number): HTMLElement {
  const [first] = file;
  const target = first.block ? `blk_${first.block}` : first.target;
  const last = target.split("/").at(-1) || target;
  const title = name(last);
  const hosts = [...new Set(file.map((row) => row.host).filter(Boolean))];
  title.title = printable(`${target}${hosts.length ? ` on ${hosts.join(", ")}` : ""}`);
  const said = file.length > 1 ? ofAll(file) : ofOne(first);
  const points = file.flatMap((row, place) =>
    row.points.map(([ms = 0, offset = 0]) => ({
      at: ms / 1e3,
      offset,
      colour: file.length > 1 ? SERIES[place % SERIES.length] : layerColour(row.layer),
      whose: file.length > 1 ? printable(row.task ?? `process ${place + 1}`) : "",
    })),
  );
  return h(
    "div",
    { class: "small" },
    h("h3", {}, `${first.layer} `, title),
    drawn(`Offsets of ${printable(last)} over time: ${said}`, HEIGHT, (width) =>
      Plot.plot({
        width,
        height: HEIGHT,
        marginLeft: 56,
        marginRight: 8,
        marginTop: 8,
        marginBottom: 24,
        x: { domain: [0, end], label: null },
        y: { label: null, ticks: 3, tickFormat: shortSize, grid: true, nice: true },
        marks: [
          timeAxis(end, width),
          Plot.dot(points, { x: "at", y: "offset", r: 1.5, fill: "colour", title: "whose" }),
        ],
      }),
    ),
    h("p", { class: "caption" }, said),
  );
}

function ofOne(row: AccessStream): string {
  return `${row.pattern}, ${count(row.requests)} × ${size(row.size)}, ${size(row.bytes)} ${row.direction}`;
}

function ofAll(file: AccessStream[]): string {
  const sum = (of: (row: AccessStream) => number) => file.reduce((all, row) => all + of(row), 0);
  const kinds = [...new Set(file.map((row) => row.pattern))].join(" and ");
  const bytes = size(sum((row) => row.bytes));
  return `${count(file.length)} processes, each ${kinds}, ${count(sum((row) => row.requests))} requests, ${bytes} ${file[0]?.direction}`;
}
