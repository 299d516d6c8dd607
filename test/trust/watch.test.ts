import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type Client,
  createClient,
  type RunningInformer,
  seededRandom,
  startInformer,
  systemClock,
  type Transport,
} from '../../src/kube/index.ts';
import type { KubeObject, Stored } from '../../src/meta/index.ts';
import { ConfigMap } from '../../src/meta/index.ts';
import {
  type Api,
  type ApiOptions,
  clientOver,
  configMap,
  connect,
  keyOf,
  startApi,
  temporaryFolder,
} from './support/api.ts';
import { BreakingProxy } from './support/breaking-proxy.ts';
import { churn } from './support/churn.ts';
import { hastyClock } from './support/hasty-clock.ts';
import { http2Transport } from './support/http2-transport.ts';
import { rounds, seed } from './support/options.ts';
import { asInformersTell, followPlainly, lines, listenTo, type Told } from './support/witness.ts';

const disconnects = rounds('TRUST_DISCONNECTS', 1_000);
const outages = rounds('TRUST_OUTAGES', 20);
const ownWrites = rounds('TRUST_OWN_WRITES', 400);
/** Revisions kept where history is to be forgotten. */
const history = 32;
const watchers = 8;
const plainWatchers = 6;
const writers = 4;

/** A server, a proxy in front of it that breaks connections, and who writes past the proxy and watches through it. */
class World {
  readonly random = seededRandom(seed);
  readonly proxy: BreakingProxy;
  readonly informers: RunningInformer<ConfigMap>[] = [];
  readonly told: Told[][] = [];
  readonly plain: Told[][] = [];
  /** What happened, from a watch inside the process that nothing breaks. */
  readonly truth: Told[] = [];
  relists = 0;
  readonly api: Api;
  #port = 0;
  readonly #ending = new AbortController();
  readonly #transports: Transport[] = [];
  readonly #running: Promise<unknown>[] = [];
  readonly #writing = new AbortController();
  readonly #writers: Promise<number>[] = [];

  constructor(api: Api) {
    this.api = api;
    this.proxy = new BreakingProxy(seededRandom(`${seed} proxy`), () => api.port);
  }

  /** Watchers first, so that they must tell everything; then the writers. */
  async begin({ plainly }: { plainly: number }): Promise<void> {
    const port = await this.proxy.listen();
    this.#port = port;
    const inside = clientOver(this.api.direct());
    const { items, resourceVersion } = await inside.list(ConfigMap);
    expect(items).toEqual([]);
    this.#running.push(followPlainly(inside, resourceVersion, this.#ending.signal, this.truth));
    for (let n = 0; n < watchers; n++) this.#inform(port, n);
    await Promise.all(this.informers.map((informer) => informer.whenSynced()));
    // Half of them over connections of their own, half together over one that carries them all.
    const shared = http2Transport(this.api, port);
    this.#transports.push(shared);
    for (let n = 0; n < plainly; n++) {
      const all: Told[] = [];
      this.plain.push(all);
      const client = n % 2 === 0 ? this.#client(port) : clientOver(shared);
      this.#running.push(followPlainly(client, resourceVersion, this.#ending.signal, all));
    }
    for (let n = 0; n < writers; n++) {
      const client = this.#client(this.api.port);
      this.#writers.push(churn(client, seededRandom(`${seed} writer ${n}`), this.#writing.signal, `${n}`));
    }
  }

  async untilBroken(count: number): Promise<void> {
    while (this.proxy.broken < count) await systemClock.sleep(10);
  }

  async untilTold(count: number): Promise<void> {
    while (this.truth.length < count) await systemClock.sleep(10);
  }

  /** The writers stop, the proxy breaks nothing more; waits for `ended`, at most half a minute. Answers how often was written. */
  async settle(ended: () => boolean): Promise<number> {
    this.#writing.abort();
    const counts = await Promise.all(this.#writers);
    this.proxy.breaking = false;
    for (let n = 0; n < 3_000 && !ended(); n++) await systemClock.sleep(10);
    return counts.reduce((sum, count) => sum + count, 0);
  }

  async end(): Promise<void> {
    this.#writing.abort();
    await Promise.allSettled(this.#writers);
    this.#ending.abort();
    await Promise.all(this.informers.map((informer) => informer.stop()));
    await Promise.allSettled(this.#running);
    await Promise.all(this.#transports.map((transport) => transport.close()));
    await this.proxy.close();
    await this.api.close();
  }

  /** A client that writes past the proxy and an informer that watches through it, which is told what was written. */
  reader(): { client: Client; informer: RunningInformer<ConfigMap> } {
    this.#inform(this.#port, this.informers.length);
    const informer = this.informers.at(-1)!;
    const onWrite = (_: unknown, object: Stored<KubeObject>) => informer.overlay(object as Stored<ConfigMap>);
    const client = createClient({ transport: this.#connect(this.api.port), basePath: '', clock: systemClock, onWrite });
    return { client, informer };
  }

  #inform(port: number, number: number): void {
    const clock = hastyClock(200);
    const transport = this.#connect(port);
    const counted: Transport = {
      ...transport,
      request: (request) => {
        if (request.path.includes('limit=')) this.relists++;
        return transport.request(request);
      },
    };
    const client = createClient({ transport: counted, basePath: '', clock });
    const random = seededRandom(`${seed} informer ${number}`);
    const informer = startInformer({ client, type: ConfigMap, clock, random });
    this.informers.push(informer);
    this.told.push(listenTo(informer));
  }

  #client(port: number) {
    return clientOver(this.#connect(port));
  }

  #connect(port: number): Transport {
    const transport = connect(this.api, port);
    this.#transports.push(transport);
    return transport;
  }
}

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let world: World | undefined;
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(async () => {
  await world?.end();
  world = undefined;
  await folder.remove();
});

async function start(options: Omit<ApiOptions, 'folder'>): Promise<World> {
  world = new World(await startApi({ folder: folder.path, ...options }));
  return world;
}

describe(`seed ${seed}`, () => {
  it(`${disconnects} disconnects while objects are written: no event missed, none told twice, order kept`, async () => {
    const world = await start({ historyRevisions: 10_000_000 });
    await world.begin({ plainly: plainWatchers });
    const listsBefore = world.relists;
    await world.untilBroken(disconnects);
    const everything = [...world.told, ...world.plain];
    const writes = await world.settle(() => everything.every((all) => all.length >= world.truth.length));
    const truth = lines(world.truth);
    const asTold = lines(asInformersTell(world.truth));
    expect(truth.length).toBe(writes);
    for (const all of world.plain) expect(lines(all)).toEqual(truth);
    for (const all of world.told) expect(lines(all)).toEqual(asTold);
    expect(world.relists).toBe(listsBefore);
    console.log(`${world.proxy.broken} disconnects, ${writes} writes, ${everything.length} watchers, seed ${seed}`);
  });

  it(`${outages} times history is forgotten meanwhile: watchers list again, tell true states in order, end at the last`, async () => {
    const world = await start({ historyRevisions: history });
    await world.begin({ plainly: 0 });
    const listsBefore = world.relists;
    for (let n = 0; n < outages; n++) {
      world.proxy.down = true;
      await world.untilTold(world.truth.length + 2 * history);
      world.proxy.down = false;
      await world.untilBroken(world.proxy.broken + watchers);
    }
    await world.settle(() => true);
    const inside = clientOver(world.api.direct());
    const last = statesOf((await inside.list(ConfigMap)).items);
    await world.settle(() => world.informers.every((informer) => `${statesOf(informer.list())}` === `${last}`));
    for (const informer of world.informers) expect(statesOf(informer.list())).toEqual(last);
    const happened = new Set(world.truth.filter(({ what }) => what !== 'deleted').map(stateOf));
    for (const all of world.told) expect(faultsOf(all, happened)).toEqual([]);
    const relists = world.relists - listsBefore;
    expect(relists).toBeGreaterThanOrEqual(outages);
    console.log(`${world.proxy.broken} disconnects, ${relists} lists because of 410, seed ${seed}`);
  });

  it(`${ownWrites} writes are each seen by their writer at once and never unseen, whatever breaks meanwhile`, async () => {
    const world = await start({ historyRevisions: history });
    await world.begin({ plainly: 0 });
    const { informer, client } = world.reader();
    await informer.whenSynced();
    const random = seededRandom(`${seed} own writes`);
    const shown = () => informer.list().filter(({ metadata }) => metadata.name.startsWith('own-'));
    const written = new Map<string, number>();
    const unseen: string[] = [];
    const look = (): void => {
      const versions = new Map(shown().map(({ metadata }) => [metadata.name, Number(metadata.resourceVersion)]));
      for (const [name, version] of written) {
        if ((versions.get(name) ?? 0) < version)
          unseen.push(`${name} at ${versions.get(name)}, it was written at ${version}`);
      }
    };
    informer.onEvent(look);
    for (let n = 0; n < ownWrites; n++) {
      const name = `own-${Math.floor(random.next() * 8)}`;
      const data = { by: `own ${n}` };
      const { metadata } = written.has(name)
        ? await client.patch(ConfigMap, keyOf(name), { type: 'merge', body: { data } })
        : await client.create(ConfigMap, configMap(name, data.by));
      written.set(name, Number(metadata.resourceVersion));
      look();
      if (random.next() < 0.1) await systemClock.sleep(random.next() * 100);
    }
    expect(unseen).toEqual([]);
    expect(world.proxy.broken).toBeGreaterThan(ownWrites / 20);
    console.log(`${ownWrites} writes seen at once, ${world.proxy.broken} disconnects, seed ${seed}`);
  });
});

const statesOf = (objects: readonly ConfigMap[]) =>
  objects.map(({ metadata }) => `${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`).sort();
const stateOf = ({ name, uid, version }: Told) => `${name} ${uid} ${version}`;

/** What is wrong with what an informer told that may leave states out: nothing untrue, nothing twice, nothing backwards. */
function faultsOf(all: readonly Told[], happened: ReadonlySet<string>): string[] {
  const held = new Map<string, Told>();
  const newest = new Map<string, number>();
  return all
    .filter((one) => {
      const before = held.get(one.name);
      if (one.what === 'deleted') {
        held.delete(one.name);
        return before === undefined || stateOf(before) !== stateOf(one);
      }
      held.set(one.name, one);
      const isNews = Number(one.version) > (newest.get(one.name) ?? 0);
      newest.set(one.name, Number(one.version));
      const continues = one.what === 'added' ? before === undefined : before?.uid === one.uid;
      return !isNews || !continues || !happened.has(stateOf(one));
    })
    .map((one) => `${one.what} ${stateOf(one)}`);
}
