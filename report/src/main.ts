// The page: header, navigation, one section after the other.

import { chosenBar } from "./brush.ts";
import type { ReportDocument } from "./document.ts";
import { h } from "./dom.ts";
import { critical } from "./sections/critical.ts";
import { findings } from "./sections/findings.ts";
import { flow } from "./sections/flow.ts";
import { hosts } from "./sections/hosts.ts";
import { layers } from "./sections/layers.ts";
import { method } from "./sections/method.ts";
import { overview } from "./sections/overview.ts";
import { patterns } from "./sections/patterns.ts";
import { programs } from "./sections/programs.ts";
import { ranks } from "./sections/ranks.ts";
import { sizes } from "./sections/sizes.ts";
import { spent } from "./sections/spent.ts";
import { targets } from "./sections/targets.ts";
import { tasks } from "./sections/tasks.ts";
import { time } from "./sections/time.ts";
import { top } from "./sections/top.ts";
import { tree } from "./sections/tree.ts";
import { usage } from "./sections/usage.ts";
import { whatIf } from "./sections/what-if.ts";
import { Selection } from "./selection.ts";

type Make = (run: ReportDocument, selection: Selection) => HTMLElement | null;

// One list is the order of the page and of its navigation; null: nothing was delivered for it.
const SECTIONS: [string, Make][] = [
  ["Over time", time],
  ["Tasks", tasks],
  ["Programs", programs],
  ["Ranks", ranks],
  ["Critical path", critical],
  ["What if", whatIf],
  ["Targets", targets],
  ["Call tree", tree],
  ["Layers", layers],
  ["Bytes through the layers", flow],
  ["Time spent", spent],
  ["CPU, I/O and space of jobs", usage],
  ["Hosts", hosts],
  ["Request sizes", sizes],
  ["Access patterns", patterns],
  ["Findings", findings],
  ["Method", method],
];

function show(run: ReportDocument): void {
  const selection = new Selection(run.axis);
  const navigation = h("nav", { "aria-label": "Sections" });
  const main = h("main", { id: "main" }, overview(run));
  for (const [title, make] of run.empty ? SECTIONS.slice(-1) : SECTIONS) {
    const section = make(run, selection);
    if (!section) continue;
    main.append(section);
    navigation.append(h("a", { href: `#${section.id}` }, title));
  }
  document.body.append(
    h("a", { class: "skip", href: "#main" }, "Skip to the report"),
    top(run),
    h("div", { class: "sticky" }, navigation, chosenBar(selection)),
    main,
    h(
      "footer",
      {},
      `Made by iostrata ${run.iostrata}: nothing in this file is loaded from elsewhere.`,
    ),
  );
  document.body.dataset.ready = "true";
  performance.mark("ready");
}

const source = document.getElementById("document")?.textContent ?? "";
show(JSON.parse(source) as ReportDocument);
