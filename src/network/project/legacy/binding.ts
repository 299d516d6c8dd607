import {
  contextName,
  labelValue,
  Network,
  NetworkBinding,
  NetworkContext,
  networkingLabels,
  type Reason,
  reasonMessage,
  upstreamLabels,
} from '../../../api/index.ts';
import { type Controller, mergeStatus, type Plane, type Request } from '../../../kube/index.ts';
import {
  apiVersionOf,
  controllerReference,
  findCondition,
  isControlledBy,
  isTerminating,
  Namespace,
  type Stored,
} from '../../../meta/index.ts';
import { type Answer, bindingStatus, saidBy } from '../../shared/answer.ts';
import type { NetworkDeps } from '../../shared/deps.ts';

const reads = ['get', 'list', 'watch'];
const byNetwork = 'legacy/network';
const { group } = NetworkBinding;

/**
 * NetworkBindings that people wrote in their project before the platform made its own on the hub (C.19): the network gets a
 * context in the location, and the binding says whether that is ready, as long as both are there (F61). Presence keeps
 * what is made here, completes it, and removes it once nothing needs it any more.
 */
export function legacyBindingController(deps: NetworkDeps): Controller {
  return {
    name: 'network-project-binding',
    rules: {
      project: [
        { apiGroups: [group], resources: ['networkbindings', 'networks'], verbs: reads },
        { apiGroups: [group], resources: ['networkbindings/status'], verbs: ['patch'] },
        { apiGroups: [group], resources: ['networkcontexts'], verbs: [...reads, 'create'] },
        { apiGroups: [''], resources: ['namespaces'], verbs: reads },
      ],
    },

    engage(plane, _planes, watch) {
      watch.on(plane, NetworkBinding);
      watch.on(plane, Namespace, () => []);
      const bindings = plane.informer(NetworkBinding);
      bindings.addIndex(byNetwork, ({ metadata, spec }) => [keyOf(metadata.namespace, spec.network.name)]);
      const bindingsOf = (namespace: string | undefined, network: string): Request[] =>
        bindings
          .byIndex(byNetwork, keyOf(namespace, network))
          .map(({ metadata }) => ({ plane: plane.id, namespace: namespace ?? '', name: metadata.name }));
      watch.on(plane, Network, ({ metadata }) => bindingsOf(metadata.namespace, metadata.name));
      watch.on(plane, NetworkContext, ({ metadata, spec }) =>
        spec === undefined ? [] : bindingsOf(metadata.namespace, spec.network.name),
      );
    },

    async reconcile(request, planes) {
      const plane = planes.get(request.plane);
      const binding = plane?.informer(NetworkBinding).get(request.namespace, request.name);
      if (plane === undefined || binding === undefined || isTerminating(binding)) return undefined;
      const step = decide(observe(plane, binding));
      if (step === undefined) return undefined;
      if (step.create !== undefined) await plane.client.create(NetworkContext, step.create);
      const status = bindingStatus(binding, step.answer, request.namespace, deps.clock.now());
      await mergeStatus(plane.client, NetworkBinding, binding, status);
      return undefined;
    },
  };
}

function keyOf(namespace: string | undefined, name: string): string {
  return `${namespace ?? ''}/${name}`;
}

export interface Snapshot {
  binding: Stored<NetworkBinding>;
  network: Stored<Network> | undefined;
  /** Contexts of the project namespace. */
  contexts: readonly Stored<NetworkContext>[];
  /** Whether the namespace stands for another plane's: bindings there are the hub's presence's. */
  ofHub: boolean;
}

function observe(plane: Plane, binding: Stored<NetworkBinding>): Snapshot {
  const { namespace = '' } = binding.metadata;
  const labels = plane.informer(Namespace).get('', namespace)?.metadata.labels ?? {};
  return {
    binding,
    network: plane.informer(Network).get(namespace, binding.spec.network.name),
    contexts: plane.informer(NetworkContext).list(namespace),
    ofHub: [upstreamLabels.clusterName, upstreamLabels.namespace].some((key) => labels[key] !== undefined),
  };
}

export interface Step {
  create?: NetworkContext;
  answer: Answer;
}

/** Pure. What a legacy binding is told, and the context that is made for it. */
export function decide({ binding, network, contexts, ofHub }: Snapshot): Step | undefined {
  if (ofHub) return undefined;
  const { namespace = '' } = binding.metadata;
  const { network: named, location } = binding.spec;
  const refused = (reason: Reason, message: string): Step => ({ answer: { context: undefined, reason, message } });
  if (named.namespace !== undefined && named.namespace !== '' && named.namespace !== namespace) {
    const params = { network: named.name, namespace: named.namespace, own: namespace };
    return refused('NetworkReferenceInvalid', reasonMessage('NetworkReferenceInvalid', params));
  }
  if (network === undefined || isTerminating(network)) {
    const detail = network === undefined ? {} : { detail: 'it is being deleted' };
    return refused('NetworkNotFound', reasonMessage('NetworkNotFound', { network: named.name, namespace, ...detail }));
  }
  const found = contexts.filter(
    ({ spec }) => spec?.network.name === named.name && spec.location.name === location.name,
  );
  const usable = found.find((context) => !isTerminating(context) && isOf(context, network));
  if (usable !== undefined) {
    const context = usable.metadata.name;
    const ready = findCondition(usable.status?.conditions, 'Ready');
    if (ready?.status === 'True') return { answer: { context, ready: true } };
    return { answer: { context, ready: false, reason: ready === undefined ? undefined : saidBy(ready) } };
  }
  const [going] = found;
  if (going !== undefined) {
    const params = { context: going.metadata.name };
    return refused('NetworkContextTerminating', reasonMessage('NetworkContextTerminating', params));
  }
  const create = contextOf(network, location.name);
  return { create, answer: { context: create.metadata.name, ready: false, reason: undefined } };
}

/** Of this very network, not of one that had its name. */
function isOf(context: Stored<NetworkContext>, network: Stored<Network>): boolean {
  const uid = context.metadata.labels?.[networkingLabels.networkUID];
  return uid === undefined ? isControlledBy(context, network) : uid === network.metadata.uid;
}

function contextOf(network: Stored<Network>, location: string): NetworkContext {
  const { name, namespace = '', uid, generation = 1 } = network.metadata;
  const { ipFamilies = [], mtu } = network.spec;
  return {
    apiVersion: apiVersionOf(NetworkContext),
    kind: NetworkContext.kind,
    metadata: {
      name: contextName(name, location),
      namespace,
      labels: {
        [networkingLabels.network]: labelValue(name),
        [networkingLabels.location]: labelValue(location),
        [networkingLabels.networkUID]: uid,
      },
      ownerReferences: [controllerReference(network)],
    },
    spec: {
      network: { name },
      location: { name: location },
      ...(ipFamilies.length === 0 ? {} : { ipFamilies }),
      ...(mtu === undefined ? {} : { mtu }),
      networkGeneration: generation,
    },
  };
}
