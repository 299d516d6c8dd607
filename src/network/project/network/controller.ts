import { IPClaim, Network, NetworkContext, networkingFinalizers } from '../../../api/index.ts';
import {
  addFinalizer,
  type Controller,
  mergeStatus,
  type Plane,
  type Request,
  type Result,
  removeFinalizer,
} from '../../../kube/index.ts';
import { isTerminating, type Stored } from '../../../meta/index.ts';
import type { NetworkDeps } from '../../shared/deps.ts';
import { retryDelay } from '../../shared/retry.ts';
import { holdRange, refusedConditions, releaseRange } from '../ranges.ts';
import { concluded, decide, type Plan, type Snapshot, terminating } from './decide.ts';

const byNetwork = 'network/name';
const reads = ['get', 'list', 'watch'];

/** Networks and the ranges they hold. */
export function networkController(deps: NetworkDeps): Controller {
  return {
    name: 'network-project-network',
    rules: {
      project: [
        { apiGroups: [Network.group], resources: ['networks'], verbs: [...reads, 'patch'] },
        { apiGroups: [Network.group], resources: ['networks/status'], verbs: ['patch'] },
        { apiGroups: [Network.group], resources: ['networkcontexts'], verbs: [...reads, 'delete'] },
        { apiGroups: [IPClaim.group], resources: ['ipclaims'], verbs: ['get', 'create', 'delete'] },
      ],
    },

    engage(plane, _planes, watch) {
      watch.on(plane, Network);
      plane
        .informer(NetworkContext)
        .addIndex(byNetwork, ({ metadata, spec }) => [`${metadata.namespace ?? ''}/${spec?.network.name ?? ''}`]);
      watch.on(plane, NetworkContext, ({ metadata, spec }, event): Request[] =>
        // A network waits for its contexts to go; nothing else about them concerns it.
        event.type === 'deleted'
          ? [{ plane: plane.id, namespace: metadata.namespace ?? '', name: spec?.network.name ?? '' }]
          : [],
      );
    },

    async reconcile(request, planes) {
      const plane = planes.get(request.plane);
      const network = plane?.informer(Network).get(request.namespace, request.name);
      if (plane === undefined || network === undefined) return undefined;
      const snapshot = await observe(plane, network, deps);
      return act(decide(snapshot), snapshot, plane, deps);
    },
  };
}

async function observe(plane: Plane, network: Stored<Network>, deps: NetworkDeps): Promise<Snapshot> {
  const { namespace = '', name } = network.metadata;
  let contexts = plane.informer(NetworkContext).byIndex(byNetwork, `${namespace}/${name}`);
  if (isTerminating(network) && contexts.length === 0) {
    const listed = await plane.client.list(NetworkContext, { namespace });
    contexts = listed.items.filter((context) => context.spec?.network.name === name);
  }
  return { network, project: plane.name, contexts, classes: deps.ipamClasses };
}

async function act(plan: Plan, snapshot: Snapshot, plane: Plane, deps: NetworkDeps): Promise<Result> {
  const { network } = snapshot;
  switch (plan.do) {
    case 'nothing':
      return undefined;
    case 'delete-contexts':
      for (const { metadata } of plan.contexts) {
        const key = { namespace: metadata.namespace ?? '', name: metadata.name };
        await plane.client.delete(NetworkContext, key, { preconditions: { uid: metadata.uid } });
      }
      await mergeStatus(plane.client, Network, network, terminating(network, plan.waitsFor, deps.clock.now()));
      return undefined;
    case 'release':
      return release(plan, network, plane, deps);
    case 'hold': {
      let current = network;
      // Held before anything is: a range nobody would give back must not exist.
      for (const finalizer of plan.finalizers) {
        current = await addFinalizer(plane.client, Network, current, finalizer);
      }
      const answers = [];
      for (const range of plan.ranges) answers.push(await holdRange(plane.client, range));
      const status = concluded(current, answers, deps.clock.now());
      await mergeStatus(plane.client, Network, current, status);
      return answers.every((answer) => answer.held) ? undefined : { requeueAfterMilliseconds: retryDelay(deps.random) };
    }
  }
}

async function release(
  plan: Extract<Plan, { do: 'release' }>,
  network: Stored<Network>,
  plane: Plane,
  deps: NetworkDeps,
): Promise<Result> {
  for (const claim of plan.claims) {
    const occupied = await releaseRange(plane.client, claim);
    if (occupied === undefined) continue;
    const generation = network.metadata.generation ?? 1;
    const conditions = refusedConditions(occupied, network.status?.conditions, generation, deps.clock.now());
    await mergeStatus(plane.client, Network, network, { ...network.status, conditions });
    return { requeueAfterMilliseconds: retryDelay(deps.random) };
  }
  let current: Stored<Network> | undefined = network;
  for (const finalizer of [networkingFinalizers.networkPrefixRelease, networkingFinalizers.network]) {
    if (current === undefined) return undefined;
    current = await removeFinalizer(plane.client, Network, current, finalizer);
  }
  return undefined;
}
