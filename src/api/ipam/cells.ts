import type { KubeObject } from '../../meta/index.ts';
import type { PrinterColumn } from '../kind.ts';

/** Columns whose cells no JSONPath can say. A cell without a value shows `<none>`, as the reference's tables do. */
export const none = '<none>';

/** A column of texts; `value` answers undefined or '' where there is none. */
export function cell<T extends KubeObject>(
  name: string,
  jsonPath: string,
  value: (object: T) => string | undefined,
): PrinterColumn {
  return { name, type: 'string', jsonPath, cell: (object) => value(object as T) || none };
}

/** `location=us-central-1 network=default`: role=name pairs, sorted. */
export function scopeText(scope: Record<string, { name: string }> | undefined): string {
  return Object.entries(scope ?? {})
    .map(([role, ref]) => `${role}=${ref.name}`)
    .sort()
    .join(' ');
}

/** `0%`, `<0.1%`, else one decimal: `12.5%`. */
export function percentText(percent: number | undefined): string | undefined {
  if (percent === undefined) return undefined;
  if (percent === 0) return '0%';
  return percent < 0.1 ? '<0.1%' : `${percent.toFixed(1)}%`;
}
