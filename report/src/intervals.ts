// By how much rows changed, each as a point with its interval.

import * as Plot from "@observablehq/plot";
import type { Difference } from "./comparison.ts";
import { drawn, LEFT, RIGHT } from "./figure.ts";
import { share } from "./share.ts";

const ROW = 26;

/** A figure of the times of rows that are on both sides; null without any. */
export function intervals(rows: Difference[]): HTMLElement | null {
  const points = rows.flatMap((row) => {
    const time = row.metrics.time;
    // as factors: twice and half lie as far from no change
    return time?.share === null || time === undefined || time.second === 0
      ? []
      : [
          {
            name: row.key.join(" · "),
            verdict: time.verdict,
            at: 1 + time.share,
            low: 1 + (time.low ?? time.share),
            high: 1 + (time.high ?? time.share),
          },
        ];
  });
  if (points.length === 0) return null;
  const height = points.length * ROW + 50;
  const said = points.map((point) => `${point.name} ${share(point.at - 1)}`).join(", ");
  return drawn(`Change of time from A to B: ${said}`, height, (width) =>
    Plot.plot({
      width,
      height,
      marginLeft: LEFT + 20,
      marginRight: RIGHT,
      x: { type: "log", tickFormat: tick, ticks: 6, label: null },
      y: { domain: points.map((point) => point.name), label: null },
      marks: [
        Plot.gridX({ stroke: "var(--grid)", strokeOpacity: 1 }),
        Plot.ruleX([1], { stroke: "var(--muted)" }),
        Plot.link(points, {
          x1: (point) => Math.max(point.low, 1e-3),
          x2: "high",
          y1: "name",
          y2: "name",
          stroke: colour,
          strokeWidth: 2,
        }),
        Plot.dot(points, { x: "at", y: "name", fill: colour, r: 4 }),
      ],
    }),
  );
}

function tick(factor: number): string {
  return factor === 1 ? "0" : share(factor - 1);
}

function colour(point: { verdict: string; at: number }): string {
  if (point.verdict !== "changed") return "var(--muted)";
  return point.at > 1 ? "var(--bad)" : "var(--good)";
}
