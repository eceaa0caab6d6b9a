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
  collapsed: number;
  lost: number;
  rejected: number;
}

export interface Process extends Losses {
  role: string | null;
  pid: number | null;
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

/** What the run amounts to, in one sentence. */
export interface Verdict {
  text: string;
  detail: string;
}

export const SEVERITIES = ["severe", "warning", "note"] as const;
export type Severity = (typeof SEVERITIES)[number];

export interface Evidence {
  what: string;
  value: number | string;
  unit: "ns" | "bytes" | "count" | "share" | "text";
}

export interface Change {
  what: string;
  setting: string; // empty where the program itself has to change
  before: string;
  after: string;
}

/** What holds the job back, worst first. */
export interface Finding {
  rule: string;
  severity: Severity;
  title: string;
  share: number; // of the run's time, that its cause took
  seen: string;
  evidence: Evidence[];
  query: string; // SQL that repeats the evidence; empty where it is too long for the page
  why: string;
  change: Change[];
  gain: { low: number; high: number; of: string } | null; // shares, 0 to 1
  unless: string; // when it does not apply
  because: string[]; // rules whose findings this one follows from
}

/** A function of the merged call tree; times ns, of all calls that were merged into it. */
export interface TreeNode {
  name: string;
  layer: string;
  op: string;
  calls: number;
  total: number;
  self: number;
  bytes: number;
  errors: number;
  min: number | null; // of one call; null where it is not known
  max: number | null;
  p50: number | null;
  p99: number | null;
  /** Its times are scaled up from sampled clocks. */
  estimated?: boolean;
  /** Stands for so many functions that the document leaves out; sums are theirs. */
  folded?: number;
  below: TreeNode[];
}

/** A stretch of the critical path; start and end ns since the epoch. */
export interface Part {
  name: string;
  layer: string;
  op: string;
  role: string;
  host: string;
  start: number;
  end: number;
  waiting: boolean;
}

export interface PathFunction {
  name: string;
  layer: string;
  op: string;
  working: number;
  waiting: number;
}

/** The chain of calls that the end of the job waited for; `wall` and times ns. */
export interface Critical {
  wall: number;
  parts: Part[];
  by_function: PathFunction[];
  /** Parts that the document leaves out, the shortest. */
  more?: number;
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
    incomplete: string[]; // what of the run is in no readable file
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
  verdict?: Verdict;
  findings?: Finding[];
  tree?: TreeNode[];
  critical?: Critical;
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
