// What jobs and attempts took over time, by the kernel's account: CPU, and bytes read and written.

import type { ReportDocument, UsageCurve } from "../document.ts";
import { h, name, section } from "../dom.ts";
import { COLOURS, figure } from "../figure.ts";
import { type History, history } from "../history.ts";
import type { Selection } from "../selection.ts";
import { count, printable, shortSize } from "../text.ts";
import { short } from "./tasks.ts";

type Column = "cpu" | "io_read" | "io_written" | "disk_read" | "disk_written";

const rate = (value: number) => `${shortSize(value)}/s`;
const cores = (value: number) => Number(value.toPrecision(2)).toString();
const READ = COLOURS.read ?? "";
const WRITTEN = COLOURS.written ?? "";
// One list is what is drawn for every job and attempt.
const HISTORIES: History<Column>[] = [
  { title: "Cores busy", lines: [["cpu", "cores"]], tick: cores, full: 1 },
  {
    title: "Read and written",
    lines: [
      ["io_read", "read", READ],
      ["io_written", "written", WRITTEN],
    ],
    tick: rate,
  },
  {
    title: "From and for devices",
    lines: [
      ["disk_read", "read", READ],
      ["disk_written", "written", WRITTEN],
    ],
    tick: rate,
  },
];

export function usage(run: ReportDocument, selection: Selection): HTMLElement | null {
  const { usage } = run;
  if (!usage?.jobs.rows.length) return null;
  const { jobs, attempts } = usage;
  const more = jobs.more ? ` ${count(jobs.more)} more took less CPU and are not shown.` : "";
  return section(
    "usage",
    "CPU and I/O of jobs",
    figure(
      "What the processes of a job took, its tasks, client and ApplicationMaster together, by the " +
        "kernel's account; processes of no job are by role. What a process took between two " +
        "looks, as a rule a second apart, is spread over that time evenly. Read and written is " +
        "all that processes moved, from and to memory and sockets, too; what devices had to " +
        `deliver, and what became dirty for them, stands beside it.${more}`,
      ...jobs.rows.map((curve) => panel(curve, curve.job ?? curve.role ?? "–", selection)),
    ),
    attempts.rows.length
      ? h(
          "details",
          {},
          h("summary", {}, summary(attempts.rows.length, attempts.more)),
          ...attempts.rows.map((curve) => panel(curve, curve.task ?? "–", selection)),
        )
      : null,
  );
}

function summary(shown: number, more: number): string {
  return more
    ? `The ${count(shown)} attempts of ${count(shown + more)} that took most CPU`
    : "Attempts";
}

function panel(curve: UsageCurve, whole: string, selection: Selection): HTMLElement {
  const title = name(curve.job || curve.task ? short(whole) : whole);
  title.title = printable(whole);
  const { bins } = selection.axis;
  const values = Object.fromEntries(
    HISTORIES.flatMap(({ lines }) => lines).map(([column]) => [
      column,
      spanning(curve[column], curve.first, bins),
    ]),
  ) as Record<Column, (number | null)[]>;
  const known = HISTORIES.filter(({ lines }) =>
    lines.some(([column]) => curve[column].some((value) => value !== null)),
  );
  return h(
    "div",
    { class: "panel" },
    h("h3", {}, title, curve.task && curve.role ? ` ${curve.role}` : ""),
    h("div", { class: "grid" }, ...known.map((each) => history(each, whole, values, selection))),
  );
}

/** Values of all bins of an axis, of those from `first` on. */
export function spanning(
  values: (number | null)[],
  first: number,
  bins: number,
): (number | null)[] {
  return Array.from({ length: bins }, (_, bin) => values[bin - first] ?? null);
}
