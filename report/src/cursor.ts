// A place in time that several figures show at once.

import type { Axis } from "./document.ts";
import { h, identifier } from "./dom.ts";
import { LEFT, RIGHT } from "./figure.ts";
import { clock } from "./text.ts";

/** One place in time that all panels show; moved with the pointer or, as a slider, with keys. */
export class Cursor {
  readonly element: HTMLElement;
  private readonly slider: HTMLInputElement;
  private readonly words: HTMLElement;
  private readonly listeners: ((bin: number) => void)[] = [];

  constructor(private readonly axis: Axis) {
    const id = identifier("cursor");
    this.slider = h("input", { type: "range", id, min: 0, max: axis.bins - 1, value: 0 });
    this.words = h("output", { for: id }, "");
    this.slider.addEventListener("input", () => this.set(Number(this.slider.value)));
    this.element = h(
      "div",
      { class: "cursor" },
      h("label", { for: id }, "Values at"),
      this.slider,
      this.words,
    );
  }

  onMove(listener: (bin: number) => void): void {
    this.listeners.push(listener);
  }

  /** The element with a line where the cursor is; a pointer over it moves the cursor. */
  over(element: HTMLElement): HTMLElement {
    const line = h("div", { class: "line", hidden: true });
    const inner = () => element.clientWidth - LEFT - RIGHT;
    element.addEventListener("pointermove", (event) => {
      const share = (event.clientX - element.getBoundingClientRect().left - LEFT) / inner();
      this.set(Math.floor(Math.max(0, Math.min(0.9999, share)) * this.axis.bins));
    });
    this.onMove((bin) => {
      line.hidden = false;
      line.style.left = `${LEFT + ((bin + 0.5) / this.axis.bins) * inner()}px`;
    });
    return h("div", { class: "followed" }, element, line);
  }

  private set(bin: number): void {
    this.slider.value = String(bin);
    const text = clock((bin * this.axis.bin) / 1e9);
    this.words.textContent = text;
    this.slider.setAttribute("aria-valuetext", text);
    for (const listener of this.listeners) listener(bin);
  }
}
