import { IpPrefix } from '../../address/index.ts';
import { Instance, IPAllocation, IPClaim, NetworkInterface } from '../../api/index.ts';
import type { Client } from '../../kube/index.ts';
import { isConditionTrue, type Stored } from '../../meta/index.ts';
import { CheckFailed, type Session } from './session.ts';

/** The addresses of one instance, as its owner sees them in the project. */
export interface Addresses {
  ipv6: string | undefined;
  ipv4: string | undefined;
  external: string | undefined;
}

export function addressesOf(instance: Instance): Addresses {
  const shown = instance.status?.networkInterfaces?.[0];
  const of = (family: string) => shown?.addresses?.find((address) => address.family === family)?.address;
  return { ipv6: of('IPv6'), ipv4: of('IPv4'), external: shown?.externalAddresses?.[0]?.address };
}

/** Instances of a workload in the project, by name. */
export async function instancesOf(client: Client, workload: string): Promise<Stored<Instance>[]> {
  const { items } = await client.list(Instance, {
    namespace: 'default',
    labelSelector: `compute.datumapis.com/workload-name=${workload}`,
  });
  return items.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

/** Waits until `count` instances of a workload are ready, each with an address of every family it asks for. */
export function ready(session: Session, client: Client, workload: string, count: number): Promise<Stored<Instance>[]> {
  return session.until(`${count} instances of ${workload} ready with addresses`, async () => {
    const instances = await instancesOf(client, workload);
    if (instances.length !== count) return `there are ${instances.length} of ${count}`;
    const late = instances.find(
      (instance) => !isConditionTrue(instance.status?.conditions, 'Ready') || addressesOf(instance).ipv4 === undefined,
    );
    if (late === undefined) return instances;
    const condition = late.status?.conditions?.find((each) => each.type === 'Ready');
    return `${late.metadata.name} says ${condition?.reason ?? 'nothing'}: ${condition?.message ?? ''}`;
  });
}

/** What IPAM holds: blocks handed out to claims, by their text, with the UID of the claim that holds each. */
export async function held(client: Client): Promise<Map<string, string>> {
  const claims = (await client.list(IPClaim)).items.filter((claim) => (claim.spec?.target ?? 'Block') !== 'ScopeRange');
  return new Map(claims.map((claim) => [claim.status?.allocatedCIDR ?? '', claim.metadata.uid]));
}

function asBlock(address: string): string {
  return address.includes('/') ? IpPrefix.parse(address).toString() : `${address}/${address.includes(':') ? 128 : 32}`;
}

/** Every block the instances publish, with the UID of the IPClaim behind it. */
export async function identities(client: Client, instances: readonly Instance[]): Promise<Map<string, string>> {
  const blocks = await held(client);
  const found = new Map<string, string>();
  for (const instance of instances) {
    const { ipv6, ipv4, external } = addressesOf(instance);
    for (const address of [ipv6, ipv4, external]) {
      if (address === undefined) continue;
      const uid = blocks.get(asBlock(address));
      if (uid === undefined)
        throw new CheckFailed(`${instance.metadata.name} shows ${address}, which IPAM does not hold`);
      found.set(asBlock(address), uid);
    }
  }
  return found;
}

/**
 * IPAM's claims and allocations of addresses hold exactly what instances and retained interfaces publish.
 * @throws {CheckFailed} naming the first address that is on one side only.
 */
export async function checkAgainstIpam(client: Client, published: readonly string[]): Promise<void> {
  const blocks = new Set(published.map(asBlock));
  const claims = new Set((await held(client)).keys());
  const allocations = new Set(
    (await client.list(IPAllocation)).items
      .filter((allocation) => allocation.spec?.purpose === 'Claim')
      .map((allocation) => allocation.status?.allocatedCIDR ?? ''),
  );
  for (const block of blocks) {
    if (!claims.has(block)) throw new CheckFailed(`${block} is published, and no IPClaim holds it`);
    if (!allocations.has(block)) throw new CheckFailed(`${block} is published, and no IPAllocation is for it`);
  }
  for (const block of [...claims, ...allocations]) {
    if (!blocks.has(block)) throw new CheckFailed(`IPAM holds ${block}, which nothing publishes`);
  }
}

/** Addresses of everything in the project: instances, and interfaces that nobody holds. */
export async function published(project: Client): Promise<string[]> {
  const { items } = await project.list(NetworkInterface, { namespace: 'default' });
  return items.flatMap(({ spec }) => [
    ...(spec.addresses ?? []).map(({ address }) => address),
    ...(spec.externalAddresses ?? []).map(({ address }) => address),
  ]);
}

/** Waits until IPAM holds exactly what the project's instances and interfaces publish. */
export async function agreesWithIpam(session: Session, project: Client): Promise<void> {
  await session.until('IPAM holds exactly what is published', async () => {
    try {
      await checkAgainstIpam(project, await published(project));
      return true;
    } catch (error) {
      if (error instanceof CheckFailed) return error.message;
      throw error;
    }
  });
}
