// Histories of the hosts: processors, disks, network and used space.

import * as Plot from "@observablehq/plot";
import type { Axis, Host, ReportDocument } from "../document.ts";
import { h, name, section } from "../dom.ts";
import { drawn, figure, LEFT, legend, RIGHT, SERIES, ticksTo, timeAxis } from "../figure.ts";
import { percent, shortSize } from "../text.ts";

const HEIGHT = 110;

interface History {
  title: string;
  lines: [column: string, title: string][];
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

export function hosts({ system, axis }: ReportDocument): HTMLElement {
  if (system.missing) {
    const text = system.missing.charAt(0).toUpperCase() + system.missing.slice(1);
    return section("hosts", "Hosts", h("p", { class: "nothing" }, name(`${text}.`)));
  }
  const shown = system.hosts.map((host) =>
    h(
      "div",
      { class: "panel" },
      h("h3", {}, name(host.host)),
      h("div", { class: "grid" }, ...HISTORIES.map((history) => drawing(history, host, axis))),
    ),
  );
  return section(
    "hosts",
    "Hosts",
    figure(
      "What each host did as a whole, other programs included, on the time axis of the run: " +
        "processors as a share of all cores, disks and network per second, memory and the file " +
        "systems that hold data directories up to their size. Gaps had no sample." +
        (system.more ? ` And ${system.more} more hosts.` : ""),
      ...shown,
    ),
  );
}

function drawing(history: History, host: Host, axis: Axis): HTMLElement {
  const colours = history.lines.map((_, place) => SERIES[place % SERIES.length] ?? "");
  const points = history.lines.flatMap(([column], place) =>
    (host.values[column] ?? []).map((value, bin) => ({
      s: ((bin + 0.5) * axis.bin) / 1e9,
      value: value ?? Number.NaN,
      place,
    })),
  );
  const most = Math.max(0, ...points.map((point) => point.value).filter(Number.isFinite));
  const full = Math.max(history.full?.(host) ?? 0, most) || 1;
  const ticks = history.full ? [0, full / 2, full] : ticksTo(full, true);
  const label = `${history.title} of ${host.host}, at most ${history.tick(most)}`;
  return h(
    "div",
    { class: "small" },
    h("h4", {}, history.title),
    history.lines.length > 1
      ? legend(history.lines.map(([, title], place) => [title, colours[place] ?? ""]))
      : null,
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
  );
}
