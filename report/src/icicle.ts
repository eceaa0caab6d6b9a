// The call tree as an icicle: a function's calls stand below it, as wide as their time.

import type { CallNode } from "./document.ts";
import { h, identifier } from "./dom.ts";
import { layerColour } from "./figure.ts";
import { called, count, percent, printable, seconds, size } from "./text.ts";
import {
  layout,
  type Measure,
  matching,
  type Placed,
  pathTo,
  rooted,
  type Shown,
  timeOf,
  within,
} from "./tree.ts";

const ROW = 22;
const LEAST = 1.5; // px: what is narrower is not drawn
const LABELLED = 24; // px: narrower boxes have no label

/** What a reader has asked for, and the drawing of it. */
export class Icicle {
  readonly element: HTMLElement;
  private readonly drawing: SVGSVGElement;
  private readonly crumbs = h("ol", {});
  private readonly words = h("p", { class: "details", role: "status" });
  private readonly found = h("p", { class: "status", role: "status" });
  private readonly chips = h("ul", { class: "chips", "aria-label": "Hidden functions" });
  private readonly hideButton: HTMLButtonElement;
  private readonly hidden = new Map<string, string>();
  private measure: Measure = "total";
  private text = "";
  private root: Shown; // of all
  private top: Shown; // of what is drawn
  private current: Shown;
  private placed: Placed[] = [];
  private width = 0;

  constructor(
    private readonly tree: CallNode[],
    private readonly changed: (root: Shown) => void,
  ) {
    this.root = rooted(tree, new Set());
    this.top = this.root;
    this.current = this.root;
    this.drawing = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    this.drawing.setAttribute("role", "tree");
    this.drawing.setAttribute("aria-label", "Call tree, a function's calls below it");
    this.hideButton = h("button", { type: "button", onclick: () => this.hide(this.current) }, "");
    this.element = h(
      "div",
      { class: "icicle" },
      h("div", { class: "controls" }, this.searchBox(), this.measures(), this.hideButton),
      this.found,
      this.chips,
      h("nav", { class: "crumbs", "aria-label": "Zoomed into" }, this.crumbs),
      h("div", { class: "canvas" }, this.drawing),
      this.words,
    );
    this.listen();
    this.choose(this.root);
  }

  private listen(): void {
    this.drawing.addEventListener("keydown", (event) => this.key(event));
    this.drawing.addEventListener("focusin", (event) => this.pointed(event, (s) => this.choose(s)));
    this.drawing.addEventListener("pointerover", (event) =>
      this.pointed(event, (s) => this.say(s)),
    );
    this.drawing.addEventListener("pointerleave", () => this.say(this.current));
    this.drawing.addEventListener("click", (event) => this.pointed(event, (s) => this.zoom(s)));
    const resized = new ResizeObserver(() => {
      if (this.drawing.clientWidth !== this.width) this.draw();
    });
    resized.observe(this.drawing);
  }

  private pointed(event: Event, act: (shown: Shown) => void): void {
    const item = (event.target as Element).closest("[data-place]");
    const placed = this.placed[Number(item?.getAttribute("data-place") ?? -1)];
    if (placed) act(placed.shown);
  }

  private searchBox(): HTMLElement {
    const id = identifier("search");
    const input = h("input", { type: "search", id, autocomplete: "off", spellcheck: "false" });
    input.addEventListener("input", () => {
      this.text = input.value;
      this.draw();
    });
    return h("div", { class: "search" }, h("label", { for: id }, "Search functions"), input);
  }

  private measures(): HTMLElement {
    const name = identifier("measure");
    const choice = (measure: Measure, title: string) => {
      const id = identifier(measure);
      const input = h("input", { type: "radio", id, name, checked: measure === this.measure });
      input.addEventListener("change", () => {
        this.measure = measure;
        this.draw();
      });
      return h("label", { for: id, class: "choice" }, input, title);
    };
    return h(
      "fieldset",
      {},
      h("legend", {}, "Width"),
      choice("total", "total time"),
      choice("self", "self time"),
    );
  }

  /** Without the function: its self time and its calls become those of what called it. */
  private hide(shown: Shown): void {
    if (!shown.above) return;
    const parent = shown.above;
    this.hidden.set(shown.key, title(shown));
    this.rebuild(parent);
  }

  private restore(key: string): void {
    this.hidden.delete(key);
    this.rebuild(this.current);
  }

  /** The tree anew, and in it the nodes that stand for those chosen before, where they are left. */
  private rebuild(current: Shown): void {
    const [top, next] = [pathTo(this.top), pathTo(current)];
    this.root = rooted(this.tree, new Set(this.hidden.keys()));
    this.top = follow(this.root, top);
    this.current = follow(this.root, next);
    this.changed(this.root);
    this.draw();
    this.choose(this.current);
    this.focus();
  }

  private zoom(shown: Shown): void {
    this.top = shown;
    this.current = shown;
    this.draw();
    this.choose(shown);
    this.focus();
  }

  private focus(): void {
    const place = this.placed.findIndex(({ shown }) => shown === this.current);
    this.items()[Math.max(0, place)]?.focus({ preventScroll: true });
  }

  private items(): SVGGElement[] {
    return [...this.drawing.querySelectorAll<SVGGElement>("[data-place]")];
  }

  private key(event: KeyboardEvent): void {
    const go: Record<string, () => void> = {
      ArrowDown: () => this.move((at) => at.shown.above === this.current),
      ArrowUp: () => this.move((at) => at.shown === this.current.above),
      ArrowRight: () => this.sideways(1),
      ArrowLeft: () => this.sideways(-1),
      Home: () => this.move((at) => at.shown === this.top),
      Enter: () => this.zoom(this.current),
      h: () => this.hide(this.current),
    };
    // Escape goes one step out; at the top it is the page's, which takes back an interval.
    if (this.top.above) {
      const above = this.top.above;
      go.Escape = () => this.zoom(above);
    }
    const act = go[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  }

  private move(wanted: (at: Placed) => boolean): void {
    const next = this.placed.find(wanted);
    if (!next) return;
    this.current = next.shown;
    this.choose(next.shown);
    this.focus();
  }

  /** The next node of the same row. */
  private sideways(step: 1 | -1): void {
    const at = this.placed.find(({ shown }) => shown === this.current);
    const row = this.placed.filter((other) => other.row === at?.row).sort((a, b) => a.x - b.x);
    const next = row[row.findIndex(({ shown }) => shown === this.current) + step];
    if (next) this.move((other) => other === next);
  }

  private choose(shown: Shown): void {
    this.current = shown;
    for (const [place, item] of this.items().entries()) {
      const isCurrent = this.placed[place]?.shown === shown;
      item.setAttribute("tabindex", isCurrent ? "0" : "-1");
      item.classList.toggle("current", isCurrent);
    }
    this.hideButton.disabled = !shown.above;
    this.hideButton.textContent = shown.above ? `Hide ${cut(title(shown), 40)}` : "Hide a function";
    this.say(shown);
  }

  private say(shown: Shown): void {
    this.words.replaceChildren(h("b", {}, title(shown)), ` ${numbers(shown, this.root)}`);
  }

  private draw(): void {
    this.width = this.drawing.clientWidth;
    if (this.width === 0) return;
    this.placed = layout(this.top, this.measure, LEAST / this.width);
    const matches = matching(this.root, this.text);
    const rows = Math.max(0, ...this.placed.map((at) => at.row)) + 1;
    this.drawing.setAttribute("height", String(rows * ROW));
    // Paper is narrower than the screen it was drawn for.
    this.drawing.setAttribute("viewBox", `0 0 ${this.width} ${rows * ROW}`);
    this.drawing.replaceChildren(...this.placed.map((at, place) => this.item(at, place, matches)));
    this.drawing.classList.toggle("searched", this.text.trim() !== "");
    this.found.textContent = [this.said(matches), this.narrow()].filter(Boolean).join(" ");
    this.drawCrumbs();
    this.drawChips();
    this.choose(this.placed.some((at) => at.shown === this.current) ? this.current : this.top);
  }

  private said(matches: Set<Shown>): string {
    if (!this.text.trim()) return "";
    const { total, self } = timeOf(matches);
    const share = this.root.node.scaled > 0 ? total / this.root.node.scaled : 0;
    return (
      `${count(matches.size)} ${matches.size === 1 ? "place matches" : "places match"}: ` +
      `${seconds(total)} total (${percent(share)}), ${seconds(self)} self.`
    );
  }

  private narrow(): string {
    const all = [...within(this.top)].length;
    const left = all - this.placed.length;
    return left ? `${count(left)} of ${count(all)} places are too narrow to draw: zoom in.` : "";
  }

  private item(at: Placed, place: number, matches: Set<Shown>): SVGGElement {
    const { shown } = at;
    const [x, width] = [at.x * this.width, Math.max(1, at.width * this.width - 1)];
    const item = svg("g", {
      role: "treeitem",
      "aria-label": `${title(shown)}: ${numbers(shown, this.root)}`,
      "aria-level": at.row + 1,
      "data-place": place,
      tabindex: -1,
      class: matches.has(shown) ? "match" : "",
      transform: `translate(${x.toFixed(1)},${at.row * ROW})`,
    });
    const box = svg("rect", { width: width.toFixed(1), height: ROW - 1, rx: 1 });
    box.style.fill = shown.node.layer ? layerColour(shown.node.layer) : "var(--life)";
    item.append(box);
    if (width >= LABELLED) {
      // Whole, so that it is a part of the name; what is too long for the box is clipped.
      const clip = svg("svg", { width: width.toFixed(1), height: ROW });
      const label = svg("text", { x: 4, y: 15 });
      label.textContent = brief(title(shown));
      clip.append(label);
      item.append(clip);
    }
    return item;
  }

  private drawCrumbs(): void {
    this.crumbs.replaceChildren(
      ...pathTo(this.top).map((shown) => {
        const words = cut(brief(title(shown)), 40);
        return shown === this.top
          ? h("li", { "aria-current": "location" }, words)
          : h("li", {}, h("button", { type: "button", onclick: () => this.zoom(shown) }, words));
      }),
    );
  }

  private drawChips(): void {
    this.chips.hidden = this.hidden.size === 0;
    this.chips.replaceChildren(
      ...[...this.hidden].map(([key, words]) =>
        h(
          "li",
          {},
          h(
            "button",
            { type: "button", onclick: () => this.restore(key) },
            `Show ${cut(words, 60)} again`,
          ),
        ),
      ),
    );
  }
}

/** Down from the root along the functions of a path, as far as they are there. */
function follow(root: Shown, path: Shown[]): Shown {
  let at = root;
  for (const { key } of path.slice(1)) at = at.below.find((child) => child.key === key) ?? at;
  return at;
}

function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Record<string, string | number>,
): SVGElementTagNameMap[K] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  return element;
}

/** A function by its name, by its layer and operation where it has none. */
export function title({ node }: Shown): string {
  if (node.collapsed) return `${count(node.collapsed)} others`;
  return printable(called(node));
}

/** Without its package: `DFSInputStream.read`. */
export function brief(name: string): string {
  return name.replace(/^(?:[a-z_][\w$]*\.)+(?=[A-Z])/, "");
}

function cut(text: string, letters: number): string {
  return text.length > letters ? `${text.slice(0, Math.max(1, letters - 1))}…` : text;
}

function numbers(shown: Shown, root: Shown): string {
  const { node } = shown;
  const share = root.node.scaled > 0 ? node.scaled / root.node.scaled : 0;
  const about = node.estimated ? "~" : "";
  const parts = [
    node.layer ? printable(`${node.layer} ${node.op}`.trim()) : "",
    `total ${about}${seconds(node.scaled)} (${percent(share)})`,
    `self ${about}${seconds(shown.self)}`,
    node.calls === null ? "too few requests to say" : `${count(node.calls)} calls`,
    node.bytes ? size(node.bytes) : "",
    node.errors ? `${count(node.errors)} errors` : "",
    each(node),
  ];
  return parts.filter(Boolean).join(" · ");
}

function each({ min, max, p50, p99 }: CallNode): string {
  const range = min !== null && max ? `each ${seconds(min)} to ${seconds(max)}` : "";
  const half = range && p50 !== null ? `half below ${seconds(p50)}` : "";
  const most = range && p99 !== null ? `99 % below ${seconds(p99)}` : "";
  return [range, half, most].filter(Boolean).join(", ");
}
