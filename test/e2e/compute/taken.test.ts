import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  Instance,
  NetworkBinding,
  NetworkContext,
  NetworkInterface,
  NetworkInterfaceClaim,
  Subnet,
  Workload,
  WorkloadDeployment,
} from '../../../src/api/index.ts';
import { sourceCell } from '../../../src/federation/index.ts';
import type { Client } from '../../../src/kube/index.ts';
import {
  apiVersionOf,
  Event,
  findCondition,
  type KubeObject,
  type ResourceType,
  type Stored,
} from '../../../src/meta/index.ts';
import { workloadObject } from '../support/objects.ts';
import { here, World } from './world.ts';

// Where somebody has made an object that has the name of a copy, it stays as it is, all who look are told what is in the way,
// and once it is deleted the copy is there.

let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.stack.close());

const ofNamespace = () => world.namespace;
const project = () => world.project;
const hub = () => world.stack.hub;
const cell = () => world.stack.cell(here);

type Place = readonly [what: string, plane: string, type: ResourceType, client: () => Client, namespace: () => string];

const places: readonly Place[] = [
  ['Instance of the project', 'project/alpha', Instance, project, () => 'default'],
  ['NetworkInterface of the project', 'project/alpha', NetworkInterface, project, () => 'default'],
  ['WorkloadDeployment of the hub', 'hub', WorkloadDeployment, hub, ofNamespace],
  ['NetworkContext of the hub', 'hub', NetworkContext, hub, ofNamespace],
  ['Subnet of the hub', 'hub', Subnet, hub, ofNamespace],
  ['Instance of the hub', 'hub', Instance, hub, ofNamespace],
  ['NetworkInterface of the hub', 'hub', NetworkInterface, hub, ofNamespace],
  ['WorkloadDeployment of the cell', `cell/${here}`, WorkloadDeployment, cell, ofNamespace],
  ['NetworkContext of the cell', `cell/${here}`, NetworkContext, cell, ofNamespace],
  ['Subnet of the cell', `cell/${here}`, Subnet, cell, ofNamespace],
];

/** What a person would make of the copy that is there: the same, for another reason. */
function byHand({ apiVersion, kind, metadata: { name, namespace }, spec }: Stored<KubeObject>): KubeObject {
  const asked = kind === WorkloadDeployment.kind ? { ...(spec as object), scaleSettings: { minReplicas: 0 } } : spec;
  return { apiVersion, kind, metadata: { name, ...(namespace === undefined ? {} : { namespace }) }, spec: asked };
}

const notesAbout = async (client: Client, { uid }: { uid: string }) =>
  (await client.list(Event)).items.flatMap(({ reason, regarding, note }) =>
    reason === 'CopyNameTaken' && regarding?.uid === uid ? [note] : [],
  );

async function gone(): Promise<void> {
  await world.project.delete(Workload, { namespace: 'default', name: 'web' });
  await world.stack.until('nothing is left of the workload', async () => {
    for (const client of [project(), hub(), cell()]) {
      for (const type of [WorkloadDeployment, Instance, NetworkInterface]) {
        if ((await client.list<KubeObject>(type)).items.length > 0) return false;
      }
    }
    return true;
  });
}

test.each(places)('%s', async (_, plane, type, clientOf, namespaceOf) => {
  await world.run({ name: 'web', replicas: 1 });
  const [client, namespace] = [clientOf(), namespaceOf()];
  const [copy] = (await client.list(type, { namespace })).items;
  const key = { namespace, name: copy!.metadata.name };
  await gone();
  let made: Stored<KubeObject> | undefined;
  await world.stack.restart(async () => {
    await client.delete(type, key);
    made = await client.create(type, byHand(copy!));
  });
  await world.project.create(Workload, workloadObject({ name: 'web', replicas: 1 }));

  const [note] = await world.stack.until('it is told', async () => {
    const notes = await notesAbout(client, made!.metadata);
    return notes.length > 0 && notes;
  });
  expect(note).toMatch(
    `${type.kind} ${key.name} in namespace ${namespace} of plane ${plane} was not made by the platform`,
  );
  await world.stack.settle();
  const { uid, labels, annotations } = (await client.get(type, key))!.metadata;
  expect({ uid, labels, annotations }).toEqual({ uid: made!.metadata.uid, labels: undefined, annotations: undefined });

  await client.delete(type, key);
  if (type === NetworkContext && plane.startsWith('cell/')) {
    // One that interfaces are on goes after the last of them.
    await gone();
    await world.project.create(Workload, workloadObject({ name: 'web', replicas: 1 }));
  }
  await world.ready('web', 1);
  await world.stack.until('the copy is there', async () => {
    const now = await client.get(type, key);
    return now !== undefined && now.metadata.uid !== uid && now.metadata.annotations !== undefined;
  });
});

test('a deployment and its workload say what on the hub is in their way, until it is gone', async () => {
  await world.run({ name: 'web', replicas: 1 });
  const [copy] = (await hub().list(WorkloadDeployment)).items;
  await gone();
  await hub().create(WorkloadDeployment, byHand(copy!) as WorkloadDeployment);
  await world.project.create(Workload, workloadObject({ name: 'web', replicas: 1 }));
  const { name, namespace = '' } = copy!.metadata;
  const said = [
    'False CopyNameTaken',
    `WorkloadDeployment ${name} in namespace ${namespace} of plane hub was not made by the platform, and the copy of that name waits until it is gone: delete it (see reasons.md#copynametaken)`,
  ];
  const available = ({ status }: WorkloadDeployment | Workload) => {
    const condition = findCondition(status?.conditions, 'Available');
    return [`${condition?.status} ${condition?.reason}`, condition?.message];
  };
  const all = async () => [...(await world.deployments()), (await world.workload('web'))!];
  await world.stack.until('both say so', async () =>
    (await all()).every((each) => JSON.stringify(available(each)) === JSON.stringify(said)),
  );
  await hub().delete(WorkloadDeployment, { namespace, name });
  await world.ready('web', 1);
  expect((await all()).map((each) => available(each)[0])).toEqual([
    'True StableInstanceFound',
    'True AvailablePlacementFound',
  ]);
});

test('a binding that is in the way is told where the network is missed', async () => {
  await world.run({ name: 'web', replicas: 1 });
  const [binding] = (await hub().list(NetworkBinding)).items;
  await gone();
  const { name, namespace = '' } = binding!.metadata;
  const key = { namespace, name };
  await world.stack.until('the binding has gone', async () => (await hub().get(NetworkBinding, key)) === undefined);
  const spec = { ...binding!.spec, network: { name: 'other' } };
  await hub().create(NetworkBinding, { ...(byHand(binding!) as NetworkBinding), spec });
  // Until nothing keeps the network here any more.
  await world.stack.until('no presence', async () => (await world.project.list(NetworkContext)).items.length === 0, 60);
  await world.project.create(Workload, workloadObject({ name: 'web', replicas: 1 }));
  const message = `NetworkBinding ${name} in namespace ${namespace} of plane hub was not made by the platform`;
  await world.stack.until('instance and workload say so', async () => {
    const [instance] = await world.instances('web');
    const ready = findCondition(instance?.status?.conditions, 'Ready');
    const available = findCondition((await world.workload('web'))?.status?.conditions, 'Available');
    return [ready, available].every((each) => each?.reason === 'CopyNameTaken' && each.message.startsWith(message));
  });
  await hub().delete(NetworkBinding, key);
  await world.ready('web', 1);
});

test('of two cells that publish under one name the first is shown, and it is told until one of the two is gone', async () => {
  const there = 'eu-west-1';
  await world.stack.close();
  world = await World.open({ cells: [here, there] });
  await world.run({ name: 'near', replicas: 1 });
  await world.run({ name: 'far', replicas: 1, location: there });
  const cells = [here, there].map((location) => world.stack.cell(location));
  const key = { namespace: world.namespace, name: 'same' };
  const claim: NetworkInterfaceClaim = {
    apiVersion: apiVersionOf(NetworkInterfaceClaim),
    kind: NetworkInterfaceClaim.kind,
    metadata: key,
    spec: {
      network: { name: 'default' },
      interfaceName: 'eth0',
      attachmentMode: 'Netns',
      ipFamilies: ['IPv6'],
      reclaimPolicy: 'Delete',
    },
  };
  const shownOf = async () => (await hub().get(NetworkInterface, key))?.metadata.annotations?.[sourceCell];
  await cells[0]!.create(NetworkInterfaceClaim, claim);
  await world.stack.until('the first is shown', async () => (await shownOf()) === here);
  await cells[1]!.create(NetworkInterfaceClaim, claim);
  const message = `NetworkInterface same in namespace ${world.namespace} is in location ${there} and in ${here}, and that of ${here} is shown: delete one of the two (see reasons.md#copynameshared)`;
  for (const client of [hub(), cells[1]!]) {
    await world.stack.until('it is told', async () =>
      (await client.list(Event)).items.some(({ reason, note }) => reason === 'CopyNameShared' && note === message),
    );
  }
  await cells[0]!.delete(NetworkInterfaceClaim, key);
  await world.stack.until('the other is shown', async () => (await shownOf()) === there);
});
