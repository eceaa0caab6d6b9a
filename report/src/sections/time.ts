// Bandwidth and operations of every layer over one time axis: small multiples with one cursor.

import * as Plot from "@observablehq/plot";
import { brushed, sliders } from "../brush.ts";
import { Cursor } from "../cursor.ts";
import { DIRECTIONS, type Direction } from "../directions.ts";
import type { Axis, ReportDocument, Series } from "../document.ts";
import { h, identifier, section } from "../dom.ts";
import {
  COLOURS,
  type Drawing,
  drawn,
  figure,
  LEFT,
  legend,
  RIGHT,
  redraw,
  ticksTo,
  timeAxis,
} from "../figure.ts";
import type { Selection } from "../selection.ts";
import { clock, count, perSecond, shortSize, size } from "../text.ts";

const HEIGHT = 92;
const BOTTOM = 22;

interface Point {
  s: number;
  rate: number;
  way: string;
}

/** Values per bin as values per second: a step from each bin's begin, and one at its end. */
export function rates(values: number[], axis: Axis, way: string): Point[] {
  const width = axis.bin / 1e9;
  const points = values.map((value, bin) => ({ s: bin * width, rate: value / width, way }));
  return [...points, { s: values.length * width, rate: points.at(-1)?.rate ?? 0, way }];
}

export function time(run: ReportDocument, selection: Selection): HTMLElement {
  const { axis, series } = run;
  const used = DIRECTIONS.filter((name) => series.some((layer) => layer[`bytes_${name}`]));
  const cursor = new Cursor(axis);
  const scale = h("input", { type: "checkbox", id: identifier("scale") });
  const highest = Math.max(...series.map((layer) => peak(layer, axis)));
  const most = (layer: Series) => (scale.checked ? highest : peak(layer, axis));
  const panels = series.map((layer) => panel(layer, cursor, selection, most));
  const inner = h("div", { class: "panels" }, ...panels);
  scale.addEventListener("change", () => redraw(inner));
  return section(
    "time",
    "Bandwidth and operations over time",
    h(
      "div",
      { class: "controls" },
      sliders(selection),
      cursor.element,
      h("label", { for: scale.id, class: "choice" }, scale, "same scale for all layers"),
    ),
    figure(
      `Bytes per second are on the left, stacked by direction; calls per second are on the ` +
        `right. All layers have one axis, in bins of ${clock(axis.bin / 1e9)} from the start of ` +
        `the run. The bins of a layer add up to its total; the growth of a counter is spread ` +
        `over the second of that growth. Draw over a figure to select an interval: tasks, hosts ` +
        `and the critical path follow it; Escape takes it back.`,
      legend(used.map((name) => [name, COLOURS[name] ?? ""])),
      h(
        "div",
        { class: "pair heads" },
        h("p", {}, "bytes per second"),
        h("p", {}, "calls per second"),
      ),
      inner,
    ),
  );
}

function peak(layer: Series, axis: Axis): number {
  let most = 0;
  for (let bin = 0; bin < axis.bins; bin += 1) {
    const sum = DIRECTIONS.reduce((total, name) => total + (layer[`bytes_${name}`]?.[bin] ?? 0), 0);
    most = Math.max(most, sum / (axis.bin / 1e9));
  }
  return most;
}

function panel(
  layer: Series,
  cursor: Cursor,
  selection: Selection,
  most: (layer: Series) => number,
): HTMLElement {
  const { axis } = selection;
  const used = DIRECTIONS.filter((name) => layer[`bytes_${name}`]);
  const bytes = used.flatMap((name) => rates(layer[`bytes_${name}`] ?? [], axis, name));
  const calls = rates(layer.calls, axis, "calls");
  const highest = Math.max(...calls.map((point) => point.rate));
  const over = (element: HTMLElement) => brushed(selection, cursor.over(element));
  const readout = h("span", { class: "readout" });
  cursor.onMove((bin) => {
    readout.textContent = said(layer, used, axis, bin);
  });
  const inside = h("span", { class: "inside" });
  selection.follow(() => {
    inside.textContent = selection.bins ? summed(layer, used, selection) : "";
  });
  const bandwidth = used.length
    ? over(
        drawn(
          `Bandwidth of layer ${layer.layer}, at most ${size(peak(layer, axis))}/s`,
          HEIGHT,
          (width) => chart(bytes, axis, width, bytesTick, most(layer)),
        ),
      )
    : h("p", { class: "nothing" }, "transfers no data");
  const operations = over(
    drawn(`Operations of layer ${layer.layer}, at most ${perSecond(highest)}`, HEIGHT, (width) =>
      chart(calls, axis, width, perSecond, highest),
    ),
  );
  return h(
    "div",
    { class: "panel" },
    h("h3", {}, layer.layer, inside, readout),
    h("div", { class: "pair" }, bandwidth, operations),
  );
}

/** What a layer did in the chosen interval: exact, the sum of its bins. */
function summed(layer: Series, used: Direction[], selection: Selection): string {
  const parts = used
    .map((name): [Direction, number] => [name, selection.sum(layer[`bytes_${name}`] ?? [])])
    .filter(([, bytes]) => bytes > 0)
    .map(([name, bytes]) => `${name} ${size(bytes)}`);
  const calls = selection.sum(layer.calls);
  return `in the interval: ${[...parts, `${count(calls)} calls`].join(" · ")}`;
}

function bytesTick(rate: number): string {
  return `${shortSize(rate)}/s`;
}

function said(layer: Series, used: Direction[], axis: Axis, bin: number): string {
  const width = axis.bin / 1e9;
  const parts = used.map(
    (name) => `${name} ${size((layer[`bytes_${name}`]?.[bin] ?? 0) / width)}/s`,
  );
  return [...parts, perSecond((layer.calls[bin] ?? 0) / width)].join(" · ");
}

function chart(
  points: Point[],
  axis: Axis,
  width: number,
  tick: (rate: number) => string,
  most: number,
): Drawing {
  return Plot.plot({
    width,
    height: HEIGHT,
    marginLeft: LEFT,
    marginRight: RIGHT,
    marginTop: 8,
    marginBottom: BOTTOM,
    x: { domain: [0, (axis.bins * axis.bin) / 1e9], label: null },
    y: { domain: [0, most || 1], label: null },
    marks: [
      Plot.gridY({
        ticks: ticksTo(most, tick === bytesTick),
        stroke: "var(--grid)",
        strokeOpacity: 1,
      }),
      Plot.areaY(points, {
        x: "s",
        y: "rate",
        fill: (point: Point) => COLOURS[point.way] ?? "var(--calls)",
        z: "way",
        curve: "step-after",
      }),
      Plot.axisY({
        ticks: ticksTo(most, tick === bytesTick),
        tickFormat: tick,
        tickSize: 0,
        fill: "var(--muted)",
        fontSize: 11,
      }),
      timeAxis((axis.bins * axis.bin) / 1e9, width),
      Plot.ruleY([0], { stroke: "var(--rule)" }),
    ],
  });
}
