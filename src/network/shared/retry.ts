import type { Random } from '../../kube/index.ts';

/** What nobody can announce is looked at again, at most this much later (behaviour: Waiting is woken). */
const longestMilliseconds = 10_000;
const shortestMilliseconds = 500;

/** When to look again at something refused, spread out so that many refused together do not come back together. */
export function retryDelay(random: Random): number {
  return Math.round(shortestMilliseconds + random.next() * (longestMilliseconds - shortestMilliseconds));
}
