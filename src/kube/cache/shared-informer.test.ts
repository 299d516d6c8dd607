import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../meta/index.ts';
import { VirtualClock } from '../clock/virtual.ts';
import { createClient } from '../rest/create-client.ts';
import { seededRandom } from '../seeded-random.ts';
import { refusal, ScriptedServer, Thing, thing } from '../testing/scripted-server.ts';
import { type RunningInformer, startInformer } from './shared-informer.ts';

function setUp(seed = 1) {
  const clock = new VirtualClock();
  const server = new ScriptedServer(clock);
  const errors: string[] = [];
  const start = () =>
    startInformer({
      client: createClient({ transport: server.transport(), basePath: '', clock }),
      type: Thing,
      clock,
      random: seededRandom(seed),
      onError: (error, during) => errors.push(`${during}: ${(error as Error).message}`),
    });
  return { clock, server, errors, start };
}

function names(informer: RunningInformer<Thing>): string[] {
  return informer.list().map((object) => object.metadata.name);
}

describe('an informer', () => {
  it('is synced with the first list and follows the watch', async () => {
    const { clock, server, start } = setUp();
    server.put(Thing, thing('a'));
    const informer = start();
    expect(informer.synced).toBe(false);
    await informer.whenSynced();
    expect(names(informer)).toEqual(['a']);
    server.put(Thing, thing('b'));
    server.remove(Thing, 'default', 'a');
    await clock.settle();
    expect(names(informer)).toEqual(['b']);
    await informer.stop();
    expect(server.openWatches).toBe(0);
  });

  it('resumes where a broken watch stopped, without a list, losing nothing', async () => {
    const { clock, server, start } = setUp();
    const informer = start();
    await informer.whenSynced();
    server.put(Thing, thing('a'));
    await clock.settle();
    server.stall();
    server.put(Thing, thing('b'));
    server.disconnect();
    await clock.settle();
    expect(names(informer)).toEqual(['a', 'b']);
    expect(server.requests.filter((request) => request.includes('limit='))).toHaveLength(1);
    await informer.stop();
  });

  it('lists again when history is gone', async () => {
    const { clock, server, start } = setUp();
    server.put(Thing, thing('a'));
    const informer = start();
    await informer.whenSynced();
    const seen: string[] = [];
    informer.onEvent((event) => seen.push(`${event.type} ${event.object.metadata.name}`));
    server.stall();
    server.remove(Thing, 'default', 'a');
    server.put(Thing, thing('b'));
    server.compact();
    server.disconnect();
    await clock.advance(5_000);
    expect(names(informer)).toEqual(['b']);
    expect(seen).toEqual(['added a', 'deleted a', 'added b']);
    await informer.stop();
  });

  it('lists again when the stream itself says that it expired', async () => {
    const { clock, server, errors, start } = setUp();
    const informer = start();
    await informer.whenSynced();
    await clock.settle();
    server.inject({ type: 'ERROR', object: ApiError.of('Expired', 'too old').status });
    await clock.advance(1_000);
    expect(errors).toEqual(['watch: too old']);
    expect(server.requests.filter((request) => request.includes('limit='))).toHaveLength(2);
    expect(server.openWatches).toBe(1);
    await informer.stop();
  });

  it('waits longer and longer for a server that is down, at most 30 s, and never gives up', async () => {
    const { clock, server, errors, start } = setUp();
    const times: number[] = [];
    const down = () => {
      times.push(clock.monotonic());
      return new Error('connect ECONNREFUSED');
    };
    for (let n = 0; n < 12; n++) server.faults.push(down);
    server.put(Thing, thing('a'));
    const informer = start();
    await clock.advanceUntil(informer.whenSynced());
    const waits = times.slice(1).map((time, n) => time - times[n]!);
    waits.forEach((wait, n) => {
      const whole = Math.min(800 * 2 ** n, 30_000);
      expect(wait).toBeGreaterThanOrEqual(whole / 2);
      expect(wait).toBeLessThanOrEqual(whole);
    });
    expect(errors).toHaveLength(12);
    expect(names(informer)).toEqual(['a']);
    await informer.stop();
  });

  it('goes on through refusals: forbidden, not served, garbage', async () => {
    const { clock, server, errors, start } = setUp();
    server.faults.push(refusal('Forbidden', 'not yet'), refusal('NotFound', 'no such API'), () => ({ status: 200 }));
    const informer = start();
    await clock.advanceUntil(informer.whenSynced());
    expect(errors.map((error) => error.slice(0, 17))).toEqual([
      'list: not yet',
      'list: no such API',
      'list: GET /apis/t',
    ]);
    await informer.stop();
  });

  it('notices a watch that is dead without saying so', async () => {
    const { clock, server, errors, start } = setUp();
    const informer = start();
    await informer.whenSynced();
    await clock.settle();
    server.stall();
    server.put(Thing, thing('a'));
    await clock.advance(299_000);
    expect(names(informer)).toEqual([]);
    await clock.advance(332_000);
    await clock.advance(1_000);
    expect(names(informer)).toEqual(['a']);
    expect(errors[0]).toMatch(/^watch: a watch gave no sign of life for \d+ s$/);
    await informer.stop();
  });

  it('asks for watches of 5 to 10 minutes and goes straight on when one has ended', async () => {
    const { clock, server, errors, start } = setUp();
    const informer = start();
    await informer.whenSynced();
    for (let n = 0; n < 5; n++) {
      await clock.advance(60_000);
      server.endWatches();
      await clock.settle();
      expect(server.openWatches).toBe(1);
    }
    const seconds = server.requests.flatMap((request) => /timeoutSeconds=(\d+)/.exec(request)?.[1] ?? []).map(Number);
    expect(seconds).toHaveLength(6);
    for (const some of seconds) expect(some >= 300 && some <= 600).toBe(true);
    expect(new Set(seconds).size).toBeGreaterThan(1);
    expect(errors).toEqual([]);
    await informer.stop();
  });

  it('does not hammer a server that ends every watch at once', async () => {
    const { clock, server, start } = setUp();
    const informer = start();
    await informer.whenSynced();
    for (let second = 0; second < 60; second++) {
      server.endWatches();
      await clock.advance(1_000);
    }
    server.faults.push(...Array.from({ length: 1000 }, () => () => ({ status: 200 })));
    const before = server.requests.length;
    server.endWatches();
    await clock.advance(60_000);
    expect(server.requests.length - before).toBeLessThan(12);
    await informer.stop();
  });

  it('resumes from a bookmark', async () => {
    const { clock, server, start } = setUp();
    const informer = start();
    await informer.whenSynced();
    await clock.settle();
    server.revision = 5000;
    server.bookmark();
    await clock.settle();
    server.compact();
    server.disconnect();
    await clock.advance(2_000);
    expect(server.requests.at(-1)).toContain('resourceVersion=5000');
    expect(server.requests.filter((request) => request.includes('limit='))).toHaveLength(1);
    await informer.stop();
  });

  it('resumes before the last event, so that a commit whose events were cut in two is completed', async () => {
    const { clock, server, start } = setUp();
    const informer = start();
    await informer.whenSynced();
    await clock.settle();
    const shared = { resourceVersion: '1001', creationTimestamp: '2026-01-01T00:00:00Z' };
    server.inject({ type: 'ADDED', object: thing('a', {}, { ...shared, uid: 'a' }) });
    await clock.settle();
    server.disconnect();
    await clock.settle();
    expect(server.requests.at(-1)).toContain('resourceVersion=1000');
    server.inject({ type: 'ADDED', object: thing('a', {}, { ...shared, uid: 'a' }) });
    server.inject({ type: 'ADDED', object: thing('b', {}, { ...shared, uid: 'b' }) });
    await clock.settle();
    expect(names(informer)).toEqual(['a', 'b']);
    await informer.stop();
  });

  it('stops while it lists, and while it waits to try again', async () => {
    const { clock, server, start } = setUp();
    const listing = start();
    await listing.stop();
    expect(listing.synced).toBe(false);
    server.faults.push(() => new Error('down'));
    const waiting = start();
    await clock.settle();
    await waiting.stop();
    const ending = new AbortController();
    const synced = waiting.whenSynced(ending.signal);
    ending.abort(new Error('no longer'));
    await expect(synced).rejects.toThrow('no longer');
  });
});

/** What may happen, by name of one of five objects. */
const step = fc.record({
  what: fc.constantFrom(
    'put',
    'put',
    'put',
    'write',
    'write',
    'remove',
    'disconnect',
    'compact',
    'wait',
    'stall',
    'bookmark',
  ),
  name: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
});

it('whatever breaks, ends equal to the server, and handlers see a history without gaps or repetitions', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), fc.integer(), async (steps, seed) => {
      const { clock, server, start } = setUp(seed);
      const chance = seededRandom(seed + 1);
      server.cut = (bytes) => {
        const at = Math.floor(chance.next() * bytes.length);
        return [bytes.subarray(0, at), bytes.subarray(at)];
      };
      server.slowness = () => (chance.next() < 0.3 ? chance.next() * 2_000 : 0);
      const informer = start();
      // A controller's own client; its answers may be late.
      const writer = createClient({
        transport: server.transport(),
        basePath: '',
        clock,
        onWrite: (_, object) => {
          const overlay = () => informer.overlay(object as never);
          if (chance.next() < 0.5) overlay();
          else clock.after(chance.next() * 3_000, overlay);
        },
      });
      const told = new Map<string, string>();
      const problems: string[] = [];
      informer.onEvent((event) => {
        const { name, uid, resourceVersion } = event.object.metadata;
        const before = told.get(name);
        const now = `${uid} ${resourceVersion}`;
        if (event.type === 'added' && before !== undefined) problems.push(`${name} added twice`);
        if (event.type === 'updated') {
          const old = event.old.metadata;
          if (before !== `${old.uid} ${old.resourceVersion}`) problems.push(`${name} updated from the wrong state`);
          if (old.uid !== uid) problems.push(`${name} became another object without a deletion`);
          if (Number(old.resourceVersion) >= Number(resourceVersion)) problems.push(`${name} went back`);
        }
        if (event.type === 'deleted' && before !== now) problems.push(`${name} deleted in a state never told`);
        if (event.type === 'deleted') told.delete(name);
        else told.set(name, now);
      });
      for (const { what, name } of steps) {
        if (what === 'put') server.put(Thing, thing(name, { size: server.revision }));
        else if (what === 'remove') server.remove(Thing, 'default', name);
        else if (what === 'disconnect') server.disconnect();
        else if (what === 'compact') server.compact();
        else if (what === 'bookmark') server.bookmark();
        else if (what === 'stall') server.stall();
        else if (what === 'wait') await clock.advance(chance.next() * 4_000);
        else {
          const color = `by-writer-${server.revision}`;
          const key = { namespace: 'default', name };
          const patch = writer.patch(Thing, key, { type: 'merge', body: { spec: { color } } });
          void patch.catch(() => writer.create(Thing, thing(name, { color })).catch(() => undefined));
        }
        if (chance.next() < 0.5) await clock.settle();
      }
      await clock.advance(10_000);
      server.slowness = () => 0;
      server.disconnect();
      await clock.advance(120_000);
      const texts = (objects: Thing[]) => objects.map((object) => JSON.stringify(object)).sort();
      expect(problems).toEqual([]);
      expect(texts(informer.list())).toEqual(texts(server.all(Thing)));
      expect([...told.keys()].sort()).toEqual(names(informer).sort());
      await informer.stop();
      expect(server.openWatches).toBe(0);
    }),
    { numRuns: 300 },
  );
});
