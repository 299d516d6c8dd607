import { stringify } from 'yaml';
import { parseTime } from '../../meta/index.ts';

export type Format = 'table' | 'json' | 'yaml';
export const formats: readonly Format[] = ['table', 'json', 'yaml'];

/** What a command found: the same facts for people and for programs. */
export interface Report {
  /** Printed with `-o json|yaml`. */
  data: unknown;
  /** Heads of the table's columns, then its rows. */
  head: readonly string[];
  rows: readonly (readonly string[])[];
  /** Said under the table, or in its place where it has no rows. */
  note?: string;
}

/** The text of a report, with the line break at its end. */
export function render(report: Report, format: Format): string {
  if (format === 'json') return `${JSON.stringify(report.data, undefined, 2)}\n`;
  if (format === 'yaml') return stringify(report.data);
  const note = report.note === undefined ? '' : `${report.note}\n`;
  if (report.rows.length === 0) return note;
  const all = [report.head, ...report.rows];
  const widths = report.head.map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
  const lines = all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('   ')
      .trimEnd(),
  );
  return `${lines.join('\n')}\n${note}`;
}

/** `3d4h`, `5m`, `12s`: how long ago, as kubectl writes ages; `-` where it is not known. */
export function age(since: string | undefined, now: number): string {
  const then = parseTime(since);
  if (then === undefined) return '-';
  const seconds = Math.max(0, Math.floor((now - then) / 1000));
  const [days, hours, minutes] = [Math.floor(seconds / 86_400), Math.floor(seconds / 3600), Math.floor(seconds / 60)];
  if (days >= 1) return `${days}d${days < 8 && hours % 24 > 0 ? `${hours % 24}h` : ''}`;
  if (hours >= 1) return `${hours}h${minutes % 60 > 0 ? `${minutes % 60}m` : ''}`;
  return minutes >= 2 ? `${minutes}m` : `${seconds}s`;
}
