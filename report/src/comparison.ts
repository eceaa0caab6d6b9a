// The shape of the document that src/iostrata/analyse/comparison.py defines: times ns, sizes bytes.

export type Verdict = "changed" | "within noise" | "cannot say";

/**
 * `share`: by how much of `first` `second` is more, null where `first` is 0. The interval is `low`
 * to `high` of the share, or `least` to `most` of the difference; null where there is none.
 */
export interface Change {
  first: number;
  second: number;
  share: number | null;
  low: number | null;
  high: number | null;
  least: number | null;
  most: number | null;
  p: number | null;
  verdict: Verdict;
  runs: [number[], number[]];
}

export interface Difference {
  key: string[];
  time_grown: number;
  verdict: Verdict;
  metrics: Record<string, Change>;
}

export interface Compared {
  id: string;
  title: string;
  keys: string[];
  rows: Difference[];
  more: number;
}

export interface Comparison {
  iostrata: string;
  names: [string, string];
  first: string[];
  second: string[];
  unlike: string[];
  notes: string[];
  tables: Compared[];
}
