import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  computeFinalizers,
  computeLabels,
  hashedName,
  type Instance,
  type NetworkInterfaceClaim,
  WorkloadDeployment,
} from '../../../api/index.ts';
import {
  apiVersionOf,
  type Condition,
  findCondition,
  type ObjectMeta,
  parseTime,
  type Stored,
} from '../../../meta/index.ts';
import { interfaceRequest, templateHash } from '../../shared/template.ts';
import { arrivalMilliseconds, decide, type Plan, type Snapshot, type Step, slotsAtOnce } from './decide.ts';
import { claimOf, instanceOf } from './slots.ts';

const deleted = '2026-01-01T00:00:00Z';
const now = parseTime(deleted)!;

function stored<T extends { metadata: ObjectMeta }>(object: T, uid: string, more: Partial<ObjectMeta> = {}) {
  const metadata = {
    ...object.metadata,
    uid,
    resourceVersion: '1',
    creationTimestamp: deleted,
    generation: 1,
    ...more,
  };
  return { ...object, metadata } as T & { metadata: typeof metadata };
}

type Template = NonNullable<WorkloadDeployment['spec']>['template'];

function template(image = 'nginx:1', network = 'default', name = 'eth0'): Template {
  return {
    spec: {
      runtime: {
        resources: { instanceType: 'small' },
        sandbox: { containers: [{ name: 'web', image }] },
      },
      networkInterfaces: [{ network: { name: network }, name, ipFamilies: ['IPv6'], reclaimPolicy: 'Delete' }],
    },
  };
}

function deploymentOf(
  minReplicas: number,
  { spec = template(), uid = 'wd', ...more }: { spec?: Template; uid?: string } & Partial<ObjectMeta> = {},
): Stored<WorkloadDeployment> {
  return stored<WorkloadDeployment>(
    {
      apiVersion: apiVersionOf(WorkloadDeployment),
      kind: WorkloadDeployment.kind,
      metadata: { name: 'web', namespace: 'ns', finalizers: [computeFinalizers.workload] },
      spec: {
        workloadRef: { name: 'web', uid: 'w' },
        placementName: 'p',
        locationRef: { name: 'here' },
        template: spec,
        scaleSettings: { minReplicas, instanceManagementPolicy: 'OrderedReady' },
      },
    },
    uid,
    more,
  );
}

const says = (type: string, status: Condition['status'], reason = 'Said'): Condition => ({
  type,
  status,
  reason,
  message: `because of ${reason}`,
  lastTransitionTime: deleted,
});

/** `addressed`: ready, with addresses that it says. */
type InstanceState = 'absent' | 'fresh' | 'refused' | 'starting' | 'ready' | 'addressed' | 'terminating';
type ClaimState = 'absent' | 'ok' | 'bare' | 'terminating' | 'unfit';

function instanceIn(
  deployment: Stored<WorkloadDeployment>,
  ordinal: number,
  state: Exclude<InstanceState, 'absent'>,
  spec: Template = deployment.spec!.template,
  more: Partial<ObjectMeta> = {},
): Stored<Instance> {
  const object = instanceOf(deployment, ordinal, `web-${ordinal}`, templateHash(spec), ['Network', 'Quota']);
  const gated = state === 'fresh' || state === 'refused';
  if (!gated) object.spec!.controller!.schedulingGates = [];
  const status =
    state === 'ready' || state === 'addressed'
      ? says('Ready', 'True')
      : state === 'refused'
        ? says('Ready', 'False', 'AddressPoolExhausted')
        : says('Ready', state === 'fresh' ? 'Unknown' : 'False', 'Provisioning');
  return {
    ...stored(object, `i${ordinal}`, { ...(state === 'terminating' ? { deletionTimestamp: deleted } : {}), ...more }),
    status: {
      conditions: [status],
      ...(state === 'addressed' ? { networkInterfaces: [{ name: 'eth0' }] } : {}),
    },
  };
}

function claimIn(
  deployment: Stored<WorkloadDeployment>,
  ordinal: number,
  state: Exclude<ClaimState, 'absent'>,
  more: Partial<ObjectMeta> = {},
): Stored<NetworkInterfaceClaim> {
  const spec = state === 'unfit' ? template('nginx:1', 'earlier') : deployment.spec!.template;
  const request = interfaceRequest(spec.spec)!;
  const object = claimOf(deployment, ordinal, request, `web-${ordinal}-eth0`);
  return stored(object, `c${ordinal}`, {
    ...(state === 'terminating' ? { deletionTimestamp: deleted } : {}),
    ...(state === 'bare' ? { finalizers: [] } : {}),
    ...more,
  });
}

function plan(
  deployment: Stored<WorkloadDeployment>,
  instances: readonly Stored<Instance>[],
  claims: readonly Stored<NetworkInterfaceClaim>[],
  more: Partial<Snapshot> = {},
): Plan {
  return decide({
    deployment,
    location: ['here'],
    instances,
    claims,
    holderOf: (kind, name) =>
      (kind === 'Instance' ? instances : claims).find((each) => each.metadata.name === name) as Stored<Instance>,
    networking: true,
    networkThere: true,
    data: undefined,
    now,
    ...more,
  });
}

function told(steps: readonly Step[]): string[] {
  return steps.map((step) => ('object' in step ? `${step.do} ${step.object.metadata.name}` : step.do));
}

const instanceStates = ['absent', 'fresh', 'refused', 'starting', 'ready', 'addressed', 'terminating'] as const;
const claimStates = ['absent', 'ok', 'bare', 'terminating', 'unfit'] as const;

describe('every state of up to two slots', () => {
  const slotStates = instanceStates.flatMap((instance) =>
    [true, false].flatMap((current) =>
      instance === 'absent' && !current ? [] : claimStates.map((claim) => ({ instance, current, claim })),
    ),
  );

  it('is answered by the rules of slots', () => {
    let seen = 0;
    for (const [replicas, ending] of [
      [1, false],
      [2, false],
      [2, true],
    ] as const) {
      for (const zero of slotStates) {
        for (const one of slotStates) {
          check(replicas, ending, [zero, one]);
          seen++;
        }
      }
    }
    expect(seen).toBe(3 * 65 * 65);
  });

  function check(replicas: number, ending: boolean, states: readonly (typeof slotStates)[number][]): void {
    const deployment = deploymentOf(replicas, ending ? { deletionTimestamp: deleted } : {});
    const count = ending ? 0 : replicas;
    const older = template('nginx:0');
    const instances = states.flatMap(({ instance, current }, ordinal) =>
      instance === 'absent' ? [] : [instanceIn(deployment, ordinal, instance, current ? undefined : older)],
    );
    const claims = states.flatMap(({ claim }, ordinal) =>
      claim === 'absent' ? [] : [claimIn(deployment, ordinal, claim)],
    );
    const { steps, status } = plan(deployment, instances, claims);
    const did = told(steps);
    const is = (what: string, found: unknown, wanted: unknown) => {
      if (found !== wanted) expect({ [what]: found, replicas, ending, states, did }).toEqual({ [what]: wanted });
    };
    const does = (what: string) => did.includes(what);

    states.forEach(({ instance, current, claim }, ordinal) => {
      const name = `web-${ordinal}`;
      const inside = ordinal < count;
      // What runs on addresses nobody holds for it any more is replaced before its slot has a claim again.
      const lost = instance === 'addressed' && claim === 'absent';
      is(`replace-unclaimed ${name}`, does(`replace-unclaimed ${name}`), inside && lost);
      // A claim is made only in an empty slot of the wanted ones, an instance only with its slot's claim.
      is(`create-claim ${name}-eth0`, does(`create-claim ${name}-eth0`), inside && claim === 'absent' && !lost);
      is(
        `create-instance ${name}`,
        does(`create-instance ${name}`),
        inside && instance === 'absent' && (claim === 'absent' || claim === 'ok' || claim === 'bare'),
      );
      if (does(`create-claim ${name}-eth0`) && does(`create-instance ${name}`)) {
        is('claim first', did.indexOf(`create-claim ${name}-eth0`) < did.indexOf(`create-instance ${name}`), true);
      }
      // A claim goes, and its finalizer comes off, only without an instance in its slot.
      const unwanted = !inside || claim === 'unfit';
      is(
        `delete-claim ${name}-eth0`,
        does(`delete-claim ${name}-eth0`),
        instance === 'absent' && unwanted && (claim === 'ok' || claim === 'bare' || claim === 'unfit'),
      );
      // One that stays is protected, whoever took that off.
      is(
        `protect-claim ${name}-eth0`,
        does(`protect-claim ${name}-eth0`),
        claim === 'bare' && (inside || instance !== 'absent'),
      );
      is(
        `release-claim ${name}-eth0`,
        does(`release-claim ${name}-eth0`),
        instance === 'absent' && claim === 'terminating',
      );
      // An instance outside the wanted slots goes at once; nothing is deleted twice.
      const deletes = does(`delete-instance ${name}`);
      if (instance === 'absent' || instance === 'terminating') is(`deletes ${name}`, deletes, false);
      else if (!inside) is(`deletes ${name}`, deletes, true);
      // One of the present template is replaced only where it waits for a claim that waits for it.
      else if (current) {
        const gated = instance === 'fresh' || instance === 'refused';
        is(`deletes ${name}`, deletes, gated && claim === 'terminating');
      }
    });
    // Of what runs, one is replaced at a time, and only while every other slot is in order.
    const running = states.filter(
      ({ instance, current }, ordinal) =>
        ordinal < count &&
        !current &&
        (instance === 'starting' || instance === 'ready' || instance === 'addressed') &&
        does(`delete-instance web-${ordinal}`),
    );
    is('one at a time', running.length <= 1, true);
    is('let-go', does('let-go'), ending && instances.length === 0 && claims.length === 0);
    is('desired', status.desiredReplicas, count);
    is(
      'ready',
      status.readyReplicas,
      states.filter(({ instance }, ordinal) => ordinal < count && (instance === 'ready' || instance === 'addressed'))
        .length,
    );
  }
});

describe('a roll', () => {
  const older = template('nginx:0');
  const rolled = (...states: readonly (readonly [Exclude<InstanceState, 'absent'>, 'old' | 'new'] | undefined)[]) => {
    const deployment = deploymentOf(states.length);
    const instances = states.flatMap((state, ordinal) =>
      state === undefined ? [] : [instanceIn(deployment, ordinal, state[0], state[1] === 'old' ? older : undefined)],
    );
    const claims = states.map((_, ordinal) => claimIn(deployment, ordinal, 'ok'));
    return told(plan(deployment, instances, claims).steps).filter((step) => step.startsWith('delete'));
  };

  it.each([
    [
      'starts with the lowest ordinal',
      [
        ['ready', 'old'],
        ['ready', 'old'],
        ['ready', 'old'],
      ],
      ['web-0'],
    ],
    [
      'goes on when the one before is ready',
      [
        ['ready', 'new'],
        ['ready', 'old'],
        ['ready', 'old'],
      ],
      ['web-1'],
    ],
    [
      'waits for one that starts',
      [
        ['starting', 'new'],
        ['ready', 'old'],
      ],
      [],
    ],
    [
      'waits for one that was just made',
      [
        ['fresh', 'new'],
        ['ready', 'old'],
      ],
      [],
    ],
    [
      'waits for one that goes',
      [
        ['terminating', 'old'],
        ['ready', 'old'],
      ],
      [],
    ],
    ['waits for one that is not there yet', [undefined, ['ready', 'old']], []],
    [
      'does not wait for one whose network refuses',
      [
        ['refused', 'new'],
        ['ready', 'old'],
      ],
      ['web-1'],
    ],
    [
      'replaces those that never ran at once',
      [
        ['ready', 'old'],
        ['refused', 'old'],
        ['fresh', 'old'],
      ],
      ['web-1', 'web-2'],
    ],
    [
      'mends what is broken in the older template',
      [
        ['starting', 'old'],
        ['ready', 'new'],
      ],
      ['web-0'],
    ],
  ] as const)('%s', (_, states, deletes) => {
    expect(rolled(...states)).toEqual(deletes.map((name) => `delete-instance ${name}`));
  });

  it('to another network goes no further while that refuses', () => {
    const deployment = deploymentOf(2);
    const old = template('nginx:1', 'earlier');
    const next = (state: 'refused' | 'ready') =>
      told(
        plan(
          deployment,
          [instanceIn(deployment, 0, state), instanceIn(deployment, 1, 'ready', old)],
          [claimIn(deployment, 0, 'ok'), claimIn(deployment, 1, 'unfit')],
        ).steps,
      );
    expect(next('refused')).toEqual([]);
    expect(next('ready')).toEqual(['delete-instance web-1']);
  });
});

describe('slots', () => {
  it('are repaired: a second instance goes, and so does one without a number', () => {
    const deployment = deploymentOf(1);
    const right = instanceIn(deployment, 0, 'ready');
    const second = instanceIn(deployment, 0, 'ready', undefined, { name: 'other' });
    const unnumbered = instanceIn(deployment, 0, 'ready', undefined, { name: 'web-7', labels: {} });
    const claims = [claimIn(deployment, 0, 'ok')];
    for (const order of [
      [second, right, unnumbered],
      [right, unnumbered, second],
    ]) {
      expect(told(plan(deployment, order, claims).steps).sort()).toEqual([
        'delete-instance other',
        'delete-instance web-7',
      ]);
    }
  });

  it('wait for a name that is on its way out, and take another where somebody else has it', () => {
    const deployment = deploymentOf(1);
    const earlier = deploymentOf(1, { uid: 'earlier' });
    const theirs = claimIn(earlier, 0, 'ok');
    expect(told(plan(deployment, [], [theirs]).steps)).toEqual([]);
    const someones = claimIn(deployment, 0, 'ok', { ownerReferences: [] });
    const steps = plan(deployment, [], [], {
      holderOf: (_, name) => (name === 'web-0-eth0' ? (someones as never) : undefined),
    }).steps;
    expect(told(steps)).toEqual([`create-claim ${hashedName(['web-0', 'eth0'])}`, 'create-instance web-0']);
  });

  it('of an earlier deployment of this name keep theirs: nothing of it is touched', () => {
    const deployment = deploymentOf(1);
    const earlier = deploymentOf(1, { uid: 'earlier' });
    expect(told(plan(deployment, [instanceIn(earlier, 0, 'ready')], [claimIn(earlier, 0, 'ok')]).steps)).toEqual([]);
  });

  it('find a claim that has lost its label by its name, and label it again', () => {
    const deployment = deploymentOf(1);
    const claim = claimIn(deployment, 0, 'ok', { labels: { team: 'blue' } });
    const { steps } = plan(deployment, [instanceIn(deployment, 0, 'ready')], [claim]);
    expect(steps).toEqual([{ do: 'label-claim', object: claim, labels: { [computeLabels.instanceIndex]: '0' } }]);
  });

  it('let go of a claim of no slot at all', () => {
    const deployment = deploymentOf(0, { deletionTimestamp: deleted });
    const odd = { name: 'odd', labels: {} };
    const first = claimIn(deployment, 0, 'ok', odd);
    expect(told(plan(deployment, [], [first]).steps)).toEqual(['delete-claim odd']);
    const second = claimIn(deployment, 0, 'terminating', odd);
    expect(plan(deployment, [], [second]).steps).toEqual([{ do: 'release-claim', object: second, instances: [] }]);
  });

  it('give a claim of a renamed interface back once its instance has gone', () => {
    const deployment = deploymentOf(1, { spec: template('nginx:1', 'default', 'eth1') });
    const old = claimIn(deploymentOf(1), 0, 'ok');
    const running = instanceIn(deployment, 0, 'ready', template());
    expect(told(plan(deployment, [running], [old]).steps)).toEqual(['delete-instance web-0']);
    expect(told(plan(deployment, [], [old]).steps)).toEqual(['delete-claim web-0-eth0']);
  });

  it('have the number of replicas asked for, within the limits', () => {
    const of = (replicas: number | undefined, minReplicas: number, maxReplicas?: number) => {
      const deployment = deploymentOf(minReplicas);
      Object.assign(deployment.spec!, replicas === undefined ? {} : { replicas });
      Object.assign(deployment.spec!.scaleSettings, maxReplicas === undefined ? {} : { maxReplicas });
      return plan(deployment, [], []).status.desiredReplicas;
    };
    expect([of(undefined, 3), of(5, 3), of(1, 3), of(9, 3, 5), of(undefined, -1)]).toEqual([3, 5, 3, 5, 0]);
  });
});

describe('the wrong cell', () => {
  const deployment = deploymentOf(2, { finalizers: [] });
  const state = [
    [instanceIn(deployment, 0, 'ready'), instanceIn(deployment, 5, 'ready')],
    [claimIn(deployment, 0, 'ok')],
  ] as const;

  it.each([
    [['there'], 'LocationMismatch'],
    [['here', 'there'], 'AmbiguousServingLocation'],
  ])('starts nothing and stops nothing: %j', (location, reason) => {
    const { steps, status } = plan(deployment, ...state, { location });
    expect(told(steps)).toEqual(['hold']);
    expect(status.location).toBeUndefined();
    const ready = status.conditions?.find(({ type }) => type === 'ReplicasReady');
    expect([ready?.status, ready?.reason]).toEqual(['False', reason]);
  });

  it('is not contradicted by a cell that does not know where it is', () => {
    expect(told(plan(deployment, [], [], { location: [] }).steps)).toHaveLength(5);
  });

  it('still drains what ends', () => {
    const ending = deploymentOf(2, { deletionTimestamp: deleted });
    expect(told(plan(ending, ...state, { location: ['there'] }).steps)).toEqual([
      'delete-instance web-5',
      'delete-instance web-0',
    ]);
  });
});

describe('referenced data', () => {
  const missing = { reason: 'SourceNotFound', message: 'ConfigMap settings does not exist' } as const;
  const seen = (data: Snapshot['data'], deployment = deploymentOf(1)) => {
    const { steps, status } = plan(deployment, [], [], { data });
    const made = steps.flatMap((step) => (step.do === 'create-instance' ? [step.object] : []))[0];
    const ready = findCondition(status.conditions, 'ReferencedDataReady');
    return { gates: made?.spec?.controller?.schedulingGates?.map(({ name }) => name), ready, status };
  };

  it('is a gate of new instances, the last one, and a condition that says why it stays shut', () => {
    expect(seen(missing).gates).toEqual(['Network', 'Quota', 'ReferencedData']);
    expect(seen(missing).ready).toMatchObject({ status: 'False', ...missing });
    expect(seen('there').gates).toEqual(['Network', 'Quota', 'ReferencedData']);
    expect(seen('there').ready).toMatchObject({ status: 'True', reason: 'Ready' });
  });

  it('is nothing where the template references none: neither a gate nor a condition, a former one included', () => {
    expect(seen(undefined)).toMatchObject({ gates: ['Network', 'Quota'], ready: undefined });
    const { status } = seen(missing);
    expect(seen(undefined, { ...deploymentOf(1), status }).ready).toBeUndefined();
  });
});

describe('a network that is on its way', () => {
  const asked = (after: number, more: Partial<Snapshot> = {}) =>
    plan(deploymentOf(2), [], [], { networkThere: false, now: now + after, ...more });

  it('is waited for before the first claims are made, for a while', () => {
    const waits = asked(500);
    expect([told(waits.steps), waits.lookAgainAfterMilliseconds]).toEqual([[], arrivalMilliseconds - 500]);
    expect(waits.status.location).toEqual({ name: 'here' });
    const late = asked(arrivalMilliseconds);
    expect(told(late.steps)).toEqual([
      'create-claim web-0-eth0',
      'create-instance web-0',
      'create-claim web-1-eth0',
      'create-instance web-1',
    ]);
    expect(late.lookAgainAfterMilliseconds).toBeUndefined();
  });

  it('is not waited for by a deployment that runs, by one without a network, or by a clock behind the server’s', () => {
    const deployment = deploymentOf(2);
    const running = plan(deployment, [instanceIn(deployment, 0, 'ready')], [claimIn(deployment, 0, 'ok')], {
      networkThere: false,
    });
    expect(told(running.steps)).toEqual(['create-claim web-1-eth0', 'create-instance web-1']);
    const { networkInterfaces: _, ...spec } = template().spec;
    const none = plan(deploymentOf(1, { spec: { spec } }), [], [], { networkThere: false });
    expect(told(none.steps)).toEqual(['create-instance web-0']);
    expect(told(asked(-1000).steps)).toHaveLength(4);
  });
});

describe('very many slots', () => {
  const many = 3 * slotsAtOnce;
  const numbers = Array.from({ length: many }, (_, ordinal) => ordinal);
  const count = (steps: readonly Step[], what: string) => steps.filter((step) => step.do === what).length;

  it('are begun some at a time, each with its claim, and looked at again soon', () => {
    const deployment = deploymentOf(many);
    const { steps, lookAgainAfterMilliseconds } = plan(deployment, [], []);
    expect([count(steps, 'create-claim'), count(steps, 'create-instance')]).toEqual([slotsAtOnce, slotsAtOnce]);
    expect(lookAgainAfterMilliseconds).toBeLessThan(100);
    const done = numbers.slice(0, many - 1);
    const rest = plan(
      deployment,
      done.map((ordinal) => instanceIn(deployment, ordinal, 'ready')),
      done.map((ordinal) => claimIn(deployment, ordinal, 'ok')),
    );
    expect(told(rest.steps)).toEqual([`create-claim web-${many - 1}-eth0`, `create-instance web-${many - 1}`]);
    expect(rest.lookAgainAfterMilliseconds).toBeUndefined();
  });

  it('that wait for something hold back none behind them, and nobody looks again for them', () => {
    const deployment = deploymentOf(many);
    const waiting = numbers.slice(0, many - 1);
    const { steps, lookAgainAfterMilliseconds } = plan(
      deployment,
      waiting.map((ordinal) => instanceIn(deployment, ordinal, 'ready')),
      waiting.map((ordinal) => claimIn(deployment, ordinal, 'terminating')),
    );
    expect(told(steps)).toEqual([`create-claim web-${many - 1}-eth0`, `create-instance web-${many - 1}`]);
    expect(lookAgainAfterMilliseconds).toBeUndefined();
  });

  it('leave some at a time, highest first, and their claims after them', () => {
    const deployment = deploymentOf(1);
    const instances = numbers.map((ordinal) => instanceIn(deployment, ordinal, 'ready'));
    const claims = numbers.map((ordinal) => claimIn(deployment, ordinal, 'ok'));
    const first = plan(deployment, instances, claims);
    expect(told(first.steps).slice(0, 2)).toEqual([
      `delete-instance web-${many - 1}`,
      `delete-instance web-${many - 2}`,
    ]);
    expect([first.steps.length, first.lookAgainAfterMilliseconds]).toEqual([slotsAtOnce, 10]);
    const then = plan(deployment, instances.slice(0, 1), claims);
    expect([count(then.steps, 'delete-claim'), then.lookAgainAfterMilliseconds]).toEqual([slotsAtOnce, 10]);
  });
});

it('without networking makes instances alone, behind their quota gate', () => {
  const holderOf: Snapshot['holderOf'] = (kind) => {
    if (kind !== 'Instance') throw new Error('a claim was asked for');
    return undefined;
  };
  const { steps } = plan(deploymentOf(1), [], [], { networking: false, holderOf });
  expect(told(steps)).toEqual(['create-instance web-0']);
  expect((steps[0] as { object: Instance }).object.spec?.controller?.schedulingGates).toEqual([{ name: 'Quota' }]);
});

describe('what is said', () => {
  const one = (...states: Exclude<InstanceState, 'absent'>[]) => {
    const deployment = deploymentOf(states.length);
    const { status } = plan(
      deployment,
      states.map((state, ordinal) => instanceIn(deployment, ordinal, state)),
      [],
    );
    const [available, ready] = ['Available', 'ReplicasReady'].map((type) =>
      status.conditions?.find((each) => each.type === type),
    );
    return [available?.status, available?.reason, ready?.status, ready?.message.split(' [')[0]];
  };

  it('names the reason of most, with how many', () => {
    expect(one('refused', 'refused', 'ready')).toEqual([
      'True',
      'StableInstanceFound',
      'False',
      '2 of 3 instances wait: AddressPoolExhausted: because of AddressPoolExhausted',
    ]);
    expect(one('refused', 'fresh').slice(0, 2)).toEqual(['False', 'AddressPoolExhausted']);
    expect(one('fresh', 'fresh').slice(0, 3)).toEqual(['False', 'InstancesProvisioning', 'False']);
  });

  it('is not that instances are on their way where none is asked for', () => {
    expect(one().slice(0, 3)).toEqual(['False', 'ScaledToZero', 'True']);
  });
});

it('comes to rest from any state when what it asks for is done', () => {
  const slot = fc.record({
    instance: fc.constantFrom(...instanceStates),
    current: fc.boolean(),
    claim: fc.constantFrom(...claimStates),
  });
  fc.assert(
    fc.property(fc.array(slot, { maxLength: 4 }), fc.nat(3), fc.boolean(), (states, replicas, ending) => {
      const deployment = deploymentOf(replicas, ending ? { deletionTimestamp: deleted } : {});
      let instances = states.flatMap(({ instance, current }, ordinal) =>
        instance === 'absent'
          ? []
          : [instanceIn(deployment, ordinal, instance, current ? undefined : template('nginx:0'))],
      );
      let claims = states.flatMap(({ claim }, ordinal) =>
        claim === 'absent' ? [] : [claimIn(deployment, ordinal, claim)],
      );
      for (let round = 0; round < 40; round++) {
        const { steps } = plan(deployment, instances, claims);
        if (steps.length === 0 && instances.every((each) => each.status?.conditions?.[0]?.status === 'True')) {
          expect([instances.length, claims.length]).toEqual([replicas, replicas]);
          return;
        }
        const objectsOf = (pattern: RegExp) =>
          new Set<unknown>(steps.flatMap((step) => (pattern.test(step.do) && 'object' in step ? [step.object] : [])));
        const free = objectsOf(/^release-claim$/);
        const guarded = objectsOf(/^protect-claim$/);
        const going = objectsOf(/^(delete|replace)-/);
        if (steps.some((step) => step.do === 'let-go')) {
          expect([instances.length, claims.length, ending]).toEqual([0, 0, true]);
          return;
        }
        // Providers and network services do their part at once: what is deleted goes, what is made becomes ready.
        claims = claims
          .filter((claim) => !free.has(claim) && !(going.has(claim) && claim.metadata.finalizers?.length === 0))
          .map((claim) => {
            const { uid } = claim.metadata;
            if (guarded.has(claim)) return stored(claim, uid, { finalizers: [computeFinalizers.slotInUse] });
            return going.has(claim) ? stored(claim, uid, { deletionTimestamp: deleted }) : claim;
          });
        instances = instances
          .filter((each) => !going.has(each) && each.metadata.deletionTimestamp === undefined)
          .map((each) => ({
            ...each,
            spec: { ...each.spec!, controller: { ...each.spec!.controller!, schedulingGates: [] } },
            status: { conditions: [says('Ready', 'True')] },
          }));
        for (const step of steps) {
          if (step.do === 'create-claim') claims.push(stored(step.object, `n${round}-${step.object.metadata.name}`));
          if (step.do === 'create-instance')
            instances.push(stored(step.object, `n${round}-${step.object.metadata.name}`));
        }
      }
      throw new Error('it does not come to rest');
    }),
  );
});
