// Bandwidth and operations of every layer over one time axis: small multiples with one cursor.

import * as Plot from "@observablehq/plot";
import { Cursor } from "../cursor.ts";
import type { Axis, ReportDocument, Series, Way } from "../document.ts";
import { WAYS } from "../document.ts";
import { h, identifier, section } from "../dom.ts";
import {
  COLOURS,
  type Drawing,
  drawn,
  figure,
  LEFT,
  legend,
  RIGHT,
  ticksTo,
  timeAxis,
} from "../figure.ts";
import { clock, perSecond, shortSize, size } from "../text.ts";

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

export function time(run: ReportDocument): HTMLElement {
  const { axis, series } = run;
  const used = WAYS.filter((way) => series.some((layer) => layer[`bytes_${way}`]));
  const cursor = new Cursor(axis);
  const panels = h("div", { class: "panels" });
  const heads = h(
    "div",
    { class: "pair heads" },
    h("p", {}, "bytes per second"),
    h("p", {}, "calls per second"),
  );
  const scale = h("input", { type: "checkbox", id: identifier("scale") });
  const fill = () => {
    const most = scale.checked ? Math.max(...series.map((layer) => peak(layer, axis))) : undefined;
    cursor.forget();
    const made = series.map((layer) => panel(layer, axis, cursor, most));
    panels.replaceChildren(...made);
    cursor.moved();
  };
  scale.addEventListener("change", fill);
  fill();
  return section(
    "time",
    "Bandwidth and operations over time",
    h(
      "div",
      { class: "controls" },
      legend(used.map((way) => [way, COLOURS[way] ?? ""])),
      h("label", { for: scale.id, class: "choice" }, scale, "same scale for all layers"),
    ),
    figure(
      `Left: bytes per second, stacked by direction. Right: calls per second. One axis for all ` +
        `layers, in bins of ${clock(axis.bin / 1e9)} from the start of the run; bins of a layer ` +
        `add up to its total. What a counter gained is spread over the second in which it did.`,
      cursor.element,
      heads,
      panels,
    ),
  );
}

function peak(layer: Series, axis: Axis): number {
  let most = 0;
  for (let bin = 0; bin < axis.bins; bin += 1) {
    const sum = WAYS.reduce((total, way) => total + (layer[`bytes_${way}`]?.[bin] ?? 0), 0);
    most = Math.max(most, sum / (axis.bin / 1e9));
  }
  return most;
}

function panel(layer: Series, axis: Axis, cursor: Cursor, most?: number): HTMLElement {
  const used = WAYS.filter((way) => layer[`bytes_${way}`]);
  const bytes = used.flatMap((way) => rates(layer[`bytes_${way}`] ?? [], axis, way));
  const calls = rates(layer.calls, axis, "calls");
  const highest = Math.max(...calls.map((point) => point.rate));
  const readout = h("span", { class: "readout" });
  cursor.onMove((bin) => {
    readout.textContent = bin === null ? "" : said(layer, used, axis, bin);
  });
  const top = peak(layer, axis);
  const bandwidth = used.length
    ? cursor.over(
        drawn(`Bandwidth of layer ${layer.layer}, at most ${size(top)}/s`, HEIGHT, (width) =>
          chart(bytes, axis, width, bytesTick, most ?? top),
        ),
      )
    : h("p", { class: "nothing" }, "moves no data");
  const operations = cursor.over(
    drawn(`Operations of layer ${layer.layer}, at most ${perSecond(highest)}`, HEIGHT, (width) =>
      chart(calls, axis, width, perSecond, highest),
    ),
  );
  return h(
    "div",
    { class: "panel" },
    h("h3", {}, layer.layer, readout),
    h("div", { class: "pair" }, bandwidth, operations),
  );
}

function bytesTick(rate: number): string {
  return `${shortSize(rate)}/s`;
}

function said(layer: Series, used: Way[], axis: Axis, bin: number): string {
  const width = axis.bin / 1e9;
  const parts = used.map((way) => `${way} ${size((layer[`bytes_${way}`]?.[bin] ?? 0) / width)}/s`);
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
