import { IPClaim, NetworkInterface, NetworkInterfaceClaim } from '../../../api/index.ts';
import type { Controller, EventRecorder } from '../../../kube/index.ts';
import { findCondition, type KubeObject, type Stored } from '../../../meta/index.ts';
import type { NetworkDeps } from '../../shared/deps.ts';
import { retryDelay } from '../../shared/retry.ts';
import { reads } from '../cell.ts';
import { act } from './act.ts';
import { decide, type Step } from './decide.ts';
import { observe, watchClaims } from './observe.ts';
import type { Snapshot } from './snapshot.ts';
import { Verifications } from './verifications.ts';

const name = 'network-cell-claim';

/** A decision that goes on longer than any claim's whole life takes is a fault, not work. */
const mostSteps = 24;

const { group } = NetworkInterface;

/** Serves NetworkInterfaceClaims: an interface with addresses for each, kept as long as the claim asks for it. */
export function claimController(deps: NetworkDeps): Controller {
  const verifications = new Verifications(deps.random);
  /** By claim: the request IPAM refused last, which is asked for first the next time. */
  const scarce = new Map<string, string>();

  return {
    name,
    // What a claim waits for is IPAM's answer: many wait at once.
    concurrency: 32,
    rules: {
      cell: [
        { apiGroups: [group], resources: ['networkinterfaceclaims'], verbs: [...reads, 'patch'] },
        { apiGroups: [group], resources: ['networkinterfaces'], verbs: [...reads, 'create', 'patch', 'delete'] },
        {
          apiGroups: [group],
          resources: ['networkinterfaceclaims/status', 'networkinterfaces/status'],
          verbs: ['patch'],
        },
        { apiGroups: [group], resources: ['networkcontexts', 'subnets', 'servinglocations'], verbs: reads },
        { apiGroups: [''], resources: ['namespaces'], verbs: reads },
        { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
      ],
      project: [
        { apiGroups: [IPClaim.group], resources: ['ipclaims'], verbs: ['get', 'list', 'create', 'patch', 'delete'] },
      ],
    },

    engage(plane, _planes, watch) {
      if (plane.role !== 'cell') return;
      watchClaims(plane, watch);
    },

    async reconcile(request, planes) {
      const plane = planes.get(request.plane);
      const claim = plane?.informer(NetworkInterfaceClaim).get(request.namespace, request.name);
      if (plane === undefined || claim === undefined) return undefined;
      const { uid } = claim.metadata;
      const seen = await observe(plane, claim, deps.clock.now());
      let snapshot: Snapshot = { ...seen, verificationDue: verifications.isDue(seen, deps.clock.monotonic()) };
      const ipam = (project: string) => deps.projectClient(name, project);

      for (let steps = 0; steps < mostSteps; steps++) {
        const step = decide(snapshot);
        if (step.do === 'rest') return undefined;
        const before = snapshot;
        snapshot = await act(step, snapshot, { plane, ipam, scarce: scarce.get(uid) });
        if (snapshot.outcome !== undefined && 'refusal' in snapshot.outcome) scarce.set(uid, snapshot.outcome.request);
        else if (snapshot.outcome !== undefined) scarce.delete(uid);
        if (step.do === 'let-go') {
          scarce.delete(uid);
          verifications.forget(uid);
          return undefined;
        }
        if (step.do === 'publish') {
          announce(deps.recorder(plane, name), step, before.claim);
          verifications.note(snapshot, deps.clock.monotonic());
          return waits(snapshot) ? { requeueAfterMilliseconds: retryDelay(deps.random) } : undefined;
        }
      }
      throw new Error(`claim ${request.namespace}/${request.name} does not come to rest`);
    },
  };
}

/** Whether what is wrong has no event that would tell that it has passed. */
function waits({ outcome, missing }: Snapshot): boolean {
  if (outcome !== undefined && 'refusal' in outcome) return true;
  return missing === 'unreachable' || (missing !== undefined && missing.length > 0);
}

/** One event for each change of reason, and none for a pass that finds what the last one found. */
function announce(
  recorder: EventRecorder,
  { refused, missing, networkInterface }: Extract<Step, { do: 'publish' }>,
  before: Stored<NetworkInterfaceClaim>,
): void {
  const { conditions } = before.status ?? {};
  const ready = findCondition(conditions, 'Ready');
  const related: { related?: KubeObject } = networkInterface === undefined ? {} : { related: networkInterface };
  if (refused !== undefined && ready?.reason !== refused.reason) {
    const { reason, message: note } = refused;
    recorder.event(before, { type: 'Warning', reason, action: 'FulfilClaim', note, ...related });
  }
  if (missing !== undefined && findCondition(conditions, 'Allocated')?.message !== missing) {
    const event = { reason: 'AddressAllocationMissing', action: 'VerifyAllocation', note: missing } as const;
    recorder.event(before, { type: 'Warning', ...event, ...related });
  }
}
