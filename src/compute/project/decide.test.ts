import { describe, expect, it } from 'vitest';
import {
  computeFinalizers,
  hashedName,
  type LocationBinding,
  type Workload,
  type WorkloadDeployment,
} from '../../api/index.ts';
import { type Condition, findCondition, type KubeObject, type Stored } from '../../meta/index.ts';
import { bindingOf, condition, workload } from '../testing.ts';
import { decide, type Snapshot, type Step } from './decide.ts';

const created = '2026-01-01T00:00:00Z';
let serial = 0;

function stored<T extends KubeObject>(object: T, more: object = {}): Stored<T> {
  const identity = { uid: `u${++serial}`, resourceVersion: '1', generation: 1, creationTimestamp: created };
  return { ...object, metadata: { ...object.metadata, ...identity, ...more } };
}

function workloadOf(placements: readonly object[] | number = 2, more: object = {}, name = 'web'): Stored<Workload> {
  const object = workload(name, typeof placements === 'number' ? placements : 1);
  if (typeof placements !== 'number') object.spec.placements = placements as never;
  return stored(object, { uid: 'w', finalizers: [computeFinalizers.workload], ...more }) as Stored<Workload>;
}

const binding = (name: string, more: object = {}) =>
  ({ ...stored(bindingOf(name)), ...more }) as Stored<LocationBinding>;

const here = [binding('us-central-1')];

function decided(more: Partial<Snapshot> = {}) {
  return decide({ workload: workloadOf(), bindings: here, deployments: [], now: 0, ...more });
}

function told(steps: readonly Step[]): string[] {
  return steps.map((step) => ('object' in step ? `${step.do} ${step.object.metadata.name}` : step.do));
}

/** What the steps leave, with the status cells have written. */
function deploymentsFor(snapshot: Partial<Snapshot>, status?: object, more: object = {}): Stored<WorkloadDeployment>[] {
  return decided(snapshot).steps.flatMap((step) =>
    step.do === 'create'
      ? [{ ...stored(step.object, more), ...(status === undefined ? {} : { status }) } as never]
      : [],
  );
}

const statusOf = (ready: number, total: number, ...conditions: Condition[]) => ({
  replicas: total,
  currentReplicas: ready,
  updatedReplicas: total,
  desiredReplicas: total,
  readyReplicas: ready,
  observedGeneration: 1,
  conditions,
});

const conditionOf = (plan: ReturnType<typeof decide>, type: string) => {
  const found = findCondition(plan.status.conditions, type);
  return [found?.status, found?.reason];
};

describe('deployments', () => {
  it('are one per placement and location, held before they are made', () => {
    const placements = [
      { name: 'a', locations: [{ name: 'x' }, { name: 'y' }, { name: 'gone' }], scaleSettings: { minReplicas: 1 } },
      { name: 'b', locationSelector: { matchLabels: { city: 'DSM' } }, scaleSettings: { minReplicas: 1 } },
    ];
    const y = binding('y', { spec: { locationRef: { name: 'y' }, topology: { city: 'DSM' } } });
    const { steps } = decided({ workload: workloadOf(placements, { finalizers: [] }), bindings: [binding('x'), y] });
    expect(told(steps)).toEqual(['hold', 'create web-a-x', 'create web-a-y', 'create web-b-y']);
  });

  it('are made once where two placements of one name choose one location', () => {
    const one = (minReplicas: number) => ({
      name: 'a',
      locations: [{ name: 'us-central-1' }],
      scaleSettings: { minReplicas },
    });
    const twice = workloadOf([one(1), one(5)]);
    const deployments = deploymentsFor({ workload: twice });
    expect(deployments.map(({ spec }) => spec?.scaleSettings.minReplicas)).toEqual([1]);
    expect(decided({ workload: twice, deployments }).steps).toEqual([]);
  });

  it('settle: what was made as asked is not written again', () => {
    expect(decided({ deployments: deploymentsFor({}) }).steps).toEqual([]);
  });

  it('keep the number somebody scaled them to, and their name', () => {
    const [made] = deploymentsFor({});
    const scaled = { ...made!, spec: { ...made!.spec!, replicas: 7 } };
    const { steps } = decided({ workload: workloadOf(3), deployments: [scaled] });
    expect(steps).toMatchObject([
      { do: 'update', object: { spec: { replicas: 7, scaleSettings: { minReplicas: 3 } } } },
    ]);
    expect(decided({ deployments: [scaled] }).steps).toEqual([]);
  });

  it('of two workloads that join to one name are told apart by a hash, for good', () => {
    const place = (name: string) => [
      { name, locations: [{ name: 'us-central-1' }], scaleSettings: { minReplicas: 1 } },
    ];
    const theirs = deploymentsFor({ workload: workloadOf(place('b-c'), { uid: 'other' }, 'a') });
    const mine = workloadOf(place('c'), {}, 'a-b');
    const hashed = hashedName(['a-b', 'c', 'us-central-1']);
    const made = deploymentsFor({ workload: mine, deployments: theirs });
    expect(made.map(({ metadata }) => metadata.name)).toEqual([hashed]);
    // The readable name has become free: nobody is renamed, since that would be another slot with other addresses.
    expect(decided({ workload: mine, deployments: made }).steps).toEqual([]);
  });

  it('wait behind those of an earlier workload of this name', () => {
    const earlier = deploymentsFor({ workload: workloadOf(2, { uid: 'earlier' }) }, undefined, {
      deletionTimestamp: created,
    });
    const plan = decided({ deployments: earlier });
    expect(plan.steps).toEqual([]);
    expect(plan.status.desiredReplicas).toBe(2);
    expect(conditionOf(plan, 'ReplicasReady')).toEqual(['False', 'InstancesProvisioning']);
  });

  it('stay while a location is not available for a moment, and go with its binding', () => {
    const status = { conditions: [condition('Available', 'False', 'Pending')] };
    const away = [binding('us-central-1', { status })];
    expect(told(decided({ bindings: away }).steps)).toEqual([]);
    const deployments = deploymentsFor({});
    expect(told(decided({ bindings: away, deployments }).steps)).toEqual([]);
    expect(told(decided({ bindings: [], deployments }).steps)).toEqual(['delete web-here-us-central-1']);
  });

  it('are deleted with the workload, which goes last', () => {
    const ending = workloadOf(2, { deletionTimestamp: created });
    const deployments = deploymentsFor({});
    expect(told(decided({ workload: ending, deployments }).steps)).toEqual(['delete web-here-us-central-1']);
    const going = deploymentsFor({}, undefined, { deletionTimestamp: created });
    expect(told(decided({ workload: ending, deployments: going }).steps)).toEqual([]);
    expect(told(decided({ workload: ending }).steps)).toEqual(['let-go']);
  });

  it('are neither made nor changed by a network of another namespace (F75)', () => {
    const refused = workloadOf();
    refused.spec.template.spec.networkInterfaces![0]!.network.namespace = 'elsewhere';
    const plan = decided({ workload: refused, deployments: deploymentsFor({}) });
    expect(plan.steps).toEqual([]);
    for (const type of ['Available', 'ReplicasReady']) {
      expect(conditionOf(plan, type)).toEqual(['False', 'NetworkReferenceInvalid']);
    }
  });
});

describe('what a workload says', () => {
  const twoPlaces = workloadOf(
    ['x', 'y'].map((name) => ({ name, locations: [{ name }], scaleSettings: { minReplicas: 4 } })),
  );
  const bindings = [binding('x'), binding('y')];
  const with2 = (first: object, second: object) => {
    const [x, y] = deploymentsFor({ workload: twoPlaces, bindings });
    return decided({
      workload: twoPlaces,
      bindings,
      deployments: [
        { ...x!, status: first },
        { ...y!, status: second },
      ] as never,
    });
  };
  const waits = (count: number, reason: string) =>
    condition('ReplicasReady', 'False', reason, `${count} of 4 instances wait: ${reason}: because`);

  it('is not ready before anything was made, or while nothing can be', () => {
    expect(conditionOf(decided(), 'ReplicasReady')).toEqual(['False', 'InstancesProvisioning']);
    const nowhere = decided({ bindings: [] });
    expect(conditionOf(nowhere, 'ReplicasReady')).toEqual(['False', 'NoMatchingLocations']);
    expect(conditionOf(nowhere, 'Available')).toEqual(['False', 'NoMatchingLocations']);
  });

  it('names each location that can not be used, of a placement that has others as well', () => {
    const said = (locations: readonly string[], type: string) => {
      const placement = {
        name: 'here',
        locations: locations.map((name) => ({ name })),
        scaleSettings: { minReplicas: 1 },
      };
      const workload = workloadOf([placement]);
      const ready = statusOf(1, 1, condition('Available', 'True', 'StableInstanceFound'));
      const deployments = deploymentsFor({ workload }, ready);
      const found = findCondition(decided({ workload, deployments }).status.conditions, type);
      return `${found?.status} ${found?.message.split(' (see')[0]}`;
    };
    expect(said(['us-central-1'], 'ReplicasReady')).toBe('True All 1 instances are ready');
    expect(said(['mars-1', 'us-central-1', 'mars-2'], 'ReplicasReady')).toBe(
      'False Location mars-1, mars-2 can not be used',
    );
    expect(said(['mars-1', 'us-central-1'], 'Available')).toBe('True Placement here is available');
    expect(said(['mars-1'], 'Available')).toBe(
      'False Placement here selects no location that is ready: mars-1 can not be used',
    );
  });

  it('is the reason of most instances in all deployments, else the first of the alphabet', () => {
    const plan = with2(statusOf(1, 4, waits(3, 'NetworkNotFound')), statusOf(0, 4, waits(4, 'AddressPoolExhausted')));
    expect(findCondition(plan.status.conditions, 'ReplicasReady')?.message).toBe(
      '4 of 8 instances wait: AddressPoolExhausted: because',
    );
    const even = with2(statusOf(1, 4, waits(3, 'NetworkNotFound')), statusOf(1, 4, waits(3, 'AddressPoolExhausted')));
    expect(conditionOf(even, 'ReplicasReady')).toEqual(['False', 'AddressPoolExhausted']);
  });

  it('counts those on their way without calling that a reason', () => {
    const way = condition('ReplicasReady', 'False', 'InstancesProvisioning', '2 of 4 instances are on their way');
    const plan = with2(statusOf(2, 4, way), statusOf(4, 4));
    const ready = findCondition(plan.status.conditions, 'ReplicasReady');
    expect(ready?.message).toMatch(/^2 of 8 instances are on their way/);
    expect(plan.status).toMatchObject({ deployments: 2, desiredReplicas: 8, readyReplicas: 6, observedGeneration: 1 });
  });

  it('is available with one deployment, else the worst reason any gives', () => {
    const no = (reason: string) => condition('Available', 'False', reason, 'because');
    const yes = condition('Available', 'True', 'StableInstanceFound');
    expect(conditionOf(with2(statusOf(0, 4, no('LocationMismatch')), statusOf(1, 4, yes)), 'Available')).toEqual([
      'True',
      'AvailablePlacementFound',
    ]);
    const worst = with2(statusOf(0, 4, no('AddressPoolExhausted')), statusOf(0, 4, no('LocationMismatch')));
    expect(conditionOf(worst, 'Available')).toEqual(['False', 'LocationMismatch']);
    const idle = with2(statusOf(0, 0, no('ScaledToZero')), statusOf(0, 4, no('InstancesProvisioning')));
    expect(conditionOf(idle, 'Available')).toEqual(['False', 'InstancesProvisioning']);
    const none = with2(statusOf(0, 0, no('ScaledToZero')), statusOf(0, 0, no('ScaledToZero')));
    expect(conditionOf(none, 'Available')).toEqual(['False', 'ScaledToZero']);
    expect(worst.status.placements?.map(({ conditions }) => conditions?.[0]?.reason)).toEqual([
      'AddressPoolExhausted',
      'LocationMismatch',
    ]);
  });

  it('does not take an old count for the new template or the new number', () => {
    const [made] = deploymentsFor({}, statusOf(2, 2), { generation: 2 });
    const plan = decided({ workload: workloadOf(3), deployments: [made!] });
    expect(plan.status).toMatchObject({ updatedReplicas: 0, readyReplicas: 2 });
    // Nor in the pass that hands the change on, when the deployment still says what it said.
    const [settled] = deploymentsFor({}, statusOf(2, 2));
    const rolled = workloadOf();
    rolled.spec.template.metadata = { annotations: { 'example.com/rolled': 'yes' } };
    expect(decided({ workload: rolled, deployments: [settled!] }).status).toMatchObject({ updatedReplicas: 0 });
    const grown = decided({ workload: workloadOf(3), deployments: [settled!] });
    expect(grown.status).toMatchObject({ desiredReplicas: 3, readyReplicas: 2 });
    expect(conditionOf(grown, 'ReplicasReady')).toEqual(['False', 'InstancesProvisioning']);
    const scaled = { ...made!, spec: { ...made!.spec!, replicas: 5 } };
    expect(conditionOf(decided({ deployments: [scaled] }), 'ReplicasReady')).toEqual([
      'False',
      'InstancesProvisioning',
    ]);
  });

  it('is said the same way again', () => {
    const [made] = deploymentsFor({}, statusOf(1, 2, waits(1, 'NetworkNotFound')));
    const first = decided({ deployments: [made!] });
    const again = { ...workloadOf(), status: first.status } as Stored<Workload>;
    expect(decided({ workload: again, deployments: [made!], now: 60_000 }).status).toEqual(first.status);
  });
});
