import type { NetworkInterface } from '../../api/index.ts';
import { type Condition, findCondition, jsonEqual, type KubeObject } from '../../meta/index.ts';

type Status = NonNullable<NetworkInterface['status']>;
type SourceAddress = NonNullable<NonNullable<NonNullable<Status['egress']>['internet']>['sourceAddresses']>[number];

/** What an interface says of its way out of its network. */
export interface EgressSaid {
  egress?: Status['egress'];
  ready?: Pick<Condition, 'status' | 'reason' | 'message'>;
}

/** Of the attachment, and copied with what it is about. */
export const egressReady = 'InternetEgressReady';

/**
 * Pure. What an attachment says of egress, read as anybody\u2019s object: something that is not as it should be is as if it had
 * not been said. `attachment` is what was found for the interface; another one than it names now says nothing.
 */
export function egressSaid({ status }: NetworkInterface, attachment: KubeObject | undefined): EgressSaid {
  const ref = status?.attachmentRef;
  if (attachment === undefined || ref === undefined || ref.name !== attachment.metadata.name) return {};
  if (attachment.kind !== ref.kind || !attachment.apiVersion.startsWith(`${ref.apiGroup}/`)) return {};
  const said = attachment.status as { egress?: unknown; conditions?: unknown } | undefined;
  const sourceAddresses = addressesIn(said?.egress);
  const ready = conditionIn(said?.conditions);
  return {
    ...(sourceAddresses === undefined ? {} : { egress: { internet: { sourceAddresses } } }),
    ...(ready === undefined ? {} : { ready }),
  };
}

/** What an interface says of egress now. */
export function egressOf({ status }: NetworkInterface): EgressSaid {
  const ready = findCondition(status?.conditions, egressReady);
  return {
    ...(status?.egress === undefined ? {} : { egress: status.egress }),
    ...(ready === undefined ? {} : { ready }),
  };
}

/** Whether two states of an attachment say different things of egress. */
export function saysOtherwise(before: KubeObject, after: KubeObject): boolean {
  const part = ({ status }: KubeObject) => {
    const { egress, conditions } = (status ?? {}) as { egress?: unknown; conditions?: unknown };
    return [egress, conditionIn(conditions)];
  };
  return !jsonEqual(part(before), part(after));
}

function addressesIn(egress: unknown): SourceAddress[] | undefined {
  const internet = fieldOf(egress, 'internet');
  const list = fieldOf(internet, 'sourceAddresses');
  if (!Array.isArray(list) || list.length === 0) return undefined;
  const addresses = list.map(addressIn);
  if (addresses.some((address) => address === undefined)) return undefined;
  const sorted = (addresses as SourceAddress[]).sort((a, b) => (a.family < b.family ? -1 : 1));
  return new Set(sorted.map(({ family }) => family)).size === sorted.length ? sorted : undefined;
}

function addressIn(value: unknown): SourceAddress | undefined {
  const [family, address, stability] = ['family', 'address', 'stability'].map((key) => fieldOf(value, key));
  if (family !== 'IPv4' && family !== 'IPv6') return undefined;
  if (stability !== 'None' && stability !== 'Network') return undefined;
  if (typeof address !== 'string' || address === '' || address.length > 39) return undefined;
  return { family, address, stability };
}

function conditionIn(conditions: unknown): EgressSaid['ready'] {
  if (!Array.isArray(conditions)) return undefined;
  const found: unknown = conditions.find((each) => fieldOf(each, 'type') === egressReady);
  const [status, reason, message] = ['status', 'reason', 'message'].map((key) => fieldOf(found, key));
  if (status !== 'True' && status !== 'False' && status !== 'Unknown') return undefined;
  return typeof reason === 'string' && typeof message === 'string' ? { status, reason, message } : undefined;
}

function fieldOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}
