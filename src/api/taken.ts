import type { KubeObject } from '../meta/index.ts';
import { type Reason, reasonMessage } from './reasons/index.ts';

/** What is told where an object that nobody carried has the name of a copy. */
export function copyNameTaken(
  { kind, metadata: { namespace, name } }: KubeObject,
  plane: { id: string },
): { reason: Reason; message: string } {
  const reason = 'CopyNameTaken';
  return { reason, message: reasonMessage(reason, { kind, name, namespace, plane: plane.id }) };
}
