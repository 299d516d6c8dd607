import { availableParallelism, totalmem } from 'node:os';

/** One measured value. Anything that tells two values of one name apart (`clients`, `store`) stands beside it. */
export interface Figure {
  name: string;
  value: number;
  unit: string;
  [distinguishes: string]: string | number;
}

/** A benchmark: what it measures, which options it takes (name → default), and how it runs. */
export interface Benchmark {
  name: string;
  description: string;
  options: Readonly<Record<string, number>>;
  run(options: Readonly<Record<string, number>>, say: (text: string) => void): Promise<Figure[]>;
}

export interface Machine {
  cores: number;
  memoryGiB: number;
  node: string;
}

export function machine(): Machine {
  return {
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.versions.node,
  };
}

/** The line other programs read: the last one of a run with `--json`. */
export function jsonLine(bench: string, figures: readonly Figure[]): string {
  return JSON.stringify({ bench, machine: machine(), figures });
}

/** The table people read. */
export function table(bench: string, figures: readonly Figure[]): string {
  const { cores, memoryGiB, node } = machine();
  const rows = figures.map(({ name, value, unit, ...rest }) => [
    name,
    Object.entries(rest)
      .map(([key, item]) => `${key} ${item}`)
      .join(', '),
    value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 2 : value < 100 ? 1 : 0 }),
    unit,
  ]);
  const all = [['figure', '', 'value', 'unit'], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => row[column]!.length)));
  const lines = all.map((row) =>
    [row[0]!.padEnd(widths[0]!), row[1]!.padEnd(widths[1]!), row[2]!.padStart(widths[2]!), row[3]!]
      .join('   ')
      .trimEnd(),
  );
  return `${bench} on ${cores} cores, ${memoryGiB} GiB, Node ${node}\n\n${lines.join('\n')}\n`;
}

/** The value below which `share` (0..1) of `values` lie; values are not changed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
