import {
  InternetEgressClass,
  Network,
  type NetworkContext,
  NetworkFabricIdentity,
  networkingAnnotations,
} from '../../../api/index.ts';
import type { Plane, Request } from '../../../kube/index.ts';
import { findCondition, type Stored } from '../../../meta/index.ts';
import type { NetworkDeps } from '../../shared/deps.ts';
import {
  contextsNaming,
  contextsOfClass,
  type Found,
  fabricKinds,
  fabricRules,
  hasFabric,
  identityOf,
  indexIdentities,
  indexNetworks,
  networksOfIdentity,
} from '../fabric.ts';
import type { Guard } from './controller.ts';
import { trustedSpec } from './trusted.ts';

/**
 * Contexts reach cells with the names of their Subnets, which travel by themselves: whoever is served there waits for them,
 * and has a gateway from the start. So none is carried before it was looked at.
 */
export function contextGuard(deps: NetworkDeps): Guard<NetworkContext> {
  const known = hasFabric(deps) ? fabricGuard(deps) : undefined;
  return {
    rules: known?.rules ?? { hub: [], project: [] },
    kinds: known?.kinds ?? { hub: [], project: [] },
    engage: (plane, planes, watch) => known?.engage(plane, planes, watch),
    trusted(source, told, project, hub) {
      if (told === undefined && !isLookedAt(source)) return undefined;
      return withSubnets(known?.trusted(source, told, project, hub) ?? source);
    },
  };
}

function isLookedAt({ status }: NetworkContext): boolean {
  const ready = findCondition(status?.conditions, 'Ready');
  return ready !== undefined && ready.status !== 'Unknown';
}

function withSubnets(source: Stored<NetworkContext>): Stored<NetworkContext> {
  const { ipv6SubnetRef, ipv4SubnetRef } = source.status?.ipam ?? {};
  const names = [ipv6SubnetRef, ipv4SubnetRef].flatMap((ref) => (ref === undefined ? [] : [ref.name]));
  if (names.length === 0) return source;
  const annotations = { ...source.metadata.annotations, [networkingAnnotations.subnets]: names.join(',') };
  return { ...source, metadata: { ...source.metadata, annotations } };
}

/** What the hub knows of their networks. */
function fabricGuard(deps: NetworkDeps): Guard<NetworkContext> {
  return {
    rules: {
      hub: fabricRules,
      project: [{ apiGroups: [Network.group], resources: ['networks'], verbs: ['get', 'list', 'watch'] }],
    },
    kinds: { hub: fabricKinds, project: [Network] },

    engage(plane, planes, watch) {
      if (plane.id === deps.hub) {
        indexIdentities(plane);
        watch.on(plane, NetworkFabricIdentity, (identity) => networksOfIdentity(planes, identity).flatMap(requestsOf));
        watch.on(plane, InternetEgressClass, ({ metadata }) =>
          planes
            .byRole('project')
            .flatMap((project) => contextsOfClass(project, metadata.name).map((each) => requestOf(project, each))),
        );
        return;
      }
      indexNetworks(plane);
      watch.on(plane, Network, (network, event) => (event.type === 'added' ? requestsOf({ plane, network }) : []));
    },

    trusted(source, told, project, hub) {
      if (source.spec === undefined) return source;
      const { network: named, egress } = source.spec;
      const network = project.informer(Network).get(source.metadata.namespace ?? '', named.name);
      const className = egress?.internet?.className;
      const known = {
        identity: network === undefined ? undefined : identityOf(hub, network.metadata.uid),
        egressClass: className === undefined ? undefined : hub.informer(InternetEgressClass).get('', className),
      };
      return { ...source, spec: trustedSpec(source.spec, told?.spec, known) };
    },
  };
}

function requestsOf({ plane, network }: Found): Request[] {
  return contextsNaming(plane, network).map((context) => requestOf(plane, context));
}

function requestOf(plane: Plane, { metadata }: Stored<NetworkContext>): Request {
  return { plane: plane.id, namespace: metadata.namespace ?? '', name: metadata.name };
}
