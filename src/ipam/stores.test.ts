import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type IpamServer, openIpamStorage, startIpamServer } from '../../test/harness/ipam-server.ts';
import { type Cluster, startCluster } from '../../test/postgres/cluster.ts';
import { IpPrefix } from '../address/index.ts';
import { IPAllocation, IPClaim, IPClass, IPPool } from '../api/index.ts';
import { openPostgresStorage, type Storage } from '../apiserver/index.ts';
import { type Client, type Clock, systemClock } from '../kube/index.ts';
import { isApiError, type KubeObject, type ResourceType } from '../meta/index.ts';
import type { Figures } from './figures.ts';
import { proceduresUrl } from './index.ts';
import { apiVersion } from './objects.ts';
import { accepted, refusalOf, scopeOf } from './testing.ts';
import { Model } from './testing-model.ts';
import { brief, expected, refusals, setUp } from './testing-refusals.ts';

/** One suite, both stores, through the API server: what IPAM promises does not depend on where it keeps it. */

let cluster: Cluster;
let folder: string;
beforeAll(async () => {
  cluster = await startCluster();
  folder = mkdtempSync(join(tmpdir(), 'berth-ipam-stores-'));
});
afterAll(async () => {
  await cluster.stop();
  rmSync(folder, { recursive: true });
});

/** The machine's clock, that can be put forward. */
class MovedClock implements Clock {
  ahead = 0;
  now = () => systemClock.now() + this.ahead;
  monotonic = systemClock.monotonic;
  sleep = systemClock.sleep;
  after = systemClock.after;
  soon = systemClock.soon;
}

const claim = (name: string, spec: IPClaim['spec']): IPClaim => ({
  apiVersion,
  kind: 'IPClaim',
  metadata: { name, namespace: 'default' },
  spec: spec!,
});
const at = (name: string, namespace = 'default') => ({ namespace, name });

describe.each(['sqlite', 'postgres'])('IPAM on %s', (store) => {
  let where: string;
  let clock: MovedClock;
  let running: IpamServer[];
  let count = 0;
  beforeEach(async () => {
    where = store === 'postgres' ? await cluster.database() : join(folder, `${++count}.db`);
    clock = new MovedClock();
    running = [];
  });
  afterEach(() => Promise.all(running.map((each) => each.stop())));

  const open = (): Promise<Storage> =>
    store === 'sqlite'
      ? openIpamStorage(where, clock)
      : openPostgresStorage({
          url: where,
          clock,
          log: () => {},
          procedures: [proceduresUrl],
          now: clock.now,
          onFatal: (error) => {
            throw error;
          },
        });

  async function start(options: { projects?: string[]; seed?: boolean; restSeconds?: number } = {}) {
    const server = await startIpamServer({
      projects: options.projects ?? ['alpha'],
      storage: await open(),
      clock,
      seed: options.seed ?? true,
      restSeconds: options.restSeconds ?? 0,
    });
    running.push(server);
    return server;
  }

  async function pool(client: Client, cidr: string, spec: object = {}, ofClass: object = {}) {
    const classSpec = { ipFamily: 'IPv4' as const, defaultPrefixLength: 32, ...ofClass };
    await client.create(IPClass, { apiVersion, kind: 'IPClass', metadata: { name: 'c' }, spec: classSpec });
    const poolSpec = { ipFamily: 'IPv4' as const, cidr, classNames: ['c'], ...spec };
    await client.create(IPPool, { apiVersion, kind: 'IPPool', metadata: { name: 'p' }, spec: poolSpec });
  }

  /** What is wrong with what the API shows: overlaps, claims that hold nothing, allocations nobody can name. */
  async function wrong(client: Client): Promise<string[]> {
    const found: string[] = [];
    const allocations = (await client.list(IPAllocation)).items;
    const claims = new Map((await client.list(IPClaim)).items.map((each) => [each.metadata.uid, each]));
    const held = allocations.filter((each) => each.spec?.purpose === 'Claim');
    const blocks = held.map((each) => IpPrefix.parse(each.status!.allocatedCIDR!)).sort((a, b) => a.compare(b));
    for (const [n, block] of blocks.entries()) if (blocks[n - 1]?.overlaps(block)) found.push(`${block} is held twice`);
    for (const { spec, status, metadata } of held) {
      if (spec?.claimRef === undefined) continue;
      const holder = claims.get(spec.claimRef.uid!);
      if (holder?.status?.allocatedCIDR !== status?.allocatedCIDR) found.push(`${metadata.name} is held by nobody`);
      claims.delete(spec.claimRef.uid!);
    }
    for (const each of claims.values()) {
      if (each.spec?.target !== 'ScopeRange') found.push(`claim ${each.metadata.name} holds nothing`);
    }
    return found;
  }

  test('a hundred claims at once on a fresh network and location make one /48, one /64 and a hundred blocks', async () => {
    const { client } = await start();
    const alpha = client('alpha');
    const spec = { ipFamily: 'IPv6' as const, scope: scopeOf('net') };
    const claims = await Promise.all(
      Array.from({ length: 100 }, (_, n) => alpha.create(IPClaim, claim(`c-${n}`, spec))),
    );
    expect(new Set(claims.map((each) => each.status?.allocatedCIDR)).size).toBe(100);
    const made = (await alpha.list(IPPool)).items.filter((each) => each.spec?.classRef !== undefined);
    expect(made.map((each) => each.status?.allocatedCIDR?.split('/')[1]).sort()).toEqual(['48', '64']);
    expect(await wrong(alpha)).toEqual([]);
  });

  test('two projects with equal names neither see nor touch each other, by any verb; without a project, nothing', async () => {
    const { client, server, pathOf } = await start({ projects: ['alpha', 'beta'] });
    const [alpha, beta] = [client('alpha'), client('beta')];
    const list = await beta.list(IPClaim);
    const seen: string[] = [];
    const ended = new AbortController();
    const watching = (async () => {
      const options = { resourceVersion: list.resourceVersion, signal: ended.signal };
      for await (const event of beta.watch(IPClaim, options)) {
        if (event.type !== 'BOOKMARK') seen.push(`${event.type} ${event.object.metadata.name}`);
      }
    })().catch(() => {});
    const spec = { ipFamily: 'IPv6' as const, scope: scopeOf('net') };
    const own = await alpha.create(IPClaim, claim('same', spec));
    expect(await beta.get(IPClaim, at('same'))).toBeUndefined();
    const patch = { type: 'merge' as const, body: { metadata: { labels: { a: 'b' } } } };
    expect((await refusalOf(beta.patch(IPClaim, at('same'), patch))).code).toBe(404);
    expect((await refusalOf(beta.update(IPClaim, own))).code).toBe(404);
    expect(await beta.delete(IPClaim, at('same'))).toBe(false);
    const other = await beta.create(IPClaim, claim('same', spec));
    expect(IpPrefix.parse(other.status!.allocatedCIDR!).overlaps(IpPrefix.parse(own.status!.allocatedCIDR!))).toBe(
      false,
    );
    const transport = server.transport({ user: 'admin', groups: ['system:masters'] });
    const all = async (project: string) => {
      const path = `${pathOf(project)}/apis/${apiVersion}/namespaces/default/ipclaims`;
      const { status, body } = await transport.request({ method: 'DELETE', path });
      for await (const _ of body);
      expect(status).toBe(200);
    };
    await all('beta');
    expect((await alpha.list(IPClaim)).items.map((each) => each.metadata.uid)).toEqual([own.metadata.uid]);
    expect((await beta.list(IPAllocation)).items.filter((each) => each.spec?.purpose === 'Claim')).toEqual([]);
    while (seen.length < 2) await systemClock.sleep(5);
    ended.abort();
    await watching;
    expect(seen).toEqual(['ADDED same', 'DELETED same']);
    const outside = await transport.request({ method: 'GET', path: `/apis/${apiVersion}/ipclaims` });
    expect(outside.status).toBe(404);
  });

  test('refusals leave the store as it was, name what they depend on, and that changes once when there is room', async () => {
    const { client, storage } = await start({ seed: false });
    const alpha = client('alpha');
    await pool(alpha, '192.0.2.0/31', { restPeriod: '20s' });
    for (const name of ['a', 'b']) await alpha.create(IPClaim, claim(name, { className: 'c' }));
    const shown = async () => (await alpha.get(IPPool, { namespace: '', name: 'p' }))!;
    while ((await shown()).status?.phase !== 'Exhausted') await systemClock.sleep(10);
    const state = async () => {
      const kinds = [IPClaim, IPAllocation, IPPool, IPClass] as ResourceType<KubeObject>[];
      return JSON.stringify(await Promise.all(kinds.map(async (kind) => (await alpha.list(kind)).items)));
    };
    const before = await state();
    const spec = { className: 'c' };
    const request = {
      plural: 'ipclaims',
      verb: 'create',
      plane: 'project/alpha',
      project: 'alpha',
      defaultRestSeconds: 0,
      dryRun: false,
    };
    const ask = (n: number) =>
      storage.call('ipam.write', { ...request, object: claim(`x-${n}`, spec) }).then(
        () => 'bound',
        (error: unknown) => (isApiError(error) ? error.code : error),
      );
    for (let n = 0; n < 10_000; n += 500) {
      const codes = await Promise.all(Array.from({ length: 500 }, (_, each) => ask(n + each)));
      expect(new Set(codes)).toEqual(new Set([507]));
    }
    expect(await state()).toBe(before);
    const refused = await refusalOf(alpha.create(IPClaim, claim('x', spec)));
    expect(refused.details).toMatchObject({ group: 'ipam.miloapis.com', kind: 'ippools', name: 'p' });
    const depends = refused.details?.causes?.filter((each) => each.reason === 'DependsOn').map((each) => each.field);
    expect(depends).toEqual(['ippools/p', 'ipclasses/c']);

    const versions = new Set([(await shown()).metadata.resourceVersion]);
    await alpha.delete(IPClaim, at('a'));
    await systemClock.sleep(200);
    versions.add((await shown()).metadata.resourceVersion);
    expect(versions.size).toBe(1);
    clock.ahead += 20_000;
    await alpha.create(IPClaim, claim('x', spec));
    expect(await wrong(alpha)).toEqual([]);
    const { metadata: _, ...grown } = await alpha.patch(
      IPPool,
      { namespace: '', name: 'p' },
      { type: 'merge', body: { spec: { cidr: '192.0.2.0/30' } } },
    );
    expect(grown.status).toMatchObject({ phase: 'Ready', allocatedCIDR: '192.0.2.0/30' });
    await alpha.create(IPClaim, claim('y', spec));
  });

  test('every refusal has its cause, its code, what it names and depends on, and changes nothing', async () => {
    const { client, storage } = await start({ seed: false, restSeconds: 60 });
    const alpha = client('alpha');
    const types = { ipclasses: IPClass, ippools: IPPool, ipclaims: IPClaim, ipallocations: IPAllocation };
    const requests = {
      create: <T extends IPClaim | IPClass | IPPool>(plural: keyof typeof types, object: T) =>
        alpha.create(types[plural] as unknown as ResourceType<T>, object),
      delete: (plural: keyof typeof types, each: string, namespace = '') =>
        alpha.delete(types[plural] as ResourceType<KubeObject>, at(each, namespace)),
      allocations: async () => (await alpha.list(IPAllocation)).items,
    };
    await setUp(requests);
    const state = async () => {
      // Until the status of pools has followed, and nothing is to be written any more.
      for (let before = -1; before !== storage.revision; await systemClock.sleep(1100)) before = storage.revision;
      const kinds = Object.values(types) as ResourceType<KubeObject>[];
      return JSON.stringify(await Promise.all(kinds.map(async (kind) => (await alpha.list(kind)).items)));
    };
    const before = await state();
    const told: [string, unknown][] = [];
    // Seconds have passed since the address was released.
    const timeless = (text?: string) => text?.replace(/\b\d+ s\b/, '60 s');
    for (const [each, ask] of Object.entries(refusals(requests))) {
      told.push([each, brief(await refusalOf(ask())).map(timeless)]);
    }
    expect(Object.fromEntries(told)).toEqual(expected);
    expect(await state()).toBe(before);
  });

  test('others are answered while thousands of claims are deleted, and nothing is left of them or of the project', async () => {
    const { client, server, pathOf, storage, ipam } = await start({ projects: ['alpha', 'beta'], restSeconds: 60 });
    const [alpha, beta] = [client('alpha'), client('beta')];
    for (let n = 0; n < 2000; n += 200) {
      const spec = { ipFamily: 'IPv6' as const, scope: scopeOf(`net-${n}`) };
      await Promise.all(Array.from({ length: 200 }, (_, i) => alpha.create(IPClaim, claim(`c-${n + i}`, spec))));
    }
    let deleted = false;
    const path = `${pathOf('alpha')}/apis/${apiVersion}/namespaces/default/ipclaims`;
    const deleting = server
      .transport({ user: 'admin', groups: ['system:masters'] })
      .request({ method: 'DELETE', path })
      .then(async ({ status, body }) => {
        for await (const _ of body);
        deleted = true;
        return status;
      });
    const left: number[] = [];
    for (let n = 0; n < 3; n++) {
      await beta.create(IPClaim, claim(`meanwhile-${n}`, { className: 'public-unicast-ipv4' }));
      left.push((await alpha.list(IPClaim)).items.length);
      expect(deleted).toBe(false);
    }
    // They were not answered before it had begun either.
    expect(left[2]).toBeLessThan(2000);
    expect(await deleting).toBe(200);
    expect((await alpha.list(IPClaim)).items).toEqual([]);
    expect((await alpha.list(IPAllocation)).items.filter(({ spec }) => spec?.purpose === 'Claim')).toEqual([]);
    expect(await wrong(beta)).toEqual([]);

    await server.closePlane('project/alpha');
    await ipam.dropProject('project/alpha');
    await server.dropPlane('project/alpha');
    const { result } = await storage.call<Figures>('ipam.figures', undefined);
    expect(new Set([...result.pools, ...result.classes, ...result.resting].map(({ plane }) => plane))).toEqual(
      new Set(['project/beta']),
    );
  });

  test('a deleted collection releases what its selectors select, by identity, label or class, and nothing else', async () => {
    const { client, server, pathOf } = await start({ seed: false });
    const alpha = client('alpha');
    await pool(alpha, '192.0.2.0/28');
    const identity = (name: string) => ({
      'networking.datumapis.com/cell-uid': 'cell',
      'networking.datumapis.com/interface-namespace': 'ns',
      'networking.datumapis.com/interface-name': name,
    });
    const labels = [identity('one'), identity('one'), identity('two'), { team: 'a' }, { team: 'b' }, {}];
    for (const [n, each] of labels.entries()) {
      const made = claim(`c-${n}`, { className: 'c' });
      await alpha.create(IPClaim, { ...made, metadata: { ...made.metadata, labels: each } });
    }
    const transport = server.transport({ user: 'admin', groups: ['system:masters'] });
    const removed = async (query: Record<string, string>) => {
      const path = `${pathOf('alpha')}/apis/${apiVersion}/namespaces/default/ipclaims?${new URLSearchParams(query)}`;
      const { status, body } = await transport.request({ method: 'DELETE', path });
      for await (const _ of body);
      expect(status).toBe(200);
      expect(await wrong(alpha)).toEqual([]);
      return (await alpha.list(IPClaim)).items.map((each) => each.metadata.name);
    };
    const ofOne = Object.entries(identity('one')).map(([key, value]) => `${key}=${value}`);
    expect(await removed({ labelSelector: ofOne.join(','), dryRun: 'All' })).toHaveLength(6);
    expect(await removed({ labelSelector: ofOne.join(',') })).toEqual(['c-2', 'c-3', 'c-4', 'c-5']);
    expect(await removed({ labelSelector: 'team=a' })).toEqual(['c-2', 'c-4', 'c-5']);
    expect(await removed({ fieldSelector: 'metadata.name=c-5' })).toEqual(['c-2', 'c-4']);
    expect(await removed({ fieldSelector: 'spec.className=other' })).toEqual(['c-2', 'c-4']);
    expect(await removed({ fieldSelector: 'spec.className=c' })).toEqual([]);
    expect((await alpha.list(IPAllocation)).items).toEqual([]);
    expect((await alpha.create(IPClaim, claim('next', { className: 'c' }))).status?.allocatedCIDR).toBe('192.0.2.0/32');
  });

  const name = fc.integer({ min: 0, max: 7 }).map((n) => `claim-${n}`);
  const step = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant('claim' as const),
        name,
        length: fc.integer({ min: 29, max: 32 }),
        address: fc.option(fc.integer({ min: 0, max: 31 }), { nil: undefined, freq: 3 }),
        retain: fc.boolean(),
      }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('release' as const, 'free' as const), name }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('pass' as const) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('pool' as const) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('resize' as const), bits: fc.integer({ min: 26, max: 29 }) }) },
  );

  test('answers as a set of taken blocks does, whatever is asked', async () => {
    const { client, storage } = await start({ seed: false });
    const alpha = client('alpha');
    /** Every run starts with an empty project, the one after a failure too: else it could not be shrunk. */
    const clear = async () => {
      for (const each of (await alpha.list(IPClaim)).items) await alpha.delete(IPClaim, at(each.metadata.name));
      for (const each of (await alpha.list(IPAllocation)).items) {
        await alpha.delete(IPAllocation, at(each.metadata.name));
      }
      await alpha.delete(IPPool, { namespace: '', name: 'p' }).catch(() => {});
      await alpha.delete(IPClass, { namespace: '', name: 'c' });
      // What rests keeps the range of the pool.
      clock.ahead += 20_001;
    };
    const property = fc.asyncProperty(
      fc.boolean(),
      fc.array(step, { minLength: 10, maxLength: 30 }),
      async (best, steps) => {
        const first = IpPrefix.parse('192.0.2.0/28');
        const poolSpec = { restPeriod: '20s', allocation: { strategy: best ? 'BestFit' : 'FirstFit' } };
        await pool(alpha, String(first), poolSpec, { allowedPrefixLengths: { min: 26, max: 32 } });
        const model = new Model(first, best, 20_000);
        for (const each of steps) {
          if (each.do === 'claim') {
            const address = each.address === undefined ? undefined : IpPrefix.parse('192.0.2.0/27').at(each.address);
            const expected = model.claim(each.name, each.length, address, each.retain);
            const spec = {
              className: 'c',
              prefixLength: each.length,
              reclaimPolicy: each.retain ? ('Retain' as const) : ('Delete' as const),
              ...(address === undefined ? {} : { address: String(address) }),
            };
            const answer = alpha.create(IPClaim, claim(each.name, spec)).then(
              ({ status }) => status?.allocatedCIDR,
              (error: unknown) => (isApiError(error) ? error.status.details?.causes?.[0]?.reason : error),
            );
            expect(await answer).toBe(expected);
          } else if (each.do === 'pool') {
            const again: IPPool = {
              apiVersion,
              kind: 'IPPool',
              metadata: { name: 'p' },
              spec: {
                ipFamily: 'IPv4',
                cidr: String(model.range),
                classNames: ['c'],
                ...poolSpec,
              } as IPPool['spec'] & {},
            };
            const changing = model.gone
              ? alpha.create(IPPool, again)
              : alpha.delete(IPPool, { namespace: '', name: 'p' });
            expect(await accepted(changing)).toBe(model.toggle());
          } else if (each.do === 'resize') {
            if (model.gone) continue;
            const range = IpPrefix.of(4, first.start, each.bits);
            const fits = model.resize(range);
            const body = { spec: { cidr: String(range) } };
            const done = alpha.patch(IPPool, { namespace: '', name: 'p' }, { type: 'merge', body });
            expect(await accepted(done)).toBe(fits);
          } else if (each.do === 'pass') {
            model.pass(20_001);
            clock.ahead += 20_001;
            // What the service does within a quarter of a second.
            await storage.call('ipam.upkeep', { defaultRestSeconds: 0 });
          } else {
            const held = model.taken.get(each.name);
            if (each.do === 'release' && held?.state === 'held') {
              model.release(each.name);
              await alpha.delete(IPClaim, at(each.name));
            } else if (each.do === 'free' && held?.state === 'retained') {
              model.free(each.name);
              const all = (await alpha.list(IPAllocation)).items;
              const kept = all.find((one) => one.status?.allocatedCIDR === held.block.toString());
              await alpha.delete(IPAllocation, at(kept!.metadata.name));
            }
          }
          expect(await wrong(alpha)).toEqual([]);
        }
      },
    );
    await fc.assert(property.afterEach(clear), { numRuns: 6 });
  });

  /** Every object of the project, as a new process finds it. */
  async function found(): Promise<{ [plural: string]: (IPClaim & IPAllocation & IPPool)[] }> {
    const storage = await open();
    const plurals = ['ipclaims', 'ipallocations', 'ippools', 'ipclasses'];
    const lists = plurals.map(async (plural) => {
      const page = await storage.list({ plane: 'project/alpha', resource: `ipam.miloapis.com/${plural}` });
      return [plural, page.records.map(({ value }) => JSON.parse(Buffer.from(value).toString()))] as const;
    });
    const objects = Object.fromEntries(await Promise.all(lists));
    await storage.close();
    return objects;
  }

  const request = {
    plural: 'ipclaims',
    plane: 'project/alpha',
    project: 'alpha',
    defaultRestSeconds: 0,
    dryRun: false,
  };
  const creating = (spec: IPClaim['spec']) => ({
    ...request,
    verb: 'create',
    object: {
      ...claim('k', spec),
      metadata: { ...at('k'), uid: 'uid-k', generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' },
    },
  });
  const deleting = { ...request, verb: 'delete', ...at('k'), uid: 'uid-k' };

  /** A process that does `write` and is killed at a statement of it. Answers whether it died. */
  function die(write: object, statement: number): Promise<boolean> {
    const fixture = new URL('./death.fixture.ts', import.meta.url).pathname;
    const env = { ...process.env, NODE_COMPILE_CACHE: join(folder, 'compiled') };
    return new Promise((resolve) => {
      execFile(process.execPath, [fixture, where, JSON.stringify(write), String(statement)], { env }, (error) =>
        resolve(error?.signal === 'SIGKILL'),
      );
    });
  }

  /** Kills process after process at one statement after the other, until one lives to the end; in between nothing has changed. */
  async function survive(write: object): Promise<number> {
    const before = await found();
    let statements = 0;
    while (await die(write, statements)) {
      expect(await found()).toEqual(before);
      statements++;
    }
    return statements;
  }

  test('a process killed at any statement of allocating or releasing leaves the block wholly held or wholly free', async () => {
    const { client } = await start({ seed: false });
    await pool(client('alpha'), '192.0.2.0/30');
    await running.pop()!.stop();
    const held = async () => {
      const { ipclaims, ipallocations } = await found();
      return [ipclaims, ipallocations].map((each) => each!.map(({ status }) => status?.allocatedCIDR));
    };
    const spec = { className: 'c' };
    expect(await survive(creating(spec))).toBeGreaterThan(5);
    expect(await held()).toEqual([['192.0.2.0/32'], ['192.0.2.0/32']]);
    expect(await survive(deleting)).toBeGreaterThan(5);
    expect(await held()).toEqual([[], []]);
    // The block that was let go is the next that is handed out.
    expect(await die(creating(spec), Number.MAX_SAFE_INTEGER)).toBe(false);
    expect(await held()).toEqual([['192.0.2.0/32'], ['192.0.2.0/32']]);
  }, 240_000);

  test('a process killed at any statement of the first claim on a network leaves all of its pools or none', async () => {
    const { client } = await start();
    const first = await client('alpha').create(IPClaim, claim('other', { ipFamily: 'IPv6', scope: scopeOf('other') }));
    await running.pop()!.stop();
    expect(await survive(creating({ ipFamily: 'IPv6', scope: scopeOf('net') }))).toBeGreaterThan(20);
    const { ipclaims, ipallocations, ippools } = await found();
    const lengths = (objects: readonly IPPool[]) => objects.map((each) => each.status?.allocatedCIDR?.split('/')[1]);
    const made = ippools!.filter((each) => each.metadata.name.includes('-net-'));
    expect(lengths(made).sort()).toEqual(['48', '64']);
    const blocks = [...made, ...ipclaims!.filter(({ metadata }) => metadata.name === 'k')].map((each) =>
      IpPrefix.parse(each.status!.allocatedCIDR!),
    );
    blocks.sort((a, b) => a.length - b.length);
    expect(blocks.map((block, n) => n === 0 || blocks[n - 1]!.contains(block))).toEqual([true, true, true]);
    expect(blocks[0]!.overlaps(IpPrefix.parse(first.status!.allocatedCIDR!))).toBe(false);
    const shown = ipallocations!.map(({ status }) => status?.allocatedCIDR);
    for (const block of blocks) expect(shown.filter((cidr) => cidr === String(block))).toHaveLength(1);
    const { client: again } = await start({ seed: false });
    expect(await wrong(again('alpha'))).toEqual([]);
  }, 600_000);
});
