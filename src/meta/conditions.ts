import type { Condition } from './object.ts';
import { formatTime } from './time.ts';

export function findCondition(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  if (conditions === undefined) return undefined;
  for (const condition of conditions) if (condition.type === type) return condition;
  return undefined;
}

export function isConditionTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return findCondition(conditions, type)?.status === 'True';
}

/**
 * `conditions` with one entry set: same order, new entries last. `lastTransitionTime` moves only when `status` does
 * (metav1.Condition), so that an identical answer is an identical list.
 */
export function withCondition(
  conditions: readonly Condition[] | undefined,
  next: Omit<Condition, 'lastTransitionTime'>,
  nowMilliseconds: number,
): Condition[] {
  const before = findCondition(conditions, next.type);
  const lastTransitionTime =
    before !== undefined && before.status === next.status ? before.lastTransitionTime : formatTime(nowMilliseconds);
  const entry: Condition = { ...next, lastTransitionTime };
  if (before === undefined) return [...(conditions ?? []), entry];
  return (conditions ?? []).map((condition) => (condition.type === next.type ? entry : condition));
}
