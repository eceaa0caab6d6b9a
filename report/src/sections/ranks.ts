// Ranks of parallel programs: how long each was in files, beside the others.

import * as Plot from "@observablehq/plot";
import type { RankActivity, ReportDocument } from "../document.ts";
import { caption, h, section } from "../dom.ts";
import { COLOURS, drawn, figure, LEFT, legend, SERIES, timeAxis } from "../figure.ts";
import { table } from "../table.ts";
import { count, percent, printable, seconds, size } from "../text.ts";

const HEIGHT = 168;
const KINDS: [keyof RankActivity & ("reading" | "writing" | "asking"), string, string][] = [
  ["reading", "reading", COLOURS.read ?? ""],
  ["writing", "writing", COLOURS.written ?? ""],
  ["asking", "opening and asking", SERIES[4] ?? ""],
];

export function ranks(run: ReportDocument): HTMLElement | null {
  const { rows, more } = run.ranks ?? { rows: [], more: 0 };
  if (!rows.length) return null;
  const jobs = [...new Set(rows.map((row) => row.job ?? ""))];
  const several = jobs.length > 1;
  const figures = jobs.map((job) => {
    const own = rows.filter((row) => (row.job ?? "") === job);
    return h("div", {}, several ? h("h3", {}, printable(job)) : null, bars(own), moved(own, run));
  });
  const longest = Math.max(1, ...rows.map(inFiles));
  const time = (title: string, of: (row: RankActivity) => number) => ({
    title,
    number: true,
    cell: (row: RankActivity) => seconds(of(row)),
    by: of,
    bar: (row: RankActivity) => of(row) / longest,
  });
  return section(
    "ranks",
    "Ranks",
    figure(
      "How long each rank of a parallel program was in calls on files, in the order of ranks. " +
        "Ranks wait for each other, so that the highest bar is what the others may wait for. Below " +
        "it is when each of them moved bytes, rank by rank: the darker, the more at a time.",
      legend(KINDS.map(([, title, colour]) => [title, colour])),
      ...figures,
    ),
    table<RankActivity>(
      [
        { title: "rank", cell: (row) => printable(row.task), by: (row) => number(row) },
        { title: "host", cell: (row) => printable(row.host ?? "–"), by: (row) => row.host ?? "" },
        { title: "calls", number: true, cell: (row) => count(row.calls), by: (row) => row.calls },
        bytes("read", (row) => row.bytes_read),
        bytes("written", (row) => row.bytes_written),
        ...KINDS.map(([kind, title]) => time(title, (row) => row[kind])),
        part(
          "below 4 KiB",
          (row) => row.small,
          (row) => row.moves,
        ),
        part(
          "off 4 KiB",
          (row) => row.unaligned,
          (row) => row.placed,
        ),
      ],
      rows,
      {
        label: "ranks",
        most: 16,
        search: (row) => `${row.task} ${row.host ?? ""} ${row.job ?? ""}`,
        ...(more ? { note: `and ${count(more)} more` } : {}),
      },
    ),
    caption(
      "Below 4 KiB is a part of the calls that read or write. Off 4 KiB is a part of those of them " +
        "that were recorded individually and whose place is known: they do not begin at a multiple of it.",
    ),
  );
}

/** A part of the calls that read or write. */
function part(
  title: string,
  some: (row: RankActivity) => number,
  whole: (row: RankActivity) => number,
) {
  return {
    title,
    number: true,
    cell: (row: RankActivity) => (whole(row) ? percent(some(row) / whole(row)) : "–"),
    by: (row: RankActivity) => some(row) / Math.max(1, whole(row)),
  };
}

function bytes(title: string, of: (row: RankActivity) => number) {
  return { title, number: true, cell: (row: RankActivity) => size(of(row)), by: of };
}

/** The number of a rank, by which ranks are in order. */
export function number(row: { task: string }): number {
  return Number(/\d+$/.exec(row.task)?.[0] ?? -1);
}

function inFiles(row: RankActivity): number {
  return row.reading + row.writing + row.asking;
}

function bars(rows: RankActivity[]): HTMLElement {
  const times = rows.map(inFiles);
  const mean = times.reduce((sum, time) => sum + time, 0) / Math.max(1, times.length);
  const parts = rows.flatMap((row) =>
    KINDS.map(([kind, title, colour]) => ({
      rank: number(row),
      seconds: row[kind] / 1e9,
      colour,
      title: `${printable(row.task)}: ${seconds(row[kind])} ${title}`,
    })),
  );
  const most = Math.max(...times);
  const label =
    `Time in files of ${count(rows.length)} ranks: at most ${seconds(most)}, ` +
    `${seconds(mean)} on average`;
  return h(
    "div",
    {},
    drawn(label, HEIGHT, (width) =>
      Plot.plot({
        width,
        height: HEIGHT,
        marginLeft: LEFT,
        marginRight: 8,
        marginTop: 8,
        marginBottom: 28,
        x: { label: null, padding: rows.length > width / 4 ? 0 : 0.15, type: "band" },
        y: { label: null, ticks: 4, tickFormat: (s: number) => `${s} s`, grid: true },
        marks: [
          Plot.barY(parts, { x: "rank", y: "seconds", fill: "colour", title: "title" }),
          Plot.ruleY([mean / 1e9], { stroke: "currentColor", strokeDasharray: "3 3" }),
          Plot.axisX({
            ticks: shown(rows.map(number), width),
            tickSize: 0,
            fill: "var(--muted)",
          }),
          Plot.ruleY([0], { stroke: "var(--rule)" }),
        ],
      }),
    ),
    h(
      "p",
      { class: "caption" },
      `${label} (dashed), ${(most / Math.max(1, mean)).toFixed(1)} times as long`,
    ),
  );
}

/** Bytes of each rank over time, on the axis of the run. */
function moved(rows: RankActivity[], { axis }: ReportDocument): HTMLElement | null {
  const bin = axis.bin / 1e9;
  const cells = rows.flatMap((row) =>
    row.moved.map((bytes, place) => ({ rank: number(row), from: place * bin, bytes })),
  );
  const seen = cells.filter((cell) => cell.bytes > 0);
  if (!seen.length) return null;
  const most = Math.max(...seen.map((cell) => cell.bytes));
  const end = bin * axis.bins;
  const height = Math.min(320, Math.max(64, rows.length * 14)) + 28;
  const label = `Bytes that ${count(rows.length)} ranks moved over time: at most ${size(Math.round(most / bin))} a second`;
  return drawn(label, height, (width) =>
    Plot.plot({
      width,
      height,
      marginLeft: LEFT,
      marginRight: 8,
      marginTop: 8,
      marginBottom: 20,
      x: { domain: [0, end], label: null },
      y: { label: null, type: "band", domain: rows.map(number), padding: 0 },
      marks: [
        Plot.barX(seen, {
          x1: "from",
          x2: (cell: { from: number }) => cell.from + bin,
          y: "rank",
          fill: "currentColor",
          fillOpacity: (cell: { bytes: number }) => 0.15 + 0.85 * (cell.bytes / most),
          title: (cell: { rank: number; bytes: number }) =>
            `rank ${cell.rank}: ${size(Math.round(cell.bytes / bin))} a second`,
        }),
        Plot.axisY({
          ticks: shown(rows.map(number), height * 2),
          tickSize: 0,
          fill: "var(--muted)",
        }),
        timeAxis(end, width),
      ],
    }),
  );
}

/** Numbers that do not touch each other. */
function shown(numbers: number[], width: number): number[] {
  const every = Math.max(1, Math.ceil((numbers.length * 32) / Math.max(1, width)));
  return numbers.filter((_, place) => place % every === 0);
}
