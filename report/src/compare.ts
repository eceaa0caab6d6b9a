// The page of a comparison: what makes the runs differ as runs, then a table for each thing compared.

import type { ComparedTable, Comparison, Difference, Metric } from "./comparison.ts";
import { DIRECTIONS } from "./directions.ts";
import { caption, h, name, section } from "./dom.ts";
import { figure } from "./figure.ts";
import { intervals } from "./intervals.ts";
import { grew, percent } from "./share.ts";
import { type Column, table } from "./table.ts";
import { count, seconds, size } from "./text.ts";

const MOST = 12; // rows of a table at first
const BYTES = ["bytes", ...DIRECTIONS.map((direction) => `bytes_${direction}`)];

function show(found: Comparison): void {
  const navigation = h("nav", { "aria-label": "Sections" });
  const main = h("main", { id: "main" }, alike(found));
  for (const compared of found.tables.filter((each) => each.rows.length > 0)) {
    main.append(part(compared));
    navigation.append(h("a", { href: `#${compared.id}` }, compared.title));
  }
  document.body.append(
    h("a", { class: "skip", href: "#main" }, "Skip to the comparison"),
    top(found),
    navigation,
    main,
    h(
      "footer",
      {},
      `Made by iostrata ${found.iostrata}: nothing in this file is loaded from elsewhere.`,
    ),
  );
  document.body.dataset.ready = "true";
}

function top(found: Comparison): HTMLElement {
  const side = (letter: string, runs: string[]) =>
    h("p", { class: "facts" }, `${letter}: `, name(runs.join(", ")));
  return h(
    "header",
    {},
    h("p", { class: "brand" }, "iostrata compare"),
    h("h1", {}, name(`${found.names[0]} (A) and ${found.names[1]} (B)`)),
    side("A", found.first),
    side("B", found.second),
  );
}

/** In what the runs differ as runs, which is no effect of what was changed. */
function alike(found: Comparison): HTMLElement {
  const lines = found.unlike.map((line) => h("li", {}, "not alike: ", name(line)));
  const first = lines.length
    ? "These runs differ in more than their numbers"
    : "The runs were recorded alike";
  return section(
    "completeness",
    "Whether the runs can be compared",
    h(
      "div",
      { class: lines.length ? "completeness partial" : "completeness" },
      h("p", { class: "first" }, first),
      h("ul", {}, ...lines),
    ),
    ...found.notes.map((note) => caption(note)),
  );
}

function part(compared: ComparedTable): HTMLElement {
  const drawn = compared.id === "layers" ? intervals(compared.rows) : null;
  return section(
    compared.id,
    compared.title,
    drawn &&
      figure(
        "Growth of the time of each layer from A to B, with the interval that the repeats allow. " +
          "If an interval holds 0, the change may be noise.",
        drawn,
      ),
    table(columns(compared), compared.rows, {
      label: `changes of ${compared.title.toLowerCase()}`,
      most: MOST,
      ...(compared.rows.length > MOST ? { search: (row) => row.key.join(" ") } : {}),
      ...(compared.more ? { note: `${count(compared.more)} more rows are not in this page.` } : {}),
    }),
    caption("Rows whose change explains the most time come first; times are summed over threads."),
  );
}

function columns(compared: ComparedTable): Column<Difference>[] {
  const used = ["calls", ...BYTES].filter((metric) =>
    compared.rows.some((row) => row.metrics[metric] !== undefined),
  );
  const most = Math.max(1, ...compared.rows.map((row) => Math.abs(row.time_grown)));
  return [
    ...compared.keys.map((title, place) => ({
      title,
      cell: (row: Difference) => name(row.key[place]),
      by: (row: Difference) => row.key[place] ?? "",
    })),
    value("time A", (change) => change.first),
    value("time B", (change) => change.second),
    {
      title: "grew",
      number: true,
      cell: (row) => grew(row.time_grown),
      by: (row) => row.time_grown,
      bar: (row) => Math.abs(row.time_grown) / most,
    },
    {
      title: "time",
      number: true,
      cell: (row) => cell(row.metrics.time, seconds, true),
      by: (row) => row.metrics.time?.share ?? 0,
    },
    ...used.map((metric) => ({
      title: metric.replace("bytes_", ""),
      number: true,
      cell: (row: Difference) => cell(row.metrics[metric], metric === "calls" ? count : size),
      by: (row: Difference) => row.metrics[metric]?.share ?? 0,
    })),
    { title: "verdict", cell: (row) => verdict(row), by: (row) => row.verdict },
  ];
}

function value(title: string, of: (change: Metric) => number): Column<Difference> {
  const time = (row: Difference) => (row.metrics.time ? of(row.metrics.time) : 0);
  return {
    title,
    number: true,
    cell: (row) => (row.metrics.time ? seconds(time(row)) : ""),
    by: time,
  };
}

/** As the text has it: `+12 % (+8 % to +16 %)`; the values of the runs as its title. */
function cell(
  change: Metric | undefined,
  text: (value: number) => string,
  interval = false,
): HTMLElement | string {
  if (!change) return "";
  const runs = change.runs.map((side) => side.map(text).join(", "));
  return h(
    "span",
    { title: `A: ${runs[0]} · B: ${runs[1]}`, class: change.first === change.second ? "zero" : "" },
    percent(change, text, interval),
  );
}

function verdict(row: Difference): HTMLElement {
  const changed = Object.entries(row.metrics).filter(([, change]) => change.verdict === "changed");
  if (changed.length === 0) return h("span", { class: "zero" }, row.verdict);
  const what = changed.map(([metric]) => metric.replace("bytes_", "")).join(", ");
  return h("strong", {}, `changed: ${what}`);
}

const source = document.getElementById("document")?.textContent ?? "";
show(JSON.parse(source) as Comparison);
