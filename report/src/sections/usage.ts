// What jobs and attempts took over time, by the kernel's account: CPU, and bytes read and written.

import type { ReportDocument, SpaceCurve, Usage, UsageCurve } from "../document.ts";
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
const SPACE: History<"temporary" | "permanent"> = {
  title: "Space used",
  lines: [
    ["temporary", "temporary"],
    ["permanent", "permanent"],
  ],
  tick: shortSize,
};

/** What is known of a job, or of the processes of a role that belong to none. */
interface Owned {
  taken: UsageCurve | undefined;
  space: SpaceCurve | undefined;
}

export function usage(run: ReportDocument, selection: Selection): HTMLElement | null {
  const { usage } = run;
  const owned = usage ? together(usage) : [];
  if (!usage || !owned.length) return null;
  const { jobs, attempts, space } = usage;
  const missing = Math.max(jobs.more, space?.more ?? 0);
  const more = missing ? ` ${count(missing)} more took less and are not shown.` : "";
  return section(
    "usage",
    "CPU, I/O and space of jobs",
    figure(
      "What the processes of a job took, its tasks, client and ApplicationMaster together, by the " +
        "kernel's account; processes of no job are by role. What a process took between two " +
        "looks, as a rule a second apart, is spread over that time evenly. Read and written is " +
        "all that processes moved, from and to memory and sockets, too; what devices had to " +
        "deliver, and what became dirty for them, stands beside it. Space is that of the files " +
        "that they wrote, one copy of those in HDFS: temporary ones are deleted later, or go with " +
        `the job.${more}`,
      ...owned.map((each) => panel(each, selection)),
    ),
    attempts.rows.length
      ? h(
          "details",
          {},
          h("summary", {}, summary(attempts.rows.length, attempts.more)),
          ...attempts.rows.map((taken) => panel({ taken, space: undefined }, selection)),
        )
      : null,
  );
}

/** Jobs that have a curve of CPU, of space or both. */
export function together({ jobs, space }: Usage): Owned[] {
  const left = new Set(space?.rows);
  const owned: Owned[] = jobs.rows.map((taken) => {
    const found = [...left].find((row) => row.job === taken.job && row.role === taken.role);
    if (found) left.delete(found);
    return { taken, space: found };
  });
  return [...owned, ...[...left].map((row) => ({ taken: undefined, space: row }))];
}

function summary(shown: number, more: number): string {
  return more
    ? `The ${count(shown)} attempts of ${count(shown + more)} that took most CPU`
    : "Attempts";
}

function panel({ taken, space }: Owned, selection: Selection): HTMLElement {
  const id = taken?.task ?? taken?.job ?? space?.job;
  const whole = id ?? taken?.role ?? space?.role ?? "–";
  const title = name(id ? short(whole) : whole);
  title.title = printable(whole);
  const role = taken?.task && taken.role ? ` ${taken.role}` : "";
  return h(
    "div",
    { class: "panel" },
    h("h3", {}, title, role),
    h(
      "div",
      { class: "grid" },
      ...(taken ? known(taken).map((each) => drawing(each, whole, taken, selection)) : []),
      space ? drawing(SPACE, whole, space, selection) : null,
    ),
  );
}

/** Where the kernel said nothing of I/O, only CPU is drawn. */
function known(curve: UsageCurve): History<Column>[] {
  return HISTORIES.filter(({ lines }) =>
    lines.some(([column]) => curve[column].some((value) => value !== null)),
  );
}

function drawing<Name extends string>(
  shown: History<Name>,
  whose: string,
  curve: { first: number } & Record<Name, (number | null)[]>,
  selection: Selection,
): HTMLElement {
  const { bins } = selection.axis;
  const values = { ...curve };
  for (const [column] of shown.lines) {
    Object.assign(values, { [column]: spanning(curve[column], curve.first, bins) });
  }
  return history(shown, whose, values, selection);
}

/** Values of all bins of an axis, of those from `first` on. */
export function spanning(
  values: (number | null)[],
  first: number,
  bins: number,
): (number | null)[] {
  return Array.from({ length: bins }, (_, bin) => values[bin - first] ?? null);
}
