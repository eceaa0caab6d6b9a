// The hottest targets: files, blocks and peers.

import type { ReportDocument, ReportTarget } from "../document.ts";
import { caption, name, section } from "../dom.ts";
import { table } from "../table.ts";
import { count, printable, seconds, size } from "../text.ts";
import { directions, moved, near } from "./layers.ts";

/** Kinds of calls without a target that are named. */
const MOST_NAMELESS = 4;

export function targets({ targets: { rows, more }, without_target }: ReportDocument): HTMLElement {
  const longest = Math.max(1, ...rows.map((row) => row.time));
  const nameless = (without_target ?? []).map(
    (row) =>
      `${count(row.calls)} calls of ${printable(row.layer)} on ${printable(row.category)} (${size(row.bytes)})`,
  );
  const others = nameless.splice(MOST_NAMELESS).length;
  if (others) nameless.push(`${others} others`);
  const left = nameless.length
    ? ` No target is known of ${nameless.join(", ")}: each may have been on any target of its kind.`
    : "";
  const sampled = rows.some((row) => row.estimated);
  const scaled = sampled
    ? " Numbers with ~ are scaled up from the requests that were recorded individually, and within ± in 95 of 100 cases."
    : "";
  return section(
    "targets",
    "Hottest targets",
    table<ReportTarget>(
      [
        { title: "layer", cell: (row) => row.layer, by: (row) => row.layer },
        { title: "kind", cell: (row) => row.category ?? "–", by: (row) => row.category ?? "" },
        {
          title: "calls",
          number: true,
          cell: (row) => near(row, "calls", count),
          by: (row) => row.calls,
        },
        ...(sampled
          ? directions(rows).map((direction) => ({
              title: direction,
              number: true,
              cell: (row: ReportTarget) => near(row, `bytes_${direction}`, size),
              by: (row: ReportTarget) => row[`bytes_${direction}`],
            }))
          : moved(rows)),
        {
          title: "time",
          number: true,
          cell: (row) => near(row, "time", seconds),
          by: (row) => row.time,
          bar: (row) => row.time / longest,
        },
        { title: "target", cell: label, by: title },
      ],
      rows,
      {
        label: "targets",
        most: 15,
        search: (row) => `${row.layer} ${row.category} ${title(row)}`,
        ...(more ? { note: "others took less time" } : {}),
      },
    ),
    caption(
      `The files, blocks and peers that calls took longest on. What is in sums counts where its target is known.` +
        `${left}${scaled}`,
    ),
  );
}

/** A block's target is its pool: the number says which. */
function title(row: ReportTarget): string {
  return row.block === null ? row.target : `blk_${row.block} of ${row.target}`;
}

/** A block's number alone; its pool is the title, and found by a search. */
function label(row: ReportTarget): HTMLElement {
  const element = name(row.block === null ? row.target : `blk_${row.block}`);
  element.title = printable(title(row));
  return element;
}
