// Numbers and names as text, the same as iostrata/show/text.py prints them.

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** Bytes in binary units: `0 B`, `1.5 KiB`, `2.0 GiB`. */
export function size(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (Math.abs(value) >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return unit === 0 ? `${Math.round(value)} B` : `${value.toFixed(1)} ${UNITS[unit]}`;
}

/** A duration in ns: `12 µs`, `3.4 ms`, `5.21 s`, `2 min 5 s`. */
export function seconds(ns: number): string {
  if (ns < 1e6) return `${(ns / 1e3).toFixed(0)} µs`;
  if (ns < 1e9) return `${(ns / 1e6).toFixed(1)} ms`;
  if (ns < 120e9) return `${(ns / 1e9).toFixed(2)} s`;
  const whole = Math.round(ns / 1e9);
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** A count in groups: `1 234 567`. */
export function count(number: number): string {
  return Math.round(number)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, " ");
}

/** A rate of calls: three digits, `k` and `M`. */
export function perSecond(rate: number): string {
  if (rate >= 1e6) return `${Number((rate / 1e6).toPrecision(3))} M/s`;
  if (rate >= 1e3) return `${Number((rate / 1e3).toPrecision(3))} k/s`;
  return `${rate >= 10 || rate === 0 ? rate.toFixed(0) : rate.toFixed(1)} /s`;
}

/** A size for a tick: at most three digits. */
export function shortSize(bytes: number): string {
  const unit = Math.min(5, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return `${Number((bytes / 1024 ** unit).toPrecision(3))} ${UNITS[unit]}`;
}

/** Seconds since the start of the axis: `42 s`, `3:05`, `1:02:03`. */
export function clock(s: number, end = s): string {
  if (end < 120) return `${Number(s.toFixed(1))} s`;
  const whole = Math.round(s);
  const two = (n: number) => String(n).padStart(2, "0");
  const minutes = Math.floor(whole / 60);
  return minutes < 60
    ? `${minutes}:${two(whole % 60)}`
    : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(whole % 60)}`;
}

/** Round times for about `most` ticks of an axis of `end` seconds. */
export function timeTicks(end: number, most: number): number[] {
  const steps = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 21_600, 86_400];
  const step = steps.find((s) => end / s <= most) ?? 86_400 * Math.ceil(end / 86_400 / most);
  return Array.from({ length: Math.floor(end / step) + 1 }, (_, place) => place * step);
}

/** The name of a function: `hdfs.read`. */
export function called({ layer, op }: { layer: string; op: string }): string {
  return layer ? `${layer}.${op}` : op;
}

/** A share: `12 %`. */
export function percent(share: number): string {
  return `${(share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;
}

/**
 * The text with every control, format and private character escaped: a name from a traced program
 * must not turn the rest of its line around (bidirectional overrides) or hide a part of it.
 */
export function printable(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    const [letter, digits] = code < 0x100 ? ["x", 2] : code < 0x10000 ? ["u", 4] : ["U", 8];
    return `\\${letter}${code.toString(16).padStart(digits, "0")}`;
  });
}
