import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  Instance,
  Location,
  NetworkInterface,
  NetworkInterfaceClaim,
  ServingLocation,
  Workload,
  WorkloadDeployment,
} from '../../../src/api/index.ts';
import { Stack } from '../../harness/stack.ts';
import { said } from '../support/conditions.ts';
import { workloadObject } from '../support/objects.ts';
import { createLocation, Tenant, topology } from './world.ts';

// Cells come and go while the platform runs.

const [here, there] = ['us-central-1', 'eu-west-1'];
let stack: Stack;
let alpha: Tenant;

beforeEach(async () => {
  stack = await Stack.open({ projects: ['project-alpha'], cells: [here] });
  for (const [name, city] of [
    [here, 'DSM'],
    [there, 'DUB'],
  ] as const) {
    await createLocation(stack, name, topology(city));
  }
  alpha = await Tenant.open(stack);
  for (const name of [here, there]) await alpha.locationBinding(name, 'DSM');
  await alpha.network('net', ['IPv6', 'IPv4']);
});
afterEach(() => stack.close());

function run(name: string, at: string, policy: 'Delete' | 'Retain' = 'Delete'): Promise<unknown> {
  return alpha.project.create(Workload, workloadObject({ name, replicas: 1, location: at, network: 'net', policy }));
}

const workload = (name: string) => alpha.project.get(Workload, { namespace: 'default', name });
const ready = (name: string) =>
  stack.until(`workload ${name} ready`, async () => said(await workload(name), 'ReplicasReady')?.status === 'True');
const serving = (name: string) => stack.hub.get(ServingLocation, { namespace: '', name });
const blocked = async (name: string) =>
  (await serving(name))?.metadata.annotations?.['networking.datumapis.com/removal-blocked'];

it('a cell that is added is served everything that was meant for it', async () => {
  await run('early', there);
  await stack.until('its deployment on the hub', async () => {
    const { items } = await stack.hub.list(WorkloadDeployment);
    return items.some(({ metadata }) => metadata.name === `early-here-${there}`);
  });
  await stack.addCell(there);
  await ready('early');
  expect((await stack.cell(there).list(NetworkInterface)).items).toHaveLength(1);
  expect((await stack.cell(here).list(NetworkInterface)).items).toEqual([]);
});

it('what went in a cell just before it was lost sight of is shown no longer once it is seen again', async () => {
  const shown = async () => (await stack.hub.list(NetworkInterface)).items;
  await run('web', here);
  await ready('web');
  await stack.until('its interface shown', async () => (await shown()).length === 1);
  const [copy] = await shown();
  await alpha.project.delete(Workload, { namespace: 'default', name: 'web' });
  await stack.until('nothing shown', async () => (await shown()).length === 0);
  await stack.disengage(`cell/${here}`);
  // As it is where the agent ends between the end of the interface and that of its copy.
  const { uid: _, resourceVersion: __, ...metadata } = copy!.metadata;
  await stack.hub.create(NetworkInterface, { ...copy!, metadata });
  await stack.pass(5);
  expect(await shown(), 'while nobody can know').toHaveLength(1);
  stack.engage({ id: `cell/${here}`, role: 'cell', name: here });
  await stack.until('nothing shown again', async () => (await shown()).length === 0);
});

it('a location that is removed drains: it says what is left, keeps its cell’s identity, and goes after the last', async () => {
  await run('web', here, 'Retain');
  await ready('web');
  await stack.hub.delete(Location, { namespace: '', name: here });
  const first = await stack.until('what is left', () => blocked(here));
  expect(first).toContain('1 WorkloadDeployment');
  await stack.pass(120);
  expect(said(await workload('web'), 'ReplicasReady')?.status, 'nothing is taken from who is there').toBe('True');

  await alpha.project.delete(Workload, { namespace: 'default', name: 'web' });
  await stack.until('the workload gone', async () => (await workload('web')) === undefined);
  const retained = await stack.until('what is left now', async () => {
    const why = await blocked(here);
    return why?.includes('WorkloadDeployment') === false && why;
  });
  expect(retained).toContain('1 NetworkInterface');
  const copy = `web-here-${here}-0-eth0`;
  await stack.until('its tenant sees it unheld', async () => (await alpha.copy(copy))?.status?.phase === 'Available');
  await alpha.project.delete(NetworkInterface, { namespace: 'default', name: copy });
  await stack.until('its identity gone', async () => (await serving(here)) === undefined);
  const cell = stack.cell(here);
  await stack.until('and in its cell', async () => (await cell.list(ServingLocation)).items.length === 0);
  const left = [await cell.list(NetworkInterfaceClaim), await cell.list(NetworkInterface), await cell.list(Instance)];
  expect(left.map(({ items }) => items.length)).toEqual([0, 0, 0]);
});

it('a cell that is gone for good holds nothing back once an operator says so, and not before', async () => {
  await stack.addCell(there);
  await run('lost', there, 'Retain');
  await run('safe', here);
  await Promise.all([ready('lost'), ready('safe')]);
  const safe = (await stack.cell(here).list(NetworkInterface)).items.map(({ metadata, spec }) => [metadata.uid, spec]);
  const lost = `lost-here-${there}-0-eth0`;
  await stack.until('its copy in the project', () => alpha.copy(lost));
  await stack.disengage(`cell/${there}`);
  await alpha.project.delete(Workload, { namespace: 'default', name: 'lost' });
  await stack.pass(600);
  expect(await workload('lost'), 'it may come back').toBeDefined();
  const copies = async () => (await alpha.project.list(NetworkInterface)).items.map(({ metadata }) => metadata.name);
  expect(await copies()).toContain(lost);

  const annotations = { 'federation.datumapis.com/cell-lost': 'true' };
  await stack.hub.patch(
    Location,
    { namespace: '', name: there },
    { type: 'merge', body: { metadata: { annotations } } },
  );
  await stack.until('the workload gone', async () => (await workload('lost')) === undefined);
  await stack.until('its interfaces gone', async () => (await copies()).join() === `safe-here-${here}-0-eth0`);
  await stack.hub.delete(Location, { namespace: '', name: there });
  await stack.until('its identity gone', async () => (await serving(there)) === undefined);
  expect(
    (await stack.cell(here).list(NetworkInterface)).items.map(({ metadata, spec }) => [metadata.uid, spec]),
  ).toEqual(safe);
  expect(said(await workload('safe'), 'ReplicasReady')?.status).toBe('True');
});
