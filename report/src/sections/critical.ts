// The critical path: the chain of calls that the end of the job waited for.

import * as Plot from "@observablehq/plot";
import { brushed } from "../brush.ts";
import type { Critical, PathPart, PathStage, PathTime, ReportDocument } from "../document.ts";
import { h, name, section } from "../dom.ts";
import { drawn, figure, LEFT, lanes, layerColour, legend } from "../figure.ts";
import type { Selection } from "../selection.ts";
import { table } from "../table.ts";
import { called, count, percent, printable, seconds } from "../text.ts";

const HEIGHT = 84;
const LIST = new Intl.ListFormat("en-GB");

export function critical(run: ReportDocument, selection: Selection): HTMLElement | null {
  const path = run.critical;
  if (!path) return null;
  const layers = [...new Set(path.parts.map((part) => part.layer))];
  const sums = h("p", { class: "sums", role: "status" });
  const functions = h("div", {});
  selection.follow(() => {
    const rows = selection.bins ? byFunction(path.parts, selection) : path.by_function;
    sums.textContent = said(rows, path, selection);
    functions.replaceChildren(functionTable(rows));
  });
  return section(
    "critical",
    "Critical path",
    sums,
    figure(
      "The chain of calls that the end of the job waited for, over the time of the run. Calls " +
        "that worked are above, in the colour of their layer; calls that waited for another " +
        "process or thread are below. The job becomes shorter only if something in this chain " +
        `does. Gaps are time in which no traced call of the path was open.${left(path)}`,
      legend(layers.map((layer) => [printable(layer), layerColour(layer)])),
      brushed(
        selection,
        drawn(label(path), HEIGHT, (width) => strip(path.parts, selection, width)),
      ),
    ),
    ...stages(path),
    h("h3", {}, "Functions on the path"),
    functions,
    h(
      "p",
      { class: "caption" },
      "Time on the path, separated into working and waiting. It adds up to the wall time that " +
        "the path covers, unlike times that are summed over threads. It follows the selected " +
        "interval. Idle is time outside of traced calls in which the process had no CPU and " +
        "waited for none. It is known for the whole run only; for an interval it is part of " +
        "working.",
    ),
  );
}

function left({ more }: Critical): string {
  return more
    ? ` The ${count(more)} shortest parts are not drawn, and no interval holds them.`
    : "";
}

function label(path: Critical): string {
  const waiting = path.parts.filter((part) => part.waiting).length;
  return (
    `Critical path of ${seconds(path.wall)}: ${path.parts.length} parts, ` +
    `${waiting} of them waiting; the table below has their times by function`
  );
}

function said(rows: PathTime[], path: Critical, selection: Selection): string {
  const working = rows.reduce((sum, row) => sum + row.working, 0);
  const waiting = rows.reduce((sum, row) => sum + row.waiting, 0);
  const idle = rows.reduce((sum, row) => sum + row.idle, 0);
  const [from, until] = selection.seconds;
  const wall = selection.bins ? (until - from) * 1e9 : path.wall;
  const part = (ns: number) => `${seconds(ns)} (${percent(wall > 0 ? ns / wall : 0)})`;
  const where = selection.bins ? `From ${selection.text()}` : `Of ${seconds(path.wall)}`;
  const rest = wall - working - waiting - idle;
  const other =
    rest > wall / 200 ? ` The other ${part(rest)} belong to no function of this list.` : "";
  const times = [`worked for ${part(working)}`, `waited for ${part(waiting)}`];
  if (idle) times.push(`was idle for ${part(idle)}`);
  return `${where} the path ${LIST.format(times)}.${other}`;
}

/** The parts within the interval, cut at its edges, by function. */
export function byFunction(parts: PathPart[], selection: Selection): PathTime[] {
  const found = new Map<string, PathTime>();
  for (const { layer, op, start, end, waiting } of parts) {
    const time = selection.within(start, end);
    if (time <= 0) continue;
    const key = JSON.stringify([layer, op]);
    const row = found.get(key) ?? { layer, op, working: 0, waiting: 0, idle: 0 };
    row[waiting ? "waiting" : "working"] += time;
    found.set(key, row);
  }
  return [...found.values()].sort((a, b) => whole(b) - whole(a));
}

function whole(row: PathTime): number {
  return row.working + row.waiting + row.idle;
}

function timeColumn<T>(title: string, of: (row: T) => number) {
  const cell = (row: T) => (of(row) ? seconds(of(row)) : "–");
  return { title, number: true, cell, by: of };
}

function stages({ by_stage, wall }: Critical): HTMLElement[] {
  if (by_stage.length < 2) return [];
  const rows = table<PathStage>(
    [
      { title: "stage", cell: (row) => name(row.stage), by: (row) => row.stage },
      { title: "job", cell: (row) => name(row.job || "–"), by: (row) => row.job },
      {
        title: "tasks",
        number: true,
        cell: (row) => (row.tasks ? count(row.tasks) : "–"),
        by: (row) => row.tasks,
      },
      timeColumn("waiting", (row) => row.waiting),
      timeColumn("working", (row) => row.time - row.waiting - row.idle),
      timeColumn("idle", (row) => row.idle),
      {
        title: "together",
        number: true,
        cell: (row) => seconds(row.time),
        by: (row) => row.time,
        bar: (row) => row.time / Math.max(1, wall),
      },
    ],
    by_stage,
    {
      label: "stages on the critical path",
      most: 10,
      search: (row) => `${row.stage} ${row.job}`,
    },
  );
  const caption =
    "Whose time it was, of the whole run: stages of a job with their attempts that the next step " +
    "waited for, clients and drivers where no task was waited for, and starts of containers.";
  return [h("h3", {}, "Stages on the path"), rows, h("p", { class: "caption" }, caption)];
}

function functionTable(rows: PathTime[]): HTMLElement {
  const longest = Math.max(1, ...rows.map(whole));
  return table<PathTime>(
    [
      { title: "function", cell: (row) => name(called(row)), by: called },
      { title: "layer", cell: (row) => name(row.layer), by: (row) => row.layer },
      { title: "operation", cell: (row) => name(row.op), by: (row) => row.op },
      timeColumn("waiting", (row) => row.waiting),
      timeColumn("working", (row) => row.working),
      timeColumn("idle", (row) => row.idle),
      {
        title: "together",
        number: true,
        cell: (row) => seconds(whole(row)),
        by: whole,
        bar: (row) => whole(row) / longest,
      },
    ],
    rows,
    {
      label: "functions on the critical path",
      most: 10,
      search: (row) => `${called(row)} ${row.layer} ${row.op}`,
    },
  );
}

function strip(parts: PathPart[], { axis }: Selection, width: number): SVGElement | HTMLElement {
  const pieces = parts.map((part) => ({
    from: (part.start - axis.start) / 1e9,
    until: (part.end - axis.start) / 1e9,
    lane: part.waiting ? "waiting" : "working",
    layer: part.layer,
    title: printable(
      `${called(part)} in ${part.role} on ${part.host}, ` +
        `${part.waiting ? "waiting" : "working"} ${seconds(part.end - part.start)}`,
    ),
  }));
  const bars = Plot.barX(pieces, {
    x1: "from",
    x2: "until",
    y: "lane",
    fill: (bar: { layer: string }) => layerColour(bar.layer),
    fillOpacity: (bar: { lane: string }) => (bar.lane === "waiting" ? 0.65 : 1),
    title: "title",
  });
  const end = (axis.bins * axis.bin) / 1e9;
  return lanes(["working", "waiting"], end, bars, { width, height: HEIGHT, left: LEFT });
}
