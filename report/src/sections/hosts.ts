// Histories of the hosts: processors, disks, network and used space.

import type { Histories, Host, ReportDocument } from "../document.ts";
import { h, name, section } from "../dom.ts";
import { figure } from "../figure.ts";
import { type History, history } from "../history.ts";
import type { Selection } from "../selection.ts";
import { percent, shortSize } from "../text.ts";

const rate = (value: number) => `${shortSize(value)}/s`;
const level = shortSize;
// One list is what is drawn for every host.
const histories = ({ totals }: Host): History<keyof Histories>[] => [
  {
    title: "Processors",
    lines: [
      ["cpu_user", "user"],
      ["cpu_system", "system"],
      ["cpu_iowait", "waiting for disks"],
    ],
    tick: percent,
    full: 1,
  },
  {
    title: "Disks",
    lines: [
      ["disk_read", "read"],
      ["disk_written", "written"],
    ],
    tick: rate,
  },
  { title: "Busiest disk", lines: [["disk_busy", "busy"]], tick: percent, full: 1 },
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
    full: 1,
  },
  {
    title: "Memory used",
    lines: [["mem_used", "used"]],
    tick: level,
    full: totals.mem_total ?? 0,
  },
  {
    title: "Space used",
    lines: [["space_used", "used"]],
    tick: level,
    full: totals.space_total ?? 0,
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
      h(
        "div",
        { class: "grid" },
        ...known(host).map((each) => history(each, host.host, host.values, selection)),
      ),
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
function known(host: Host): History<keyof Histories>[] {
  const has = (column: keyof Histories) => host.values[column].some((value) => value !== null);
  return histories(host).filter((each) => each.lines.some(([column]) => has(column)));
}
