import type { KubeObject } from '../meta/index.ts';
import { type Reason, reasonMessage } from './reasons/index.ts';

/**
 * What is told where an object has the name of a copy: one that nobody carried, or, given `locations`, the copy of what a cell
 * of another location publishes under the name.
 */
export function copyNameTaken(
  { kind, metadata: { namespace, name } }: KubeObject,
  plane: { id: string },
  locations?: { own: string; other: string },
): { reason: Reason; message: string } {
  if (locations !== undefined) {
    const reason = 'CopyNameShared';
    return { reason, message: reasonMessage(reason, { kind, name, namespace, ...locations }) };
  }
  const reason = 'CopyNameTaken';
  return { reason, message: reasonMessage(reason, { kind, name, namespace, plane: plane.id }) };
}
