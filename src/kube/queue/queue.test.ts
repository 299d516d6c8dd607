import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../clock/virtual.ts';
import type { Request } from '../controller.ts';
import { seededRandom } from '../seeded-random.ts';
import { WorkQueue } from './queue.ts';

const request = (name: string, plane = 'hub'): Request => ({ plane, namespace: 'default', name });

function setUp() {
  const clock = new VirtualClock();
  const told = { depths: [] as number[], adds: 0, waits: [] as number[] };
  const queue = new WorkQueue({
    clock,
    random: seededRandom(1),
    metrics: {
      depth: (count) => told.depths.push(count),
      added: () => told.adds++,
      waited: (seconds) => told.waits.push(seconds),
    },
  });
  return { clock, queue, told };
}

describe('WorkQueue', () => {
  it('hands each request out once, in order, however often it was added', async () => {
    const { queue, told } = setUp();
    for (const name of ['a', 'b', 'a', 'b', 'c']) queue.add(request(name));
    queue.add(request('a', 'cell/x'));
    expect(queue.depth).toBe(4);
    const names = [];
    for (let n = 0; n < 4; n++) names.push((await queue.get())?.name);
    expect(names).toEqual(['a', 'b', 'c', 'a']);
    expect([queue.depth, told.adds, told.depths.at(-1)]).toEqual([0, 4, 0]);
  });

  it('runs a request again that was added while a worker had it, and not before it is done', async () => {
    const { clock, queue } = setUp();
    queue.add(request('a'));
    await queue.get();
    queue.add(request('a'));
    queue.add(request('a'));
    let second: Request | undefined;
    void queue.get().then((got) => {
      second = got;
    });
    await clock.settle();
    expect(second).toBeUndefined();
    queue.done(request('a'));
    await clock.settle();
    expect(second?.name).toBe('a');
    queue.done(request('a'));
    expect(queue.depth).toBe(0);
  });

  it('keeps the earliest of several delays', async () => {
    const { clock, queue, told } = setUp();
    queue.addAfter(request('a'), 100);
    queue.addAfter(request('a'), 50);
    queue.addAfter(request('a'), 70);
    await clock.advance(49);
    expect(queue.depth).toBe(0);
    await clock.advance(1);
    expect(queue.depth).toBe(1);
    await clock.advance(100);
    expect([queue.depth, told.adds]).toEqual([1, 1]);
  });

  it('backs off 5 ms doubling to 10 s, each request for itself, until forgotten', async () => {
    const { queue } = setUp();
    const waits = Array.from({ length: 14 }, () => queue.addRateLimited(request('a')));
    waits.forEach((wait, n) => {
      const whole = Math.min(5 * 2 ** n, 10_000);
      expect(wait).toBeGreaterThanOrEqual(whole / 2);
      expect(wait).toBeLessThanOrEqual(whole);
    });
    expect(queue.failures(request('a'))).toBe(14);
    expect(queue.addRateLimited(request('b'))).toBeLessThanOrEqual(5);
    queue.forget(request('a'));
    expect(queue.addRateLimited(request('a'))).toBeLessThanOrEqual(5);
  });

  it('drops what waits for a plane and leaves the rest', async () => {
    const { clock, queue } = setUp();
    queue.add(request('a', 'project/p'));
    queue.add(request('b'));
    queue.addAfter(request('c', 'project/p'), 10);
    queue.drop((request) => request.plane === 'project/p');
    await clock.advance(20);
    expect(queue.depth).toBe(1);
    queue.add(request('a', 'project/p'));
    expect((await queue.get())?.name).toBe('b');
    expect((await queue.get())?.name).toBe('a');
    expect(queue.depth).toBe(0);
  });

  it('tells how long requests waited', async () => {
    const { clock, queue, told } = setUp();
    queue.add(request('a'));
    await clock.advance(1_500);
    await queue.get();
    expect(told.waits).toEqual([1.5]);
  });

  it('lets waiting workers go when it is shut down, and takes nothing more', async () => {
    const { clock, queue } = setUp();
    const waiting = queue.get();
    queue.shutDown();
    expect(await waiting).toBeUndefined();
    queue.add(request('a'));
    queue.addAfter(request('b'), 1);
    await clock.advance(10);
    expect(await queue.get()).toBeUndefined();
  });

  it('handles a hundred thousand requests without slowing down', async () => {
    const { queue, told } = setUp();
    for (let n = 0; n < 100_000; n++) queue.add(request(`r${n}`));
    for (let n = 0; n < 100_000; n++) {
      const got = await queue.get();
      if (got !== undefined) queue.done(got);
    }
    expect([queue.depth, told.adds]).toEqual([0, 100_000]);
  });
});
