import {
  type AddressRequest,
  type IPClaim,
  isProjectGone,
  NetworkInterface,
  NetworkInterfaceClaim,
  networkingFinalizers,
  networkingLabels,
  scopeRoles,
} from '../../../api/index.ts';
import {
  applyStatus,
  type Client,
  type JsonPatchOperation,
  mergeStatus,
  type Plane,
  removeFinalizer,
} from '../../../kube/index.ts';
import { ApiError, findCondition, isApiError, jsonEqual, type Stored } from '../../../meta/index.ts';
import { refusalOf } from '../../shared/refusal.ts';
import { allocate, giveBack } from '../allocation/allocate.ts';
import { holderOf, keyOfClaim, type Place } from '../allocation/identity.ts';
import { listAllocations, release, setHolder } from '../allocation/ledger.ts';
import { type Allocation, familyOf, keyOfRequest, requestsOf } from '../allocation/requests.ts';
import { verify } from '../allocation/verify.ts';
import { egressReady } from '../attachment.ts';
import { fieldManager, identityOf, isLive, keyOf } from '../cell.ts';
import { dataPlaneReset } from '../dataplane.ts';
import { unheldStamp } from '../interface/lease.ts';
import type { Routing } from '../routing.ts';
import { heldMetadata } from './admission.ts';
import type { Step } from './decide.ts';
import { newInterface } from './interface.ts';
import { type InterfaceStatus, interfaceNameOf, isHeldBy, type Snapshot } from './snapshot.ts';

/** What a step is carried out with. */
export interface Hands {
  plane: Plane;
  /** IPAM of a project. */
  ipam(project: string): Client;
  /** Key of the request IPAM refused last for this claim. */
  scarce: string | undefined;
}

type Of<K extends Step['do']> = Extract<Step, { do: K }>;

/** Carries out one step, and answers what the claim looks like after it. Every write is guarded, and can be repeated. */
export async function act(step: Step, snapshot: Snapshot, hands: Hands): Promise<Snapshot> {
  switch (step.do) {
    case 'rest':
      return snapshot;
    case 'hold':
      return { ...snapshot, claim: await hold(step.routing, snapshot.claim, hands.plane.client) };
    case 'allocate':
      return { ...snapshot, outcome: await ask(step, snapshot, hands) };
    case 'create':
      return { ...snapshot, networkInterface: await create(step, snapshot, hands), missing: [] };
    case 'reset':
      return { ...snapshot, networkInterface: await reset(step, snapshot.now, hands.plane.client) };
    case 'bind':
      return await bind(step, snapshot, hands);
    case 'update':
      return { ...snapshot, networkInterface: await patchInterface(step.networkInterface, step.patch, hands) };
    case 'verify':
      return { ...snapshot, missing: await compare(step, snapshot, hands) };
    case 'offer':
      await say(step.interfaceStatus, step.networkInterface, hands.plane.client);
      return snapshot;
    case 'publish':
      return { ...snapshot, claim: await publish(step, snapshot, hands.plane.client) };
    case 'unbind': {
      const patch = { metadata: { annotations: unheldStamp(snapshot.now) }, spec: { claimRef: null } };
      return { ...snapshot, networkInterface: await patchInterface(step.networkInterface, patch, hands) };
    }
    case 'release': {
      const place = placeOf(snapshot, step.routing, hands.plane);
      const { uid } = snapshot.claim.metadata;
      await release(hands.ipam(step.routing.project), place, (held) => held.filter((each) => holderOf(each) === uid));
      return { ...snapshot, done: { ...snapshot.done, released: true } };
    }
    case 'restore':
      await restore(step.routing, snapshot, hands);
      return { ...snapshot, done: { ...snapshot.done, restored: true } };
    case 'delete':
      return { ...snapshot, networkInterface: await takeAway(step.networkInterface, hands.plane.client) };
    case 'remove':
      return { ...snapshot, networkInterface: await remove(step.networkInterface, hands.plane.client) };
    case 'let-go':
      await removeFinalizer(
        hands.plane.client,
        NetworkInterfaceClaim,
        snapshot.claim,
        networkingFinalizers.claimRelease,
      );
      return snapshot;
  }
}

function placeOf({ claim }: Snapshot, routing: Routing, plane: Plane): Place {
  return { identity: identityOf(plane, claim.metadata.namespace ?? '', interfaceNameOf(claim)), routing };
}

/** One write: the finalizer, and the record of where allocations will be looked for when it is to come off. */
function hold(
  routing: Routing,
  claim: Stored<NetworkInterfaceClaim>,
  client: Client,
): Promise<Stored<NetworkInterfaceClaim>> {
  const { uid, resourceVersion } = claim.metadata;
  const { finalizers, annotations } = heldMetadata(claim.metadata, routing);
  const body: JsonPatchOperation[] = [
    { op: 'test', path: '/metadata/uid', value: uid },
    { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
    { op: 'add', path: '/metadata/finalizers', value: finalizers },
    { op: 'add', path: '/metadata/annotations', value: annotations },
  ];
  return movedOn(client.patch(NetworkInterfaceClaim, keyOf(claim), { type: 'json', body }));
}

/** A test of a JSON patch that fails is answered with Invalid; what it says is that the object has moved on. */
async function movedOn<T>(writing: Promise<T>): Promise<T> {
  try {
    return await writing;
  } catch (error) {
    throw isApiError(error, 'Invalid') ? ApiError.of('Conflict', error.message) : error;
  }
}

function ask(step: Of<'allocate'>, snapshot: Snapshot, { plane, ipam, scarce }: Hands) {
  const { claim } = snapshot;
  return allocate(ipam(step.routing.project), {
    place: placeOf(snapshot, step.routing, plane),
    claim: { name: claim.metadata.name, uid: claim.metadata.uid },
    requests: step.requests,
    families: claim.spec.ipFamilies,
    scope: step.scope,
    reclaimPolicy: claim.spec.reclaimPolicy,
    fresh: step.fresh,
    scarce,
    isLive: (uid) => isLive(plane, uid),
  });
}

async function create(
  { object, routing }: Of<'create'>,
  snapshot: Snapshot,
  { plane, ipam }: Hands,
): Promise<Stored<NetworkInterface>> {
  try {
    return await plane.client.create(NetworkInterface, object);
  } catch (error) {
    if (!isApiError(error, 'AlreadyExists')) throw error;
    // The cache is late, or an earlier try arrived although its answer did not.
    const there = await plane.client.get(NetworkInterface, keyOf(object));
    if (there !== undefined && isHeldBy(there, snapshot.claim)) return there;
    if (there !== undefined && snapshot.outcome !== undefined && 'allocations' in snapshot.outcome) {
      const place = placeOf(snapshot, routing, plane);
      await giveBack(ipam(routing.project), place, snapshot.outcome.allocations);
    }
    throw error;
  }
}

function reset({ networkInterface }: Of<'reset'>, now: number, client: Client): Promise<Stored<NetworkInterface>> {
  const body = dataPlaneReset(networkInterface, now) ?? [];
  return movedOn(
    client.patch(NetworkInterface, keyOf(networkInterface), { type: 'json', body }, { subresource: 'status' }),
  );
}

function patchInterface(
  networkInterface: Stored<NetworkInterface>,
  patch: { metadata?: object; spec?: object },
  { plane }: Pick<Hands, 'plane'>,
): Promise<Stored<NetworkInterface>> {
  const { uid, resourceVersion } = networkInterface.metadata;
  const body = { ...patch, metadata: { ...patch.metadata, uid, resourceVersion } };
  return plane.client.patch(NetworkInterface, keyOf(networkInterface), { type: 'merge', body });
}

/** IPAM first: from then on no release by an earlier holder can take an address away (F20). Then the interface. */
async function bind(step: Of<'bind'>, snapshot: Snapshot, hands: Hands): Promise<Snapshot> {
  const { claim } = snapshot;
  const { networkInterface, routing } = step;
  const client = hands.ipam(routing.project);
  const place = placeOf(snapshot, routing, hands.plane);
  try {
    const held = await listAllocations(client, place);
    const others = held.filter((each) => holderOf(each) !== claim.metadata.uid);
    await Promise.all(others.map((each) => setHolder(client, place, each, claim.metadata.uid)));
  } catch (error) {
    const asked = {
      what: `the addresses of interface ${networkInterface.metadata.name}`,
      claim: claim.metadata.name,
      ...routing,
    };
    return { ...snapshot, outcome: { refusal: refusalOf(error, asked), request: '' } };
  }
  return { ...snapshot, networkInterface: await patchInterface(networkInterface, step.patch, hands) };
}

async function compare(
  step: Of<'verify'>,
  snapshot: Snapshot,
  hands: Hands,
): Promise<NonNullable<Snapshot['missing']>> {
  const place = placeOf(snapshot, step.routing, hands.plane);
  try {
    return await verify(hands.ipam(step.routing.project), place, step.networkInterface);
  } catch {
    // What is published stays, and what was last found out about it (promise: IPAM down).
    return 'unreachable';
  }
}

/** The interface before the claim: whoever acts on the claim finds the interface saying the same. */
async function publish(
  step: Of<'publish'>,
  { claim }: Snapshot,
  client: Client,
): Promise<Stored<NetworkInterfaceClaim>> {
  const { networkInterface, interfaceStatus, claimStatus } = step;
  if (networkInterface !== undefined && interfaceStatus !== undefined) {
    await say(interfaceStatus, networkInterface, client);
  }
  return mergeStatus(client, NetworkInterfaceClaim, claim, claimStatus);
}

async function say(status: InterfaceStatus, networkInterface: Stored<NetworkInterface>, client: Client): Promise<void> {
  if (isSaid(status, networkInterface)) return;
  await applyStatus(client, NetworkInterface, networkInterface, status, fieldManager);
}

const ownConditions = ['Allocated', 'Expiring', egressReady] as const;

/** Whether this service's part of an interface's status is this already. */
export function isSaid(wanted: InterfaceStatus, { status }: Stored<NetworkInterface>): boolean {
  return (
    wanted.phase === status?.phase &&
    jsonEqual(wanted.networkContextRef, status?.networkContextRef) &&
    jsonEqual(wanted.egress, status?.egress) &&
    ownConditions.every((type) =>
      jsonEqual(findCondition(wanted.conditions, type), findCondition(status?.conditions, type)),
    )
  );
}

/** Makes the interface of a Retain claim again, held by nobody, of what IPAM holds for it. None, and there is nothing to keep. */
async function restore(routing: Routing, snapshot: Snapshot, { plane, ipam }: Hands): Promise<void> {
  const { claim, contexts } = snapshot;
  const place = placeOf(snapshot, routing, plane);
  let held: Stored<IPClaim>[];
  try {
    held = (await listAllocations(ipam(routing.project), place)).filter(
      (each) => holderOf(each) === claim.metadata.uid,
    );
  } catch (error) {
    if (isProjectGone(error)) return;
    throw error;
  }
  if (held.length === 0) return;
  const order = requestsOf(claim.spec).map(keyOfRequest);
  const allocations = held
    .flatMap((each): Allocation[] => {
      const cidr = each.status?.allocatedCIDR;
      return cidr === undefined ? [] : [{ request: requestOfClaim(each, cidr), ...named(each), cidr, created: false }];
    })
    .sort((a, b) => order.indexOf(keyOfRequest(a.request)) - order.indexOf(keyOfRequest(b.request)));
  const context = contexts.find((each) => each.spec?.location.name === routing.location);
  const object = newInterface({ claim, routing, context, gateways: undefined }, allocations);
  const { claimRef: _, ...spec } = object.spec;
  // The scope the addresses were allocated in says which network they are of, whatever has become of its presence.
  const uid = held[0]?.spec?.scope?.[scopeRoles.network]?.uid;
  const labels = { ...object.metadata.labels, ...(uid === undefined ? {} : { [networkingLabels.networkUID]: uid }) };
  const annotations = { ...object.metadata.annotations, ...unheldStamp(snapshot.now) };
  await plane.client.create(NetworkInterface, {
    ...object,
    metadata: { ...object.metadata, labels, annotations },
    spec,
  });
}

function named({ metadata: { name, uid } }: Stored<IPClaim>) {
  return { name, uid };
}

function requestOfClaim(claim: IPClaim, cidr: string): AddressRequest {
  const name = keyOfClaim(claim);
  return name.startsWith('c-') ? { class: name.slice(2) } : { family: familyOf(cidr) };
}

/** Answers the interface as it is while its finalizer keeps it; nothing where nothing does. */
async function takeAway(
  networkInterface: Stored<NetworkInterface>,
  client: Client,
): Promise<Stored<NetworkInterface> | undefined> {
  const { uid } = networkInterface.metadata;
  const key = keyOf(networkInterface);
  await client.delete(NetworkInterface, key, { preconditions: { uid } });
  const left = await client.get(NetworkInterface, key);
  return left?.metadata.uid === uid ? left : undefined;
}

/** Its addresses are dealt with: the finalizer goes. Answers what is left of it. */
async function remove(
  networkInterface: Stored<NetworkInterface>,
  client: Client,
): Promise<Stored<NetworkInterface> | undefined> {
  const left = await removeFinalizer(client, NetworkInterface, networkInterface, networkingFinalizers.interfaceRelease);
  return (left?.metadata.finalizers ?? []).length === 0 ? undefined : left;
}
