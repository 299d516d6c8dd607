import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fabricLabels, Instance, NetworkAttachmentDefinition, type NetworkInterface } from '../../../api/index.ts';
import { apiVersionOf, type ObjectMeta, type Stored } from '../../../meta/index.ts';
import { decidePod, instanceRefOf, type PodAnswer, type PodSnapshot } from './decide.ts';

const namespace = 'ns-alpha';
const stored = { resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z', namespace };

function instanceOf(interfaces: (string | undefined)[], spec: object = {}): Stored<Instance> {
  return {
    apiVersion: apiVersionOf(Instance),
    kind: Instance.kind,
    metadata: { ...stored, name: 'web-0', uid: 'web-0-uid' },
    spec: spec as NonNullable<Instance['spec']>,
    status: {
      networkInterfaces: interfaces.map((name, at) => ({
        name: `eth${at}`,
        ...(name === undefined ? {} : { networkInterfaceRef: { name } }),
      })),
    },
  };
}

function podOf(more: Partial<ObjectMeta> = {}): PodSnapshot['pod'] {
  return {
    metadata: {
      name: 'web-0',
      labels: { [fabricLabels.injectInterfaces]: 'true' },
      ownerReferences: [
        { apiVersion: apiVersionOf(Instance), kind: 'Instance', name: 'web-0', uid: 'web-0-uid', controller: true },
      ],
      ...more,
    },
  };
}

function definitionOf(name: string, labels?: Record<string, string>): Stored<NetworkAttachmentDefinition> {
  return {
    apiVersion: apiVersionOf(NetworkAttachmentDefinition),
    kind: NetworkAttachmentDefinition.kind,
    metadata: {
      ...stored,
      name,
      uid: `${name}-uid`,
      labels: labels ?? { [fabricLabels.vpc]: '7kQ', [fabricLabels.vpcAttachment]: '1b' },
    },
    spec: { config: '{}' },
  };
}

interface Options {
  pod?: PodSnapshot['pod'];
  instance?: Stored<Instance> | undefined;
  names?: string[];
  definitions?: Stored<NetworkAttachmentDefinition>[];
}

function decided(options: Options = {}): PodAnswer {
  const { pod = podOf(), names = ['web-0-eth0', 'web-0-eth1', 'web-0-eth2'] } = options;
  const definitions = options.definitions ?? names.map((name) => definitionOf(name));
  return decidePod({
    pod,
    namespace,
    instance: 'instance' in options ? options.instance : instanceOf(['web-0-eth0']),
    interfaces: new Map(names.map((name) => [name, {} as Stored<NetworkInterface>])),
    definitions: new Map(definitions.map((each) => [each.metadata.name, each])),
  });
}

const networks = 'k8s.v1.cni.cncf.io/networks';

test('one interface is the pod\u2019s own network', () => {
  expect(decided()).toEqual({
    allowed: true,
    annotations: {
      'v1.multus-cni.io/default-network': 'ns-alpha/web-0-eth0',
      'networking.datumapis.com/injected-interfaces': 'ns-alpha/web-0-eth0',
    },
  });
});

test('further ones come beside it, in the instance\u2019s order', () => {
  expect(decided({ instance: instanceOf(['web-0-eth2', 'web-0-eth0', 'web-0-eth1', 'web-0-eth0']) })).toEqual({
    allowed: true,
    annotations: {
      'v1.multus-cni.io/default-network': 'ns-alpha/web-0-eth2',
      [networks]: 'ns-alpha/web-0-eth0,ns-alpha/web-0-eth1',
      'networking.datumapis.com/injected-interfaces': 'ns-alpha/web-0-eth2,ns-alpha/web-0-eth0,ns-alpha/web-0-eth1',
    },
  });
});

describe('what the pod asks for already stays, once', () => {
  const both = instanceOf(['web-0-eth0', 'web-0-eth1']);
  test.each([
    ['other/net@net1, web-0-eth1', 'other/net@net1,web-0-eth1'],
    ['storage', 'storage,ns-alpha/web-0-eth1'],
    ['', 'ns-alpha/web-0-eth1'],
    [
      '[{"name":"storage","interface":"net7"}]',
      '[{"name":"storage","interface":"net7"},{"name":"web-0-eth1","namespace":"ns-alpha"}]',
    ],
    ['[{"name":"web-0-eth1"}]', '[{"name":"web-0-eth1"}]'],
    ['[not a list', '[{"name":"web-0-eth1","namespace":"ns-alpha"}]'],
  ])('%j', (existing, expected) => {
    const answer = decided({ instance: both, pod: podOf({ annotations: { [networks]: existing } }) });
    expect(answer).toMatchObject({ allowed: true, annotations: { [networks]: expected } });
  });

  test('asked again, the answer is the same', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.constantFrom('web-0-eth0', 'web-0-eth1', 'web-0-eth2'), { minLength: 1 }),
        fc.constantFrom(undefined, 'storage', 'ns-alpha/web-0-eth1', '[{"name":"storage"}]'),
        (names, existing) => {
          const instance = instanceOf(names);
          const pod = podOf(existing === undefined ? {} : { annotations: { [networks]: existing } });
          const once = decided({ instance, pod });
          const { annotations } = pod.metadata;
          const again = { ...annotations, ...(once.allowed ? once.annotations : {}) };
          expect(decided({ instance, pod: podOf({ annotations: again }) })).toEqual(once);
        },
      ),
    );
  });
});

describe('left as it is', () => {
  test('a pod that does not ask', () => {
    expect(decided({ pod: podOf({ labels: {} }), instance: undefined })).toEqual({ allowed: true });
    const label = { [fabricLabels.injectInterfaces]: 'yes' };
    expect(decided({ pod: podOf({ labels: label }), instance: undefined })).toEqual({ allowed: true });
  });

  test('an instance without interfaces', () => {
    expect(decided({ instance: instanceOf([]) })).toEqual({ allowed: true });
  });
});

describe('denied, with the reason', () => {
  const owner = podOf().metadata.ownerReferences![0]!;
  const gone = instanceOf(['web-0-eth0']);
  const { deletionTimestamp } = { deletionTimestamp: '2026-01-01T00:00:00Z' };
  const ending = definitionOf('web-0-eth0');
  test.each<[string, Options, string, string]>([
    ['no owner', { pod: podOf({ ownerReferences: [] }) }, 'PodOwnerMissing', 'The pod is controlled by no Instance'],
    [
      'an owner that does not control it',
      { pod: podOf({ ownerReferences: [{ ...owner, controller: false }] }) },
      'PodOwnerMissing',
      'controlled by no Instance',
    ],
    [
      'an Instance of another group',
      { pod: podOf({ ownerReferences: [{ ...owner, apiVersion: 'compute.example.com/v1' }] }) },
      'PodOwnerMissing',
      'controlled by no Instance',
    ],
    ['an instance that is gone', { instance: undefined }, 'PodOwnerMissing', 'Instance web-0 is not there'],
    [
      'another instance of the name',
      { instance: { ...gone, metadata: { ...gone.metadata, uid: 'another' } } },
      'PodOwnerMissing',
      'Instance web-0 is not there, or is another one',
    ],
    [
      'an interface not bound yet',
      { instance: instanceOf(['web-0-eth0', undefined]) },
      'PodInterfaceMissing',
      'Interface eth1 of instance web-0 is not there',
    ],
    [
      'interfaces asked for that nobody has seen',
      { instance: instanceOf([], { networkInterfaces: [{ name: 'eth0', network: { name: 'default' } }] }) },
      'PodInterfaceMissing',
      'Interface eth0 of instance web-0 is not there',
    ],
    ['an interface that is gone', { names: [] }, 'PodInterfaceMissing', 'Interface web-0-eth0 of instance web-0'],
    ['no definition', { definitions: [] }, 'PodDefinitionMissing', 'has no NetworkAttachmentDefinition'],
    [
      'a definition that is going',
      { definitions: [{ ...ending, metadata: { ...ending.metadata, deletionTimestamp } }] },
      'PodDefinitionMissing',
      'has no NetworkAttachmentDefinition',
    ],
    [
      'a definition without identifiers',
      { definitions: [definitionOf('web-0-eth0', {})] },
      'PodIdentifierMissing',
      'has no identifiers',
    ],
    [
      'one with an identifier that is none',
      { definitions: [definitionOf('web-0-eth0', { [fabricLabels.vpc]: '7kQ', [fabricLabels.vpcAttachment]: '0' })] },
      'PodIdentifierMissing',
      'has no identifiers',
    ],
  ])('%s', (_, options, reason, message) => {
    const answer = decided(options);
    expect(answer).toMatchObject({ allowed: false, reason });
    expect(answer.allowed ? '' : answer.message).toContain(message);
  });
});

test('the instance is named by the controlling reference alone', () => {
  expect(instanceRefOf(podOf())?.name).toBe('web-0');
  expect(instanceRefOf({ metadata: { name: 'bare' } })).toBeUndefined();
});
