// How the numbers were made, how complete they are, and what was lost.

import type { ReportDocument } from "../document.ts";
import { h, name, section } from "../dom.ts";
import { clock, count } from "../text.ts";
import { losses } from "./losses.ts";

const FIRST = 8;

export function method(run: ReportDocument): HTMLElement {
  return section(
    "method",
    "Method and completeness",
    completeness(run),
    ...losses(run),
    h("h3", {}, "How the numbers were made"),
    h("ul", { class: "method" }, ...notes(run).map((note) => h("li", {}, note))),
  );
}

/** Everything that should have been traced was, and nothing of it was lost. */
export function isWhole({ completeness: found }: ReportDocument): boolean {
  const lost = Object.values(found.losses).some((number) => number > 0);
  const all = found.traced === found.total && found.lines.length <= 1 && !found.more_lines;
  return all && !lost && !found.unfinished && !found.faulted_points.length;
}

function completeness(run: ReportDocument): HTMLElement {
  const { completeness: found } = run;
  const [first = "", ...others] = found.lines;
  const box = h(
    "div",
    { class: `completeness ${isWhole(run) ? "whole" : "partial"}` },
    h("p", { class: "first" }, name(first)),
    list(others.slice(0, FIRST)),
  );
  if (others.length > FIRST) {
    const rest = others.slice(FIRST);
    box.append(h("details", {}, h("summary", {}, `${count(rest.length)} more`), list(rest)));
  }
  if (found.more_lines) box.append(h("p", {}, `and ${count(found.more_lines)} more lines`));
  const layers = [
    found.silent_layers.length ? `no calls seen: ${found.silent_layers.join(", ")}` : "",
    found.unasked_layers.length ? `only where asked for: ${found.unasked_layers.join(", ")}` : "",
  ].filter(Boolean);
  if (layers.length) box.append(list(layers) ?? "");
  return box;
}

function list(lines: string[]): HTMLElement | null {
  return lines.length ? h("ul", {}, ...lines.map((line) => h("li", {}, name(line)))) : null;
}

/** What holds for this run; what does not is left out. */
function notes(run: ReportDocument): string[] {
  const estimated = [...run.layers, ...run.time_spent.rows].some((row) => row.estimated);
  const sampled = run.targets.rows.some((row) => row.estimated);
  const explained =
    (run.tree ? ", the call tree" : "") + (run.critical ? ", the critical path" : "");
  const gains = run.findings?.some((finding) => finding.gain);
  return [
    "Totals come from counters that lose nothing. These parts come from calls that were recorded " +
      `individually, which may be some of all: the hottest targets${explained}, the begin of phases.`,
    "Calls and times of a layer leave out calls within a call of the same layer; bytes that an " +
      "enclosing call counts, too, are counted once.",
    `The time axis has ${count(run.axis.bins)} bins of ${clock(run.axis.bin / 1e9)}; counters ` +
      "are read once a second, so bins within a second share its values.",
    estimated
      ? "Times with ~ are scaled up from timed calls: all very frequent calls are counted, but " +
        "only some are timed. ± holds for 99 of 100."
      : "",
    sampled
      ? "Only some requests were recorded individually: targets are scaled up from them."
      : "",
    run.system.missing ? "" : "Hosts have one sample a second of what the kernel counts.",
    gains ? "Expected gains are predictions, as shares of the job's time, not measurements." : "",
  ].filter(Boolean);
}
