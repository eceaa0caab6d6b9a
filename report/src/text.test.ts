import assert from "node:assert/strict";
import { test } from "node:test";
import {
  clock,
  count,
  percent,
  perSecond,
  printable,
  seconds,
  shortSize,
  size,
  timeTicks,
} from "./text.ts";

test("sizes and times read as in the summary", () => {
  assert.deepEqual([0, 1023, 1024, 1536, 200 * 2 ** 20, 3 * 2 ** 50, 2 ** 62].map(size), [
    "0 B",
    "1023 B",
    "1.0 KiB",
    "1.5 KiB",
    "200.0 MiB",
    "3.0 PiB",
    "4096.0 PiB",
  ]);
  assert.deepEqual([0, 12_300, 3_400_000, 5_210_000_000, 125_000_000_000].map(seconds), [
    "0 µs",
    "12 µs",
    "3.4 ms",
    "5.21 s",
    "2 min 5 s",
  ]);
  assert.deepEqual([0, 999, 1000, 1_234_567].map(count), ["0", "999", "1 000", "1 234 567"]);
});

test("rates, clocks and shares", () => {
  assert.deepEqual([0, 2.5, 40, 1234, 2.5e6].map(perSecond), [
    "0 /s",
    "2.5 /s",
    "40 /s",
    "1.23 k/s",
    "2.5 M/s",
  ]);
  assert.deepEqual(
    [0, 2.5, 185, 3723].map((s) => clock(s)),
    ["0 s", "2.5 s", "3:05", "1:02:03"],
  );
  assert.equal(clock(30, 240), "0:30");
  assert.deepEqual(timeTicks(250, 5), [0, 60, 120, 180, 240]);
  assert.deepEqual([0, 2 ** 26, 1.25 * 2 ** 30].map(shortSize), ["0 B", "64 MiB", "1.25 GiB"]);
  assert.deepEqual([0, 0.012, 0.5].map(percent), ["0 %", "1.2 %", "50 %"]);
});

test("what could hide or turn text around is spelled out", () => {
  assert.equal(printable("/in/\u001b[2J\u202Etxt.exe\u200b"), "/in/\\x1b[2J\\u202etxt.exe\\u200b");
  assert.equal(printable("/dáta/日本/<b>"), "/dáta/日本/<b>");
  assert.equal(printable("\u{e0041}\ud800"), "\\U000e0041\\ud800");
});
