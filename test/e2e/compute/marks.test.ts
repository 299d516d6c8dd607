import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  Instance,
  NetworkContext,
  NetworkInterface,
  Subnet,
  Workload,
  WorkloadDeployment,
} from '../../../src/api/index.ts';
import type { Client } from '../../../src/kube/index.ts';
import { isApiError, Namespace, type ResourceType } from '../../../src/meta/index.ts';
import { workloadObject } from '../support/objects.ts';
import { here, World } from './world.ts';

// By labels and annotations a copy is known for one. Whoever takes them off gets them back, and nothing else changes.

let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.stack.close());

type Place = readonly [what: string, plane: () => Client, type: ResourceType, namespace: () => string];

const ofNamespace = () => world.namespace;
const places: readonly Place[] = [
  ['deployments on the hub', () => world.stack.hub, WorkloadDeployment, ofNamespace],
  ['contexts on the hub', () => world.stack.hub, NetworkContext, ofNamespace],
  ['subnets on the hub', () => world.stack.hub, Subnet, ofNamespace],
  ['instances on the hub', () => world.stack.hub, Instance, ofNamespace],
  ['interfaces on the hub', () => world.stack.hub, NetworkInterface, ofNamespace],
  ['deployments in the cell', () => world.stack.cell(here), WorkloadDeployment, ofNamespace],
  ['contexts in the cell', () => world.stack.cell(here), NetworkContext, ofNamespace],
  ['subnets in the cell', () => world.stack.cell(here), Subnet, ofNamespace],
  ['the namespace in the cell', () => world.stack.cell(here), Namespace, () => ''],
  ['instances in the project', () => world.project, Instance, () => 'default'],
  ['interfaces in the project', () => world.project, NetworkInterface, () => 'default'],
];

async function marksOf(plane: Client, type: ResourceType, namespace: string): Promise<Record<string, unknown>> {
  const { items } = await plane.list(type, { namespace });
  const mine = type === Namespace ? items.filter(({ metadata }) => metadata.name === world.namespace) : items;
  return Object.fromEntries(
    mine.map(({ metadata: { name, labels = {}, annotations = {} } }) => [name, { labels, annotations }]),
  );
}

async function strip(plane: Client, type: ResourceType, namespace: string): Promise<void> {
  for (const name of Object.keys(await marksOf(plane, type, namespace))) {
    const body = { metadata: { labels: null, annotations: null } };
    await plane.patch(type, { namespace, name }, { type: 'merge', body }).catch((error) => {
      // It has gone meanwhile.
      if (!isApiError(error, 'NotFound')) throw error;
    });
  }
}

test.each(places)('%s', async (_, planeOf, type, namespaceOf) => {
  const before = await world.run({ name: 'web', replicas: 2 });
  const [plane, namespace] = [planeOf(), namespaceOf()];
  const marks = await marksOf(plane, type, namespace);
  expect(Object.keys(marks)).not.toEqual([]);
  await strip(plane, type, namespace);
  await world.stack.until('they have their marks again', async () => {
    const now = await marksOf(plane, type, namespace);
    return JSON.stringify(now) === JSON.stringify(marks);
  });
  const after = await world.ready('web', 2);
  expect([after.shown, after.claims, after.interfaces]).toEqual([before.shown, before.claims, before.interfaces]);

  // What is deleted is known to be to go as well, while its marks are off.
  await strip(plane, type, namespace);
  await world.project.delete(Workload, { namespace: 'default', name: 'web' });
  await strip(plane, type, namespace);
  await world.stack.until('nothing is left of it', async () => {
    const everywhere: [Client, ResourceType[]][] = [
      [world.project, [Workload, WorkloadDeployment, Instance, NetworkInterface]],
      [world.stack.hub, [WorkloadDeployment, Instance, NetworkInterface]],
      [world.stack.cell(here), [WorkloadDeployment]],
    ];
    for (const [at, types] of everywhere) {
      for (const each of types) if ((await at.list(each)).items.length > 0) return false;
    }
    return (await world.allocated()).length === 0;
  });
  await world.project.create(Workload, workloadObject({ name: 'web', replicas: 2 }));
  await world.ready('web', 2);
});
