import { IPClaim, identityLabels, NetworkInterface, NetworkInterfaceClaim, reasonMessage } from '../../../api/index.ts';
import { applyStatus, type Client, type EventRecorder, type Log, type Plane } from '../../../kube/index.ts';
import { findCondition, isApiError, Namespace, type Stored } from '../../../meta/index.ts';
import { holderOf, isOf } from '../allocation/identity.ts';
import { verify } from '../allocation/verify.ts';
import { egressOf } from '../attachment.ts';
import { claimOfUid, fieldManager, identityOf, keyOf } from '../cell.ts';
import { isSaid } from '../claim/act.ts';
import { allocatedCondition, interfaceStatus } from '../claim/status.ts';
import { recordOf } from '../routing.ts';
import { identityOfClaim, isAudited, isNamed, lacksAddresses, type Suspects } from './decide.ts';

const byProject = 'network/project';

/** Makes `audit` possible. */
export function indexProjects(plane: Plane): void {
  plane.informer(NetworkInterface).addIndex(byProject, (object) => {
    const record = recordOf(object);
    return record === undefined ? [] : [record.project];
  });
}

/** One project, as one cell sees it. */
export interface Audit {
  plane: Plane;
  project: string;
  /** IPAM of the project. */
  ipam: Client;
  recorder: EventRecorder;
  log: Log;
  suspects: Suspects;
  /** Milliseconds since the Unix epoch, and from some fixed point. */
  now: number;
  monotonic: number;
  apartMilliseconds: number;
}

export interface Findings {
  /** Allocations nobody can name, those released in this pass excepted. */
  stranded: number;
  released: number;
  /** Addresses that are published and not held. */
  missing: number;
}

/**
 * Compares, both ways, what IPAM holds for the cell in a project with the cell's interfaces. IPClaims are read first and
 * owners second, so that whoever made an allocation that is seen is seen, too; what looks wrong is read live before
 * anything is said or done. Throws where IPAM can not be read.
 */
export async function audit(of: Audit): Promise<Findings> {
  const { plane, project, ipam } = of;
  const cellUid = identityOf(plane, '', '').cellUid;
  const { items } = await ipam.list(IPClaim, { labelSelector: `${identityLabels.cellUID}=${cellUid}` });
  const released = await orphans(of, items);
  const byInterface = Map.groupBy(items, (claim) => {
    const identity = identityOfClaim(claim);
    return identity === undefined ? '' : `${identity.namespace}/${identity.interfaceName}`;
  });
  let missing = 0;
  for (const networkInterface of plane.informer(NetworkInterface).byIndex(byProject, project)) {
    if (!isAudited(networkInterface)) continue;
    const { namespace = '', name } = networkInterface.metadata;
    const identity = { cellUid, namespace, interfaceName: name };
    const held = (byInterface.get(`${namespace}/${name}`) ?? []).filter((claim) => isOf(claim, identity));
    if (!lacksAddresses(networkInterface, held) && !saysMissing(networkInterface)) continue;
    missing += await reportMissing(of, networkInterface);
  }
  return { ...released, missing };
}

async function orphans(of: Audit, claims: readonly Stored<IPClaim>[]): Promise<{ stranded: number; released: number }> {
  const { plane, project, suspects, monotonic, apartMilliseconds } = of;
  const looksUnnamed = claims.filter((claim) => {
    const identity = identityOfClaim(claim);
    if (identity === undefined) return false;
    const networkInterface = plane.informer(NetworkInterface).get(identity.namespace, identity.interfaceName);
    const uid = holderOf(claim);
    const holder = uid === undefined ? undefined : claimOfUid(plane, uid);
    return !isNamed(claim, project, { networkInterface, holder });
  });
  const unnamed = await judge(of, looksUnnamed);
  const uids = unnamed.map((claim) => claim.metadata.uid);
  const due = suspects.observe(project, uids, monotonic, apartMilliseconds);
  let released = 0;
  for (const claim of unnamed) if (due.has(claim.metadata.uid) && (await releaseOrphan(of, claim))) released++;
  return { stranded: unnamed.length - released, released };
}

/** Which of these nobody can name, by live reads: again the IPClaims first, then claims and interfaces. */
async function judge(
  { plane, project, ipam }: Audit,
  suspects: readonly Stored<IPClaim>[],
): Promise<Stored<IPClaim>[]> {
  const live: Stored<IPClaim>[] = [];
  for (const suspect of suspects) {
    const now = await ipam.get(IPClaim, keyOf(suspect));
    if (now?.metadata.uid === suspect.metadata.uid) live.push(now);
  }
  const unnamed: Stored<IPClaim>[] = [];
  const claimsIn = new Map<string, Stored<NetworkInterfaceClaim>[]>();
  for (const claim of live) {
    const identity = identityOfClaim(claim);
    if (identity === undefined) continue;
    const { namespace, interfaceName: name } = identity;
    const claims = claimsIn.get(namespace) ?? (await plane.client.list(NetworkInterfaceClaim, { namespace })).items;
    claimsIn.set(namespace, claims);
    const networkInterface = await plane.client.get(NetworkInterface, { namespace, name });
    const holder = claims.find((each) => each.metadata.uid === holderOf(claim));
    if (!isNamed(claim, project, { networkInterface, holder })) unnamed.push(claim);
  }
  return unnamed;
}

/** The version goes along: whoever took the allocation up after it was judged has written to it. */
async function releaseOrphan({ plane, ipam, recorder, log, project }: Audit, claim: Stored<IPClaim>): Promise<boolean> {
  const { uid, resourceVersion, name } = claim.metadata;
  try {
    if (!(await ipam.delete(IPClaim, keyOf(claim), { preconditions: { uid, resourceVersion } }))) return false;
  } catch (error) {
    if (isApiError(error, 'Conflict')) return false;
    throw error;
  }
  const note = reasonMessage('OrphanReleased', {
    allocation: `${name} (${claim.status?.allocatedCIDR}) of ${project}`,
  });
  log.warn({ plane: plane.id, project, ipClaim: keyOf(claim), cidr: claim.status?.allocatedCIDR }, note);
  const namespaces = plane.informer(Namespace);
  const about = namespaces.get('', identityOfClaim(claim)?.namespace ?? '') ?? namespaces.get('', 'kube-system');
  if (about !== undefined) recorder.event(about, { type: 'Warning', reason: 'OrphanReleased', action: 'Audit', note });
  return true;
}

/**
 * Tells of addresses that are published and not held, on the interface; the claim that holds one repeats it with its
 * Event. Never renumbers. Answers how many there are.
 */
async function reportMissing(of: Audit, seen: Stored<NetworkInterface>): Promise<number> {
  const { plane, project, ipam, recorder, now } = of;
  const networkInterface = await plane.client.get(NetworkInterface, keyOf(seen));
  if (networkInterface === undefined || !isAudited(networkInterface)) return 0;
  const routing = recordOf(networkInterface);
  if (routing === undefined || routing.project !== project) return 0;
  const { namespace = '', name } = networkInterface.metadata;
  const missing = await verify(ipam, { identity: identityOf(plane, namespace, name), routing }, networkInterface);
  const { claimRef } = networkInterface.spec;
  const phase = claimRef === undefined ? 'Available' : 'Bound';
  // Not settled yet: whoever is about to say so looks by itself.
  if (networkInterface.status?.phase !== phase) return missing.length;
  const allocated = allocatedCondition(networkInterface, missing, project);
  const expiring = findCondition(networkInterface.status.conditions, 'Expiring');
  const status = interfaceStatus(
    networkInterface,
    phase,
    undefined,
    allocated,
    egressOf(networkInterface),
    now,
    expiring,
  );
  if (isSaid(status, networkInterface)) return missing.length;
  await applyStatus(plane.client, NetworkInterface, networkInterface, status, fieldManager);
  if (claimRef === undefined && missing.length > 0) {
    const event = { reason: 'AddressAllocationMissing', action: 'Audit', note: allocated.message } as const;
    recorder.event(networkInterface, { type: 'Warning', ...event });
  }
  return missing.length;
}

/** What was said is taken back once it is so no more. */
function saysMissing({ status }: Stored<NetworkInterface>): boolean {
  return findCondition(status?.conditions, 'Allocated')?.reason === 'AddressAllocationMissing';
}
