// The shape of the document that src/iostrata/show/report/document.py makes.
// Sizes are bytes; times are ns since the epoch, which a number holds to about 256 ns; durations ns.

export const WAYS = ["read", "written", "received", "sent"] as const;
export type Way = (typeof WAYS)[number];
export type Moved = Record<`bytes_${Way}`, number>;

/** The first of a list, and how many more there were. */
export interface Bounded<T> {
  rows: T[];
  more: number;
}

export interface Layer extends Moved {
  layer: string;
  calls: number;
  time: number;
  estimated: boolean;
  time_bound?: number;
  errors: number;
}

export interface Operation {
  layer: string;
  op: string;
  nested: boolean;
  calls: number;
  bytes: number;
  time: number;
  estimated: boolean;
  time_bound?: number;
  errors: number;
}

/** Values per bin of the axis; a direction that was not used is absent. */
export interface Series extends Partial<Record<`bytes_${Way}`, number[]>> {
  layer: string;
  calls: number[];
}

export interface Phase {
  phase: string;
  start: number;
  end: number;
  time: number;
}

export interface TaskLayer extends Moved {
  layer: string;
  calls: number;
  time: number;
}

export interface Task {
  job: string;
  task: string;
  role: string | null;
  host: string | null;
  start: number | null;
  end: number | null;
  exit: string | null;
  time: number;
  phases: Phase[];
  layers: TaskLayer[];
}

export interface Step {
  title: string;
  layer: string;
  bytes: number | null; // null: not traced
  factor: number | null;
}

export interface Category extends Moved {
  layer: string;
  category: string;
  role: string;
}

export interface Target extends Moved {
  layer: string;
  category: string | null;
  target: string;
  block: string | null;
  calls: number;
  time: number;
  /** Scaled back from a sample of requests: each number has its bound, 95 of 100 are within. */
  estimated?: boolean;
  /** Too few requests are in the sample: the numbers are 0 and mean nothing. */
  few?: boolean;
  [bound: `${string}_bound`]: number | undefined;
}

export interface Wait {
  role: string;
  layer: string;
  op: string;
  calls: number;
  time: number;
  estimated: boolean;
  time_bound?: number;
}

export interface Losses {
  dropped: number;
  folded: number;
  lost: number;
  refused: number;
}

export interface Process extends Losses {
  role: string | null;
  pid: number;
  host: string | null;
  job: string | null;
  task: string | null;
  exit: string | null;
  calls: number | null;
  detail: number | null;
}

export interface Host {
  host: string;
  totals: Record<string, number | null>;
  values: Record<string, (number | null)[]>;
}

export interface Axis {
  start: number;
  bin: number;
  bins: number;
}

export interface ReportDocument {
  version: number;
  iostrata: string;
  run: {
    name: string;
    state: string;
    exit: number | null;
    start: number;
    end: number;
    host: string;
    user: string;
    events: number;
    bytes: number;
    message: string;
    command: string;
  };
  completeness: {
    lines: string[];
    more_lines: number;
    traced: number;
    total: number;
    silent_layers: string[];
    absent_layers: string[];
    unfinished: number;
    faulted_points: string[];
    losses: Losses;
    processes: Bounded<Process>;
  };
  empty: string; // why there is nothing to show
  layers: Layer[];
  ops: Operation[];
  axis: Axis;
  series: Series[];
  tasks: Bounded<Task>;
  flow: { way: string; steps: Step[] }[];
  categories: Bounded<Category>;
  size_classes: string[];
  sizes: ({ layer: string; op: string } & Record<string, number | string>)[];
  targets: Bounded<Target>;
  waits: Bounded<Wait>;
  system: { missing: string; hosts: Host[]; more: number };
}
