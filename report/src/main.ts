// The page: header, navigation, one section after the other.

import type { ReportDocument } from "./document.ts";
import { h } from "./dom.ts";
import { completeness } from "./sections/completeness.ts";
import { flow } from "./sections/flow.ts";
import { hosts } from "./sections/hosts.ts";
import { layers } from "./sections/layers.ts";
import { losses } from "./sections/losses.ts";
import { sizes } from "./sections/sizes.ts";
import { targets } from "./sections/targets.ts";
import { tasks } from "./sections/tasks.ts";
import { time } from "./sections/time.ts";
import { top } from "./sections/top.ts";
import { waits } from "./sections/waits.ts";

// One list is the order of the page and of its navigation.
const SECTIONS: [string, (run: ReportDocument) => HTMLElement][] = [
  ["Layers", layers],
  ["Over time", time],
  ["Way of the bytes", flow],
  ["Tasks", tasks],
  ["Time spent", waits],
  ["Request sizes", sizes],
  ["Targets", targets],
  ["Hosts", hosts],
  ["Losses", losses],
];

function show(run: ReportDocument): void {
  const navigation = h("nav", { "aria-label": "Sections" });
  const main = h("main", { id: "main" }, completeness(run));
  if (run.empty) {
    main.append(h("p", { class: "empty" }, run.empty));
  } else {
    for (const [title, make] of SECTIONS) {
      const section = make(run);
      main.append(section);
      navigation.append(h("a", { href: `#${section.id}` }, title));
    }
  }
  document.body.append(
    h("a", { class: "skip", href: "#main" }, "Skip to the report"),
    top(run),
    navigation,
    main,
    h(
      "footer",
      {},
      `Made by iostrata ${run.iostrata}. Aggregates only; nothing in this file is loaded from elsewhere.`,
    ),
  );
  document.body.dataset.ready = "true";
}

const source = document.getElementById("document")?.textContent ?? "";
show(JSON.parse(source) as ReportDocument);
