import type { Instance } from '../../api/index.ts';
import { type Condition, isTerminating, type Stored, withCondition } from '../../meta/index.ts';

/** What the simulated provider calls itself wherever it speaks. */
export const providerName = 'simulated-provider';

export type ProviderStatus = Pick<NonNullable<Instance['status']>, 'conditions'>;

const owned = ['Programmed', 'Available'];

/**
 * Pure. A provider's part of an instance's status, or undefined where it has nothing to say: the instance waits on a
 * gate, or is going. Nothing runs here, and the messages say so.
 */
export function decide(instance: Stored<Instance>, nowMilliseconds: number): ProviderStatus | undefined {
  const gates = instance.spec?.controller?.schedulingGates ?? [];
  if (isTerminating(instance) || instance.spec?.controller === undefined || gates.length > 0) return undefined;
  const observedGeneration = instance.metadata.generation ?? 1;
  const says = (type: string, reason: string, message: string): Omit<Condition, 'lastTransitionTime'> => ({
    type,
    status: 'True',
    reason,
    message,
    observedGeneration,
  });
  const conditions = [
    says('Programmed', 'Programmed', `Simulated: ${providerName} runs nothing for this instance`),
    says('Available', 'Available', `Simulated: ${providerName} says available without running anything`),
  ].reduce((list, next) => withCondition(list, next, nowMilliseconds), instance.status?.conditions ?? []);
  return { conditions: conditions.filter((condition) => owned.includes(condition.type)) };
}
