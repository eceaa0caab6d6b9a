// What changes would bring: sliders over replays of all their combinations.

import * as Plot from "@observablehq/plot";
import type { ChoiceDimension, Choices, Combination, ReportDocument } from "../document.ts";
import { caption, h, identifier, section } from "../dom.ts";
import { drawn, figure, lanes, legend, redraw, SERIES } from "../figure.ts";
import { table } from "../table.ts";
import { percent, printable, seconds } from "../text.ts";

const HEIGHT = 92;
const LEFT = 96; // the longest label of a bar
const BARS = ["as recorded", "with changes"] as const;
// In these, no attempt runs.
const OUTSIDE: Record<string, string> = {
  "before the first attempt": "var(--life)",
  "waits for a container": "var(--calls)",
  "after the last attempt": "var(--rule)",
};

interface Part {
  name: string;
  before: number;
  after: number;
}

export function whatIf(run: ReportDocument): HTMLElement | null {
  const known = run.what_if;
  if (!known) return null;
  const title = "What if";
  if (known.missing)
    return section("what-if", title, h("p", { class: "nothing" }, `Not made: ${known.missing}.`));
  const { dimensions } = known;
  const places = dimensions.map((one) => one.recorded);
  const words = h("p", { class: "predicted", role: "status" });
  const means = h("p", { class: "sums" });
  const parts = h("div", {});
  const bars = figure(
    "The critical path of the replay as recorded and with the changes, by the parts of attempts " +
      "on it: what the end of the run waited for, from its begin on. It becomes shorter only if " +
      "something on it does.",
    legend(known.parts.map((name, place) => [printable(name), colour(known.parts, place)])),
    drawn("Critical path of the replay by part; the table below has its times", HEIGHT, (width) =>
      strip(known, chosen(known, places), width),
    ),
  );
  const show = () => {
    const choice = chosen(known, places);
    words.replaceChildren(...said(known, choice));
    means.textContent = attempts(known, choice);
    parts.replaceChildren(partTable(known, choice));
    redraw(bars);
  };
  const set = dimensions.map((one, place) =>
    slider(one, (value) => {
      places[place] = value;
      show();
    }),
  );
  show();
  asRecordedInPrint(places, dimensions, show);
  return section(
    "what-if",
    title,
    h(
      "div",
      { class: "asked" },
      h("p", {}, "Move a slider to see how long the run would have taken; they count together."),
      h("div", { class: "dimensions" }, ...set),
    ),
    words,
    means,
    bars,
    parts,
    method(known),
  );
}

/** Where a combination is in the list of all: values of the last dimension change first. */
export function index(dimensions: { values: unknown[] }[], places: number[]): number {
  return dimensions.reduce((sum, one, at) => sum * one.values.length + (places[at] ?? 0), 0);
}

/** How a time is beside the recorded one: `15 % less than recorded`. */
export function beside(predicted: number, recorded: number): string {
  const share = predicted / Math.max(1, recorded) - 1;
  if (Math.abs(share) < 0.0005) return "as recorded";
  return `${percent(Math.abs(share))} ${share < 0 ? "less" : "more"} than recorded`;
}

/** What the replay without a change is off by: `+0.4 %`. */
export function off(replayed: number, recorded: number): string {
  const share = 100 * (replayed / Math.max(1, recorded) - 1);
  return `${share < 0 ? "−" : "+"}${Math.abs(share).toFixed(1)} %`;
}

function chosen(known: Choices, places: number[]): Combination {
  const none = { predicted: 0, low: 0, high: 0, path: [], roles: [] };
  return known.choices[index(known.dimensions, places)] ?? none;
}

function asRecorded(known: Choices): Combination {
  return chosen(
    known,
    known.dimensions.map((one) => one.recorded),
  );
}

/** Paper has no sliders: it shows the run as it was. */
function asRecordedInPrint(places: number[], dimensions: ChoiceDimension[], show: () => void) {
  let kept: number[] = [];
  const put = (values: number[]) => {
    places.splice(0, places.length, ...values);
    show();
  };
  window.addEventListener("beforeprint", () => {
    kept = [...places];
    put(dimensions.map((one) => one.recorded));
  });
  window.addEventListener("afterprint", () => put(kept));
}

function slider(one: ChoiceDimension, set: (place: number) => void): HTMLElement {
  const id = identifier("change");
  const last = one.values.length - 1;
  const input = h("input", { type: "range", id, min: 0, max: last, step: 1, value: one.recorded });
  const shown = h("output", { for: id });
  const say = () => {
    const place = Number(input.value);
    const text = one.values[place] ?? "";
    shown.textContent = text;
    const heard = place === one.recorded ? `${text}, as recorded` : text;
    input.setAttribute("aria-valuetext", heard);
  };
  input.addEventListener("input", () => {
    say();
    set(Number(input.value));
  });
  say();
  const ticks = one.values.map((text, place) =>
    place === one.recorded
      ? h("li", { class: "now" }, text, h("small", {}, "recorded"))
      : h("li", {}, text),
  );
  return h(
    "div",
    { class: "dimension" },
    h("label", { for: id }, one.label),
    shown,
    input,
    h("ul", { class: "ticks", "aria-hidden": "true" }, ...ticks),
  );
}

function said({ recorded }: Choices, choice: Combination): HTMLElement[] {
  const text = beside(choice.predicted, recorded);
  const kind = choice.predicted < recorded ? "less" : "more-time";
  const same = text === "as recorded";
  const found = [
    h("b", {}, seconds(choice.predicted)),
    h("span", same ? {} : { class: kind }, text),
  ];
  const [low, high] = [seconds(choice.low), seconds(choice.high)];
  if (low !== high)
    found.push(h("span", { class: "readout" }, `${low} to ${high}, nine times of ten`));
  return found;
}

function attempts(known: Choices, choice: Combination): string {
  const before = asRecorded(known).roles;
  const means = known.roles.map((role, at) => {
    const [was, is] = [seconds(before[at] ?? 0), seconds(choice.roles[at] ?? 0)];
    return `${was === is ? was : `${was} → ${is}`} for a ${role}`;
  });
  return `Mean time of attempts: ${means.join(", ")}.`;
}

function rows(known: Choices, choice: Combination): Part[] {
  const before = asRecorded(known).path;
  return known.parts
    .map((name, at) => ({ name, before: before[at] ?? 0, after: choice.path[at] ?? 0 }))
    .filter((row) => row.before || row.after);
}

function partTable(known: Choices, choice: Combination): HTMLElement {
  const found = rows(known, choice);
  const time = (title: string, of: (row: Part) => number) => ({
    title,
    number: true,
    cell: (row: Part) => (of(row) ? seconds(of(row)) : "–"),
    by: of,
  });
  return table<Part>(
    [
      {
        title: "part of the critical path",
        cell: (row) => printable(row.name),
        by: (row) => row.name,
      },
      time(BARS[0], (row) => row.before),
      time(BARS[1], (row) => row.after),
      {
        title: "difference",
        number: true,
        cell: (row: Part) => difference(row.after - row.before),
        by: (row: Part) => row.after - row.before,
      },
    ],
    found,
    { label: "parts of the critical path", most: 16 },
  );
}

/** A difference of times with its sign: `−1.20 s`; what rounding leaves is none. */
export function difference(ns: number): string {
  if (Math.abs(ns) < 1e6) return "–";
  return `${ns < 0 ? "−" : "+"}${seconds(Math.abs(ns))}`;
}

function method({ recorded, replayed, kept, dimensions }: Choices): HTMLElement {
  const check =
    `The replay without a change takes ${seconds(replayed)} (${off(replayed, recorded)}); what ` +
    "it is off by is taken out of predicted times and of the parts of the path. Their range is " +
    "what nine of ten measured changes should be within. " +
    `${percent(kept)} of the time of attempts is kept as it was: neither CPU nor disks explain it.`;
  return h(
    "div",
    {},
    h(
      "p",
      { class: "caption" },
      "Each combination is a replay of the recorded job, as ",
      h("code", {}, "iostrata what-if"),
      " makes it, which knows more changes. ",
      check,
    ),
    caption(`Assumed. ${dimensions.map(assumed).join(". ")}.`),
  );
}

function assumed({ label, assumes }: ChoiceDimension): string {
  return `${label}: ${assumes}`;
}

function colour(parts: string[], place: number): string {
  const name = parts[place] ?? "";
  const inside = parts.filter((one) => !(one in OUTSIDE));
  return OUTSIDE[name] ?? SERIES[inside.indexOf(name) % SERIES.length] ?? "";
}

function strip(known: Choices, choice: Combination, width: number): SVGElement | HTMLElement {
  const end = Math.max(known.recorded, choice.predicted) / 1e9;
  const pieces = BARS.flatMap((bar, row) =>
    stacked((row ? choice : asRecorded(known)).path).map(([from, until], place) => ({
      bar,
      from: from / 1e9,
      until: until / 1e9,
      fill: colour(known.parts, place),
      title: `${printable(known.parts[place] ?? "")}: ${seconds(until - from)}`,
    })),
  );
  const bars = Plot.barX(pieces, {
    x1: "from",
    x2: "until",
    y: "bar",
    fill: "fill",
    title: "title",
  });
  return lanes(BARS, end, bars, { width, height: HEIGHT, left: LEFT });
}

/** From where to where each length goes, when they follow each other. */
export function stacked(lengths: number[]): [number, number][] {
  let at = 0;
  return lengths.map((length) => {
    at += length;
    return [at - length, at];
  });
}
