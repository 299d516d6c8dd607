import { IpPrefix } from '../../src/address/index.ts';
import { IPClaim, IPClass, IPPool } from '../../src/api/index.ts';
import type { Storage } from '../../src/apiserver/index.ts';
import type { Client, Random } from '../../src/kube/index.ts';

const apiVersion = 'ipam.miloapis.com/v1alpha1';
const atOnce = 2000;

export const claim = (name: string, spec: IPClaim['spec'] = {}): IPClaim => ({
  apiVersion,
  kind: 'IPClaim',
  metadata: { name, namespace: 'default' },
  spec: { className: 'block', ...spec },
});

export interface Seeded {
  project: string;
  /** Share of the pool that is taken, in small pieces all over it: 0, or close to 1 - 2^-n. */
  fill: number;
  /** Claims of one block there are. */
  existing: number;
  /** Blocks that are to be free beyond that. */
  room: number;
}

/**
 * A pool whose free room is in small holes all over it: chunks of which larger claims have taken `fill`; and `existing` claims
 * in that room. What is made in bulk is made by the procedure that every claim is made by, with a revision each: only the
 * request, the handlers and their answer are left out, so that the tables are those of as many claims (`seed.test.ts`).
 */
export async function seed(client: Client, storage: Storage, random: Random, of: Seeded): Promise<void> {
  const { fill, existing, room } = of;
  await client.create(IPClass, {
    apiVersion,
    kind: 'IPClass',
    metadata: { name: 'block' },
    spec: { ipFamily: 'IPv6', defaultPrefixLength: 96, allowedPrefixLengths: { min: 64, max: 96 } },
  });
  // Halvings of a chunk that are taken: none, one (half of it), ten (all but a 1024th).
  const halvings = fill === 0 ? 0 : Math.round(-Math.log2(1 - fill));
  const chunks = fill === 0 ? 0 : halvings > 1 ? 10 : 6;
  const hole = Math.ceil(Math.log2((existing + room) / 2 ** chunks));
  const length = 96 - chunks - halvings - hole;
  const spec = { ipFamily: 'IPv6' as const, cidr: `fd00::/${length}`, classNames: ['block'] };
  await client.create(IPPool, { apiVersion, kind: 'IPPool', metadata: { name: 'pool' }, spec });
  const fillers: IPClaim[] = [];
  for (const [n, chunk] of fill === 0 ? [] : [...IpPrefix.parse(spec.cidr).split(length + chunks)].entries()) {
    let rest = chunk;
    for (let halving = 0; halving < halvings; halving++) {
      const half = IpPrefix.of(6, rest.start, rest.length + 1);
      fillers.push(claim(`f-${n}-${halving}`, { address: half.first.toString(), prefixLength: half.length }));
      rest = half.sibling()!;
    }
  }
  await bulk(client, storage, random, of.project, fillers.length, (n) => fillers[n]!);
  await bulk(client, storage, random, of.project, existing, (n) => claim(`e-${n}`));
}

/** `count` claims as the handlers hand them to the store: the first goes through them, and the others are made after it. */
export async function bulk(
  client: Client,
  storage: Storage,
  random: Random,
  project: string,
  count: number,
  make: (n: number) => IPClaim,
): Promise<void> {
  if (count === 0) return;
  const { status: _, ...first } = await client.create(IPClaim, make(0));
  const { resourceVersion: __, ...metadata } = first.metadata;
  const { ownerRef: ___, ...defaults } = first.spec!;
  const request = {
    plane: `project/${project}`,
    project,
    plural: 'ipclaims',
    verb: 'create',
    defaultRestSeconds: 0,
    dryRun: false,
  };
  for (let from = 1; from < count; from += atOnce) {
    const calls = Array.from({ length: Math.min(atOnce, count - from) }, (_, index) => {
      const each = make(from + index);
      const object = {
        ...first,
        metadata: { ...metadata, name: each.metadata.name, uid: random.uuid() },
        spec: { ...defaults, ...each.spec },
      };
      return storage.call('ipam.write', { ...request, object });
    });
    await Promise.all(calls);
  }
}
