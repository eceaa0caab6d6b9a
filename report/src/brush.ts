// Choosing an interval: with the pointer over any figure of time, with two sliders, and undone.

import { h, identifier } from "./dom.ts";
import { LEFT, RIGHT } from "./figure.ts";
import type { Selection } from "./selection.ts";
import { clock } from "./text.ts";

const CLICK = 4; // px: less is a click, which chooses nothing

/** The element with a band where the interval is; a pointer drawn over it chooses another. */
export function brushed(
  selection: Selection,
  element: HTMLElement,
  left: (width: number) => number = () => LEFT,
): HTMLElement {
  const band = h("div", { class: "band", hidden: true });
  const over = h("div", { class: "brushed" }, element, band);
  const { bins, bin } = selection.axis;
  const inner = () => over.clientWidth - left(over.clientWidth) - RIGHT;
  const place = () => {
    band.hidden = selection.bins === null;
    const [from, until] = selection.seconds.map((s) => (s * 1e9) / bin / bins) as [number, number];
    band.style.left = `${left(over.clientWidth) + from * inner()}px`;
    band.style.width = `${Math.max(2, (until - from) * inner())}px`;
  };
  selection.follow(place);
  new ResizeObserver(place).observe(over);

  let begin: number | null = null;
  const x = (event: PointerEvent) =>
    event.clientX - over.getBoundingClientRect().left - left(over.clientWidth);
  over.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || x(event) < 0) return;
    begin = x(event);
    over.setPointerCapture(event.pointerId);
    event.preventDefault(); // no text is selected
  });
  over.addEventListener("pointermove", (event) => {
    if (begin === null || Math.abs(x(event) - begin) < CLICK) return;
    const edges = [begin, x(event)].map((at) => (at / inner()) * bins);
    selection.choose(Math.floor(Math.min(...edges)), Math.ceil(Math.max(...edges)));
  });
  const end = () => {
    begin = null;
  };
  over.addEventListener("pointerup", end);
  over.addEventListener("pointercancel", end);
  return over;
}

/** Two sliders, for those who use keys: the first and the last bin of the interval. */
export function sliders(selection: Selection): HTMLElement {
  const { bins, bin } = selection.axis;
  const slider = (value: number) =>
    h("input", { type: "range", id: identifier("edge"), min: 0, max: bins, value });
  const from = slider(0);
  const until = slider(bins);
  const choose = () => selection.choose(Number(from.value), Number(until.value));
  from.addEventListener("input", choose);
  until.addEventListener("input", choose);
  selection.follow(() => {
    const chosen = selection.bins ?? { from: 0, until: bins };
    for (const [element, edge] of [
      [from, chosen.from],
      [until, chosen.until],
    ] as const) {
      element.value = String(edge);
      element.setAttribute("aria-valuetext", clock((edge * bin) / 1e9, (bins * bin) / 1e9));
    }
  });
  return h(
    "div",
    { class: "sliders" },
    h("label", { for: from.id }, "Select from"),
    from,
    h("label", { for: until.id }, "until"),
    until,
  );
}

/** Says what is chosen, on every part of the page, and takes it back: a button, or Escape. */
export function chosenBar(selection: Selection): HTMLElement {
  const words = h("span", { role: "status" });
  const button = h("button", { type: "button", onclick: () => selection.clear() }, "Whole run");
  const bar = h("div", { class: "chosen", hidden: true }, words, button);
  selection.follow(() => {
    bar.hidden = selection.bins === null;
    const [from, until] = selection.seconds;
    words.textContent = selection.bins
      ? `Selected ${selection.text()} (${clock(until - from)})`
      : "";
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.defaultPrevented) selection.clear();
  });
  return bar;
}
