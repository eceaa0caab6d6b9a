// The first screen: verdict, findings, time and bytes by layer, how complete the picture is.

import { DIRECTIONS } from "../directions.ts";
import type { Finding, LayerTotal, ReportDocument } from "../document.ts";
import { h, name } from "../dom.ts";
import { table } from "../table.ts";
import { count, size } from "../text.ts";
import { anchor, badge, gain, setting } from "./findings.ts";
import { time } from "./layers.ts";
import { isWhole } from "./method.ts";

const FIRST = 4; // findings for which the first screen has room
const FIRST_MISSING = 3;

export function overview(run: ReportDocument): HTMLElement {
  const { verdict } = run;
  const findings = run.findings ?? [];
  const columns = [findings.length ? ranked(findings) : null, run.empty ? null : byLayer(run)];
  return h(
    "section",
    { id: "overview", "aria-labelledby": "overview-title" },
    verdict
      ? h("h2", { id: "overview-title", class: "verdict" }, name(verdict.text))
      : h("h2", { id: "overview-title", class: "unseen" }, "Overview"),
    verdict?.detail ? h("p", { class: "detail" }, name(verdict.detail)) : null,
    completenessLine(run),
    listed(run.lost_datanodes ?? []),
    listed(missing(run)),
    run.empty ? h("p", { class: "empty" }, name(run.empty)) : null,
    h("div", { class: findings.length ? "overview" : "overview single" }, ...columns),
  );
}

/** One line; where it is not whole, how much more there is to know. */
function completenessLine(run: ReportDocument): HTMLElement {
  const { lines, more_lines } = run.completeness;
  const others = Math.max(0, lines.length - 1) + more_lines;
  const more = others ? h("a", { href: "#method" }, `${count(others)} more`) : null;
  return h(
    "p",
    { class: `completeness ${isWhole(run) ? "whole" : "partial"}` },
    h("b", {}, isWhole(run) ? "Complete: " : "Incomplete: "),
    name(lines[0] ?? "not known"),
    more ? " · " : null,
    more,
  );
}

/** Parts, hosts and processes that are missing, by name. */
function missing({ completeness: { incomplete } }: ReportDocument): (string | HTMLElement)[] {
  const left = incomplete.length - FIRST_MISSING;
  const lines: (string | HTMLElement)[] = incomplete.slice(0, FIRST_MISSING);
  if (left > 0) lines.push(h("a", { href: "#method" }, `and ${count(left)} more`));
  return lines;
}

function listed(lines: (string | HTMLElement)[]): HTMLElement | null {
  const items = lines.map((line) => h("li", {}, typeof line === "string" ? name(line) : line));
  return items.length ? h("ul", { class: "missing" }, ...items) : null;
}

function ranked(findings: Finding[]): HTMLElement {
  const left = findings.length - FIRST;
  return h(
    "div",
    { class: "ranked" },
    h("h3", {}, "What to change, worst first"),
    h("ol", {}, ...findings.slice(0, FIRST).map(item)),
    left > 0
      ? h("p", {}, h("a", { href: `#${anchor(FIRST)}` }, `and ${count(left)} more findings`))
      : null,
  );
}

function item(finding: Finding, place: number): HTMLElement {
  const [first] = finding.change;
  return h(
    "li",
    {},
    badge(finding),
    h(
      "span",
      { class: "what" },
      h("a", { href: `#${anchor(place)}` }, name(finding.title)),
      name(`: ${finding.seen}`),
    ),
    h("span", { class: "gain" }, gain(finding)),
    first ? h("span", { class: "do" }, first.setting ? setting(first) : name(first.what)) : null,
  );
}

function moved(row: LayerTotal): number {
  return DIRECTIONS.reduce((sum, name) => sum + row[`bytes_${name}`], 0);
}

function byLayer({ layers }: ReportDocument): HTMLElement {
  const longest = Math.max(1, ...layers.map((row) => row.time));
  const most = Math.max(1, ...layers.map(moved));
  return h(
    "div",
    { class: "bylayer" },
    h("h3", {}, "Time and bytes by layer"),
    table<LayerTotal>(
      [
        { title: "layer", cell: (row) => row.layer, by: (row) => row.layer },
        {
          title: "time",
          number: true,
          cell: time,
          by: (row) => row.time,
          bar: (row) => row.time / longest,
        },
        {
          title: "bytes",
          number: true,
          cell: (row) => (moved(row) ? size(moved(row)) : "–"),
          by: moved,
          bar: (row) => moved(row) / most,
        },
      ],
      layers,
      { label: "time and bytes by layer", most: layers.length },
    ),
    h(
      "p",
      { class: "caption" },
      "Time is summed over threads, bytes over all directions. Layers lie within each other, so " +
        "rows do not add up. ~ marks an estimate.",
    ),
  );
}
