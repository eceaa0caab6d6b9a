// Shares as text, the same as iostrata/show/compare/lines.py prints them.

import type { Change } from "./comparison.ts";
import { seconds } from "./text.ts";

/** `-5.2 %`, `+40 %`, `x 3.4`, `x 120`: what grew by that share. */
export function share(value: number): string {
  if (value >= 1) return `x ${(value + 1).toFixed(value < 99 ? 1 : 0)}`;
  const sign = value < 0 ? "-" : "+";
  const size = Math.abs(value);
  if (size > 0 && size < 0.0005) return `${sign}<0.1 %`;
  return `${sign}${(100 * size).toFixed(size < 0.0995 ? 1 : 0)} %`;
}

/** The change of a value, and its interval if that is wanted and known. */
export function percent(change: Change, text: (value: number) => string, interval = false): string {
  if (change.first === change.second) return "=";
  if (change.share === null) return `0 to ${text(change.second)}`;
  if (change.second === 0) return "to 0";
  const { low, high } = change;
  if (!interval || low === null || high === null || low === high) return share(change.share);
  return `${share(change.share)} (${share(low)} to ${share(high)})`;
}

/** A difference of times: `+3.20 s`. */
export function grew(ns: number): string {
  return `${ns < 0 ? "-" : "+"}${seconds(Math.abs(ns))}`;
}
