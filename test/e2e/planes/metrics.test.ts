import { afterEach, expect, it } from 'vitest';
import { Network, NetworkInterface } from '../../../src/api/index.ts';
import { Stack } from '../../harness/stack.ts';
import { said } from '../support/conditions.ts';
import { createLocation, location, Tenant } from './world.ts';

let stack: Stack;
afterEach(() => stack.close());

/** What a metric says now, by its labels. */
async function values(name: string): Promise<Record<string, number>> {
  const { values: all } = await stack.metrics.getSingleMetric(name)!.get();
  return Object.fromEntries(all.map(({ labels, value }) => [Object.values(labels).join(' '), value]));
}

it('metrics tell of addresses by state, refusals by reason, presences that cannot go, and how long claims took', async () => {
  stack = await Stack.open({ projects: ['project-alpha'] });
  await createLocation(stack, location);
  const alpha = await Tenant.open(stack);
  await alpha.locationBinding(location);
  await alpha.network('net', ['IPv6', 'IPv4']);
  await alpha.bind('consumer', 'net');
  const name = `net-${location}`;
  await stack.until('the presence', () => alpha.cellContext(name));
  const dual = { ipFamilies: ['IPv6', 'IPv4'] };
  await alpha.claim('held', 'net', { ...dual, addresses: [{ class: 'datum-public-v4' }] });
  await alpha.claim('retained', 'net', { ...dual, reclaimPolicy: 'Retain' });
  await alpha.claim('refused', 'nowhere');
  await Promise.all(['held', 'retained'].map((each) => alpha.allocated(each)));
  await alpha.says('the claim', () => alpha.getClaim('refused'), 'NetworkNotAvailableInLocation');
  await alpha.deleteClaim('retained');
  await stack.until('unheld', async () => (await alpha.getInterface('retained'))?.spec.claimRef === undefined);

  const addresses = { held: 3, retained: 2, stranded: 0, missing: 0 };
  const byState = Object.entries(addresses).map(([state, count]) => [`${location} ${state}`, count]);
  expect(await values('berth_network_addresses')).toEqual(Object.fromEntries(byState));
  expect(await values('berth_network_claims_refused')).toEqual({ [`${location} NetworkNotAvailableInLocation`]: 1 });
  expect(await values('berth_network_context_terminating_seconds')).toEqual({});
  const took = await stack.metrics.getSingleMetricAsString('berth_network_claim_allocated_seconds');
  expect(took).toContain(`berth_network_claim_allocated_seconds_count{cell="${location}"} 2`);

  // Its addresses hold the presence in the cell, and its range in the project.
  await alpha.project.delete(Network, { namespace: 'default', name: 'net' });
  await stack.until(
    'the presence is going',
    async () => said(await alpha.cellContext(name), 'Ready')?.reason === 'Terminating',
  );
  await stack.pass(90);
  const ages = await values('berth_network_context_terminating_seconds');
  expect(Object.keys(ages).sort()).toEqual([`cell/${location}`, 'project/project-alpha']);
  for (const age of Object.values(ages)) {
    expect(age).toBeGreaterThanOrEqual(85);
    expect(age).toBeLessThan(120);
  }
  await alpha.deleteClaim('held');
  await stack.cell().delete(NetworkInterface, { namespace: alpha.namespace, name: 'retained' });
  await stack.until('the network gone', async () => (await alpha.getNetwork('net')) === undefined);
  expect(await values('berth_network_context_terminating_seconds')).toEqual({});
});
