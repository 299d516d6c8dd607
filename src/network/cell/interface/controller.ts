import {
  IPClaim,
  NetworkInterface,
  NetworkInterfaceClaim,
  networkingFinalizers,
  reasonMessage,
} from '../../../api/index.ts';
import { addFinalizer, applyStatus, type Controller, type Plane, removeFinalizer } from '../../../kube/index.ts';
import { formatTime, isTerminating, Namespace, type Stored } from '../../../meta/index.ts';
import type { NetworkDeps } from '../../shared/deps.ts';
import { holderOf } from '../allocation/identity.ts';
import { release } from '../allocation/ledger.ts';
import { fieldManager, identityOf, keyOf, reads, requestOf } from '../cell.ts';
import { isSaid } from '../claim/act.ts';
import { isEnding } from '../claim/ending.ts';
import { recordOf } from '../routing.ts';
import { decide, type Snapshot, type Step } from './decide.ts';
import { type Lease, unheldStamp } from './lease.ts';
import { Leases } from './leases.ts';

const name = 'network-cell-interface';
const byHolder = 'network/holder';
const { group } = NetworkInterface;

/** Interfaces themselves: their end, those whose claim is gone, and those nobody holds. */
export function interfaceController(deps: NetworkDeps): Controller {
  const leases = new Leases({
    clock: deps.clock,
    client: (project) => deps.projectClient(name, project),
    retentionSeconds: deps.retentionSeconds,
  });

  /** IPAM is asked about interfaces that nobody holds, and about no other. */
  async function leaseOf(plane: Plane, networkInterface: Stored<NetworkInterface>): Promise<Lease> {
    const { metadata, spec } = networkInterface;
    const routing = recordOf(networkInterface);
    if (spec.claimRef !== undefined || isTerminating(networkInterface) || routing === undefined) {
      leases.forget(metadata.uid);
      return 'unknown';
    }
    return leases.of(networkInterface, {
      identity: identityOf(plane, metadata.namespace ?? '', metadata.name),
      routing,
    });
  }

  return {
    name,
    rules: {
      cell: [
        { apiGroups: [group], resources: ['networkinterfaces'], verbs: [...reads, 'patch', 'delete'] },
        { apiGroups: [group], resources: ['networkinterfaces/status'], verbs: ['patch'] },
        { apiGroups: [group], resources: ['networkinterfaceclaims'], verbs: reads },
        { apiGroups: [''], resources: ['namespaces'], verbs: reads },
        { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
      ],
      project: [
        { apiGroups: [IPClaim.group], resources: ['ipclaims'], verbs: ['get', 'list', 'delete'] },
        { apiGroups: [IPClaim.group], resources: ['ipallocations', 'ipclasses', 'ippools'], verbs: ['get'] },
      ],
    },

    engage(plane, _planes, watch) {
      if (plane.role !== 'cell') return;
      const interfaces = plane.informer(NetworkInterface);
      interfaces.addIndex(byHolder, ({ metadata, spec }) =>
        spec.claimRef === undefined ? [] : [`${metadata.namespace ?? ''}/${spec.claimRef.name}`],
      );
      watch.on(plane, Namespace, () => []);
      watch.on(plane, NetworkInterface, (object, event) => {
        if (event.type !== 'deleted') return [requestOf(plane, object)];
        leases.forget(object.metadata.uid);
        return [];
      });
      // A claim that lives looks after its interface; one that is gone may have left it behind.
      watch.on(plane, NetworkInterfaceClaim, (claim, event) =>
        event.type === 'deleted' || (event.type === 'added' && claim.metadata.deletionTimestamp === undefined)
          ? interfaces
              .byIndex(byHolder, `${claim.metadata.namespace ?? ''}/${claim.metadata.name}`)
              .map((object) => requestOf(plane, object))
          : [],
      );
    },

    async reconcile(request, planes) {
      const plane = planes.get(request.plane);
      const seen = plane?.informer(NetworkInterface).get(request.namespace, request.name);
      if (plane === undefined || seen === undefined) return undefined;
      const now = deps.clock.now();
      const lease = await leaseOf(plane, seen);
      const cached = decide({ networkInterface: seen, holder: holderInCache(plane, seen), lease, now });
      if (cached.do === 'rest') return undefined;
      if (cached.do === 'settle') {
        await act(cached, seen, plane, deps);
        return { requeueAfterMilliseconds: cached.again };
      }
      // Everything else takes something away or counts somebody as gone: that is decided on what is there now.
      const snapshot = await observe(plane, seen, lease, now);
      if (snapshot === undefined) return undefined;
      await act(decide(snapshot), snapshot.networkInterface, plane, deps);
      return undefined;
    },
  };
}

function holderInCache(plane: Plane, { metadata, spec }: Stored<NetworkInterface>) {
  const holder = spec.claimRef?.name;
  return holder === undefined ? undefined : plane.informer(NetworkInterfaceClaim).get(metadata.namespace ?? '', holder);
}

async function observe(
  plane: Plane,
  seen: Stored<NetworkInterface>,
  lease: Lease,
  now: number,
): Promise<Snapshot | undefined> {
  const networkInterface = await plane.client.get(NetworkInterface, keyOf(seen));
  // What was found out about the lease is of the interface that was seen.
  if (networkInterface === undefined || networkInterface.metadata.uid !== seen.metadata.uid) return undefined;
  const namespace = networkInterface.metadata.namespace ?? '';
  const name = networkInterface.spec.claimRef?.name;
  const holder = name === undefined ? undefined : await plane.client.get(NetworkInterfaceClaim, { namespace, name });
  return { networkInterface, holder, lease, now };
}

/**
 * Those that no living claim holds. Claims are listed live and after the IPClaims: a claim that took one up is seen, and one
 * that is gone is not believed to live on by a cache that is late.
 */
async function heldByNobody(held: readonly Stored<IPClaim>[], namespace: string, plane: Plane) {
  if (held.length === 0) return [];
  const { items } = await plane.client.list(NetworkInterfaceClaim, { namespace });
  const living = new Set(items.filter((claim) => !isEnding(claim)).map(({ metadata }) => metadata.uid));
  return held.filter((each) => !living.has(holderOf(each) ?? ''));
}

async function act(
  step: Step,
  networkInterface: Stored<NetworkInterface>,
  plane: Plane,
  deps: NetworkDeps,
): Promise<void> {
  const key = keyOf(networkInterface);
  const { uid, resourceVersion } = networkInterface.metadata;
  const finalizer = networkingFinalizers.interfaceRelease;
  switch (step.do) {
    case 'rest':
      return;
    case 'hold':
      await addFinalizer(plane.client, NetworkInterface, networkInterface, finalizer);
      return;
    case 'release':
      if (step.routing !== undefined) {
        const identity = identityOf(plane, key.namespace, key.name);
        const client = deps.projectClient(name, step.routing.project);
        await release(client, { identity, routing: step.routing }, (held) => heldByNobody(held, key.namespace, plane));
      }
      await removeFinalizer(plane.client, NetworkInterface, networkInterface, finalizer);
      return;
    case 'let-go':
      await removeFinalizer(plane.client, NetworkInterface, networkInterface, finalizer);
      return;
    case 'stamp': {
      const body = { metadata: { uid, resourceVersion, annotations: unheldStamp(deps.clock.now()) } };
      await plane.client.patch(NetworkInterface, key, { type: 'merge', body });
      return;
    }
    case 'unbind': {
      const annotations = unheldStamp(deps.clock.now());
      const body = { metadata: { uid, resourceVersion, annotations }, spec: { claimRef: null } };
      await plane.client.patch(NetworkInterface, key, { type: 'merge', body });
      return;
    }
    case 'delete':
      // A claim that binds it meanwhile moves it on: then it is not deleted.
      await plane.client.delete(NetworkInterface, key, { preconditions: { uid, resourceVersion } });
      if (step.reason !== undefined) {
        const note =
          step.reason === 'LeaseExpired'
            ? reasonMessage(step.reason, { interface: key.name, since: formatTime(step.since) })
            : reasonMessage(step.reason, { interface: key.name });
        const event = { type: 'Normal', reason: step.reason, action: 'ReleaseInterface', note } as const;
        deps.recorder(plane, name).event(networkInterface, event);
      }
      return;
    case 'settle': {
      const { reset, status } = step;
      const settled =
        reset === undefined
          ? networkInterface
          : await plane.client.patch(NetworkInterface, key, { type: 'json', body: reset }, { subresource: 'status' });
      if (!isSaid(status, settled)) {
        await applyStatus(plane.client, NetworkInterface, settled, status, fieldManager);
      }
      return;
    }
  }
}
