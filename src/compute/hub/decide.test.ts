import { describe, expect, it } from 'vitest';
import {
  computeAnnotations,
  computeFinalizers,
  computeLabels,
  Instance,
  NetworkBinding,
  networkingLabels,
  topologyKeys,
  upstreamLabels,
  WorkloadDeployment,
} from '../../api/index.ts';
import { sourceUid } from '../../federation/index.ts';
import {
  apiVersionOf,
  type Condition,
  type KubeObject,
  type Namespace,
  parseTime,
  type Stored,
} from '../../meta/index.ts';
import { sourceGeneration } from '../shared/generation.ts';
import { condition, workload } from '../testing.ts';
import { decide as federate, type Snapshot } from './federator/decide.ts';
import { announcement, decide as project } from './projector/decide.ts';

const created = '2026-01-01T00:00:00Z';
const identity = (uid: string) => ({ uid, resourceVersion: '1', generation: 2, creationTimestamp: created });

function namespace(name: string, uid: string, labels: Record<string, string> = {}): Stored<Namespace> {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels, ...identity(uid) } };
}

function deployment(uid: string, more: object = {}, status?: object, network = 'default'): Stored<WorkloadDeployment> {
  const { template } = workload('web', 1).spec;
  template.spec.networkInterfaces![0]!.network.name = network;
  return {
    apiVersion: apiVersionOf(WorkloadDeployment),
    kind: WorkloadDeployment.kind,
    metadata: { name: 'web-here-x', namespace: 'default', ...identity(uid), ...more },
    spec: {
      workloadRef: { name: 'web', uid: 'w' },
      placementName: 'here',
      locationRef: { name: 'x' },
      template,
      scaleSettings: { minReplicas: 1, instanceManagementPolicy: 'OrderedReady' },
    },
    ...(status === undefined ? {} : { status }),
  } as Stored<WorkloadDeployment>;
}

const held = {
  finalizers: [computeFinalizers.federator],
  annotations: { [computeAnnotations.federationNamespace]: 'ns-u' },
};
const routed = { [upstreamLabels.clusterName]: 'cluster-alpha', [upstreamLabels.namespace]: 'default' };

function federated(more: Partial<Snapshot> = {}) {
  return federate({
    project: 'alpha',
    source: deployment('p', held),
    sourceNamespace: namespace('default', 'u'),
    hubNamespace: 'ns-u',
    hub: { id: 'hub' },
    now: parseTime(created)!,
    namespace: namespace('ns-u', 'n', routed),
    copy: undefined,
    binding: undefined,
    networking: true,
    data: undefined,
    ...more,
  });
}

const does = (steps: readonly { do: string }[]) => steps.map((step) => step.do);

/** The copy that the federator makes, as the hub stores it. */
function copyOf(more: object = {}, status?: object, source = deployment('p', held)): Stored<WorkloadDeployment> {
  const [create] = federated({ source }).filter((step) => step.do === 'create-copy');
  const { object } = create as { object: WorkloadDeployment };
  return {
    ...object,
    metadata: { ...object.metadata, ...identity('h'), ...more },
    ...(status === undefined ? {} : { status }),
  } as Stored<WorkloadDeployment>;
}

const located = (...conditions: Condition[]) => ({
  replicas: 1,
  currentReplicas: 0,
  updatedReplicas: 1,
  desiredReplicas: 1,
  readyReplicas: 0,
  observedGeneration: 2,
  location: { name: 'x' },
  conditions,
});

describe('the federator', () => {
  it('holds the deployment and records the namespace before it makes namespace and copy', () => {
    const steps = federated({ source: deployment('p'), namespace: undefined });
    expect(does(steps)).toEqual(['hold', 'record-namespace', 'create-namespace', 'create-copy']);
    expect(steps[2]).toMatchObject({ object: { metadata: { name: 'ns-u', labels: routed } } });
  });

  it('makes a copy for the cell of the location, which knows its source', () => {
    expect(copyOf().metadata).toMatchObject({
      name: 'web-here-x',
      namespace: 'ns-u',
      labels: { [topologyKeys.location]: 'x', [upstreamLabels.namespace]: 'default' },
      annotations: { [sourceUid]: 'p', 'compute.datumapis.com/source-generation': '2' },
    });
    expect(federated({ copy: copyOf() })).toEqual([]);
  });

  it.each([
    ['labels that the namespace lost', { namespace: namespace('ns-u', 'n') }, ['label-namespace']],
    ['a copy of an earlier deployment', { copy: copyOf({ annotations: { [sourceUid]: 'earlier' } }) }, ['delete-copy']],
    ['a copy that is going', { copy: copyOf({ deletionTimestamp: created }) }, []],
    ['what nobody carried there', { copy: copyOf({ annotations: {} }) }, ['tell-taken', 'report']],
    ['it, when it is going', { copy: copyOf({ annotations: {}, deletionTimestamp: created }) }, []],
    ['a copy that lost its mark', { copy: copyOf({ annotations: {} }), mark: 'p' }, ['update-copy']],
    ['an earlier one that lost it', { copy: copyOf({ annotations: {} }), mark: 'unknown' }, ['delete-copy']],
    [
      'one that lost its source, too',
      { source: undefined, copy: copyOf({ annotations: {} }), mark: 'unknown' },
      ['delete-copy'],
    ],
    ['a copy whose source is gone', { source: undefined, copy: copyOf() }, ['delete-copy']],
    ['a stranger without a source', { source: undefined, copy: copyOf({ annotations: {} }) }, []],
  ])('meets %s', (_, more, steps) => {
    const copy = 'copy' in more ? {} : { copy: copyOf() };
    expect(does(federated({ ...copy, ...more }))).toEqual(steps);
  });

  it('lets a deployment go only when the hub has no copy of it', () => {
    const source = deployment('p', { ...held, deletionTimestamp: created });
    expect(does(federated({ source, copy: copyOf() }))).toEqual(['delete-copy']);
    expect(does(federated({ source, copy: copyOf({ deletionTimestamp: created }) }))).toEqual([]);
    expect(does(federated({ source, copy: copyOf({ deletionTimestamp: created }, located()) }))).toEqual(['report']);
    expect(does(federated({ source }))).toEqual(['let-go']);
    expect(does(federated({ source, copy: copyOf({ annotations: {} }) }))).toEqual(['let-go']);
    // What lost its marks is drained all the same, and the cell is told by them which it is.
    const bare = { annotations: {}, labels: {} };
    expect(does(federated({ source, copy: copyOf(bare), mark: 'p' }))).toEqual(['delete-copy']);
    const going = copyOf({ ...bare, deletionTimestamp: created });
    expect(federated({ source, copy: going, mark: 'p' })).toMatchObject([
      {
        do: 'update-copy',
        object: { metadata: { labels: { [topologyKeys.location]: 'x' }, annotations: { [sourceUid]: 'p' } } },
      },
    ]);
    expect(federated({ source, copy: going, mark: 'unknown' })).toEqual([]);
  });
});

describe('the binding', () => {
  const copy = copyOf({}, located());
  const source = deployment('p', held, located());
  const [made] = federated({ source, copy }) as unknown as [{ object: NetworkBinding }];
  const binding = (more: object = {}, ...conditions: Condition[]): Stored<NetworkBinding> => ({
    ...made.object,
    metadata: { ...made.object.metadata, ...identity('b'), ...more },
    status: { conditions },
  });

  it('is made once the cell has said its location, owned by the copy, for its network', () => {
    expect(does(federated({ copy: copyOf({}, { ...located(), location: undefined }), source }))).not.toContain(
      'create-binding',
    );
    expect(made.object).toMatchObject({
      apiVersion: apiVersionOf(NetworkBinding),
      metadata: {
        name: 'web-here-x',
        namespace: 'ns-u',
        labels: { [networkingLabels.network]: 'default', [networkingLabels.location]: 'x' },
        ownerReferences: [{ uid: 'h', controller: true }],
      },
      spec: { network: { name: 'default' }, location: { name: 'x' }, consumer: { kind: 'Workload', name: 'web' } },
    });
    expect(federated({ source, copy, binding: binding() })).toEqual([]);
  });

  it('gets its labels back and keeps those of others', () => {
    const labels = { [networkingLabels.networkUID]: 'n', [networkingLabels.network]: 'default' };
    expect(federated({ source, copy, binding: binding({ labels }) })).toMatchObject([
      { do: 'label-binding', labels: { [networkingLabels.network]: 'default', [networkingLabels.location]: 'x' } },
    ]);
    const all = { ...labels, [networkingLabels.location]: 'x' };
    expect(federated({ source, copy, binding: binding({ labels: all }) })).toEqual([]);
  });

  it('of another network is replaced; that of an earlier copy, or of somebody else, is not touched', () => {
    const other = deployment('p', held, located(), 'other');
    const moved = copyOf({}, located(), other);
    expect(does(federated({ source: other, copy: moved, binding: binding() }))).toEqual(['delete-binding']);
    const going = binding({ deletionTimestamp: created });
    expect(does(federated({ source: other, copy: moved, binding: going }))).toEqual([]);
    const earlier = { kind: WorkloadDeployment.kind, uid: 'earlier', controller: true };
    const ofEarlier = binding({ ownerReferences: [earlier] });
    expect(does(federated({ source: other, copy: moved, binding: ofEarlier }))).toEqual([]);
    const theirs = binding({ ownerReferences: [] });
    expect(does(federated({ source: other, copy: moved, binding: theirs }))).toEqual([
      'update-copy',
      'tell-taken',
      'report',
    ]);
    // What names the same network serves as well.
    expect(does(federated({ source, copy, binding: theirs }))).toEqual([]);
  });

  it('is neither read nor written without networking', () => {
    expect(federated({ source, copy, networking: false })).toEqual([]);
  });

  it.each([
    ['ProjectUnresolved', 'False', true],
    ['NetworkNotFound', 'False', true],
    ['LocationNotAvailable', 'False', true],
    ['NetworkNotReady', 'False', false],
    ['NetworkNotFound', 'Unknown', false],
  ] as const)('shows its refusal on Available: %s %s', (reason, status, shown) => {
    for (const available of [undefined, 'False', 'True'] as const) {
      const cell = located(...(available === undefined ? [] : [condition('Available', available, 'FromTheCell')]));
      const refused = binding({}, condition('Ready', status, reason, 'not there'));
      const steps = federated({ source: deployment('p', held), copy: copyOf({}, cell), binding: refused });
      const update = steps.find((step) => step.do === 'update-copy') as { object: WorkloadDeployment } | undefined;
      const text = update?.object.metadata.annotations?.[computeAnnotations.networkRefusal];
      // The cell is told too, whatever is available: a replacement may wait there.
      expect(text).toBe(shown ? JSON.stringify({ reason, message: 'not there' }) : undefined);
      const report = steps.find((step) => step.do === 'report') as unknown as { status: { conditions: Condition[] } };
      const told = report.status.conditions.find(({ type }) => type === 'Available');
      if (shown && available !== 'True') {
        expect(told).toMatchObject({ status: 'False', reason, message: 'not there' });
        expect(told?.observedGeneration).toBeGreaterThan(0);
      } else expect(told?.reason).toBe(available === undefined ? undefined : 'FromTheCell');
      // Told once, it is not told again.
      const after = deployment('p', held, report.status);
      const carried = copyOf({}, cell);
      if (update !== undefined) carried.metadata.annotations = update.object.metadata.annotations!;
      expect(federated({ source: after, copy: carried, binding: refused })).toEqual([]);
      // Granted, the cell is told that as well.
      const granted = federated({
        source: after,
        copy: carried,
        binding: binding({}, condition('Ready', 'True', 'Ready')),
      });
      expect(does(granted).includes('update-copy')).toBe(shown);
    }
  });

  it('is the only one who may tell a cell of a refusal: a tenant’s annotation goes no further', () => {
    const told = JSON.stringify({ reason: 'NetworkNotFound', message: 'made up' });
    const lying = deployment('p', held, located());
    lying.metadata.annotations = { ...lying.metadata.annotations, [computeAnnotations.networkRefusal]: told };
    expect(federated({ source: lying, copy, binding: binding() })).toEqual([]);
  });
});

describe('the instance projector', () => {
  const source: Stored<Instance> = {
    apiVersion: apiVersionOf(Instance),
    kind: Instance.kind,
    metadata: {
      name: 'web-here-x-0',
      namespace: 'ns-u',
      labels: { ...routed, [computeLabels.deploymentUID]: 'h', team: 'blue' },
      annotations: { [sourceUid]: 'i' },
      ...identity('hi'),
      generation: 1,
    },
    spec: { runtime: { resources: { instanceType: 'small' } } },
    status: { conditions: [condition('Ready', 'True', 'Available')] },
  };
  const owner = deployment('p', held);
  const at = (more: Partial<Parameters<typeof project>[0]> = {}) =>
    project({ source, copy: undefined, deployment: owner, namespace: 'default', ...more });
  const copy = (more: object = {}, rest: object = {}): Stored<Instance> => {
    const [create] = at() as unknown as [{ object: Instance }];
    const metadata = { ...create.object.metadata, ...identity('pi'), generation: 1, ...more };
    return { ...create.object, metadata, ...(source.status === undefined ? {} : { status: source.status }), ...rest };
  };

  it('shows an instance to its project, owned by the deployment there', () => {
    expect(at()).toMatchObject([
      {
        do: 'create',
        object: {
          metadata: {
            name: 'web-here-x-0',
            namespace: 'default',
            labels: { team: 'blue', [computeLabels.deploymentUID]: 'p' },
            ownerReferences: [{ name: 'web-here-x', uid: 'p' }],
          },
        },
      },
      { do: 'status', status: source.status },
    ]);
    expect(copy().metadata.labels).not.toHaveProperty([upstreamLabels.clusterName]);
    expect(copy().metadata.ownerReferences?.[0]?.controller).toBeUndefined();
    expect(at({ copy: copy() })).toEqual([]);
  });

  it('says of the copy what was observed of the instance, by the copy’s own generation', () => {
    const said = (status: Instance['status']) =>
      status?.conditions?.map(({ observedGeneration }) => observedGeneration);
    const conditions = [
      { ...condition('Ready', 'True', 'Available'), observedGeneration: 2 },
      { ...condition('Programmed', 'True', 'Programmed'), observedGeneration: 1 },
    ];
    const annotations = { ...source.metadata.annotations, [sourceGeneration]: '2' };
    const opened = { ...source, metadata: { ...source.metadata, annotations }, status: { conditions } };
    const statusIn = (steps: ReturnType<typeof project>) =>
      steps.flatMap((step) => (step.do === 'status' ? [said(step.status)] : []));
    expect(statusIn(at({ source: opened }))).toEqual([[1, 0]]);
    expect(statusIn(at({ source: opened, copy: copy({ generation: 4 }) }))).toEqual([[4, 3]]);
    const other = { ...opened, spec: { runtime: { resources: { instanceType: 'large' } } } };
    expect(statusIn(at({ source: other, copy: copy({ generation: 4 }) }))).toEqual([[5, 4]]);
    const told = copy(
      { generation: 4 },
      { status: { conditions: conditions.map((each, index) => ({ ...each, observedGeneration: 4 - index })) } },
    );
    expect(at({ source: opened, copy: told })).toEqual([]);
  });

  it.each([
    ['without an owner', { deployment: undefined }, []],
    ['whose source is gone', { source: undefined, copy: copy() }, ['delete']],
    ['whose source is going', { source: going(source), copy: copy() }, ['delete']],
    ['that is a person\u2019s own', { source: undefined, copy: copy({ annotations: {} }) }, []],
    ['of an earlier instance', { copy: copy({ annotations: { [sourceUid]: 'earlier' } }) }, ['delete']],
    ['that is going', { copy: copy({ deletionTimestamp: created }, { status: {} }) }, []],
    ['with an old status', { copy: copy({}, { status: {} }) }, ['status']],
    ['owned by an earlier deployment', { deployment: deployment('p2', held), copy: copy() }, ['update']],
  ])('handles a copy %s', (_, more, steps) => {
    expect(does(at(more))).toEqual(steps);
  });
});

function going<T extends KubeObject>(object: Stored<T>): Stored<T> {
  return { ...object, metadata: { ...object.metadata, deletionTimestamp: created } };
}

describe('what a project is told as an Event', () => {
  const saying = (status: 'True' | 'False' | 'Unknown', reason: string) => ({
    conditions: [
      { type: 'Ready', status, reason, message: `because ${reason}`, lastTransitionTime: '2026-01-01T00:00:00Z' },
    ],
  });
  it.each([
    [
      'the first that is known',
      undefined,
      saying('True', 'Available'),
      { type: 'Normal', reason: 'Available', note: 'because Available' },
    ],
    [
      'a refusal',
      saying('Unknown', 'Pending'),
      saying('False', 'AddressPoolExhausted'),
      { type: 'Warning', reason: 'AddressPoolExhausted', note: 'because AddressPoolExhausted' },
    ],
    ['another reason', saying('False', 'A'), saying('False', 'B'), { type: 'Warning', reason: 'B', note: 'because B' }],
    ['the same again', saying('False', 'A'), saying('False', 'A'), undefined],
    ['nobody looked yet', undefined, saying('Unknown', 'Pending'), undefined],
  ] as const)('%s', (_, before, after, said) => {
    expect(announcement(before as Instance['status'], after as never)).toEqual(said);
  });
});
