import type { Client, Clock, Random } from '../../kube/index.ts';
import { Event, formatMicroTime, type KubeObject, type OwnerReference, type Stored } from '../../meta/index.ts';
import type { ServedResource } from '../resource.ts';

const reporter = 'garbage-collector-controller';

/**
 * The warning kube-controller-manager records on an object whose owner is in a namespace where it cannot own it: reason
 * OwnerRefInvalidNamespace, in the object's namespace (`default` for a cluster-scoped one).
 */
export async function reportInvalidNamespace(
  client: Client,
  resource: ServedResource,
  object: Stored<KubeObject>,
  owner: OwnerReference,
  { clock, random }: { clock: Clock; random: Random },
): Promise<void> {
  const { name, namespace = '', uid } = object.metadata;
  const identity = `[${owner.apiVersion}/${owner.kind}, namespace: ${namespace}, name: ${owner.name}, uid: ${owner.uid}]`;
  const suffix = Buffer.from(random.bytes(8)).toString('hex');
  await client.create(Event, {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: `${name.slice(0, 200)}.${suffix}`, namespace: namespace === '' ? 'default' : namespace },
    eventTime: formatMicroTime(clock.now()),
    type: 'Warning',
    reason: 'OwnerRefInvalidNamespace',
    action: 'GarbageCollection',
    note: `ownerRef ${identity} does not exist in namespace ${JSON.stringify(namespace)}`,
    reportingController: reporter,
    reportingInstance: reporter,
    regarding: {
      apiVersion: object.apiVersion,
      kind: resource.kind,
      name,
      uid,
      ...(namespace === '' ? {} : { namespace }),
    },
  });
}
