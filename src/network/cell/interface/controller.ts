import {
  IPClaim,
  NetworkInterface,
  NetworkInterfaceClaim,
  networkingFinalizers,
  reasonMessage,
} from '../../../api/index.ts';
import { addFinalizer, applyStatus, type Controller, type Plane, removeFinalizer } from '../../../kube/index.ts';
import { Namespace, type Stored } from '../../../meta/index.ts';
import type { NetworkDeps } from '../../shared/deps.ts';
import { release } from '../allocation/ledger.ts';
import { fieldManager, identityOf, indexClaims, isLive, keyOf, reads, requestOf } from '../cell.ts';
import { isSaid } from '../claim/act.ts';
import { decide, type Snapshot, type Step } from './decide.ts';

const name = 'network-cell-interface';
const byHolder = 'network/holder';
const { group } = NetworkInterface;

/** Interfaces themselves: their end, those whose claim is gone, and those nobody holds. */
export function interfaceController(deps: NetworkDeps): Controller {
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
      project: [{ apiGroups: [IPClaim.group], resources: ['ipclaims'], verbs: ['get', 'list', 'delete'] }],
    },

    engage(plane, _planes, watch) {
      if (plane.role !== 'cell') return;
      indexClaims(plane);
      const interfaces = plane.informer(NetworkInterface);
      interfaces.addIndex(byHolder, ({ metadata, spec }) =>
        spec.claimRef === undefined ? [] : [`${metadata.namespace ?? ''}/${spec.claimRef.name}`],
      );
      watch.on(plane, Namespace, () => []);
      watch.on(plane, NetworkInterface);
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
      const cached = decide({ networkInterface: seen, holder: holderInCache(plane, seen), now });
      if (cached.do === 'rest') return undefined;
      if (cached.do === 'settle') {
        await act(cached, seen, plane, deps);
        return undefined;
      }
      // Everything else takes something away or counts somebody as gone: that is decided on what is there now.
      const snapshot = await observe(plane, seen, now);
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

async function observe(plane: Plane, seen: Stored<NetworkInterface>, now: number): Promise<Snapshot | undefined> {
  const networkInterface = await plane.client.get(NetworkInterface, keyOf(seen));
  if (networkInterface === undefined) return undefined;
  const namespace = networkInterface.metadata.namespace ?? '';
  const name = networkInterface.spec.claimRef?.name;
  const holder = name === undefined ? undefined : await plane.client.get(NetworkInterfaceClaim, { namespace, name });
  return { networkInterface, holder, now };
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
        const keep = (holder: string | undefined) => holder !== undefined && isLive(plane, holder);
        await release(client, { identity, routing: step.routing }, keep);
      }
      await removeFinalizer(plane.client, NetworkInterface, networkInterface, finalizer);
      return;
    case 'let-go':
      await removeFinalizer(plane.client, NetworkInterface, networkInterface, finalizer);
      return;
    case 'unbind': {
      const body = { metadata: { uid, resourceVersion }, spec: { claimRef: null } };
      await plane.client.patch(NetworkInterface, key, { type: 'merge', body });
      return;
    }
    case 'delete':
      // A claim that binds it meanwhile moves it on: then it is not deleted.
      await plane.client.delete(NetworkInterface, key, { preconditions: { uid, resourceVersion } });
      if (step.reason !== undefined) {
        const note = reasonMessage(step.reason, { interface: key.name });
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
