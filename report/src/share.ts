// Changes as text, the same as iostrata/show/compare/lines.py prints them.

import type { Metric } from "./comparison.ts";
import { seconds } from "./text.ts";

/** `-5.2 %`, `+40 %`, `x 3.4`, `x 120`: what grew by that share. */
export function share(value: number): string {
  if (value >= 1) return factor(value);
  const sign = value < 0 ? "-" : "+";
  const size = Math.abs(value);
  if (size > 0 && size < 0.0005) return `${sign}<0.1 %`;
  return `${sign}${(100 * size).toFixed(size < 0.0995 ? 1 : 0)} %`;
}

function factor(value: number): string {
  return `x ${(value + 1).toFixed(value < 0 ? 2 : value < 99 ? 1 : 0)}`;
}

/** The change of a value, and its interval if that is wanted and known: all of it is a share, a
 * factor or a difference. */
export function percent(change: Metric, text: (value: number) => string, interval = false): string {
  if (change.first === change.second) return "=";
  const { low, high, least, most } = change;
  if (interval && least !== null && most !== null) {
    const by = change.second - change.first;
    return `${grew(by, text)} (${grew(least, text)} to ${grew(most, text)})`;
  }
  if (change.share === null) return `0 to ${text(change.second)}`;
  if (change.second === 0) return "to 0";
  if (!interval || low === null || high === null || low === high) return share(change.share);
  const shown = Math.max(change.share, low, high) >= 1 ? factor : share;
  return `${shown(change.share)} (${shown(low)} to ${shown(high)})`;
}

/** A difference, of times by default: `+3.20 s`. */
export function grew(value: number, text: (value: number) => string = seconds): string {
  return `${value < 0 ? "-" : "+"}${text(Math.abs(value))}`;
}
