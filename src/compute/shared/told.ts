import { isReason, type Reason } from '../../api/index.ts';
import type { KubeObject } from '../../meta/index.ts';

/** Why something is not so, as a cell is told of it: in an annotation, since status does not travel down. */
export interface Told {
  reason: Reason;
  message: string;
}

export function toldText({ reason, message }: Told): string {
  return JSON.stringify({ reason, message });
}

/** What an annotation tells; undefined where it is not there, or is nothing that anybody here writes. */
export function toldBy(object: KubeObject | undefined, annotation: string): Told | undefined {
  const text = object?.metadata.annotations?.[annotation];
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { reason, message } = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  return typeof reason === 'string' && isReason(reason) && typeof message === 'string'
    ? { reason, message }
    : undefined;
}
