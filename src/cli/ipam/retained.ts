import { type NetworkInterface, networkingAnnotations, networkingLabels } from '../../api/index.ts';
import { isTerminating, type Stored } from '../../meta/index.ts';
import { type Access, holderOf } from './access.ts';
import { age, type Report } from './output.ts';

export interface RetainedRow {
  address: string;
  /** What keeps it: an interface nobody holds, or an allocation whose claim is gone. */
  kind: 'NetworkInterface' | 'IPAllocation';
  namespace: string;
  name: string;
  network?: string;
  location?: string;
  /** RFC 3339. Null: not known; of an interface for the second before its cell has written it. */
  since: string | null;
}

/** Addresses nobody uses and somebody keeps, the longest kept first. */
export async function retained(access: Access, now: number): Promise<Report> {
  const rows: RetainedRow[] = [];
  for (const object of await access.interfaces()) {
    // Only what its cell says is unheld: an interface that was just made has not been bound yet.
    const unheld = object.status?.phase === 'Available' && holderOf(object) === undefined;
    if (unheld && !isTerminating(object)) rows.push(...rowsOf(object));
  }
  for await (const { metadata, spec, status } of access.allocations()) {
    if (spec?.purpose !== 'Claim' || spec.claimRef !== undefined) continue;
    const since = status?.conditions?.find((condition) => condition.type === 'Retained')?.lastTransitionTime;
    rows.push({
      address: status?.allocatedCIDR ?? '',
      kind: 'IPAllocation',
      namespace: metadata.namespace ?? '',
      name: metadata.name,
      since: since ?? null,
    });
  }
  rows.sort((a, b) => ((a.since ?? '') < (b.since ?? '') ? -1 : 1));
  return {
    data: rows,
    head: ['ADDRESS', 'KEPT BY', 'NETWORK', 'LOCATION', 'RETAINED SINCE', 'FOR'],
    rows: rows.map((row) => [
      row.address,
      `${row.kind} ${row.namespace}/${row.name}`,
      row.network ?? '-',
      row.location ?? '-',
      row.since ?? '-',
      age(row.since ?? undefined, now),
    ]),
    ...(rows.length === 0 ? { note: 'Nothing is retained.' } : {}),
  };
}

function rowsOf(object: Stored<NetworkInterface>): RetainedRow[] {
  const { metadata, spec } = object;
  const location = metadata.labels?.[networkingLabels.location];
  return [...(spec?.addresses ?? []), ...(spec?.externalAddresses ?? [])].map(({ address }) => ({
    address,
    kind: 'NetworkInterface' as const,
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    ...(spec === undefined ? {} : { network: spec.network.name }),
    ...(location === undefined ? {} : { location }),
    since: metadata.annotations?.[networkingAnnotations.unheldSince] ?? null,
  }));
}
