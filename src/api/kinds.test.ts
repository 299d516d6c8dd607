import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../meta/index.ts';
import { allKinds, crdManifest, IPAllocation, IPClaim, IPClass, IPPool, type Kind, kindsOf } from './index.ts';

const find = (name: string) => allKinds.find((kind) => kind.kind === name)!;

/** `Age, Ready, Message*`: `*` marks a column that is wide only. */
const columnsOf = (kind: Kind) =>
  kind.columns.map(({ name, priority }) => name + (priority === 1 ? '*' : '')).join(', ');

const seedsOf = (kind: Kind) => {
  const status = (kind.schema.properties as Record<string, { default?: { conditions: { type: string }[] } }>).status;
  return (status?.default?.conditions ?? []).map(({ type }) => type).join(', ');
};

/** Kind, group/version, plural, scope, status subresource, seeded conditions, columns: as kinds.md and fabric-kinds.md have them. */
const reference: [string, string, string, 'ns' | 'cluster', boolean, string, string][] = [
  [
    'Network',
    'networking.datumapis.com/v1alpha',
    'networks',
    'ns',
    true,
    'Ready',
    'IPv6Prefix, Ready, Reason, Age, IPFamilies*, IPAM*, MTU*',
  ],
  [
    'NetworkContext',
    'networking.datumapis.com/v1alpha',
    'networkcontexts',
    'ns',
    true,
    'Ready',
    'Age, Ready, Reason, IPv6Subnet',
  ],
  ['NetworkBinding', 'networking.datumapis.com/v1alpha', 'networkbindings', 'ns', true, 'Ready', 'Age, Ready, Reason'],
  ['NetworkPolicy', 'networking.datumapis.com/v1alpha', 'networkpolicies', 'ns', true, '', ''],
  [
    'NetworkInterface',
    'networking.datumapis.com/v1alpha',
    'networkinterfaces',
    'ns',
    true,
    'Allocated, Prepared, Programmed',
    'Age, Network, Phase, Claim, Allocated, Prepared, Programmed',
  ],
  [
    'NetworkInterfaceClaim',
    'networking.datumapis.com/v1alpha',
    'networkinterfaceclaims',
    'ns',
    true,
    'Bound, Allocated, Prepared, Programmed, Ready',
    'Age, Network, Interface, Ready, Reason',
  ],
  [
    'Subnet',
    'networking.datumapis.com/v1alpha',
    'subnets',
    'ns',
    true,
    'Allocated, Programmed, Ready',
    'Age, Ready, Reason, Start Address, Prefix Length',
  ],
  [
    'SubnetClaim',
    'networking.datumapis.com/v1alpha',
    'subnetclaims',
    'ns',
    true,
    'Allocated, Programmed, Ready',
    'Age, Ready, Reason',
  ],
  ['Location', 'networking.datumapis.com/v1alpha', 'locations', 'cluster', true, '', 'Class, City, Age, Ready, Reason'],
  [
    'LocationBinding',
    'networking.datumapis.com/v1alpha',
    'locationbindings',
    'cluster',
    true,
    '',
    'Location, Class, Available, Age',
  ],
  [
    'ServingLocation',
    'networking.datumapis.com/v1alpha',
    'servinglocations',
    'cluster',
    false,
    '',
    'City, Region, Source Generation, Age',
  ],
  [
    'InternetEgressClass',
    'networking.datumapis.com/v1alpha',
    'internetegressclasses',
    'cluster',
    true,
    '',
    'Controller, Sharing, Reach, Age',
  ],
  [
    'Workload',
    'compute.datumapis.com/v1alpha',
    'workloads',
    'ns',
    true,
    '',
    'Age, Available, Reason, Deployments, Replicas, Ready, Desired, Up-to-date, ReplicasReady',
  ],
  [
    'WorkloadDeployment',
    'compute.datumapis.com/v1alpha',
    'workloaddeployments',
    'ns',
    true,
    '',
    'Age, Available, Reason, Replicas, Ready, Desired, Up-to-date, Location',
  ],
  [
    'Instance',
    'compute.datumapis.com/v1alpha',
    'instances',
    'ns',
    true,
    'Programmed, Available, Ready, QuotaGranted',
    'Age, Ready, Reason, Network IP, External IP, Message*, Quota*',
  ],
  [
    'IPClass',
    'ipam.miloapis.com/v1alpha1',
    'ipclasses',
    'cluster',
    true,
    '',
    'Family, Parent, Prefix, Pool Per, Phase, Age, Source*, Strategy*, Unique Within*',
  ],
  [
    'IPPool',
    'ipam.miloapis.com/v1alpha1',
    'ippools',
    'cluster',
    true,
    '',
    'CIDR, Family, Classes, Utilization, Age, Parent*, Class*, Scope*, Phase*',
  ],
  [
    'IPClaim',
    'ipam.miloapis.com/v1alpha1',
    'ipclaims',
    'ns',
    true,
    '',
    'Class, Family, Allocated, Pool, Phase, Age, Scope*, Allocation*',
  ],
  [
    'IPAllocation',
    'ipam.miloapis.com/v1alpha1',
    'ipallocations',
    'ns',
    true,
    '',
    'Allocated, Pool, Class, Purpose, Phase, Age, Claim*, Reclaim*, Scope*',
  ],
  ['VPC', 'cloud.datumapis.com/v1alpha1', 'vpcs', 'ns', true, '', 'VPC, Ready'],
  ['VPCAttachment', 'cloud.datumapis.com/v1alpha1', 'vpcattachments', 'ns', true, '', ''],
  [
    'EgressShardParameters',
    'cloud.datumapis.com/v1alpha1',
    'egressshardparameters',
    'cluster',
    false,
    '',
    'Shard Namespace, Age',
  ],
  [
    'NetworkFabricIdentity',
    'cloud.datumapis.com/v1alpha1',
    'networkfabricidentities',
    'cluster',
    true,
    '',
    'Identity, Network UID, Project, Network, Age',
  ],
  [
    'EgressShard',
    'network.datumapis.com/v1alpha1',
    'egressshards',
    'ns',
    true,
    '',
    'TARGET, SHARD-SID, IPV6, IPV4, AGE',
  ],
  ['NetworkAttachmentDefinition', 'k8s.cni.cncf.io/v1', 'network-attachment-definitions', 'ns', false, '', ''],
  ['Project', 'resourcemanager.miloapis.com/v1alpha1', 'projects', 'cluster', true, 'Ready', 'Ready, Reason, Age'],
];

describe('the wire contract', () => {
  it('has the kinds of the reference and no other', () => {
    expect(allKinds.map(({ kind }) => kind).sort()).toEqual(reference.map(([name]) => name).sort());
  });

  it.each(reference)('%s is served as %s, %s', (name, apiVersion, plural, scope, status, seeds, columns) => {
    const kind = find(name);
    expect(`${kind.group}/${kind.version}`).toBe(apiVersion);
    expect(kind.plural).toBe(plural);
    expect(kind.singular).toBe(name.toLowerCase());
    expect(kind.listKind).toBe(`${name}List`);
    expect(kind.namespaced).toBe(scope === 'ns');
    expect(kind.subresources.status).toBe(status);
    expect(seedsOf(kind)).toBe(seeds);
    expect(columnsOf(kind)).toBe(columns);
  });

  it('seeds conditions as nobody else would', () => {
    const status = (find('Instance').schema.properties as Record<string, { default?: unknown }>).status;
    expect(status?.default).toMatchObject({
      conditions: [
        {
          type: 'Programmed',
          status: 'Unknown',
          reason: 'Pending',
          message: 'Waiting for controller',
          lastTransitionTime: '1970-01-01T00:00:00Z',
        },
        {},
        {},
        { type: 'QuotaGranted', reason: 'PendingEvaluation', message: 'Waiting for quota evaluation' },
      ],
    });
  });

  it('reads columns where the reference does', () => {
    const paths = (name: string) => find(name).columns.map(({ jsonPath }) => jsonPath);
    expect(paths('Instance').slice(3, 5)).toEqual([
      '.status.networkInterfaces[0].assignments.networkIP',
      '.status.networkInterfaces[0].assignments.externalIP',
    ]);
    expect(paths('Location')[1]).toBe(".spec.topology['topology\\.datum\\.net/city-code']");
    expect(paths('Workload')[7]).toBe('.status.updatedReplicas');
    expect(paths('NetworkBinding')[1]).toBe('.status.conditions[?(@.type=="Ready")].status');
  });

  it('scales deployments', () => {
    expect(find('WorkloadDeployment').subresources.scale).toEqual({
      specReplicasPath: '.spec.replicas',
      statusReplicasPath: '.status.replicas',
      labelSelectorPath: '.status.selector',
    });
  });
});

describe('planes', () => {
  const served = (role: Parameters<typeof kindsOf>[0]) => kindsOf(role).map(({ kind }) => kind);

  it('serve what is written on them', () => {
    expect(served('root')).toEqual(['Project']);
    expect(served('project')).toEqual(
      expect.arrayContaining([
        'Network',
        'Workload',
        'Instance',
        'NetworkInterface',
        'LocationBinding',
        'IPClaim',
        'IPPool',
      ]),
    );
    expect(served('hub')).toEqual(
      expect.arrayContaining(['Location', 'InternetEgressClass', 'NetworkBinding', 'NetworkFabricIdentity']),
    );
    expect(served('cell')).toEqual(
      expect.arrayContaining(['NetworkInterfaceClaim', 'VPC', 'VPCAttachment', 'EgressShard', 'ServingLocation']),
    );
  });

  it('keep claims out of a project, and projects\u2019 networks out of a cell', () => {
    expect(served('project')).not.toContain('NetworkInterfaceClaim');
    expect(served('cell')).not.toContain('Network');
  });
});

describe('IPAM\u2019s tables', () => {
  const row = (kind: Kind, object: object) =>
    kind.columns.map((column) => column.cell?.({ metadata: { name: 'x' }, ...object } as KubeObject) ?? column.name);

  it('print a class', () => {
    expect(
      row(IPClass, { spec: { ipFamily: 'IPv6', defaultPrefixLength: 64, poolPer: ['network', 'location'] } }),
    ).toEqual(['IPv6', '<none>', '/64', 'network,location', '<none>', 'Age', '<none>', '<none>', '<none>']);
  });

  it.each([
    [0, '0%'],
    [0.05, '<0.1%'],
    [0.1, '0.1%'],
    [12.3456, '12.3%'],
    [100, '100.0%'],
  ])('print a utilization of %d as %s', (utilizationPercent, expected) => {
    expect(
      row(IPPool, { spec: { cidr: '10.0.0.0/8', ipFamily: 'IPv4' }, status: { utilizationPercent } }).slice(0, 4),
    ).toEqual(['10.0.0.0/8', 'IPv4', '<none>', expected]);
  });

  it('print a scope as sorted role=name pairs', () => {
    const scope = { network: { kind: 'Network', name: 'default' }, location: { kind: 'Location', name: 'eu-west-1' } };
    expect(row(IPClaim, { spec: { scope } })[6]).toBe('location=eu-west-1 network=default');
  });

  it('print an object of which nothing is known', () => {
    expect(row(IPAllocation, {}).filter((text) => text !== '<none>')).toEqual(['Age']);
  });
});

describe('crdManifest', () => {
  it('is what a Kubernetes API server takes', () => {
    const { metadata, spec } = crdManifest(find('WorkloadDeployment'));
    expect(metadata).toEqual({
      name: 'workloaddeployments.compute.datumapis.com',
      annotations: { 'discovery.miloapis.com/parent-contexts': 'Project' },
    });
    expect(spec?.names).toEqual({
      kind: 'WorkloadDeployment',
      listKind: 'WorkloadDeploymentList',
      plural: 'workloaddeployments',
      singular: 'workloaddeployment',
    });
    expect(spec?.versions[0]).toMatchObject({ name: 'v1alpha', served: true, storage: true });
    expect(spec?.versions[0]?.subresources).toMatchObject({
      status: {},
      scale: { specReplicasPath: '.spec.replicas' },
    });
  });

  it('refuses a kind IPAM serves', () => {
    expect(() => crdManifest(IPClaim)).toThrow(/own API server/);
  });
});
