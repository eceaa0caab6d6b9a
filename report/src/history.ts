// A small figure of values over time: of hosts, jobs and attempts.

import * as Plot from "@observablehq/plot";
import { brushed } from "./brush.ts";
import type { Axis } from "./document.ts";
import { h } from "./dom.ts";
import { drawn, LEFT, legend, RIGHT, SERIES, ticksTo, timeAxis } from "./figure.ts";
import type { Selection } from "./selection.ts";

const HEIGHT = 110;
const GAP = 2.5; // s: samples are a second apart

export interface History<Column extends string> {
  title: string;
  lines: [column: Column, title: string, colour?: string][];
  tick: (value: number) => string;
  /** Where the scale ends at least: 1 for shares, a total of the host. */
  full?: number | undefined;
}

/** Points of a history: bins between two samples have none, a longer gap is a hole in the line. */
export function line(values: (number | null)[], axis: Axis): { s: number; value: number }[] {
  const points: { s: number; value: number }[] = [];
  for (const [bin, value] of values.entries()) {
    if (value === null) continue;
    const s = ((bin + 0.5) * axis.bin) / 1e9;
    const last = points.at(-1);
    if (last && s - last.s > GAP && s - last.s > (1.5 * axis.bin) / 1e9) {
      points.push({ s: (s + last.s) / 2, value: Number.NaN });
    }
    points.push({ s, value });
  }
  return points;
}

/** The mean of the samples that lie in the chosen interval. */
export function mean(values: (number | null)[], selection: Selection): number | null {
  const { from, until } = selection.bins ?? { from: 0, until: values.length };
  const seen = values.slice(from, until).filter((value) => value !== null);
  return seen.length ? seen.reduce((sum, value) => sum + value, 0) / seen.length : null;
}

/** A figure of one history over the time axis, whose values at each bin `values` has. */
export function history<Column extends string>(
  shown: History<Column>,
  whose: string,
  values: Record<Column, (number | null)[]>,
  selection: Selection,
): HTMLElement {
  const { axis } = selection;
  const means = h("span", { class: "readout" });
  selection.follow(() => {
    means.textContent = shown.lines
      .map(([column, title]): [string, number | null] => [title, mean(values[column], selection)])
      .map(([title, value]) => (value === null ? "" : `${title} ${shown.tick(value)}`))
      .filter(Boolean)
      .join(" · ");
  });
  const colours = shown.lines.map(
    ([, , colour], place) => colour ?? SERIES[place % SERIES.length] ?? "",
  );
  const points = shown.lines.flatMap(([column], place) =>
    line(values[column], axis).map((point) => ({ ...point, place })),
  );
  const most = Math.max(0, ...points.map((point) => point.value).filter(Number.isFinite));
  const full = Math.max(shown.full ?? 0, most) || 1;
  const ticks = shown.full === undefined ? ticksTo(full, true) : [0, full / 2, full];
  const label = `${shown.title} of ${whose}, at most ${shown.tick(most)}`;
  return h(
    "div",
    { class: "small" },
    h("h4", {}, shown.title, means),
    shown.lines.length > 1
      ? legend(shown.lines.map(([, title], place) => [title, colours[place] ?? ""]))
      : null,
    brushed(
      selection,
      drawn(label, HEIGHT, (width) =>
        Plot.plot({
          width,
          height: HEIGHT,
          marginLeft: LEFT,
          marginRight: RIGHT,
          marginTop: 8,
          marginBottom: 22,
          x: { domain: [0, (axis.bins * axis.bin) / 1e9], label: null },
          y: { domain: [0, full], label: null },
          marks: [
            Plot.gridY({ ticks, stroke: "var(--grid)", strokeOpacity: 1 }),
            Plot.axisY({
              ticks,
              tickFormat: shown.tick,
              tickSize: 0,
              fill: "var(--muted)",
              fontSize: 11,
            }),
            timeAxis((axis.bins * axis.bin) / 1e9, width),
            Plot.lineY(points, {
              x: "s",
              y: "value",
              z: "place",
              stroke: (point: { place: number }) => colours[point.place],
              strokeWidth: 1.5,
            }),
          ],
        }),
      ),
    ),
  );
}
