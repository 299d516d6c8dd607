import { createInterface } from 'node:readline/promises';
import { IPAllocation, IPClaim } from '../../api/index.ts';
import { type Random, systemClock, systemRandom } from '../../kube/index.ts';
import { apiVersionOf, Event, formatMicroTime, type KubeObject, type Stored } from '../../meta/index.ts';
import { type Access, IpamFailure, ipamExitCodes } from './access.ts';
import type { Report } from './output.ts';
import { interfaceOf } from './who.ts';

/** How a person is asked. Answers false where nobody can be asked. */
export type Ask = (question: string) => Promise<boolean>;

export const askTerminal: Ask = async (question) => {
  if (!process.stdin.isTTY) return false;
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await lines.question(question)).trim());
  } catch (error) {
    // Ctrl-C, or the end of the input, in place of an answer.
    if ((error as Error).name !== 'AbortError') throw error;
    process.stderr.write('\n');
    return false;
  } finally {
    lines.close();
  }
};

/**
 * Releases what an IPClaim holds, or a retained IPAllocation, once it was said what depends on it and somebody agreed.
 * The release is recorded as an Event on the object before it is made.
 */
export async function release(
  access: Access,
  namespace: string,
  name: string,
  ask: Ask,
  random: Random = systemRandom,
): Promise<Report> {
  const { client } = access;
  const claim = await client.get(IPClaim, { namespace, name });
  const allocation = claim === undefined ? await client.get(IPAllocation, { namespace, name }) : undefined;
  const found = claim ?? allocation;
  if (found === undefined) {
    throw new IpamFailure(
      ipamExitCodes.notFound,
      `namespace "${namespace}" has neither an IPClaim nor an IPAllocation named "${name}": berth ipam who ADDRESS and berth ipam retained show names`,
    );
  }
  const type = claim === undefined ? IPAllocation : IPClaim;
  const kind = type.kind;
  const address = found.status?.allocatedCIDR ?? '';
  const preconditions = { uid: found.metadata.uid };
  // Nobody is asked for, and no Event tells of, what IPAM refuses.
  await client.delete(type, { namespace, name }, { preconditions, dryRun: true });
  const depends = claim === undefined ? dependsOnAllocation(allocation!) : await dependsOnClaim(access, claim);
  if (!(await ask(`${kind} "${namespace}/${name}" holds ${address}. ${depends}\nRelease it? [y/N] `))) {
    throw new IpamFailure(
      ipamExitCodes.declined,
      `nothing was released: ${kind} "${namespace}/${name}" still holds ${address} (--yes releases without asking)`,
    );
  }
  const note = `${address} of ${kind} "${name}" is released by hand (berth ipam release). ${depends}`;
  await client.create(Event, eventOf(found, kind, apiVersionOf(type), note, random));
  await client.delete(type, { namespace, name }, { preconditions });
  const data = { kind, namespace, name, address, dependents: depends };
  return { data, head: ['RELEASED', 'BY'], rows: [[address, `${kind} ${namespace}/${name}`]] };
}

async function dependsOnClaim(access: Access, claim: Stored<IPClaim>): Promise<string> {
  if (claim.spec?.target === 'ScopeRange') {
    return `Every address of IPPool "${claim.status?.poolRef?.name}" comes from this range; IPAM refuses while any is held.`;
  }
  const facts = await interfaceOf(access, claim);
  if (facts === undefined) return 'It has no identity labels: nothing of the network says that it uses it.';
  const where = `NetworkInterface "${facts.namespace}/${facts.name}" of cell ${facts.cellUID}`;
  const heldBy = facts.copy?.heldBy;
  if (heldBy !== undefined) return `${where} uses it, held by claim "${heldBy}": what runs there loses its address.`;
  return facts.copy === undefined
    ? `${where} was given it, and no copy of that interface is in this project.`
    : `${where} keeps it; nobody holds that interface now.`;
}

function dependsOnAllocation(allocation: Stored<IPAllocation>): string {
  const holder = allocation.spec?.claimRef;
  if (holder !== undefined) return `IPClaim "${holder.name}" holds it; IPAM refuses: release the claim.`;
  return allocation.spec?.purpose === 'Claim'
    ? 'It is retained: a claim of the same name would get it back until now.'
    : `It belongs to an IPPool (${allocation.spec?.purpose}); IPAM refuses: it goes with the pool.`;
}

const longestNoteBytes = 1024;

function eventOf(object: Stored<KubeObject>, kind: string, apiVersion: string, note: string, random: Random): Event {
  const { name, namespace = 'default', uid } = object.metadata;
  const suffix = Buffer.from(random.bytes(8)).toString('hex');
  return {
    apiVersion: apiVersionOf(Event),
    kind: Event.kind,
    metadata: { name: `${name.slice(0, 230)}.${suffix}`, namespace },
    eventTime: formatMicroTime(systemClock.now()),
    type: 'Normal',
    reason: 'AddressReleased',
    action: 'Release',
    note: Buffer.from(note).subarray(0, longestNoteBytes).toString('utf8'),
    reportingController: 'berth.dev/ipam-command',
    reportingInstance: `${process.env.USER ?? 'unknown'}@${process.env.HOSTNAME ?? 'localhost'}`.slice(0, 128),
    regarding: { apiVersion, kind, name, namespace, uid },
  };
}
