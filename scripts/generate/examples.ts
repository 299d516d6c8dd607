import {
  EgressShard,
  EgressShardParameters,
  Instance,
  InternetEgressClass,
  IPAllocation,
  IPClaim,
  IPClass,
  IPPool,
  type Kind,
  Location,
  LocationBinding,
  Network,
  NetworkAttachmentDefinition,
  NetworkBinding,
  NetworkContext,
  NetworkFabricIdentity,
  NetworkInterface,
  NetworkInterfaceClaim,
  NetworkPolicy,
  Project,
  ServingLocation,
  Subnet,
  SubnetClaim,
  VPC,
  VPCAttachment,
  Workload,
  WorkloadDeployment,
} from '../../src/api/index.ts';
import { apiVersionOf, type KubeObject, type ObjectMeta } from '../../src/meta/index.ts';

interface Example {
  metadata: ObjectMeta;
  spec?: unknown;
}

/** The example of a kind's reference page. Throws where the kind has none. */
export function exampleOf(kind: Kind): KubeObject {
  const example = examples.get(kind);
  if (example === undefined) throw new Error(`scripts/generate/examples.ts has no example of ${kind.kind}`);
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, ...example };
}

const inDefault = (name: string): ObjectMeta => ({ name, namespace: 'default' });
const inHub = (name: string): ObjectMeta => ({ name, namespace: 'ns-4f0c3f52-6ac1-4c5e-9d5e-2c1f4b1f7a10' });

const template = {
  spec: {
    runtime: {
      resources: { instanceType: 'datumcloud/d1-standard-2' },
      sandbox: { containers: [{ name: 'web', image: 'docker.io/library/nginx:1.29' }] },
    },
    networkInterfaces: [
      {
        network: { name: 'default' },
        ipFamilies: ['IPv6', 'IPv4'],
        reclaimPolicy: 'Retain',
        addresses: [{ class: 'public-unicast-ipv4' }],
      },
    ],
  },
};

const scope = {
  network: {
    apiGroup: 'networking.datumapis.com',
    kind: 'Network',
    name: 'default',
    uid: '8d9f2c8e-3c7e-4b7b-8f2d-5a4f6f0b1c22',
  },
  location: { apiGroup: 'networking.datumapis.com', kind: 'Location', name: 'us-central-1' },
};

const examples = new Map<Kind, Example>([
  [Project, { metadata: { name: 'alpha' } }],
  [Network, { metadata: inDefault('default'), spec: { ipam: { mode: 'Auto' }, ipFamilies: ['IPv6', 'IPv4'] } }],
  [
    NetworkContext,
    {
      metadata: inDefault('default-us-central-1'),
      spec: {
        network: { name: 'default' },
        location: { name: 'us-central-1' },
        ipFamilies: ['IPv6', 'IPv4'],
        mtu: 1460,
        networkGeneration: 1,
        fabricIdentity: 42,
      },
    },
  ],
  [
    NetworkBinding,
    {
      metadata: inHub('default-us-central-1'),
      spec: {
        network: { namespace: 'default', name: 'default' },
        location: { name: 'us-central-1' },
        consumer: { apiGroup: 'compute.datumapis.com', kind: 'WorkloadDeployment', name: 'web-us-us-central-1' },
      },
    },
  ],
  [NetworkPolicy, { metadata: inDefault('default'), spec: {} }],
  [
    NetworkInterface,
    {
      metadata: inHub('web-us-us-central-1-0-eth0'),
      spec: {
        network: { name: 'default' },
        claimRef: { name: 'web-us-us-central-1-0-eth0', uid: 'b6a0d4c4-3a0e-4b3a-9c57-0a2f5f4a8a01' },
        interfaceName: 'eth0',
        attachmentMode: 'Netns',
        mtu: 1460,
        addresses: [
          { family: 'IPv6', address: 'fd20:1000::1:0:0/96', gateway: 'fd20:1000::1', primary: true },
          { family: 'IPv4', address: '10.128.0.2/32', gateway: '10.128.0.1' },
        ],
        externalAddresses: [{ family: 'IPv4', address: '198.51.100.0', class: 'public-unicast-ipv4' }],
        reclaimPolicy: 'Retain',
      },
    },
  ],
  [
    NetworkInterfaceClaim,
    {
      metadata: inHub('web-us-us-central-1-0-eth0'),
      spec: {
        network: { name: 'default' },
        ipFamilies: ['IPv6', 'IPv4'],
        addresses: [{ class: 'public-unicast-ipv4' }],
        reclaimPolicy: 'Retain',
      },
    },
  ],
  [
    Subnet,
    {
      metadata: inDefault('default-us-central-1-ipv6'),
      spec: {
        subnetClass: 'private',
        networkContext: { name: 'default-us-central-1' },
        location: { name: 'us-central-1' },
        ipFamily: 'IPv6',
        startAddress: 'fd20:1000::',
        prefixLength: 64,
      },
    },
  ],
  [
    SubnetClaim,
    {
      metadata: inDefault('private'),
      spec: {
        subnetClass: 'private',
        networkContext: { name: 'default-us-central-1' },
        location: { name: 'us-central-1' },
        ipFamily: 'IPv4',
      },
    },
  ],
  [
    Location,
    {
      metadata: { name: 'us-central-1' },
      spec: {
        locationClassName: 'self-managed',
        topology: { 'topology.datum.net/city-code': 'DFW', 'topology.datum.net/region': 'us-central' },
        provider: {},
        coordinates: { latitude: '32.7767', longitude: '-96.7970' },
      },
    },
  ],
  [
    LocationBinding,
    {
      metadata: { name: 'us-central-1' },
      spec: {
        locationRef: { name: 'us-central-1' },
        locationClassName: 'self-managed',
        displayName: 'Dallas',
        topology: { 'topology.datum.net/city-code': 'DFW' },
      },
    },
  ],
  [
    ServingLocation,
    {
      metadata: { name: 'us-central-1' },
      spec: {
        topology: { 'topology.datum.net/city-code': 'DFW', 'topology.datum.net/region': 'us-central' },
        source: { generation: 1, publishedAt: '2026-11-01T12:00:00Z' },
      },
    },
  ],
  [
    InternetEgressClass,
    {
      metadata: { name: 'shared', annotations: { 'networking.datumapis.com/is-default-class': 'true' } },
      spec: {
        sharing: 'Shared',
        reach: ['IPv6'],
        parametersRef: { group: 'cloud.datumapis.com', kind: 'EgressShardParameters', name: 'shared' },
      },
    },
  ],
  [
    Workload,
    {
      metadata: inDefault('web'),
      spec: {
        template,
        placements: [{ name: 'us', locations: [{ name: 'us-central-1' }], scaleSettings: { minReplicas: 2 } }],
      },
    },
  ],
  [
    WorkloadDeployment,
    {
      metadata: inDefault('web-us-us-central-1'),
      spec: {
        workloadRef: { name: 'web', uid: '0d3c2b1a-7e6f-4d5c-8b9a-1f2e3d4c5b6a' },
        placementName: 'us',
        locationRef: { name: 'us-central-1' },
        template,
        scaleSettings: { minReplicas: 2 },
      },
    },
  ],
  [
    Instance,
    {
      metadata: inDefault('web-us-us-central-1-0'),
      spec: {
        ...template.spec,
        location: { name: 'us-central-1' },
        controller: { templateHash: '7c9f3b2d81', schedulingGates: [{ name: 'Network' }, { name: 'Quota' }] },
      },
    },
  ],
  [VPC, { metadata: inHub('default-us-central-1'), spec: { networks: ['10.128.0.0/20', 'fd20:1000::/64'] } }],
  [
    VPCAttachment,
    {
      metadata: inHub('web-us-us-central-1-0-eth0'),
      spec: {
        vpc: { name: 'default-us-central-1' },
        interfaceRef: { name: 'web-us-us-central-1-0-eth0' },
        interface: { name: 'eth0', mode: 'Netns', addresses: ['fd20:1000::1:0:0/96', '10.128.0.2/32'] },
      },
    },
  ],
  [
    NetworkAttachmentDefinition,
    {
      metadata: { ...inHub('web-us-us-central-1-0-eth0'), labels: { 'cloud.datumapis.com/vpc': 'G' } },
      spec: { config: '{"cniVersion":"1.0.0","name":"web-us-us-central-1-0-eth0","plugins":[]}' },
    },
  ],
  [
    EgressShard,
    {
      metadata: {
        name: 'shard-1',
        namespace: 'galactic-system',
        labels: { 'network.datumapis.com/egress-pool': 'shared', 'network.datumapis.com/egress-ipv6': 'true' },
      },
      spec: { targetRef: { kind: 'Node', name: 'edge-1' }, shardAddressIPv6: '2001:db8:64::1' },
    },
  ],
  [
    EgressShardParameters,
    {
      metadata: { name: 'shared' },
      spec: {
        shardNamespace: 'galactic-system',
        shardSelector: { matchLabels: { 'network.datumapis.com/egress-pool': 'shared' } },
      },
    },
  ],
  [
    NetworkFabricIdentity,
    {
      metadata: { name: 'id-42' },
      spec: {
        identity: 42,
        networkUID: '8d9f2c8e-3c7e-4b7b-8f2d-5a4f6f0b1c22',
        networkRef: { project: 'alpha', namespace: 'default', name: 'default' },
      },
    },
  ],
  [
    IPClass,
    {
      metadata: { name: 'endpoint-ipv6', annotations: { 'ipam.miloapis.com/is-default-class': 'true' } },
      spec: {
        ipFamily: 'IPv6',
        parentClassName: 'subnet-ipv6',
        allowedPrefixLengths: { min: 96, max: 96 },
        defaultPrefixLength: 96,
        retentionLease: '720h',
      },
    },
  ],
  [
    IPPool,
    {
      metadata: { name: 'private-ipv6' },
      spec: { cidr: 'fd20:1000::/36', ipFamily: 'IPv6', classNames: ['network-ipv6'], restPeriod: '60s' },
    },
  ],
  [
    IPClaim,
    {
      metadata: inDefault('web-us-us-central-1-0-eth0-f-ipv6'),
      spec: { ipFamily: 'IPv6', scope, reclaimPolicy: 'Delete' },
    },
  ],
  [
    IPAllocation,
    {
      metadata: inDefault('alloc-5c6f0b7a3d1e9f24'),
      spec: {
        ipFamily: 'IPv6',
        className: 'endpoint-ipv6',
        poolRef: { name: 'subnet-ipv6-default-us-central-1-1f2e3d4c' },
        purpose: 'Claim',
        claimRef: { namespace: 'default', name: 'web-us-us-central-1-0-eth0-f-ipv6' },
        reclaimPolicy: 'Delete',
      },
    },
  ],
]);
