import assert from "node:assert/strict";
import { test } from "node:test";
import { ticksTo } from "../figure.ts";
import { line } from "../history.ts";
import { said } from "./findings.ts";
import { short as calls } from "./sizes.ts";
import { short as task } from "./tasks.ts";
import { rates } from "./time.ts";
import { spanning, together } from "./usage.ts";

test("values of bins become rates per second, and the last bin has a width", () => {
  const axis = { start: 0, bin: 500_000_000, bins: 2 };
  assert.deepEqual(rates([10, 30], axis, "read"), [
    { s: 0, rate: 20, way: "read" },
    { s: 0.5, rate: 60, way: "read" },
    { s: 1, rate: 60, way: "read" },
  ]);
});

test("ticks are round: powers of two for bytes, of ten for calls", () => {
  assert.deepEqual(ticksTo(100 * 2 ** 20, true), [0, 2 ** 25, 2 ** 26]);
  assert.deepEqual(ticksTo(730, false), [0, 250, 500]);
  assert.deepEqual(ticksTo(0, true), [0]);
});

test("labels stay short", () => {
  assert.deepEqual([7, 999, 1000, 9949, 12_345, 999_600, 12_300_000].map(calls), [
    "7",
    "999",
    "1.0k",
    "9.9k",
    "12k",
    "1.0M",
    "12M",
  ]);
  assert.equal(task("attempt_1795290273819_0002_m_000003_0"), "job 2 · m_000003_0");
  assert.equal(task("application_1795_0012_stage_103.0_task_12.1"), "app 12 · stage 103.0 · 1…");
  assert.equal(task("application_1795_0001_stage_3.0_task_7.1"), "app 1 · stage 3.0 · 7.1");
  assert.equal(task("local-1795756015636_stage_0.0_task_1.0"), "local · stage 0.0 · 1.0");
  assert.equal(task("application_1795_0001"), "app 1");
  assert.equal(task("\u202Ereversed"), "\\u202ereversed");
});

test("values of findings stand in their unit", () => {
  const values = [
    { value: 1_500_000, unit: "ns" },
    { value: 1536, unit: "bytes" },
    { value: 1234, unit: "count" },
    { value: 0.31, unit: "share" },
    { value: "<b>", unit: "text" },
  ] as const;
  assert.deepEqual(
    values.map((row) => said({ what: "", ...row })),
    ["1.5 ms", "1.5 KiB", "1 234", "31 %", "<b>"],
  );
});

test("curves begin where their job did", () => {
  assert.deepEqual(spanning([1, null, 2], 2, 6), [null, null, 1, null, 2, null]);
});

test("a job has one panel for what it took and for its space", () => {
  const rates = { io_read: [], io_written: [], disk_read: [], disk_written: [] };
  const taken = { job: "job_1", task: null, role: null, first: 0, cpu: [1], ...rates };
  const space = { job: "job_1", role: null, first: 0, temporary: [1], permanent: [2] };
  const other = { ...space, job: null, role: "client" };
  const attempts = { rows: [], more: 0 };
  const found = together({
    missing: "",
    jobs: { rows: [taken], more: 0 },
    attempts,
    space: { rows: [other, space], more: 0 },
  });
  assert.deepEqual(found, [
    { taken, space },
    { taken: undefined, space: other },
  ]);
});

test("histories are lines through the samples, with a hole where there were none", () => {
  const axis = { start: 0, bin: 500_000_000, bins: 9 };
  const seen = line([1, null, 2, null, null, null, null, null, 3], axis);
  assert.deepEqual(seen, [
    { s: 0.25, value: 1 },
    { s: 1.25, value: 2 },
    { s: 2.75, value: Number.NaN },
    { s: 4.25, value: 3 },
  ]);
});
