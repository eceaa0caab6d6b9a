// The head of the page: which run this is.

import type { ReportDocument } from "../document.ts";
import { h, name } from "../dom.ts";
import { count, seconds, size } from "../text.ts";

export function top({ run }: ReportDocument): HTMLElement {
  const facts = [
    run.exit === null ? run.state : `${run.state} · exit ${run.exit}`,
    run.start && run.end ? seconds(run.end - run.start) : "",
    run.start ? day(run.start) : "",
    run.host ? `on ${run.host} by ${run.user}` : "",
    `${count(run.events)} events, ${size(run.bytes)}`,
  ].filter(Boolean);
  const tags = Object.entries(run.tags).map(([key, value]) => `${key}=${value}`);
  return h(
    "header",
    {},
    h("p", { class: "brand" }, "iostrata report"),
    h("h1", {}, name(run.name)),
    h("p", { class: "facts" }, name(facts.join(" · "))),
    run.command ? command(run.command) : null,
    tags.length ? h("p", { class: "facts" }, name(tags.join(" "))) : null,
    run.message ? h("p", { class: "facts" }, name(`note: ${run.message}`)) : null,
  );
}

const LINE = 140; // letters of a command that stand on the first screen

/** The command; a long one is opened. */
function command(text: string): HTMLElement {
  const whole = h("code", {}, name(text));
  if (text.length <= LINE) return h("p", { class: "command" }, whole);
  const first = h("code", {}, name(`${text.slice(0, LINE)}…`));
  return h("details", { class: "command" }, h("summary", {}, first), whole);
}

/** The reader's own time zone, which is named. */
function day(ns: number): string {
  const date = new Date(ns / 1e6);
  const zone = {
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "short",
  } as const;
  return `${date.toLocaleDateString("sv")} ${date.toLocaleTimeString("sv", zone)}`;
}
