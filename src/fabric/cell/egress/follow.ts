import { EgressShard, EgressShardParameters, NetworkContext } from '../../../api/index.ts';
import type { InformerEvent, Plane, Request, Watch } from '../../../kube/index.ts';
import { jsonEqual, type KubeObject, type Stored } from '../../../meta/index.ts';
import { reads } from '../cell.ts';
import { type EgressInputs, parametersNameOf } from './resolve.ts';

const byParameters = 'fabric/egress-parameters';
const byShardNamespace = 'fabric/shard-namespace';

/** Rights that reading a context's egress takes. */
export const egressRules = [
  { apiGroups: [NetworkContext.group], resources: ['networkcontexts'], verbs: reads },
  { apiGroups: [EgressShard.group], resources: ['egressshards'], verbs: reads },
  { apiGroups: [EgressShardParameters.group], resources: ['egressshardparameters'], verbs: reads },
];

/**
 * Enqueues what `requests` answers for every context whose way out may have become another one: by its own edit, by its
 * parameters', by a shard's. A shard that only says how it feels enqueues nothing.
 */
export function followEgress(
  plane: Plane,
  watch: Watch,
  requests: (context: Stored<NetworkContext>) => readonly Request[],
): void {
  const contexts = plane.informer(NetworkContext);
  const parameters = plane.informer(EgressShardParameters);
  contexts.addIndex(byParameters, (context) => some(parametersNameOf(context)));
  parameters.addIndex(byShardNamespace, ({ spec }) => some(spec?.shardNamespace));
  const ofParameters = (name: string) => contexts.byIndex(byParameters, name).flatMap(requests);

  watch.on(plane, NetworkContext, (context, event) =>
    hasChanged(event, ({ metadata, spec }) => [metadata.uid, metadata.labels, metadata.deletionTimestamp, spec])
      ? requests(context)
      : [],
  );
  watch.on(plane, EgressShardParameters, (object, event) =>
    hasChanged(event, ({ spec }) => spec) ? ofParameters(object.metadata.name) : [],
  );
  watch.on(plane, EgressShard, (shard, event) =>
    hasChanged(event, ({ metadata, status }) => [metadata.labels, status?.shardSID, status?.shardAddressIPv6])
      ? parameters
          .byIndex(byShardNamespace, shard.metadata.namespace ?? '')
          .flatMap(({ metadata }) => ofParameters(metadata.name))
      : [],
  );
}

/** What the way out of a context's VPC depends on, as the caches have it at one moment. */
export function observeEgress(plane: Plane, context: Stored<NetworkContext> | undefined): EgressInputs {
  const name = parametersNameOf(context);
  const parameters = name === undefined ? undefined : plane.informer(EgressShardParameters).get('', name);
  const namespace = parameters?.spec?.shardNamespace;
  return {
    context,
    parameters,
    shards: namespace === undefined ? [] : plane.informer(EgressShard).list(namespace),
  };
}

/** Whether an event is about what `part` shows: something came, went, or shows another one. */
export function hasChanged<T extends KubeObject>(
  event: InformerEvent<T>,
  part: (object: Stored<T>) => unknown,
): boolean {
  return event.type !== 'updated' || !jsonEqual(part(event.old), part(event.object));
}

function some(value: string | undefined): string[] {
  return value === undefined ? [] : [value];
}
