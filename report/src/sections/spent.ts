// Who spent time on what: threads of every kind of process in calls of every layer.

import type { ReportDocument, TimeSpent } from "../document.ts";
import { caption, section } from "../dom.ts";
import { table } from "../table.ts";
import { count, seconds } from "../text.ts";
import { time } from "./layers.ts";

export function spent({ time_spent: { rows, more } }: ReportDocument): HTMLElement {
  const longest = Math.max(1, ...rows.map((row) => row.time));
  return section(
    "spent",
    "Where threads spent their time",
    table<TimeSpent>(
      [
        { title: "process", cell: (row) => row.role || "–", by: (row) => row.role },
        { title: "layer", cell: (row) => row.layer, by: (row) => row.layer },
        { title: "operation", cell: (row) => row.op, by: (row) => row.op },
        { title: "calls", number: true, cell: (row) => count(row.calls), by: (row) => row.calls },
        {
          title: "per call",
          number: true,
          cell: (row) => (row.calls ? seconds(row.time / row.calls) : "–"),
          by: (row) => row.time / Math.max(1, row.calls),
        },
        {
          title: "time",
          number: true,
          cell: time,
          by: (row) => row.time,
          bar: (row) => row.time / longest,
        },
      ],
      rows,
      {
        label: "time spent",
        most: 14,
        search: (row) => `${row.role} ${row.layer} ${row.op}`,
        ...(more ? { note: `and ${count(more)} more, which took less time` } : {}),
      },
    ),
    caption(
      "Time that threads of each kind of process spent in calls, summed over threads, without " +
        "calls within calls of the same layer. The time of a layer contains the time of the " +
        "layers below it. It also contains the time that a call waits for the other side, as a " +
        "DataNode waits for the client whose block it receives.",
    ),
  );
}
