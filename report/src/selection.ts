// An interval of the run that a reader chose: whole bins, so that sums over it are exact.

import type { Axis } from "./document.ts";
import { clock } from "./text.ts";

/** Bins from `from` up to, not with, `until`. */
export interface Bins {
  from: number;
  until: number;
}

/** What is chosen, null for the whole run, and who wants to know. */
export class Selection {
  private listeners: (() => void)[] = [];
  private chosen: Bins | null = null;

  constructor(readonly axis: Axis) {}

  get bins(): Bins | null {
    return this.chosen;
  }

  /** Told now and after every change. */
  follow(listener: () => void): void {
    this.listeners.push(listener);
    listener();
  }

  /** Two edges in any order; all bins are the whole run. */
  choose(a: number, b: number): void {
    const last = this.axis.bins;
    const edge = (bin: number) => Math.max(0, Math.min(last, Math.round(bin)));
    const from = Math.min(edge(a), edge(b), last - 1);
    const until = Math.max(edge(a), edge(b), from + 1);
    this.set(from === 0 && until === last ? null : { from, until });
  }

  clear(): void {
    this.set(null);
  }

  /** Seconds from the start of the axis. */
  get seconds(): [number, number] {
    const { from, until } = this.chosen ?? { from: 0, until: this.axis.bins };
    return [(from * this.axis.bin) / 1e9, (until * this.axis.bin) / 1e9];
  }

  /** The ns of `start` to `end`, both since the epoch, that lie within. */
  within(start: number, end: number): number {
    const [from, until] = this.seconds;
    const zero = this.axis.start;
    return Math.max(0, Math.min(end, zero + until * 1e9) - Math.max(start, zero + from * 1e9));
  }

  /** Whether something that lasted from `start` to `end` was there; without times it may have. */
  touches(start: number | null, end: number | null): boolean {
    if (!this.chosen) return true;
    if (start === null || end === null) return false;
    const [from, until] = this.seconds.map((s) => this.axis.start + s * 1e9) as [number, number];
    return start < until && end >= from;
  }

  /** The sum of a layer's bins that are chosen. */
  sum(values: number[]): number {
    const { from, until } = this.chosen ?? { from: 0, until: values.length };
    return values.slice(from, until).reduce((total, value) => total + value, 0);
  }

  /** `12 s to 18 s`. */
  text(): string {
    const end = (this.axis.bins * this.axis.bin) / 1e9;
    return this.seconds.map((s) => clock(s, end)).join(" to ");
  }

  private set(bins: Bins | null): void {
    if (bins?.from === this.chosen?.from && bins?.until === this.chosen?.until) return;
    this.chosen = bins;
    for (const listener of this.listeners) listener();
  }
}
