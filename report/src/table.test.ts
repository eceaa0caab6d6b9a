import assert from "node:assert/strict";
import { test } from "node:test";
import { chosen, room, said } from "./table.ts";

const ROWS = [
  { path: "/part-10", bytes: 5 },
  { path: "/part-9", bytes: 70 },
  { path: "/logs/<b>", bytes: 70 },
];
const COLUMNS = [
  { by: (row: { path: string }) => row.path },
  { by: (row: { bytes: number }) => row.bytes },
  {},
] as { by?: (row: { path: string; bytes: number }) => string | number }[];
const paths = (column: number, down: boolean, words = "") =>
  chosen(COLUMNS, ROWS, { column, down, words }, (row) => row.path).map((row) => row.path);

test("rows stand as given until they are sorted, equal ones also then", () => {
  assert.deepEqual(paths(-1, true), ["/part-10", "/part-9", "/logs/<b>"]);
  assert.deepEqual(paths(2, true), ["/part-10", "/part-9", "/logs/<b>"]);
  assert.deepEqual(paths(1, true), ["/part-9", "/logs/<b>", "/part-10"]);
  assert.deepEqual(paths(0, false), ["/logs/<b>", "/part-9", "/part-10"]);
});

test("a search wants all of its words, in any case", () => {
  assert.deepEqual(paths(-1, true, "PART 9"), ["/part-9"]);
  assert.deepEqual(paths(-1, true, "<b>"), ["/logs/<b>"]);
  assert.deepEqual(paths(-1, true, "part logs"), []);
});

test("a table says what it leaves out, and nothing when it shows all", () => {
  assert.deepEqual(
    [said(12, 12, 12), said(12, 400, 400), said(5, 5, 400)],
    ["", "12 of 400 rows", "5 of 400 rows"],
  );
  // found by a search and then shown in part: what was found counts
  assert.equal(said(12, 40, 1400), "12 of 40 rows found, of 1 400");
});

test("bars leave as much room as the longest text needs", () => {
  const column = { cell: (row: { path: string }) => row.path };
  assert.equal(room(column, ROWS), "/logs/<b>".length);
  assert.equal(room({ cell: () => null }, ROWS), 0);
  assert.equal(room(column, []), 0);
});
