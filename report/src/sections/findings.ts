// Findings in full: what was seen, why it matters, what to change, what that may bring.

import type { Change, Evidence, Finding, ReportDocument } from "../document.ts";
import { h, name, section } from "../dom.ts";
import { table } from "../table.ts";
import { count, percent, printable, seconds, size } from "../text.ts";

export function findings(run: ReportDocument): HTMLElement | null {
  if (!run.findings?.length) return null;
  return section(
    "findings",
    "Findings in full",
    ...run.findings.map((finding, place) => article(finding, place)),
  );
}

/** Where the finding stands in full. */
export function anchor(place: number): string {
  return `finding-${place + 1}`;
}

export function badge(finding: Finding): HTMLElement {
  return h("span", { class: `badge ${finding.severity}` }, finding.severity);
}

/** `12 % to 25 % of job time`. */
export function gain({ gain: found }: Finding): string {
  if (!found || found.high <= 0) return "";
  const [low, high] = [percent(found.low), percent(found.high)];
  return `${low === high ? low : `${low} to ${high}`} of the ${found.of}`;
}

function predicted({ gain: found }: Finding): string {
  return found?.replayed ? `by a replay of this run with ${found.replayed}` : "predicted";
}

function article(finding: Finding, place: number): HTMLElement {
  const id = anchor(place);
  return h(
    "article",
    { id, class: "finding", "aria-labelledby": `${id}-title` },
    h("h3", { id: `${id}-title` }, badge(finding), name(finding.title)),
    h("p", {}, name(finding.seen)),
    h(
      "dl",
      {},
      ...row("Weight", weight(finding)),
      ...row("Why", name(finding.why)),
      ...(finding.change.length ? row("Change", changes(finding.change)) : []),
      ...row(
        "Expected gain",
        gain(finding)
          ? `${gain(finding)}, ${predicted(finding)}`
          : "not predicted for this finding",
      ),
      ...(finding.unless ? row("Does not apply if", name(finding.unless)) : []),
    ),
    finding.evidence.length ? evidence(finding.evidence, place) : null,
    finding.query ? query(finding.query, place) : null,
    h("p", { class: "note" }, "Rule ", h("code", {}, name(finding.rule))),
  );
}

function weight({ share, because }: Finding): HTMLElement {
  const follows = because.length ? `; follows from ${because.join(", ")}` : "";
  return name(`its cause took ${percent(share)} of the run's time${follows}`);
}

function row(term: string, content: Node | string): HTMLElement[] {
  return [h("dt", {}, term), h("dd", {}, content)];
}

function changes(rows: Change[]): HTMLElement {
  return h(
    "ul",
    { class: "changes" },
    ...rows.map((change) =>
      h(
        "li",
        {},
        name(change.what),
        change.setting ? " " : null,
        change.setting ? setting(change) : null,
      ),
    ),
  );
}

/** The exact setting, and its value before and after: `io.sort.mb: 100 → 256`. */
export function setting(change: Change): HTMLElement {
  const code = (text: string) => h("code", {}, name(text));
  return h(
    "span",
    { class: "setting" },
    code(change.setting),
    change.before || change.after ? ": " : null,
    change.before ? code(change.before) : null,
    change.after ? " → " : null,
    change.after ? code(change.after) : null,
  );
}

function evidence(rows: Evidence[], place: number): HTMLElement {
  return table<Evidence>(
    [
      { title: "evidence", cell: (row) => name(row.what) },
      { title: "value", number: true, cell: (row) => name(said(row)) },
    ],
    rows,
    { label: `evidence of finding ${place + 1}`, most: 20 },
  );
}

/** A value in its unit. */
export function said({ value, unit }: Evidence): string {
  if (typeof value === "string") return value;
  const units = { ns: seconds, bytes: size, count, share: percent, text: String };
  return units[unit](value);
}

function query(sql: string, place: number): HTMLElement {
  // What could mislead is spelled out here; what is copied is exact.
  const text = h("code", {}, sql.split("\n").map(printable).join("\n"));
  const status = h("span", { role: "status" });
  const button = h("button", { type: "button" }, "Copy query");
  button.addEventListener("click", async () => {
    status.textContent = (await copied(sql, text)) ? "copied" : "selected: copy it with the keys";
  });
  return h(
    "div",
    { class: "query" },
    h(
      "details",
      {},
      h("summary", {}, "The query that repeats these numbers with iostrata query"),
      h(
        "pre",
        { tabindex: 0, role: "region", "aria-label": `query of finding ${place + 1}` },
        text,
      ),
    ),
    button,
    status,
  );
}

/** Copies, or where a page from a file may not, shows and selects. */
async function copied(sql: string, element: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(sql);
    return true;
  } catch {
    element.closest("details")?.setAttribute("open", "");
    getSelection()?.selectAllChildren(element);
    return false;
  }
}
