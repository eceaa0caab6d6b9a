// Elements. Strings become text nodes and attributes, never markup.

import { printable } from "./text.ts";

export type Child = Node | string | null | undefined;
type Attributes = Record<string, string | number | boolean | EventListener | undefined>;

/** An element: `on…` attributes are listeners, true is an empty attribute, false none. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** A name of the run, with what could mislead spelled out. */
export function name(text: string | null | undefined): HTMLElement {
  return h("span", { class: "name" }, printable(text ?? ""));
}

let identifiers = 0;

/** An id that no other element of the page has. */
export function identifier(prefix: string): string {
  identifiers += 1;
  return `${prefix}-${identifiers}`;
}

/** A section with a heading that the navigation lists. */
export function section(id: string, title: string, ...children: Child[]): HTMLElement {
  return h(
    "section",
    { id, "aria-labelledby": `${id}-title` },
    h("h2", { id: `${id}-title` }, title),
    ...children,
  );
}

/** A caption for what stands above it. */
export function caption(text: string): HTMLElement {
  return h("p", { class: "caption" }, text);
}
