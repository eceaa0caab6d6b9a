// Programs that one command ran at the same time, and the servers that worked for all of them.

import type { PartActivity, ReportDocument } from "../document.ts";
import { h, section } from "../dom.ts";
import { figure } from "../figure.ts";
import { type History, history } from "../history.ts";
import type { Selection } from "../selection.ts";
import { table } from "../table.ts";
import { count, printable, seconds, shortSize, size } from "../text.ts";

const rate = (value: number) => `${shortSize(value)}/s`;

/** What a reader calls a part. */
export const partName = (part: string) => (part === "" ? "servers" : printable(part));

export function programs(run: ReportDocument, selection: Selection): HTMLElement | null {
  const { programs } = run;
  if (!programs?.parts.rows.length) return null;
  const { parts, servers } = programs;
  const own = parts.rows.filter((row) => row.part !== "");
  const more = parts.more + servers.more;
  return section(
    "programs",
    "Programs at the same time",
    figure(
      "Bytes of files that each program read and wrote, by the FileSystem API in JVMs that use it, " +
        "else by their own calls, and what the servers of each host read and wrote for all of " +
        `them.${more ? ` ${count(more)} more are not shown.` : ""}`,
      h(
        "div",
        { class: "grid" },
        curves(
          "Programs",
          own.map((row) => [partName(row.part), row.moved]),
          selection,
        ),
        curves(
          "Servers",
          servers.rows.map((row) => [printable(row.host), row.moved]),
          selection,
        ),
      ),
    ),
    table<PartActivity>(
      [
        { title: "program", cell: (row) => partName(row.part), by: (row) => partName(row.part) },
        number("processes", (row) => row.processes, count),
        number("lasted", lasted, (value) => (value ? seconds(value) : "–")),
        number(
          "CPU",
          (row) => row.cpu ?? -1,
          (value) => (value < 0 ? "–" : seconds(value)),
        ),
        number("calls on files", (row) => row.calls, count),
        number("read", (row) => row.bytes_read, size),
        number("written", (row) => row.bytes_written, size),
        number("time in them", (row) => row.time, seconds),
      ],
      parts.rows,
      { label: "programs", most: 16, search: (row) => partName(row.part) },
    ),
  );
}

function number(title: string, by: (row: PartActivity) => number, text: (value: number) => string) {
  return { title, number: true, cell: (row: PartActivity) => text(by(row)), by };
}

/** ns from the begin of its first process to the end of its last one; servers go on. */
export function lasted(row: Pick<PartActivity, "part" | "start" | "end">): number {
  const known = row.part !== "" && row.start != null && row.end != null;
  return known ? (row.end ?? 0) - (row.start ?? 0) : 0;
}

function curves(
  title: string,
  lines: [name: string, moved: number[]][],
  selection: Selection,
): HTMLElement | null {
  if (!lines.length) return null;
  const { axis } = selection;
  const shown: History<string> = {
    title: `${title}: read and written`,
    lines: lines.map(([name]) => [name, name]),
    tick: rate,
  };
  const values = Object.fromEntries(
    lines.map(([name, moved]) => [name, rates(moved, axis.bins, axis.bin / 1e9)]),
  );
  return history(shown, title.toLowerCase(), values, selection);
}

/** Bytes a second in all bins of an axis. */
export function rates(moved: number[], bins: number, width: number): number[] {
  return Array.from({ length: bins }, (_, bin) => (moved[bin] ?? 0) / width);
}
