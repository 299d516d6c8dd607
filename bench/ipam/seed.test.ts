import { expect, test } from 'vitest';
import { IPAllocation, IPClaim, IPPool } from '../../src/api/index.ts';
import { systemRandom, VirtualClock } from '../../src/kube/index.ts';
import { openIpamStorage, startIpamServer } from '../../test/harness/ipam-server.ts';
import { bulk, claim, seed } from './seed.ts';

/** Everything a project shows, but what is another's each time: UIDs, times, versions. */
async function shown(make: 'bulk' | 'claims'): Promise<unknown[]> {
  // Time stands still: a pool's status is written when it is asked for, and by no timer in between.
  const clock = new VirtualClock();
  const storage = await openIpamStorage(':memory:', clock);
  const server = await startIpamServer({ projects: ['alpha'], storage, clock, seed: false });
  const client = server.client('alpha');
  const empty = { project: 'alpha', fill: 0.5, existing: 0, room: 500 };
  await seed(client, storage, systemRandom, empty);
  const from = storage.revision;
  if (make === 'bulk') await bulk(client, storage, systemRandom, 'alpha', 200, (n) => claim(`e-${n}`));
  else for (let n = 0; n < 200; n++) await client.create(IPClaim, claim(`e-${n}`));
  const revisions = storage.revision - from;
  await storage.call('ipam.upkeep', { defaultRestSeconds: 0 });
  const kinds = [IPClaim, IPAllocation, IPPool] as const;
  const lists = await Promise.all(
    kinds.map(async (kind) => (await client.list<object & IPClaim>(kind as typeof IPClaim)).items),
  );
  await server.stop();
  const text = JSON.stringify([revisions, lists], (name, value) =>
    ['uid', 'resourceVersion', 'creationTimestamp', 'time', 'lastTransitionTime'].includes(name) ? typeof value : value,
  );
  return JSON.parse(text) as unknown[];
}

test('allocations made in bulk are those that as many claims make', async () => {
  const [bulky, claimed] = [await shown('bulk'), await shown('claims')];
  expect((bulky[1] as unknown[][])[1]).toHaveLength(200 + 64);
  expect(bulky).toEqual(claimed);
});
