import {
  NetworkContext,
  NetworkInterface,
  NetworkInterfaceClaim,
  ServingLocation,
  Subnet,
} from '../../../api/index.ts';
import type { Plane, Request, Watch } from '../../../kube/index.ts';
import { isTerminating, type KubeObject, Namespace, type Stored } from '../../../meta/index.ts';
import type { Attachments } from '../attachments.ts';
import { indexClaims, keyOf, requestOf } from '../cell.ts';
import { isEnding } from './ending.ts';
import { interfaceNameOf, type Snapshot } from './snapshot.ts';

const byInterface = 'network/interface';
const byNetwork = 'network/network';
const byContext = 'network/context';

function inNamespace(object: KubeObject, name: string): string {
  return `${object.metadata.namespace ?? ''}/${name}`;
}

/** Everything that can change the decision about a claim looks at that claim again, and at no other. */
export function watchClaims(plane: Plane, watch: Watch, attachments: Attachments): void {
  const claims = plane.informer(NetworkInterfaceClaim);
  const contexts = plane.informer(NetworkContext);
  indexClaims(plane);
  claims.addIndex(byInterface, (claim) => [inNamespace(claim, interfaceNameOf(claim))]);
  claims.addIndex(byNetwork, (claim) => [inNamespace(claim, claim.spec.network.name)]);
  contexts.addIndex(byNetwork, (context) =>
    context.spec === undefined ? [] : [inNamespace(context, context.spec.network.name)],
  );
  plane
    .informer(Subnet)
    .addIndex(byContext, (subnet) =>
      subnet.spec === undefined ? [] : [inNamespace(subnet, subnet.spec.networkContext.name)],
    );
  const requests = (found: readonly Stored<NetworkInterfaceClaim>[]): Request[] =>
    found.map((claim) => requestOf(plane, claim));
  const ofContext = (context: Stored<NetworkContext>): Request[] =>
    context.spec === undefined
      ? []
      : requests(claims.byIndex(byNetwork, inNamespace(context, context.spec.network.name)));

  watch.on(plane, NetworkInterfaceClaim);
  watch.on(plane, NetworkInterface, (object) => {
    const key = inNamespace(object, object.metadata.name);
    return requests(claims.byIndex(byInterface, key));
  });
  attachments.follow(plane, watch, (object) => {
    const key = inNamespace(object, object.metadata.name);
    for (const request of requests(claims.byIndex(byInterface, key))) watch.enqueue(request);
  });
  watch.on(plane, NetworkContext, ofContext);
  watch.on(plane, Subnet, (subnet) => {
    const context = contexts.get(subnet.metadata.namespace ?? '', subnet.spec?.networkContext.name ?? '');
    return context === undefined ? [] : ofContext(context);
  });
  // What a cell is, and whom a namespace stands for, matters to claims that have no interface yet.
  const waiting = (found: readonly Stored<NetworkInterfaceClaim>[]): Request[] =>
    requests(found.filter((claim) => claim.status?.networkInterfaceRef === undefined));
  watch.on(plane, ServingLocation, () => waiting(claims.list()));
  watch.on(plane, Namespace, (namespace) => waiting(claims.list(namespace.metadata.name)));
}

/**
 * The state of one claim and all it depends on. What a release decides on is read live, the claim itself included: one that
 * has let go already, in a cache that is late, must not bring back an interface that was given back since. Undefined where
 * the claim is gone.
 */
export async function observe(
  plane: Plane,
  seen: Stored<NetworkInterfaceClaim>,
  attachments: Attachments,
  now: number,
): Promise<Omit<Snapshot, 'verificationDue'> | undefined> {
  const { namespace = '', uid } = seen.metadata;
  const name = interfaceNameOf(seen);
  const ending = isEnding(seen);
  const claim = ending ? await plane.client.get(NetworkInterfaceClaim, keyOf(seen)) : seen;
  if (claim?.metadata.uid !== uid) return undefined;
  const contexts = plane.informer(NetworkContext).byIndex(byNetwork, inNamespace(claim, claim.spec.network.name));
  const cellNamespace = plane.informer(Namespace).get('', namespace);
  const networkInterface = ending
    ? await plane.client.get(NetworkInterface, { namespace, name })
    : plane.informer(NetworkInterface).get(namespace, name);
  return {
    claim,
    networkInterface,
    attachment: attachments.of(plane, networkInterface),
    servingLocations: plane
      .informer(ServingLocation)
      .list()
      .map((location) => location.metadata.name),
    namespaceLabels: cellNamespace?.metadata.labels,
    namespaceTerminating: cellNamespace !== undefined && isTerminating(cellNamespace),
    contexts,
    subnets: contexts.flatMap((context) =>
      plane.informer(Subnet).byIndex(byContext, inNamespace(context, context.metadata.name)),
    ),
    now,
  };
}
