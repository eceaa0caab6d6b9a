// Tables: sorted by a click on a heading, searched, shown in parts.

import { type Child, h, identifier } from "./dom.ts";
import { count } from "./text.ts";

export interface Column<T> {
  title: string;
  /** What the cell shows. */
  cell: (row: T) => Child;
  /** What it is sorted by; a column without it is not sorted. */
  by?: (row: T) => number | string;
  number?: boolean;
  /** A bar beside the number: its share of the longest. */
  bar?: (row: T) => number;
}

export interface Options<T> {
  label: string;
  /** Rows at first; a button shows the others. */
  most?: number;
  /** The text a row is found by; without it there is no search. */
  search?: (row: T) => string;
  /** Said below: what the list leaves out. */
  note?: string;
  /** Which rows there are at all, and how to hear that it has changed. */
  kept?: { row: (row: T) => boolean; follow: (changed: () => void) => void };
}

const PAGE = 100;

interface State {
  column: number;
  down: boolean;
  words: string;
  most: number;
}

/** A table of rows in the order given, until a reader sorts them. */
export function table<T>(columns: Column<T>[], rows: T[], options: Options<T>): HTMLElement {
  const state: State = { column: -1, down: true, words: "", most: options.most ?? 12 };
  const body = h("tbody");
  const rooms = columns.map((column) => (column.bar ? room(column, rows) : 0));
  const heads = columns.map((column, place) => head(column, () => sortBy(place)));
  const status = h("p", { class: "status", role: "status" });
  const more = h("button", { type: "button", class: "more", onclick: () => showMore() });

  function sortBy(place: number): void {
    state.down = state.column === place ? !state.down : columns[place]?.number === true;
    state.column = place;
    fill();
  }
  function showMore(): void {
    state.most += PAGE;
    fill();
    // The button may be gone: who pressed it goes on in the rows.
    if (more.hidden) scroll.focus({ preventScroll: true });
  }
  function fill(): void {
    const kept = options.kept ? rows.filter(options.kept.row) : rows;
    const found = chosen(columns, kept, state, options.search);
    const shown = found.slice(0, state.most);
    body.replaceChildren(...shown.map((row) => line(columns, rooms, row)));
    heads.forEach((element, place) => {
      const order = state.down ? "descending" : "ascending";
      if (place === state.column) element.setAttribute("aria-sort", order);
      else element.removeAttribute("aria-sort");
    });
    const left = found.length - shown.length;
    more.hidden = left === 0;
    more.textContent = left <= PAGE ? `Show all ${count(found.length)}` : `Show ${PAGE} more`;
    status.textContent = said(shown.length, found.length, rows.length);
  }

  const search = options.search ? searchBox(options.label, state, fill) : null;
  const scroll = h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": options.label },
    h("table", {}, h("thead", {}, h("tr", {}, ...heads)), body),
  );
  fill();
  options.kept?.follow(fill);
  return h(
    "div",
    { class: "table" },
    search,
    scroll,
    status,
    more,
    options.note ? h("p", { class: "note" }, options.note) : null,
  );
}

/** What a table leaves out: nothing is said when it shows all rows. */
export function said(shown: number, found: number, all: number): string {
  if (shown < found && found < all) {
    return `${count(shown)} of ${count(found)} rows found, of ${count(all)}`;
  }
  return shown < all ? `${count(shown)} of ${count(all)} rows` : "";
}

/** The rows that hold all words of the search, in the order asked for. */
export function chosen<T>(
  columns: Pick<Column<T>, "by">[],
  rows: T[],
  state: Pick<State, "column" | "down" | "words">,
  search?: (row: T) => string,
): T[] {
  const words = state.words.toLowerCase().split(/\s+/).filter(Boolean);
  const found = search
    ? rows.filter((row) => {
        const text = search(row).toLowerCase();
        return words.every((word) => text.includes(word));
      })
    : [...rows];
  const by = columns[state.column]?.by;
  if (!by) return found;
  const sign = state.down ? -1 : 1;
  return found.sort((a, b) => {
    const [x, y] = [by(a), by(b)];
    return sign * (typeof x === "number" && typeof y === "number" ? x - y : compare(x, y));
  });
}

function compare(x: number | string, y: number | string): number {
  return String(x).localeCompare(String(y), "en", { numeric: true });
}

function head<T>(column: Column<T>, sort: () => void): HTMLElement {
  const kind = column.number ? "number" : "";
  const title = column.by
    ? h("button", { type: "button", onclick: sort }, column.title)
    : column.title;
  return h("th", { scope: "col", class: kind }, title);
}

/** Characters that the texts of a column need, which bars leave free. */
export function room<T>(column: Pick<Column<T>, "cell">, rows: T[]): number {
  return rows.reduce((most, row) => {
    const shown = column.cell(row);
    return Math.max(most, typeof shown === "string" ? shown.length : 0);
  }, 0);
}

function line<T>(columns: Column<T>[], rooms: number[], row: T): HTMLElement {
  const cells = columns.map((column, place) => {
    const cell = h("td", { class: column.number ? "number" : "" }, column.cell(row));
    if (column.bar) {
      cell.classList.add("bar");
      cell.style.setProperty("--share", String(Math.max(0, Math.min(1, column.bar(row)))));
      cell.style.setProperty("--room", `${rooms[place] ?? 0}ch`);
    }
    return cell;
  });
  return h("tr", {}, ...cells);
}

function searchBox(label: string, state: State, fill: () => void): HTMLElement {
  const id = identifier("search");
  const input = h("input", { type: "search", id, autocomplete: "off", spellcheck: "false" });
  input.addEventListener("input", () => {
    state.words = input.value;
    fill();
  });
  return h("div", { class: "search" }, h("label", { for: id }, `Search ${label}`), input);
}
