import { afterEach, describe, expect, it } from 'vitest';
import {
  IPClaim,
  identityLabels,
  Network,
  NetworkBinding,
  NetworkContext,
  NetworkInterface,
  NetworkInterfaceClaim,
  networkingAnnotations,
  Subnet,
} from '../../../src/api/index.ts';
import type { Sent } from '../../../src/apiserver/testing/index.ts';
import { seededRandom } from '../../../src/kube/index.ts';
import {
  apiVersionOf,
  isApiError,
  isTerminating,
  type KubeObject,
  Namespace,
  type ResourceType,
  type Stored,
} from '../../../src/meta/index.ts';
import { Stack } from '../../harness/stack.ts';
import { said } from '../support/conditions.ts';
import { createLocation, location, Tenant } from './world.ts';

// Every controller in a process of its own, whose caches are up to ten versions (and three seconds) late, each kind by
// itself; meanwhile people, the data plane and IPAM do what comes to their minds. What the controllers write is compared
// with what is really there at that moment. STALE_SEEDS=<n> runs more seeds, STALE_SEED=<n> just that one.

const versions = 10;
const steps = 100;
const only = process.env.STALE_SEED;
const seeds = only === undefined ? range(Number(process.env.STALE_SEEDS ?? 6)) : [Number(only)];

let stack: Stack | undefined;
afterEach(async () => {
  await stack?.close();
  stack = undefined;
});

describe('reconcilers whose caches are late', () => {
  for (const seed of seeds) {
    it(`never allocate twice, release what another holds, or destroy (seed ${seed})`, async () => {
      stack = await Stack.open({ projects: ['project-alpha'], lag: versions, seed });
      const run = await Run.open(stack, seed);
      for (let step = 0; step < steps; step++) await run.step();
      await run.heal();
      await run.empty();
      const { acts, releases, deletions } = run.seen;
      console.log(
        `seed ${seed}: ${acts} acts, ${stack.wire.writes.length} writes, ${releases} releases, ${deletions} deletions`,
      );
      // Otherwise nothing was put to the test.
      expect(releases).toBeGreaterThan(3);
      expect(deletions).toBeGreaterThan(10);
    });
  }
});

const slots = ['web-0', 'web-1', 'web-2', 'web-3'];

/** Who writes the copies of a kind, and where their sources are. */
const carried: { by: string; type: ResourceType; copies: string; sources: string }[] = [
  { by: 'federation-down-networkcontexts', type: NetworkContext, copies: `cell/${location}`, sources: 'hub' },
  { by: 'federation-down-subnets', type: Subnet, copies: `cell/${location}`, sources: 'hub' },
  { by: 'federation-down-namespaces', type: Namespace, copies: `cell/${location}`, sources: 'hub' },
  { by: 'federation-up-networkinterfaces', type: NetworkInterface, copies: 'hub', sources: `cell/${location}` },
];
const sourceUid = 'federation.datumapis.com/source-uid';

class Run {
  readonly #stack: Stack;
  readonly #tenant: Tenant;
  readonly #random;
  /** Addresses of bound claims, by UID: they never change. */
  readonly #addresses = new Map<string, string>();
  /** UIDs of interfaces that somebody asked to have back. */
  readonly #returned = new Set<string>();
  readonly #faults: string[] = [];
  readonly seen = { acts: 0, releases: 0, deletions: 0 };

  private constructor(stack: Stack, tenant: Tenant, seed: number) {
    this.#stack = stack;
    this.#tenant = tenant;
    this.#random = seededRandom(seed + 1_000);
    stack.wire.beforeWrite = (write) => this.#judge(write);
  }

  static async open(stack: Stack, seed: number): Promise<Run> {
    await createLocation(stack, location);
    const tenant = await Tenant.open(stack);
    await tenant.locationBinding(location);
    await tenant.network('net', ['IPv6', 'IPv4']);
    await tenant.bind('consumer', 'net');
    const name = `net-${location}`;
    await stack.until('the presence in the cell', async () => {
      const subnets = await stack.cell().list(Subnet, { namespace: tenant.namespace });
      return (await tenant.cellContext(name)) !== undefined && subnets.items.length > 0;
    });
    return new Run(stack, tenant, seed);
  }

  #pick<T>(of: readonly T[]): T {
    return of[Math.floor(this.#random.next() * of.length)] as T;
  }

  async step(): Promise<void> {
    // An IPAM that stays away lets nothing happen that could go wrong.
    if (this.#stack.ipamDown && this.#random.next() < 0.5) this.#stack.ipamDown = false;
    await this.#act(this.#pick(slots));
    this.seen.acts++;
    const wait = this.#pick([0, 0, 20, 200, 2_000, 5_000]);
    for (let passed = 0; passed < wait; passed += 200) await this.#stack.clock.advance(Math.min(200, wait - passed));
    await this.#stack.settle();
    await this.#check();
  }

  async #act(slot: string): Promise<void> {
    const tenant = this.#tenant;
    const cell = this.#stack.cell();
    const key = { namespace: tenant.namespace, name: slot };
    const reclaimPolicy = this.#pick(['Delete', 'Retain'] as const);
    const create = () => ifFree(tenant.claim(slot, 'net', { ipFamilies: ['IPv6', 'IPv4'], reclaimPolicy }));
    const acts: (() => Promise<unknown>)[] = [
      create,
      create,
      create,
      () => tenant.deleteClaim(slot),
      () => tenant.deleteClaim(slot),
      async () => {
        await tenant.deleteClaim(slot);
        await create();
      },
      () => this.#deleteInterface(slot),
      async () => {
        await this.#deleteInterface(slot);
        await tenant.deleteClaim(slot);
      },
      async () => {
        const copy = await tenant.copy(slot);
        const uid = copy?.metadata.annotations?.[sourceUid];
        if (uid !== undefined) this.#returned.add(uid);
        await tenant.project.delete(NetworkInterface, { namespace: 'default', name: slot });
      },
      async () => {
        if ((await tenant.getClaim(slot)) === undefined) return;
        const body = { metadata: { labels: { 'compute.datumapis.com/nudge': String(this.seen.acts) } } };
        await cell.patch(NetworkInterfaceClaim, key, { type: 'merge', body });
      },
      async () => {
        const body = { spec: { mtu: 1300 + this.seen.acts } };
        await tenant.project.patch(Network, { namespace: 'default', name: 'net' }, { type: 'merge', body });
      },
      async () => {
        if ((await tenant.getInterface(slot)) === undefined) return;
        const condition = { type: 'Prepared', status: 'True', reason: 'Prepared', message: '' };
        const said = { ...condition, lastTransitionTime: '2026-01-01T00:00:00Z' };
        const { apiVersion, kind } = { apiVersion: apiVersionOf(NetworkInterface), kind: NetworkInterface.kind };
        const body = { apiVersion, kind, metadata: key, status: { conditions: [said] } };
        const patch = { type: 'apply', body, fieldManager: 'data-plane', force: true } as const;
        await cell.patch(NetworkInterface, key, patch, { subresource: 'status' });
      },
      async () => {
        this.#stack.ipamDown = !this.#stack.ipamDown;
      },
      () => this.#stack.restart(),
    ];
    await this.#pick(acts)();
  }

  async #deleteInterface(slot: string): Promise<void> {
    const there = await this.#tenant.getInterface(slot);
    if (there !== undefined) this.#returned.add(there.metadata.uid);
    await this.#stack.cell().delete(NetworkInterface, { namespace: this.#tenant.namespace, name: slot });
  }

  /** What is really there when a controller writes. */
  async #judge(write: Sent): Promise<void> {
    if (write.method !== 'DELETE') return;
    this.seen.deletions++;
    const [resource = '', name = ''] = write.path.split('/').slice(-2);
    const accuse = (what: string) => this.#faults.push(`${write.by} deleted ${resource}/${name}: ${what}`);
    if (resource === 'ipclaims') {
      this.seen.releases++;
      await this.#judgeRelease(name, accuse);
    }
    if (resource === 'networkinterfaceclaims' || resource === 'networks') accuse('nobody asked for that');
    if (resource === 'networkinterfaces' && write.plane.startsWith('cell/')) await this.#judgeRemoval(name, accuse);
    if (resource === 'networkcontexts' && write.plane.startsWith('project/')) accuse('a consumer needs it');
    const kind = carried.find(({ by }) => by === write.by);
    if (kind !== undefined) await this.#judgeCopy(kind, name, accuse);
  }

  async #judgeRelease(name: string, accuse: (what: string) => void): Promise<void> {
    const held = await this.#tenant.project.get(IPClaim, { namespace: 'default', name });
    const cidr = held?.status?.allocatedCIDR;
    if (held === undefined || cidr === undefined) return;
    const { labels } = held.metadata;
    const holder = labels?.[identityLabels.holderUID];
    const shown = await this.#tenant.getInterface(labels?.[identityLabels.interfaceName] ?? '');
    if (shown === undefined || isTerminating(shown)) return;
    if (!shown.spec.addresses?.some(({ address }) => address === cidr)) return;
    const claims = await this.#stack.cell().list(NetworkInterfaceClaim, { namespace: this.#tenant.namespace });
    const living = claims.items.find(({ metadata }) => metadata.uid === shown.spec.claimRef?.uid);
    if (living !== undefined && !isTerminating(living))
      accuse(`claim ${living.metadata.name} holds ${cidr} (${holder})`);
    const retained = shown.spec.claimRef === undefined && shown.spec.reclaimPolicy === 'Retain';
    if (retained && !this.#returned.has(shown.metadata.uid)) accuse(`${cidr} is retained, and nobody gave it back`);
  }

  async #judgeRemoval(name: string, accuse: (what: string) => void): Promise<void> {
    const there = await this.#tenant.getInterface(name);
    if (there === undefined || isTerminating(there)) return;
    const claims = await this.#stack.cell().list(NetworkInterfaceClaim, { namespace: this.#tenant.namespace });
    const holder = claims.items.find(({ metadata }) => metadata.uid === there.spec.claimRef?.uid);
    if (holder !== undefined && !isTerminating(holder)) accuse('a living claim holds it');
    const asked = there.metadata.annotations?.[networkingAnnotations.returnRequested] === there.metadata.uid;
    if (there.spec.reclaimPolicy === 'Retain' && !asked) accuse('it is retained, and nobody gave it back');
  }

  async #judgeCopy(
    { type, copies, sources }: (typeof carried)[number],
    name: string,
    accuse: (what: string) => void,
  ): Promise<void> {
    const key = { namespace: type.namespaced ? this.#tenant.namespace : '', name };
    const of = (plane: string) => (plane === 'hub' ? this.#stack.hub : this.#stack.cell());
    const copy = await of(copies).get(type, key);
    const source = await of(sources).get(type, key);
    const same = source !== undefined && copy?.metadata.annotations?.[sourceUid] === source.metadata.uid;
    if (same && !isTerminating(source)) accuse('its source is there');
  }

  /** What must hold at any moment. */
  async #check(): Promise<void> {
    const { namespace } = this.#tenant;
    const claims = (await this.#stack.cell().list(NetworkInterfaceClaim, { namespace })).items;
    const interfaces = (await this.#stack.cell().list(NetworkInterface, { namespace })).items;
    for (const claim of claims) {
      if (isTerminating(claim)) continue;
      const { uid, name } = claim.metadata;
      const addresses = claim.status?.addresses?.map(({ address }) => address).join();
      const before = this.#addresses.get(uid);
      if (before !== undefined && before !== addresses)
        this.#faults.push(`claim ${name} went from ${before} to ${addresses}`);
      if (addresses !== undefined) this.#addresses.set(uid, addresses);
    }
    for (const { metadata, spec } of interfaces) {
      const holder = spec.claimRef?.uid === undefined ? undefined : this.#addresses.get(spec.claimRef.uid);
      const shown = spec.addresses?.map(({ address }) => address).join();
      if (holder !== undefined && holder !== shown)
        this.#faults.push(`interface ${metadata.name} shows ${shown}, not ${holder}`);
    }
    const allocated = new Map<string, string>();
    for (const held of await this.#blocks()) {
      const of = `${held.metadata.labels?.[identityLabels.interfaceName]} ${held.spec?.ipFamily}`;
      const other = allocated.get(of);
      if (other !== undefined) this.#faults.push(`${of} is allocated twice: ${other} and ${held.metadata.name}`);
      allocated.set(of, held.metadata.name);
    }
    expect(this.#faults).toEqual([]);
  }

  async #blocks(): Promise<Stored<IPClaim>[]> {
    return (await this.#tenant.held()).filter(({ spec }) => spec?.target !== 'ScopeRange');
  }

  /** Everything comes to rest: whoever asked has addresses, and IPAM, the cell, the hub and the project say the same. */
  async heal(): Promise<void> {
    const stack = this.#stack;
    stack.ipamDown = false;
    const { namespace } = this.#tenant;
    const refused = new Set(['ReclaimPolicyMismatch']);
    await stack.until('all is at rest', async () => {
      const claims = (await stack.cell().list(NetworkInterfaceClaim, { namespace })).items;
      const interfaces = (await stack.cell().list(NetworkInterface, { namespace })).items;
      if (claims.some(isTerminating) || interfaces.some(isTerminating)) return false;
      const served = claims.every(
        (claim) => said(claim, 'Allocated')?.status === 'True' || refused.has(said(claim, 'Ready')?.reason ?? ''),
      );
      const addresses = (objects: readonly KubeObject[]) =>
        (objects as NetworkInterface[])
          .flatMap(({ metadata, spec }) => (spec.addresses ?? []).map(({ address }) => `${metadata.name} ${address}`))
          .sort()
          .join();
      const shown = addresses(interfaces);
      const held = (await this.#blocks())
        .map(({ metadata, status }) => `${metadata.labels?.[identityLabels.interfaceName]} ${status?.allocatedCIDR}`)
        .sort()
        .join();
      const onHub = addresses((await stack.hub.list(NetworkInterface, { namespace })).items);
      const inProject = addresses((await this.#tenant.project.list(NetworkInterface)).items);
      return served && held === shown && onHub === shown && inProject === shown;
    });
    await this.#check();
  }

  /** Everything is deleted: nothing is stuck, and IPAM holds nothing. */
  async empty(): Promise<void> {
    const stack = this.#stack;
    stack.wire.beforeWrite = undefined;
    const { namespace, project } = this.#tenant;
    for (const slot of slots) await this.#tenant.deleteClaim(slot);
    await stack.until('claims gone', async () => {
      const { items } = await stack.cell().list(NetworkInterfaceClaim, { namespace });
      return items.length === 0;
    });
    for (const slot of slots) await stack.cell().delete(NetworkInterface, { namespace, name: slot });
    await stack.hub.delete(NetworkBinding, { namespace, name: 'consumer' });
    await project.delete(Network, { namespace: 'default', name: 'net' });
    await stack.until('the network gone', async () => (await this.#tenant.getNetwork('net')) === undefined);
    expect((await this.#tenant.held()).map(({ metadata }) => metadata.name)).toEqual([]);
    await stack.until('no copies', async () => {
      const left = await Promise.all([
        stack.cell().list(NetworkContext),
        stack.cell().list(Subnet),
        stack.hub.list(NetworkInterface),
        project.list(NetworkInterface),
      ]);
      return left.every(({ items }) => items.length === 0);
    });
  }
}

async function ifFree(creating: Promise<unknown>): Promise<void> {
  try {
    await creating;
  } catch (error) {
    if (!isApiError(error, 'AlreadyExists')) throw error;
  }
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}
