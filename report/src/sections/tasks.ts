// Jobs and tasks: when each ran, its phases, and the bytes of every layer for it.

import * as Plot from "@observablehq/plot";
import { brushed } from "../brush.ts";
import type { PathPart, ReportDocument, Task } from "../document.ts";
import { caption, h, name, section } from "../dom.ts";
import { type Drawing, drawn, figure, legend, RIGHT, redraw, SERIES, timeAxis } from "../figure.ts";
import type { Selection } from "../selection.ts";
import { type Column, table } from "../table.ts";
import { called, clock, count, printable, seconds, timeTicks } from "../text.ts";
import { bytesCell } from "./layers.ts";

const MOST_LANES = 60;
const PATH = "critical path";

interface Bar {
  lane: string;
  from: number;
  until: number;
  phase: string;
  title: string;
}

export function tasks(run: ReportDocument, selection: Selection): HTMLElement {
  const { rows, more } = run.tasks;
  if (!rows.length) {
    return section(
      "tasks",
      "Job and tasks",
      h("p", { class: "nothing" }, "No job or task was traced."),
    );
  }
  const layers = run.layers.map((row) => row.layer).filter((layer) => bytes(rows, layer));
  const status = h("p", { class: "status", role: "status" });
  selection.follow(() => {
    const there = rows.filter((row) => selection.touches(row.start, row.end)).length;
    status.textContent = selection.bins
      ? `${count(there)} of ${count(rows.length)} lived from ${selection.text()}`
      : "";
  });
  return section(
    "tasks",
    "Job and tasks",
    status,
    timeline(run, selection),
    table(columns(run, layers), rows, {
      label: "tasks",
      most: 12,
      search: (row) => `${row.job} ${row.task} ${row.role} ${row.host}`,
      kept: {
        row: (row) => selection.touches(row.start, row.end),
        follow: (changed) => selection.follow(changed),
      },
      ...(more ? { note: `and ${count(more)} more, which took less time` } : {}),
    }),
    caption(
      "Bytes are those of a layer for the task, in all directions, on its own host and on the " +
        "DataNodes. In I/O is how long at least one of its threads was in a call that moves data or " +
        "asks for it, of the calls that were recorded individually. Calls are the time of all its threads in traced calls of all layers. A phase " +
        "lasts from its first to its last traced call. The numbers are those of whole tasks; a " +
        "selected interval decides only which tasks are shown.",
    ),
  );
}

function bytes(rows: Task[], layer: string): boolean {
  return rows.some((task) => task.layers.some((row) => row.layer === layer && moved(row) > 0));
}

function moved(row: Task["layers"][number]): number {
  return row.bytes_read + row.bytes_written + row.bytes_received + row.bytes_sent;
}

function of(task: Task, layer: string): number {
  return task.layers.filter((row) => row.layer === layer).reduce((sum, row) => sum + moved(row), 0);
}

function columns(run: ReportDocument, layers: string[]): Column<Task>[] {
  const { start } = run.axis;
  const end = (run.axis.bins * run.axis.bin) / 1e9;
  const lived = (task: Task) => (task.start && task.end ? task.end - task.start : 0);
  return [
    { title: "task", cell: (row) => label(row), by: (row) => row.task || row.job },
    { title: "process", cell: (row) => name(row.role ?? "–"), by: (row) => row.role ?? "" },
    { title: "host", cell: (row) => name(row.host ?? "–"), by: (row) => row.host ?? "" },
    {
      title: "start",
      number: true,
      cell: (row) => (row.start ? clock((row.start - start) / 1e9, end) : "–"),
      by: (row) => row.start ?? 0,
    },
    {
      title: "lasted",
      number: true,
      cell: (row) => (lived(row) ? seconds(lived(row)) : "–"),
      by: lived,
    },
    ...inIo(run.tasks.rows),
    ...phaseNames(run.tasks.rows).map((phase) => ({
      title: printable(phase.toLowerCase()),
      number: true,
      cell: (row: Task) => (lasted(row, phase) ? seconds(lasted(row, phase)) : "–"),
      by: (row: Task) => lasted(row, phase),
    })),
    ...layers.map((layer) => ({
      title: layer,
      number: true,
      cell: (row: Task) => bytesCell(of(row, layer)),
      by: (row: Task) => of(row, layer),
    })),
    { title: "calls", number: true, cell: (row) => seconds(row.time), by: (row) => row.time },
  ];
}

/** How long any thread of a task was in I/O; no column where nobody knows. */
function inIo(rows: Task[]): Column<Task>[] {
  const known = (row: Task) => row.in_io ?? null;
  if (rows.every((row) => known(row) === null)) return [];
  const cell = (row: Task) => (known(row) === null ? "–" : seconds(row.in_io ?? 0));
  return [{ title: "in I/O", number: true, cell, by: (row) => row.in_io ?? 0 }];
}

/** Time of a task in a phase: the bars of the timeline as numbers. */
function lasted(task: Task, phase: string): number {
  return task.phases
    .filter((row) => row.phase === phase)
    .reduce((sum, row) => sum + row.end - row.start, 0);
}

/** The short name; the whole one is its title, and what a search finds. */
function label(task: Task): HTMLElement {
  const whole = printable(task.task || task.job);
  const element = name(short(task.task || task.job));
  element.title = whole;
  return element;
}

function phaseNames(rows: Task[]): string[] {
  const phases = rows.flatMap((task) => task.phases).sort((a, b) => a.start - b.start);
  return [...new Set(phases.map((phase) => phase.phase))];
}

function timeline(run: ReportDocument, selection: Selection): HTMLElement | null {
  const placed = run.tasks.rows.filter((task) => task.start && task.end && task.task);
  if (!placed.length) return null;
  placed.sort((a, b) => (a.start ?? 0) - (b.start ?? 0));
  const names = phaseNames(placed);
  const colour = new Map(names.map((phase, place) => [phase, SERIES[place % SERIES.length] ?? ""]));
  const path = run.critical?.parts ?? [];
  let most = MOST_LANES;
  let there = placed;
  const button = h("button", { type: "button", class: "more" });
  button.addEventListener("click", () => {
    most = placed.length;
    fill();
  });
  const drawing = drawn(
    `Timeline of ${placed.length} tasks; the table below has the same times`,
    laneHeight(Math.min(most, placed.length), path),
    (width) => lanes(there.slice(0, most), path, selection, colour, width),
  );
  const inner = h("div", {}, brushed(selection, drawing, margin));
  function fill(): void {
    there = placed.filter((task) => selection.touches(task.start, task.end));
    button.hidden = there.length <= most;
    button.textContent = `Draw all ${count(there.length)} tasks, not the first ${most} only`;
    redraw(inner);
  }
  selection.follow(fill);
  const marked = path.length
    ? "Above them stands the critical path, which the end of the job waited for; it is light " +
      "where it waited itself. "
    : "";
  return figure(
    `Tasks in the order of their start, over the time of the run. They are grey while the ` +
      `process lives, and coloured from the first to the last call of a phase. ${marked}Select an ` +
      `interval to see the tasks that lived in it.`,
    legend([
      ["process", "var(--life)"],
      ...names.map((p): [string, string] => [printable(p.toLowerCase()), colour.get(p) ?? ""]),
      ...(path.length ? [["critical path", "var(--path)"] as [string, string]] : []),
    ]),
    inner,
    button,
  );
}

function margin(width: number): number {
  return width < 600 ? 92 : 170;
}

function laneHeight(tasks: number, path: PathPart[]): number {
  return 18 * (tasks + (path.length ? 1 : 0)) + 34;
}

function lanes(
  shown: Task[],
  path: PathPart[],
  { axis }: Selection,
  colour: Map<string, string>,
  width: number,
): Drawing {
  const end = (axis.bins * axis.bin) / 1e9;
  const height = laneHeight(shown.length, path);
  const names = [...(path.length ? [PATH] : []), ...shown.map((task) => task.task)];
  return Plot.plot({
    width,
    height,
    marginLeft: margin(width),
    marginRight: RIGHT,
    marginTop: 4,
    marginBottom: 24,
    x: { domain: [0, end], label: null },
    y: { domain: names, label: null, padding: 0.35 },
    marks: [
      Plot.gridX({
        ticks: timeTicks(end, Math.max(2, Math.floor(width / 64))),
        stroke: "var(--grid)",
        strokeOpacity: 1,
      }),
      timeAxis(end, width),
      Plot.axisY({ tickSize: 0, fontSize: 11, tickFormat: short }),
      Plot.barX(lives(shown, axis.start), {
        x1: "from",
        x2: "until",
        y: "lane",
        fill: "var(--life)",
        title: "title",
      }),
      Plot.barX(inPhases(shown, axis.start), {
        x1: "from",
        x2: "until",
        y: "lane",
        fill: (bar: Bar) => colour.get(bar.phase),
        title: "title",
      }),
      Plot.barX(onPath(path, axis.start), {
        x1: "from",
        x2: "until",
        y: "lane",
        fill: "var(--path)",
        fillOpacity: (bar: Bar) => (bar.phase === "waiting" ? 0.45 : 1),
        title: "title",
      }),
    ],
  });
}

/**
 * `job 1 · m_000003_0` of `attempt_1795_0001_m_000003_0`, `app 1 · stage 3.0 · 7.1` of
 * `application_1795_0001_stage_3.0_task_7.1`; other names whole.
 */
export function short(task: string): string {
  const text = printable(task)
    .replace(/^attempt_\d+_(\d+)_/, (_, job) => `job ${Number(job)} · `)
    .replace(/^job_\d+_(\d+)$/, (_, job) => `job ${Number(job)}`)
    .replace(/^application_\d+_(\d+)/, (_, application) => `app ${Number(application)}`)
    .replace(/^local-\d+/, "local")
    .replace(/_stage_(\d+\.\d+)_task_(\d+\.\d+)$/, " · stage $1 · $2");
  return text.length > 26 ? `${text.slice(0, 24)}…` : text;
}

function lives(rows: Task[], start: number): Bar[] {
  return rows.map((task) => ({
    lane: task.task,
    from: ((task.start ?? 0) - start) / 1e9,
    until: ((task.end ?? 0) - start) / 1e9,
    phase: "",
    title: printable(`${task.task} on ${task.host ?? "?"}`),
  }));
}

function inPhases(rows: Task[], start: number): Bar[] {
  return rows.flatMap((task) =>
    task.phases.map((phase) => ({
      lane: task.task,
      from: (phase.start - start) / 1e9,
      until: (phase.end - start) / 1e9,
      phase: phase.phase,
      title: printable(`${task.task} ${phase.phase} ${seconds(phase.end - phase.start)}`),
    })),
  );
}

function onPath(path: PathPart[], start: number): Bar[] {
  return path.map((part) => ({
    lane: PATH,
    from: (part.start - start) / 1e9,
    until: (part.end - start) / 1e9,
    phase: part.waiting ? "waiting" : "working",
    title: printable(`${called(part)} in ${part.role} ${seconds(part.end - part.start)}`),
  }));
}
