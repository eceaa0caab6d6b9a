// Figures: drawn for the width they have, drawn again when it changes.

import { caption, h } from "./dom.ts";

export type Drawing = SVGElement | HTMLElement;

export const LEFT = 62; // room for the labels of a y axis
export const RIGHT = 12;

export const COLOURS: Record<string, string> = {
  read: "var(--read)",
  written: "var(--written)",
  received: "var(--received)",
  sent: "var(--sent)",
};

/** Colours of categories without a fixed meaning, told apart in both themes. */
export const SERIES = ["--a", "--b", "--c", "--d", "--e", "--f", "--g", "--h"].map(
  (mark) => `var(${mark})`,
);

/** An element that holds `draw(width)` and draws it anew when its width changes. */
export function drawn(label: string, draw: (width: number) => Drawing): HTMLElement {
  const element = h("div", { class: "drawing", role: "img", "aria-label": label });
  let width = 0;
  const redraw = () => {
    const now = Math.floor(element.clientWidth);
    if (now === width || now === 0) return;
    width = now;
    element.replaceChildren(draw(width));
  };
  new ResizeObserver(redraw).observe(element);
  return element;
}

/** A figure with the caption that every figure has. */
export function figure(text: string, ...content: (Node | null)[]): HTMLElement {
  const element = h("figure", {}, ...content);
  const words = caption(text);
  element.append(h("figcaption", {}, words));
  return element;
}

/** What each colour means. */
export function legend(entries: [string, string][]): HTMLElement {
  return h(
    "ul",
    { class: "legend" },
    ...entries.map(([title, colour]) => {
      const swatch = h("span", { class: "swatch", "aria-hidden": "true" });
      swatch.style.background = colour;
      return h("li", {}, swatch, title);
    }),
  );
}
