import { type NetworkBinding, type Reason, reasonMessage } from '../../api/index.ts';
import { type Condition, type Stored, withCondition } from '../../meta/index.ts';

/** What a binding is told: the context it gets, or why there is none. */
export type Answer =
  | { context: string; ready: true }
  | { context: string; ready: false; reason: string | undefined }
  | { context: undefined; reason: Reason; message: string };

/** `AddressPoolExhausted: No free address …`, without the place in the documentation our own message ends with. */
export function saidBy({ reason, message }: Condition): string {
  const text = message.replace(/\s*\(see [^)]*\)\s*$/, '');
  return text === '' ? reason : `${reason}: ${text}`;
}

/** Pure. The status of a binding that says `answer`; the same object's values where it says so already. */
export function bindingStatus(
  binding: Stored<NetworkBinding>,
  answer: Answer,
  namespace: string,
  now: number,
): NonNullable<NetworkBinding['status']> {
  const observedGeneration = binding.metadata.generation ?? 1;
  const said = conditionOf(answer);
  const conditions = withCondition(binding.status?.conditions, { type: 'Ready', ...said, observedGeneration }, now);
  return answer.context === undefined
    ? { conditions }
    : { networkContextRef: { namespace, name: answer.context }, conditions };
}

function conditionOf(answer: Answer): Pick<Condition, 'status' | 'reason' | 'message'> {
  if (answer.context === undefined) return { status: 'False', reason: answer.reason, message: answer.message };
  const { context } = answer;
  if (answer.ready) {
    const reason = 'NetworkContextReady';
    return { status: 'True', reason, message: reasonMessage(reason, { context }) };
  }
  const reason = 'NetworkContextNotReady';
  return { status: 'False', reason, message: reasonMessage(reason, { context, reason: answer.reason }) };
}
