// Histories of the hosts: processors, disks, network and used space.

import * as Plot from "@observablehq/plot";
import { brushed } from "../brush.ts";
import type { Axis, Histories, Host, ReportDocument } from "../document.ts";
import { h, name, section } from "../dom.ts";
import { drawn, figure, LEFT, legend, RIGHT, SERIES, ticksTo, timeAxis } from "../figure.ts";
import type { Selection } from "../selection.ts";
import { percent, shortSize } from "../text.ts";

const HEIGHT = 110;
const GAP = 2.5; // s: samples are a second apart

interface History {
  title: string;
  lines: [column: keyof Histories, title: string][];
  tick: (value: number) => string;
  /** Where the scale ends at least: 1 for shares, a total of the host. */
  full?: (host: Host) => number;
}

const rate = (value: number) => `${shortSize(value)}/s`;
const level = shortSize;
// One list is what is drawn for every host.
const HISTORIES: History[] = [
  {
    title: "Processors",
    lines: [
      ["cpu_user", "user"],
      ["cpu_system", "system"],
      ["cpu_iowait", "waiting for disks"],
    ],
    tick: percent,
    full: () => 1,
  },
  {
    title: "Disks",
    lines: [
      ["disk_read", "read"],
      ["disk_written", "written"],
    ],
    tick: rate,
  },
  { title: "Busiest disk", lines: [["disk_busy", "busy"]], tick: percent, full: () => 1 },
  {
    title: "Network",
    lines: [
      ["net_received", "received"],
      ["net_sent", "sent"],
      ["net_loopback", "loopback"],
    ],
    tick: rate,
  },
  {
    title: "Some thread was stalled",
    lines: [
      ["cpu_pressure", "for CPU"],
      ["memory_pressure", "for memory"],
      ["io_pressure", "for I/O"],
    ],
    tick: percent,
    full: () => 1,
  },
  {
    title: "Memory used",
    lines: [["mem_used", "used"]],
    tick: level,
    full: (host) => host.totals.mem_total ?? 0,
  },
  {
    title: "Space used",
    lines: [["space_used", "used"]],
    tick: level,
    full: (host) => host.totals.space_total ?? 0,
  },
];

export function hosts({ system }: ReportDocument, selection: Selection): HTMLElement {
  if (system.missing) {
    const text = system.missing.charAt(0).toUpperCase() + system.missing.slice(1);
    return section("hosts", "Hosts", h("p", { class: "nothing" }, name(`${text}.`)));
  }
  const shown = system.hosts.map((host) =>
    h(
      "div",
      { class: "panel" },
      h("h3", {}, name(host.host)),
      h("div", { class: "grid" }, ...known(host).map((each) => drawing(each, host, selection))),
    ),
  );
  return section(
    "hosts",
    "Hosts",
    figure(
      "What each host did as a whole, other programs included, on the time axis of the run. " +
        "Processors are a share of all cores, disks and network are per second, and memory and " +
        "the file systems of data directories reach up to their size. Gaps had no sample. " +
        "Numbers beside a title are means over the selected interval, or over the whole run." +
        (system.more ? ` ${system.more} more hosts are not shown.` : ""),
      ...shown,
    ),
  );
}

/** A kernel without pressure stall information, or an older run, has no values of it. */
function known(host: Host): History[] {
  const has = (column: keyof Host["values"]) => host.values[column].some((each) => each !== null);
  return HISTORIES.filter((history) => history.lines.some(([column]) => has(column)));
}

/** Points of a history: bins between two samples have none, a longer gap is a hole in the line. */
export function line(values: (number | null)[], axis: Axis): { s: number; value: number }[] {
  const points: { s: number; value: number }[] = [];
  for (const [bin, value] of values.entries()) {
    if (value === null) continue;
    const s = ((bin + 0.5) * axis.bin) / 1e9;
    const last = points.at(-1);
    if (last && s - last.s > GAP && s - last.s > (1.5 * axis.bin) / 1e9) {
      points.push({ s: (s + last.s) / 2, value: Number.NaN });
    }
    points.push({ s, value });
  }
  return points;
}

/** The mean of the samples that lie in the chosen interval. */
export function mean(values: (number | null)[], selection: Selection): number | null {
  const { from, until } = selection.bins ?? { from: 0, until: values.length };
  const seen = values.slice(from, until).filter((value) => value !== null);
  return seen.length ? seen.reduce((sum, value) => sum + value, 0) / seen.length : null;
}

function drawing(history: History, host: Host, selection: Selection): HTMLElement {
  const { axis } = selection;
  const means = h("span", { class: "readout" });
  selection.follow(() => {
    means.textContent = history.lines
      .map(([column, title]): [string, number | null] => [
        title,
        mean(host.values[column], selection),
      ])
      .map(([title, value]) => (value === null ? "" : `${title} ${history.tick(value)}`))
      .filter(Boolean)
      .join(" · ");
  });
  const colours = history.lines.map((_, place) => SERIES[place % SERIES.length] ?? "");
  const points = history.lines.flatMap(([column], place) =>
    line(host.values[column], axis).map((point) => ({ ...point, place })),
  );
  const most = Math.max(0, ...points.map((point) => point.value).filter(Number.isFinite));
  const full = Math.max(history.full?.(host) ?? 0, most) || 1;
  const ticks = history.full ? [0, full / 2, full] : ticksTo(full, true);
  const label = `${history.title} of ${host.host}, at most ${history.tick(most)}`;
  return h(
    "div",
    { class: "small" },
    h("h4", {}, history.title, means),
    history.lines.length > 1
      ? legend(history.lines.map(([, title], place) => [title, colours[place] ?? ""]))
      : null,
    brushed(
      selection,
      drawn(label, HEIGHT, (width) =>
        Plot.plot({
          width,
          height: HEIGHT,
          marginLeft: LEFT,
          marginRight: RIGHT,
          marginTop: 8,
          marginBottom: 22,
          x: { domain: [0, (axis.bins * axis.bin) / 1e9], label: null },
          y: { domain: [0, full], label: null },
          marks: [
            Plot.gridY({ ticks, stroke: "var(--grid)", strokeOpacity: 1 }),
            Plot.axisY({
              ticks,
              tickFormat: history.tick,
              tickSize: 0,
              fill: "var(--muted)",
              fontSize: 11,
            }),
            timeAxis((axis.bins * axis.bin) / 1e9, width),
            Plot.lineY(points, {
              x: "s",
              y: "value",
              z: "place",
              stroke: (point: { place: number }) => colours[point.place],
              strokeWidth: 1.5,
            }),
          ],
        }),
      ),
    ),
  );
}
