import {
  IPClass,
  type IPPool,
  Location,
  LocationBinding,
  Network,
  topologyKeys,
  Workload,
} from '../../../src/api/index.ts';
import { apiVersionOf } from '../../../src/meta/index.ts';
import { rootPool } from '../../harness/datum.ts';

type Family = 'IPv4' | 'IPv6';
export type Policy = 'Delete' | 'Retain';

/** A network, as a consumer writes one. */
export function networkObject(name: string, ipFamilies: Family[] = ['IPv6', 'IPv4']): Network {
  return {
    apiVersion: apiVersionOf(Network),
    kind: Network.kind,
    metadata: { name, namespace: 'default' },
    spec: { ipam: { mode: 'Auto' }, ipFamilies } as Network['spec'],
  };
}

/** A location as an operator declares it, in a city. */
export function locationObject(name: string, topology: Record<string, string>): Location {
  return {
    apiVersion: apiVersionOf(Location),
    kind: Location.kind,
    metadata: { name },
    spec: { locationClassName: 'self-managed', topology, provider: {} },
  };
}

/** What gives a project the use of a location. */
export function locationBindingObject(name: string, cityCode?: string): LocationBinding {
  const topology = cityCode === undefined ? {} : { topology: { [topologyKeys.cityCode]: cityCode } };
  return {
    apiVersion: apiVersionOf(LocationBinding),
    kind: LocationBinding.kind,
    metadata: { name },
    spec: { locationRef: { name }, ...topology },
  };
}

export interface WorkloadShape {
  name: string;
  replicas: number;
  location?: string;
  network?: string;
  policy?: Policy;
  families?: Family[];
  /** IPAM classes of external addresses. */
  classes?: string[];
  image?: string;
}

/** A workload of one placement, as a consumer writes one. */
export function workloadObject(shape: WorkloadShape): Workload {
  const {
    name,
    replicas,
    location = 'us-central-1',
    network = 'default',
    policy = 'Delete',
    families = ['IPv6', 'IPv4'],
    classes = [],
    image = 'docker.io/library/nginx:1.29',
  } = shape;
  const spec = {
    template: {
      spec: {
        runtime: {
          resources: { instanceType: 'datumcloud/d1-standard-2' },
          sandbox: { containers: [{ name: 'main', image }] },
        },
        networkInterfaces: [
          {
            network: { name: network },
            ipFamilies: families,
            reclaimPolicy: policy,
            ...(classes.length === 0 ? {} : { addresses: classes.map((each) => ({ class: each })) }),
          },
        ],
      },
    },
    placements: [{ name: 'here', locations: [{ name: location }], scaleSettings: { minReplicas: replicas } }],
  };
  return {
    apiVersion: apiVersionOf(Workload),
    kind: Workload.kind,
    metadata: { name, namespace: 'default' },
    spec: spec as Workload['spec'],
  };
}

/** A class of single IPv4 addresses with a root pool of its own. */
export function scarceClass(name: string, cidr: string): { ipClass: IPClass; pool: IPPool } {
  return {
    ipClass: {
      apiVersion: apiVersionOf(IPClass),
      kind: IPClass.kind,
      metadata: { name },
      spec: { ipFamily: 'IPv4', defaultPrefixLength: 32, allowedPrefixLengths: { min: 32, max: 32 } },
    },
    pool: rootPool(name, cidr, name),
  };
}
