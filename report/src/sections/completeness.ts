// How complete the picture is: the first lines of the summary, word by word.

import type { ReportDocument } from "../document.ts";
import { h, name, section } from "../dom.ts";

const FIRST = 8;

export function completeness({ completeness: found }: ReportDocument): HTMLElement {
  const [first = "", ...others] = found.lines;
  const isWhole = found.traced === found.total && found.lines.length === 1 && !first.includes(",");
  const box = h(
    "div",
    { class: `completeness ${isWhole ? "whole" : "partial"}` },
    h("p", { class: "first" }, name(first)),
    list(others.slice(0, FIRST)),
  );
  if (others.length > FIRST) {
    const rest = others.slice(FIRST);
    box.append(h("details", {}, h("summary", {}, `${rest.length} more`), list(rest)));
  }
  if (found.more_lines) box.append(h("p", {}, `and ${found.more_lines} more lines`));
  const layers = [
    found.silent_layers.length ? `no calls seen: ${found.silent_layers.join(", ")}` : "",
    found.absent_layers.length
      ? `not traced by this version: ${found.absent_layers.join(", ")}`
      : "",
  ].filter(Boolean);
  if (layers.length) box.append(list(layers) ?? "");
  return section("completeness", "Completeness", box);
}

function list(lines: string[]): HTMLElement | null {
  return lines.length ? h("ul", {}, ...lines.map((line) => h("li", {}, name(line)))) : null;
}
