// Access patterns: where in its file each request began, over time, stream by stream.

import * as Plot from "@observablehq/plot";
import type { AccessStream, ReportDocument } from "../document.ts";
import { h, name, section } from "../dom.ts";
import { drawn, figure, layerColour, timeAxis } from "../figure.ts";
import { count, printable, shortSize, size } from "../text.ts";

const HEIGHT = 132;
const MOST = 12;

export function patterns({ streams, axis }: ReportDocument): HTMLElement | null {
  const { rows, more } = streams ?? { rows: [], more: 0 };
  if (!rows.length) return null;
  const left = rows.length - MOST + more;
  const end = (axis.bin * axis.bins) / 1e9;
  return section(
    "patterns",
    "Access patterns",
    figure(
      "Where in its file a request began, over time: what one process read from, or wrote to, one " +
        "file or block, those first that moved most. Of the requests that were recorded " +
        "individually; of many, every second, third or so is drawn." +
        (left > 0 ? ` ${count(left)} more are not drawn.` : ""),
      h("div", { class: "grid" }, ...rows.slice(0, MOST).map((row) => small(row, end))),
    ),
  );
}

function small(row: AccessStream, end: number): HTMLElement {
  const target = row.block ? `blk_${row.block}` : row.target;
  const last = target.split("/").at(-1) || target;
  const title = name(last);
  title.title = printable(`${target}${row.host ? ` on ${row.host}` : ""}`);
  const said = `${row.pattern}, ${count(row.requests)} × ${size(row.size)}, ${size(row.bytes)} ${row.direction}`;
  const points = row.points.map(([ms = 0, offset = 0]) => ({ at: ms / 1e3, offset }));
  return h(
    "div",
    { class: "small" },
    h("h3", {}, `${row.layer} `, title),
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
          Plot.dot(points, { x: "at", y: "offset", r: 1.5, fill: layerColour(row.layer) }),
        ],
      }),
    ),
    h("p", { class: "caption" }, said),
  );
}
