import { IPClaim, NetworkInterface, NetworkInterfaceClaim } from '../../../api/index.ts';
import type { Controller, EventRecorder, Plane, Request } from '../../../kube/index.ts';
import { type Condition, findCondition, type KubeObject, type Stored } from '../../../meta/index.ts';
import type { NetworkDeps } from '../../shared/deps.ts';
import { retryDelay } from '../../shared/retry.ts';
import { keyOfRequest } from '../allocation/requests.ts';
import { Attachments } from '../attachments.ts';
import { Projects, projectsRule } from '../audit/projects.ts';
import { reads } from '../cell.ts';
import type { CellMetrics } from '../metrics.ts';
import { Lines } from '../waiting/lines.ts';
import { act, type Hands } from './act.ts';
import { Arrivals } from './arrivals.ts';
import { decide, type Step } from './decide.ts';
import { observe, watchClaims } from './observe.ts';
import { Offers } from './offers.ts';
import type { Snapshot } from './snapshot.ts';
import { Verifications } from './verifications.ts';

const name = 'network-cell-claim';

/** A decision that goes on longer than any claim's whole life takes is a fault, not work. */
const mostSteps = 24;

const { group } = NetworkInterface;

/** Serves NetworkInterfaceClaims: an interface with addresses for each, kept as long as the claim asks for it. */
export function claimController(deps: NetworkDeps, metrics: CellMetrics): Controller {
  const verifications = new Verifications(deps.random);
  /** By claim: the request IPAM refused last, which is asked for first the next time. */
  const scarce = new Map<string, string>();
  const { clock, random, log } = deps;
  const lines = new Lines({ clock, random, log, client: (project) => deps.projectClient(name, project) });
  const enqueues = new Map<string, (request: Request) => void>();
  const projects = new Projects(log);
  const arrivals = new Arrivals();
  const offers = new Offers();
  const attachments = new Attachments(deps.dataPlane);

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
        projectsRule,
        ...attachments.rules,
        { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
      ],
      project: [
        { apiGroups: [IPClaim.group], resources: ['ipclaims'], verbs: ['get', 'list', 'create', 'patch', 'delete'] },
        { apiGroups: [IPClaim.group], resources: ['ippools', 'ipclasses', 'ipallocations'], verbs: ['list', 'watch'] },
      ],
    },

    engage(plane, _planes, watch) {
      if (plane.role !== 'cell') return;
      enqueues.set(plane.id, (request) => watch.enqueue(request));
      plane.signal.addEventListener('abort', () => {
        enqueues.delete(plane.id);
        lines.forget(plane.id);
      });
      watchClaims(plane, watch, attachments);
      // A claim that is gone waits for nothing, whatever became of its last pass.
      watch.on(plane, NetworkInterfaceClaim, (claim, event) => {
        const { uid } = claim.metadata;
        if (event.type === 'added') arrivals.saw(claim, clock.now());
        if (event.type === 'deleted') {
          lines.left(uid, false);
          arrivals.forget(uid);
          offers.forget(uid);
        }
        return [];
      });
    },

    async reconcile(request, planes) {
      const plane = planes.get(request.plane);
      const claim = plane?.informer(NetworkInterfaceClaim).get(request.namespace, request.name);
      if (plane === undefined || claim === undefined) return undefined;
      const { uid } = claim.metadata;
      const seen = await observe(plane, claim, attachments, clock.now());
      if (seen === undefined) return undefined;
      let snapshot: Snapshot = {
        ...seen,
        verificationDue: verifications.isDue(seen, clock.monotonic()),
        // Another's data plane takes what time it likes.
        patient: deps.dataPlane === 'fabric' && offers.left(uid, clock.monotonic()) > 0,
      };
      let waiting: Waiting = 'no';

      for (let steps = 0; steps < mostSteps; steps++) {
        const step = decide(snapshot);
        switch (step.do) {
          case 'rest':
            return undefined;
          case 'allocate':
            // Before anything is: what is lost sight of later is looked for there.
            await projects.remember(plane, step.routing.project);
            ({ snapshot, waiting } = await allocateInTurn(step, snapshot, plane, request));
            break;
          case 'bind':
            await projects.remember(plane, step.routing.project);
            snapshot = await act(step, snapshot, handsOf(plane, uid));
            break;
          case 'let-go':
            await act(step, snapshot, handsOf(plane, uid));
            lines.left(uid, false);
            scarce.delete(uid);
            verifications.forget(uid);
            return undefined;
          case 'offer': {
            snapshot = await act(step, snapshot, handsOf(plane, uid));
            const now = clock.monotonic();
            offers.made(uid, now);
            verifications.note(snapshot, now);
            count(plane, snapshot.claim, step.interfaceStatus);
            if (waiting === 'no') lines.left(uid, false);
            return { requeueAfterMilliseconds: Math.max(1, offers.left(uid, now)) };
          }
          case 'publish': {
            const before = snapshot.claim;
            snapshot = await act(step, snapshot, handsOf(plane, uid));
            offers.forget(uid);
            announce(deps.recorder(plane, name), step, before);
            verifications.note(snapshot, clock.monotonic());
            count(plane, before, step.claimStatus);
            if (waiting === 'no') lines.left(uid, false);
            return mayPassUnseen(snapshot, waiting) ? { requeueAfterMilliseconds: retryDelay(random) } : undefined;
          }
          default:
            snapshot = await act(step, snapshot, handsOf(plane, uid));
        }
      }
      throw new Error(`claim ${request.namespace}/${request.name} does not come to rest`);
    },
  };

  function count(
    plane: Plane,
    claim: Stored<NetworkInterfaceClaim>,
    said: { conditions?: readonly Condition[] },
  ): void {
    const took = arrivals.served(claim, said.conditions, clock.now());
    if (took !== undefined) metrics.allocated(plane.name, took);
  }

  function handsOf(plane: Plane, uid: string): Hands {
    return { plane, ipam: (project) => deps.projectClient(name, project), scarce: scarce.get(uid) };
  }

  /** Asks IPAM where it is the claim's turn; a claim behind others gets the answer that stands for all of them. */
  async function allocateInTurn(
    step: Extract<Step, { do: 'allocate' }>,
    snapshot: Snapshot,
    plane: Plane,
    request: Request,
  ): Promise<{ snapshot: Snapshot; waiting: Waiting }> {
    const { claim } = snapshot;
    const { uid } = claim.metadata;
    const { project } = step.routing;
    const enqueue = (woken: Request) => enqueues.get(woken.plane)?.(woken);
    const needOf = (key: string) => [plane.id, project, JSON.stringify(step.scope), key].join('\0');
    const needs = step.fresh ? step.requests.map((each) => needOf(keyOfRequest(each))) : [];
    const standing = lines.standing(uid) ?? lines.joinOthers(claim, request, needs, enqueue);
    if (standing !== undefined) return { snapshot: { ...snapshot, outcome: standing }, waiting: 'woken' };

    const next = await act(step, snapshot, handsOf(plane, uid));
    const { outcome } = next;
    if (outcome === undefined || !('refusal' in outcome)) {
      scarce.delete(uid);
      lines.left(uid, true);
      return { snapshot: next, waiting: 'served' };
    }
    scarce.set(uid, outcome.request);
    const woken = lines.refused(claim, request, project, needOf(outcome.request), outcome, enqueue);
    return { snapshot: next, waiting: woken ? 'woken' : 'no' };
  }
}

/** Of a pass: whether it waits for IPAM and will be woken, was served by it, or neither. */
type Waiting = 'woken' | 'served' | 'no';

/** Whether what is wrong has no event that would tell that it has passed. */
function mayPassUnseen({ outcome, missing }: Snapshot, waiting: Waiting): boolean {
  if (outcome !== undefined && 'refusal' in outcome && waiting !== 'woken') return true;
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
