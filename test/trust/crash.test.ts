import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type Client,
  createClient,
  type Random,
  type RunningInformer,
  seededRandom,
  startInformer,
  systemClock,
  type Transport,
} from '../../src/kube/index.ts';
import { ApiError, ConfigMap } from '../../src/meta/index.ts';
import { clientOver, configMap, connect, keyOf, temporaryFolder } from './support/api.ts';
import { ApiProcess } from './support/api-process.ts';
import { BreakingProxy } from './support/breaking-proxy.ts';
import { hastyClock } from './support/hasty-clock.ts';
import { rounds, seed } from './support/options.ts';
import { asInformersTell, followPlainly, lines, listenTo, type Told } from './support/witness.ts';

const kills = rounds('TRUST_KILLS', 50);
const writers = 8;
const watchers = 3;
/** A kill comes this long after the first write of a round was acknowledged, at most. */
const mostMilliseconds = 500;

/** What a writer was promised of an object that only it writes to: a version, or that it is gone. */
type Promised = { version: number } | 'gone';

/** Creates, changes and deletes objects of its own as fast as it is answered. */
class Writer {
  readonly promised = new Map<string, Promised>();
  /** Writes under way when the server was killed: done or not. */
  readonly uncertain = new Set<string>();
  acknowledged = 0;
  readonly #id: number;
  readonly #random: Random;

  constructor(id: number) {
    this.#id = id;
    this.#random = seededRandom(`${seed} writer ${id}`);
  }

  /** Until the connection breaks, or something other than an acknowledgement comes. */
  async run(client: Client): Promise<void> {
    for (;;) {
      const name = `w${this.#id}-${Math.floor(this.#random.next() * 25)}`;
      try {
        await this.#write(client, name);
        this.uncertain.delete(name);
        this.acknowledged++;
      } catch (error) {
        if (error instanceof ApiError) throw error;
        this.uncertain.add(name);
        return;
      }
    }
  }

  async #write(client: Client, name: string): Promise<void> {
    const by = `${this.#id}.${this.acknowledged}`;
    if (this.uncertain.has(name)) await this.#look(client, name);
    const before = this.promised.get(name) ?? 'gone';
    if (before === 'gone') {
      const { metadata } = await client.create(ConfigMap, configMap(name, by));
      this.promised.set(name, { version: Number(metadata.resourceVersion) });
    } else if (this.#random.next() < 0.2) {
      expect(await client.delete(ConfigMap, keyOf(name))).toBe(true);
      this.promised.set(name, 'gone');
    } else {
      const { metadata } = await client.update(ConfigMap, configMap(name, by, String(before.version)));
      this.promised.set(name, { version: Number(metadata.resourceVersion) });
    }
  }

  async #look(client: Client, name: string): Promise<void> {
    const found = await client.get(ConfigMap, keyOf(name));
    this.promised.set(name, found === undefined ? 'gone' : { version: Number(found.metadata.resourceVersion) });
  }

  /** What of its promises the server does not keep. A write that was under way may have been done on top. */
  broken(held: ReadonlyMap<string, number>): string[] {
    const faults: string[] = [];
    for (const [name, promised] of this.promised) {
      const version = held.get(name);
      if (promised === 'gone') {
        if (version !== undefined && !this.uncertain.has(name)) faults.push(`${name} is back`);
      } else if (version === undefined) {
        if (!this.uncertain.has(name)) faults.push(`${name} is lost, it was promised at ${promised.version}`);
      } else if (version < promised.version || (version > promised.version && !this.uncertain.has(name))) {
        faults.push(`${name} is at ${version}, it was promised at ${promised.version}`);
      }
    }
    return faults;
  }
}

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
const closing: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await folder.remove();
});

describe(`seed ${seed}`, () => {
  it(`killed ${kills} times while ${writers} write: all that was acknowledged is there, watchers miss nothing`, async () => {
    const random = seededRandom(`${seed} kills`);
    const server = new ApiProcess(folder.path);
    closing.push(() => server.kill());
    await server.start();
    const forwarder = new BreakingProxy(random, () => server.port);
    forwarder.breaking = false;
    const port = await forwarder.listen();
    closing.push(() => forwarder.close());
    const connected = (): Transport => {
      const transport = connect(server, port);
      closing.push(() => transport.close());
      return transport;
    };

    const first = await clientOver(connected()).list(ConfigMap);
    expect(first.items).toEqual([]);
    let lists = 0;
    const informers: RunningInformer<ConfigMap>[] = [];
    const told: Told[][] = [];
    for (let n = 0; n < watchers; n++) {
      const clock = hastyClock(20);
      const transport = connected();
      const counted: Transport = {
        ...transport,
        request: (request) => {
          if (request.path.includes('limit=')) lists++;
          return transport.request(request);
        },
      };
      const client = createClient({ transport: counted, basePath: '', clock });
      const informer = startInformer({ client, type: ConfigMap, clock, random: seededRandom(`${seed} informer ${n}`) });
      closing.push(() => informer.stop());
      informers.push(informer);
      told.push(listenTo(informer));
    }
    await Promise.all(informers.map((informer) => informer.whenSynced()));
    expect(lists).toBe(watchers);

    const all = Array.from({ length: writers }, (_, n) => new Writer(n));
    const truth: Told[] = [];
    let from = first.resourceVersion;
    for (let round = 0; round < kills; round++) {
      const clients = all.map(() => connect(server, server.port));
      const before = all.reduce((sum, { acknowledged }) => sum + acknowledged, 0);
      const acknowledged = () => all.reduce((sum, writer) => sum + writer.acknowledged, 0) - before;
      const writing = Promise.all(all.map((writer, n) => writer.run(clientOver(clients[n]!))));
      writing.catch(() => {});
      const firstOne = async (): Promise<void> => {
        while (acknowledged() === 0) await systemClock.sleep(1);
      };
      await Promise.race([firstOne(), writing]);
      await systemClock.sleep(random.next() * mostMilliseconds);
      await server.kill();
      await writing;
      await Promise.all(clients.map((client) => client.close()));
      await server.start();

      // What the restarted server says happened since the last look, and what it holds.
      const client = clientOver(connected());
      const { items, resourceVersion } = await client.list(ConfigMap);
      const held = new Map(items.map(({ metadata }) => [metadata.name, Number(metadata.resourceVersion)]));
      expect(all.flatMap((writer) => writer.broken(held))).toEqual([]);
      truth.push(...(await eventsBetween(client, from, resourceVersion)));
      from = resourceVersion;
      const expected = lines(asInformersTell(truth));
      for (let n = 0; n < 3_000 && told.some((some) => some.length < expected.length); n++) await systemClock.sleep(10);
      for (const some of told) expect(lines(some)).toEqual(expected);
    }
    expect(lists).toBe(watchers);
    const acknowledged = all.reduce((sum, writer) => sum + writer.acknowledged, 0);
    expect(acknowledged).toBeGreaterThan(kills * 4);
    console.log(`${kills} kills, ${acknowledged} acknowledged writes, ${truth.length} events, seed ${seed}`);
  });
});

/** Every event after `from` up to `to`, from a watch of its own. */
async function eventsBetween(client: Client, from: string, to: string): Promise<Told[]> {
  const events: Told[] = [];
  const ending = new AbortController();
  const following = followPlainly(client, from, ending.signal, events);
  const isThere = () => Number(from) === Number(to) || Number(events.at(-1)?.version ?? 0) >= Number(to);
  for (let n = 0; n < 3_000 && !isThere(); n++) await systemClock.sleep(5);
  ending.abort();
  await following.catch(() => {});
  return events;
}
