// Figures: drawn for the width they have, drawn again when it changes.

import * as Plot from "@observablehq/plot";
import { caption, h } from "./dom.ts";
import { clock, timeTicks } from "./text.ts";

export type Drawing = SVGElement | HTMLElement;

export const LEFT = 70; // room for the labels of a y axis
export const RIGHT = 22; // half the last label of time

export const COLOURS: Record<string, string> = {
  read: "var(--read)",
  written: "var(--written)",
  received: "var(--received)",
  sent: "var(--sent)",
};

/** Operations that move data have the colour of their direction. */
export const OPERATIONS: Record<string, string> = {
  read: "var(--read)",
  write: "var(--written)",
  receive_packet: "var(--received)",
  send_packet: "var(--sent)",
  receive: "var(--received)",
  send: "var(--sent)",
  transfer: "var(--e)",
  disk_transfer: "var(--f)",
};

/** Colours of categories without a fixed meaning, told apart in both themes. */
export const SERIES = ["--a", "--b", "--c", "--d", "--e", "--f", "--g", "--h"].map(
  (mark) => `var(${mark})`,
);

/** The colour of a layer wherever functions of several layers stand side by side. */
export function layerColour(layer: string): string {
  return `var(--layer-${/^[a-z]+$/.test(layer) ? layer : "other"}, var(--layer-other))`;
}

/** Ticks at 0, half and whole of a round number below the peak: a power of two for bytes. */
export function ticksTo(most: number, isBytes: boolean): number[] {
  if (most <= 0) return [0];
  const base = isBytes ? 2 : 10;
  const steps = isBytes ? [1] : [1, 2, 5];
  const unit = base ** Math.floor(Math.log(most) / Math.log(base));
  const top = Math.max(...steps.map((step) => step * unit).filter((value) => value <= most), 0);
  return [0, top / 2, top];
}

/** The axis of time below a figure of `width`, from 0 to `end` seconds. */
export function timeAxis(end: number, width: number): Plot.Markish {
  return Plot.axisX(timeTicks(end, Math.max(2, Math.floor((width - LEFT) / 64))), {
    tickFormat: (s: number) => clock(s, end),
    tickSize: 3,
    fill: "var(--muted)",
    stroke: "var(--rule)",
    fontSize: 11,
  });
}

/** Bars in lanes over time (seconds) that have names; `bars` is their mark. */
export function lanes(
  names: readonly string[],
  end: number,
  bars: Plot.Markish,
  size: { width: number; height: number; left: number },
): Drawing {
  return Plot.plot({
    width: size.width,
    height: size.height,
    marginLeft: size.left,
    marginRight: RIGHT,
    marginTop: 4,
    marginBottom: 22,
    x: { domain: [0, end], label: null },
    y: { domain: names, label: null, padding: 0.2 },
    marks: [timeAxis(end, size.width), Plot.axisY({ tickSize: 0, fontSize: 11 }), bars],
  });
}

/**
 * An element of `height` that holds `draw(width)`: drawn when it comes near what is seen, or is to
 * be printed, and drawn anew when its width changes. A cluster's figures would take seconds at once.
 */
export function drawn(
  label: string,
  height: number,
  draw: (width: number) => Drawing,
): HTMLElement {
  const element = h("div", { class: "drawing", role: "img", "aria-label": label });
  element.style.minHeight = `${height}px`;
  let width = 0;
  const redraw = () => {
    const now = Math.floor(element.clientWidth);
    if (now === width || now === 0) return;
    width = now;
    const drawing = draw(width);
    // The label says what it shows; its marks have names that mean nothing to a listener.
    drawing.setAttribute("aria-hidden", "true");
    element.replaceChildren(drawing);
    element.style.minHeight = "";
  };
  element.addEventListener("stale", () => {
    if (width === 0) return; // not drawn so far
    width = 0;
    redraw();
  });
  const resized = new ResizeObserver(redraw);
  const near = new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      near.disconnect();
      resized.observe(element);
    },
    { rootMargin: "800px" },
  );
  near.observe(element);
  window.addEventListener("beforeprint", redraw);
  return element;
}

/** Draws anew what `drawn` made within the element: what it shows has changed. */
export function redraw(within: HTMLElement): void {
  for (const element of within.querySelectorAll(".drawing"))
    element.dispatchEvent(new Event("stale"));
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
