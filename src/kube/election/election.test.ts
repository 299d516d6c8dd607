import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Lease } from '../../meta/index.ts';
import { VirtualClock } from '../clock/virtual.ts';
import { createClient } from '../rest/create-client.ts';
import { seededRandom } from '../seeded-random.ts';
import { ScriptedServer } from '../testing/scripted-server.ts';
import type { Transport } from '../transport.ts';
import { runElection } from './election.ts';

const lease = { namespace: 'kube-system', name: 'berth' };

function setUp() {
  const clock = new VirtualClock();
  const server = new ScriptedServer(clock);
  const leading = new Set<string>();
  const history: string[] = [];

  function run(identity: string) {
    const ending = new AbortController();
    /** Cut: nothing gets through, in one direction or in both. */
    const link: { cut: boolean | 'answers' } = { cut: false };
    const direct = server.transport();
    const transport: Transport = {
      ...direct,
      request(request) {
        if (link.cut === false) return direct.request(request);
        // Done, and never told.
        if (link.cut === 'answers') void direct.request(request);
        return new Promise((_, reject) =>
          request.signal?.addEventListener('abort', () => reject(request.signal?.reason)),
        );
      },
    };
    const client = createClient({ transport, basePath: '', clock });
    const random = seededRandom(identity);
    const done = runElection({ client, clock, random, lease, identity, signal: ending.signal }, async (signal) => {
      leading.add(identity);
      history.push(`${clock.monotonic()} ${[...leading].join('+')}`);
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      leading.delete(identity);
    });
    return { done, link, stop: () => ending.abort() };
  }
  return { clock, server, leading, history, run };
}

describe('an election', () => {
  it('has one leader, who keeps the lease by renewing it', async () => {
    const { clock, server, leading, history, run } = setUp();
    const a = run('a');
    await clock.settle();
    const b = run('b');
    await clock.advance(600_000);
    expect([...leading]).toEqual(['a']);
    expect(history).toEqual(['0 a']);
    expect(server.read(Lease, 'kube-system', 'berth')?.spec).toMatchObject({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      leaseTransitions: 0,
      acquireTime: '2026-01-01T00:00:00.000000Z',
    });
    a.stop();
    b.stop();
    await clock.advanceUntil(Promise.all([a.done, b.done]));
    expect(leading.size).toBe(0);
  });

  it('hands over soon after a leader stopped, who gives the lease up', async () => {
    const { clock, server, leading, run } = setUp();
    const a = run('a');
    await clock.settle();
    const b = run('b');
    await clock.advance(30_000);
    a.stop();
    await a.done;
    expect(server.read(Lease, 'kube-system', 'berth')?.spec?.holderIdentity).toBe('');
    await clock.advance(4_500);
    expect([...leading]).toEqual(['b']);
    expect(server.read(Lease, 'kube-system', 'berth')?.spec?.leaseTransitions).toBe(1);
    b.stop();
    await clock.advanceUntil(b.done);
  });

  it('never has two leaders when one is cut off, and a new one within the lease', async () => {
    const { clock, leading, history, run } = setUp();
    const a = run('a');
    await clock.settle();
    const b = run('b');
    await clock.advance(60_000);
    a.link.cut = true;
    await clock.advance(10_000);
    expect([...leading]).toEqual([]);
    await clock.advance(12_000);
    expect([...leading]).toEqual(['b']);
    a.link.cut = false;
    await clock.advance(60_000);
    expect([...leading]).toEqual(['b']);
    expect(history.filter((entry) => entry.includes('+'))).toEqual([]);
    a.stop();
    b.stop();
    await clock.advanceUntil(Promise.all([a.done, b.done]));
  });

  it('is over when another holds the lease, and what that one wrote is left alone', async () => {
    const { clock, server, leading, run } = setUp();
    const a = run('a');
    await clock.advance(30_000);
    expect([...leading]).toEqual(['a']);
    const held = server.read(Lease, 'kube-system', 'berth')!;
    server.put(Lease, { ...held, spec: { ...held.spec, holderIdentity: 'by hand', leaseDurationSeconds: 3600 } });
    await clock.advance(4_500);
    expect([...leading]).toEqual([]);
    await clock.advance(600_000);
    expect([...leading]).toEqual([]);
    expect(server.read(Lease, 'kube-system', 'berth')?.spec?.holderIdentity).toBe('by hand');
    a.stop();
    await clock.advanceUntil(a.done);
  });

  it('never has two leaders whoever is cut off, and has one again once nobody is', async () => {
    const names = ['a', 'b', 'c'];
    const step = fc.record({
      who: fc.constantFrom(...names),
      cut: fc.constantFrom(true, false, false, 'answers' as const),
      seconds: fc.integer({ min: 0, max: 25 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const { clock, leading, history, run } = setUp();
        const candidates = new Map(names.map((name) => [name, run(name)]));
        for (const { who, cut, seconds } of steps) {
          candidates.get(who)!.link.cut = cut;
          await clock.advance(seconds * 1000);
        }
        for (const { link } of candidates.values()) link.cut = false;
        await clock.advance(40_000);
        expect(history.filter((entry) => entry.includes('+'))).toEqual([]);
        expect(leading.size).toBe(1);
        for (const { stop } of candidates.values()) stop();
        await clock.advanceUntil(Promise.all([...candidates.values()].map(({ done }) => done)));
      }),
      { numRuns: 100 },
    );
  });

  it('is refused figures that would let two lead', async () => {
    const { clock, server } = setUp();
    const client = createClient({ transport: server.transport(), basePath: '', clock });
    const { signal } = new AbortController();
    const options = { client, clock, random: seededRandom(1), lease, identity: 'a', signal };
    const election = runElection({ ...options, leaseSeconds: 5, renewSeconds: 5 }, async () => undefined);
    await expect(election).rejects.toThrow('leaseSeconds must be more than renewSeconds');
  });
});
