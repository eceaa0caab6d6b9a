// What the tracer itself lost, by process.

import type { ReportDocument, ReportLosses, ReportProcess } from "../document.ts";
import { caption, h, name } from "../dom.ts";
import { table } from "../table.ts";
import { count } from "../text.ts";

const KINDS: [keyof ReportLosses, string][] = [
  ["dropped", "Calls in totals only, without detail: a buffer was full."],
  ["collapsed", "Calls in totals, but without task and category: a table of counters was full."],
  ["lost", "Calls in no total."],
  ["rejected", "Segments or names that could not be made."],
];

export function losses({ completeness }: ReportDocument): HTMLElement[] {
  const { processes, losses: total } = completeness;
  const losing = processes.rows.filter((row) => KINDS.some(([kind]) => (row[kind] ?? 0) > 0));
  return [
    h("h3", {}, "Drops and losses"),
    h(
      "dl",
      { class: "losses" },
      ...KINDS.map(([kind, words]) =>
        h(
          "div",
          {},
          h("dt", {}, kind),
          h("dd", { class: "number" }, count(total[kind])),
          h("dd", {}, words),
        ),
      ),
      h(
        "div",
        {},
        h("dt", {}, "unfinished"),
        h("dd", { class: "number" }, count(completeness.unfinished)),
        h("dd", {}, "Calls that were still open when their process died."),
      ),
    ),
    losing.length ? byProcess(losing) : h("p", { class: "nothing" }, "No process lost anything."),
    caption("The tracer counts in every process what it loses."),
  ];
}

function byProcess(rows: ReportProcess[]): HTMLElement {
  return table<ReportProcess>(
    [
      { title: "process", cell: (row) => name(row.role || "java"), by: (row) => row.role ?? "" },
      { title: "pid", number: true, cell: (row) => `${row.pid ?? ""}`, by: (row) => row.pid ?? 0 },
      { title: "host", cell: (row) => name(row.host), by: (row) => row.host ?? "" },
      { title: "task", cell: (row) => name(row.task ?? ""), by: (row) => row.task ?? "" },
      {
        title: "calls",
        number: true,
        cell: (row) => count(row.calls ?? 0),
        by: (row) => row.calls ?? 0,
      },
      ...KINDS.map(([kind]) => ({
        title: kind,
        number: true,
        cell: (row: ReportProcess) => count(row[kind] ?? 0),
        by: (row: ReportProcess) => row[kind] ?? 0,
      })),
    ],
    rows,
    { label: "losses by process" },
  );
}
