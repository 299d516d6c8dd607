import { LocationBinding, NetworkContext, Subnet, topologyKeys } from '../../../api/index.ts';
import { type Controller, mergeStatus } from '../../../kube/index.ts';
import { isTerminating, type Stored } from '../../../meta/index.ts';
import type { NetworkDeps } from '../../shared/deps.ts';
import { subnetStatus } from '../context/decide.ts';

const reads = ['get', 'list', 'watch'];
const { group } = Subnet;

/** Where Subnets without a range of their own lay before ranges were IPAM's, by the city of their location (C.19). */
const cityRanges: Readonly<Record<string, string>> = { DFW: '10.128.0.0', DLS: '10.130.0.0', LHR: '10.132.0.0' };
export const cityPrefixLength = 20;

/**
 * Subnets that people wrote: their range is the one they name, or that of their location's city. A context's own Subnets
 * are published by the context's controller, and left alone here.
 */
export function legacySubnetController(deps: NetworkDeps): Controller {
  return {
    name: 'network-project-subnet',
    rules: {
      project: [
        { apiGroups: [group], resources: ['subnets', 'locationbindings'], verbs: reads },
        { apiGroups: [group], resources: ['subnets/status'], verbs: ['patch'] },
      ],
    },

    engage(plane, _planes, watch) {
      watch.on(plane, Subnet);
      watch.on(plane, LocationBinding, () =>
        plane
          .informer(Subnet)
          .list()
          .map(({ metadata }) => ({ plane: plane.id, namespace: metadata.namespace ?? '', name: metadata.name })),
      );
    },

    async reconcile(request, planes) {
      const plane = planes.get(request.plane);
      const subnet = plane?.informer(Subnet).get(request.namespace, request.name);
      if (plane === undefined || subnet === undefined || isTerminating(subnet)) return undefined;
      const location = subnet.spec?.location.name ?? '';
      const bindings = plane.informer(LocationBinding).list();
      const status = decide(subnet, cityOf(bindings, location), deps.clock.now());
      if (status !== undefined) await mergeStatus(plane.client, Subnet, subnet, status);
      return undefined;
    },
  };
}

function cityOf(bindings: readonly LocationBinding[], location: string): string | undefined {
  const binding = bindings.find(({ metadata, spec }) => (spec?.locationRef.name || metadata.name) === location);
  const topology: Record<string, string> = binding?.spec?.topology ?? {};
  return topology[topologyKeys.cityCode];
}

/** Pure. The status of a Subnet that no context published; nothing where its range is not known. */
export function decide(subnet: Stored<Subnet>, city: string | undefined, now: number): Subnet['status'] {
  const { spec } = subnet;
  if (spec === undefined || isPublished(subnet)) return undefined;
  if (spec.startAddress !== '') return subnetStatus(subnet, now);
  const startAddress = spec.ipFamily === 'IPv4' ? cityRanges[city ?? ''] : undefined;
  if (startAddress === undefined) return undefined;
  return subnetStatus({ ...subnet, spec: { ...spec, startAddress, prefixLength: cityPrefixLength } }, now);
}

function isPublished({ metadata, spec }: Stored<Subnet>): boolean {
  const owner = metadata.ownerReferences?.find((each) => each.controller === true);
  const family = spec?.ipFamily.toLowerCase() ?? '';
  return owner?.kind === NetworkContext.kind && metadata.name === `${owner.name}-${family}`;
}
