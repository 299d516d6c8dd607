import type { NetworkInterface } from '../../api/index.ts';
import type { JsonPatchOperation } from '../../kube/index.ts';
import { formatTime, type Stored } from '../../meta/index.ts';

const written = ['Prepared', 'Programmed'] as const;

/**
 * The patch that takes back what a data plane said for the last holder: the next one is not prepared because the last one
 * was (F39). Undefined where nothing was said. Tested against what it was decided on, since the data plane writes too.
 */
export function dataPlaneReset(
  { metadata, status }: Stored<NetworkInterface>,
  now: number,
): JsonPatchOperation[] | undefined {
  const changes: JsonPatchOperation[] = [];
  for (const type of written) {
    const index = (status?.conditions ?? []).findIndex((condition) => condition.type === type);
    const condition = status?.conditions?.[index];
    if (condition === undefined || (condition.status === 'Unknown' && condition.reason === 'Pending')) continue;
    const path = `/status/conditions/${index}`;
    const value = {
      type,
      status: 'Unknown',
      reason: 'Pending',
      message: 'Waiting for controller',
      lastTransitionTime: condition.status === 'Unknown' ? condition.lastTransitionTime : formatTime(now),
      observedGeneration: metadata.generation ?? 1,
    };
    changes.push({ op: 'test', path: `${path}/type`, value: type }, { op: 'replace', path, value });
  }
  for (const field of ['vpc', 'attachmentRef'] as const) {
    if (status?.[field] !== undefined) changes.push({ op: 'remove', path: `/status/${field}` });
  }
  if (changes.length === 0) return undefined;
  return [
    { op: 'test', path: '/metadata/uid', value: metadata.uid },
    { op: 'test', path: '/metadata/resourceVersion', value: metadata.resourceVersion },
    ...changes,
  ];
}
