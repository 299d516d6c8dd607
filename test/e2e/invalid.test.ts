import { describe, expect, test } from 'vitest';
import { allKinds } from '../../src/api/index.ts';
import { ApiError, type KubeObject, type ResourceType } from '../../src/meta/index.ts';
import { Kubectl, kubectlTest } from './support/kubectl.ts';
import { networkObject, workloadObject } from './support/objects.ts';
import { usePlatform } from './support/platform.ts';

const running = usePlatform();

type Json = Record<string, unknown>;

/** A manifest with the value at a path replaced, or taken away. */
function changed(manifest: object, path: readonly (string | number)[], value: unknown): Json {
  const copy = structuredClone(manifest) as Json;
  const parent = path.slice(0, -1).reduce<Json>((node, key) => node[key] as Json, copy);
  const last = path.at(-1)!;
  if (value === undefined) delete parent[last];
  else parent[last] = value;
  return copy;
}

const network = networkObject('wrong');
const workload = workloadObject({ name: 'wrong', replicas: 1 });
const template = ['spec', 'template', 'spec'] as const;
const claimTemplate = {
  metadata: { name: 'primary' },
  spec: { network: { name: 'default' }, ipFamilies: ['IPv6'] },
};
const oneInterface = { network: { name: 'default' } };

interface Refusal {
  what: string;
  manifest: Json;
  /** Empty where it is no single field that is refused. */
  field: string;
  rule: string;
}

const refusals: Refusal[] = [
  {
    what: 'a family that is none',
    manifest: changed(network, ['spec', 'ipFamilies'], ['IPv6', 'IPv5']),
    field: 'spec.ipFamilies[1]',
    rule: 'Unsupported value: "IPv5": supported values: "IPv4", "IPv6"',
  },
  {
    what: 'an MTU below the range',
    manifest: changed(network, ['spec', 'mtu'], 576),
    field: 'spec.mtu',
    rule: 'should be greater than or equal to 1300',
  },
  {
    what: 'a missing field',
    manifest: changed(network, ['spec', 'ipam'], undefined),
    field: 'spec.ipam',
    rule: 'Required value',
  },
  {
    what: 'a text for a number',
    manifest: changed(network, ['spec', 'mtu'], 'large'),
    field: 'spec.mtu',
    rule: 'must be of type integer: "string"',
  },
  {
    what: 'interfaces and claim templates at once',
    manifest: changed(workload, [...template, 'networkInterfaceClaimTemplates'], [claimTemplate]),
    field: 'spec.template.spec',
    rule: 'give exactly one of networkInterfaces and networkInterfaceClaimTemplates',
  },
  {
    what: 'neither interfaces nor claim templates',
    manifest: changed(workload, [...template, 'networkInterfaces'], undefined),
    field: 'spec.template.spec',
    rule: 'give exactly one of networkInterfaces and networkInterfaceClaimTemplates',
  },
  {
    what: 'two interfaces',
    manifest: changed(
      workload,
      [...template, 'networkInterfaces'],
      [
        { ...oneInterface, name: 'eth0' },
        { ...oneInterface, name: 'eth1' },
      ],
    ),
    field: 'spec.template.spec.networkInterfaces',
    rule: 'must have at most 1 item',
  },
  {
    what: 'a family asked for twice',
    manifest: changed(workload, [...template, 'networkInterfaces', 0, 'ipFamilies'], ['IPv6', 'IPv6']),
    field: 'spec.template.spec.networkInterfaces[0].ipFamilies',
    rule: 'a family',
  },
  {
    what: 'a policy that is none',
    manifest: changed(workload, [...template, 'networkInterfaces', 0, 'reclaimPolicy'], 'Keep'),
    field: 'spec.template.spec.networkInterfaces[0].reclaimPolicy',
    rule: 'Unsupported value: "Keep": supported values: "Delete", "Retain"',
  },
  {
    what: 'a placement that names locations and selects them too',
    manifest: changed(workload, ['spec', 'placements', 0, 'locationSelector'], { matchLabels: { a: 'b' } }),
    field: 'spec.placements[0]',
    rule: 'give exactly one of locations and locationSelector',
  },
  {
    what: 'no placement',
    manifest: changed(workload, ['spec', 'placements'], []),
    field: 'spec.placements',
    rule: 'should have at least 1 items',
  },
  {
    what: 'a size the class does not hand out',
    manifest: {
      apiVersion: 'ipam.miloapis.com/v1alpha1',
      kind: 'IPClaim',
      metadata: { name: 'wrong', namespace: 'default' },
      spec: { className: 'public-unicast-ipv4', prefixLength: 28 },
    },
    field: '',
    rule: 'allows prefix lengths /32 to /32, not /28',
  },
  {
    what: 'a root pool that overlaps another',
    manifest: {
      apiVersion: 'ipam.miloapis.com/v1alpha1',
      kind: 'IPPool',
      metadata: { name: 'wrong' },
      spec: { cidr: '10.130.0.0/16', ipFamily: 'IPv4', classNames: ['subnet-ipv4'] },
    },
    field: '',
    rule: 'private-ipv4',
  },
];

function typeOf(manifest: Json): ResourceType {
  return allKinds.find((kind) => kind.kind === manifest.kind)!;
}

describe('what is refused names the field and the rule', () => {
  test.each(refusals)('$what', async ({ manifest, field, rule }) => {
    const error = await running()
      .project()
      .create(typeOf(manifest), manifest as unknown as KubeObject)
      .then(
        () => undefined,
        (reason: unknown) => reason,
      );
    expect(error).toBeInstanceOf(ApiError);
    const { code, message = '', details } = (error as ApiError).status;
    expect([400, 409, 422]).toContain(code);
    expect(message).toContain(rule);
    expect(code === 422).toBe(field !== '');
    if (field !== '') expect(details?.causes?.map((cause) => cause.field)).toContain(field);
  });
});

kubectlTest('kubectl prints the field and the rule of each', async () => {
  const kubectl = new Kubectl(running());
  await Promise.all(
    refusals.map(async ({ what, manifest, field, rule }) => {
      const said = await kubectl.refused(['apply', '--server-side', '--validate=false'], manifest);
      expect(said, what).toContain(field);
      expect(said, what).toContain(rule);
    }),
  );
});

kubectlTest('a field that is not in the schema is refused by kubectl apply as people use it', async () => {
  const kubectl = new Kubectl(running());
  const said = await kubectl.refused(['apply'], changed(network, ['spec', 'mtuBytes'], 1400));
  expect(said).toContain('strict decoding error: unknown field "spec.mtuBytes"');
  const { stdout } = await kubectl.try(
    ['apply', '--validate=ignore', '-o', 'json', '-f', '-'],
    JSON.stringify(changed(networkObject('pruned'), ['spec', 'mtuBytes'], 1400)),
  );
  expect(JSON.parse(stdout)).toMatchObject({ kind: 'Network', spec: { mtu: 1460 } });
  expect(stdout).not.toMatch(/"mtuBytes": 1400,?\n/);
});

kubectlTest('what may not change is refused by name, and what is there stays as it was', async () => {
  const kubectl = new Kubectl(running());
  const binding = {
    apiVersion: 'networking.datumapis.com/v1alpha',
    kind: 'NetworkBinding',
    metadata: { name: 'fixed', namespace: 'default' },
    spec: { network: { name: 'default' }, location: { name: 'us-central-1' } },
  };
  const workload = workloadObject({ name: 'fixed', replicas: 0 });
  for (const manifest of [binding, workload]) {
    const { code, stderr } = await kubectl.try(['apply', '-f', '-'], JSON.stringify(manifest));
    expect(stderr).toBe('');
    expect(code).toBe(0);
  }
  const moved = await kubectl.refused(['apply'], changed(binding, ['spec', 'network', 'name'], 'other'));
  expect(moved).toMatch(/The NetworkBinding "fixed" is invalid: spec\.network: Invalid value: .*immutable/);
  const policy = ['spec', 'template', 'spec', 'networkInterfaces', 0, 'reclaimPolicy'];
  const other = await kubectl.refused(['apply'], changed(workload, policy, 'Retain'));
  expect(other).toMatch(
    /The Workload "fixed" is invalid: spec\.template\.spec\.networkInterfaces\[0\]\.reclaimPolicy: Invalid value: .*immutable/,
  );
  expect(
    await kubectl.run('get', 'workload', 'fixed', '-o', 'jsonpath={.spec.template.spec.networkInterfaces[0]}'),
  ).toContain('"reclaimPolicy":"Delete"');
});
