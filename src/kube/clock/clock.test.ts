import { describe, expect, it } from 'vitest';
import { systemClock } from './system.ts';
import { VirtualClock } from './virtual.ts';

describe('VirtualClock', () => {
  it('runs timers at their times and in order, and what they set off before the next', async () => {
    const clock = new VirtualClock(0);
    const seen: string[] = [];
    clock.after(20, () => seen.push(`b ${clock.now()}`));
    clock.after(10, () => {
      seen.push(`a ${clock.now()}`);
      void Promise.resolve()
        .then(() => clock.sleep(5))
        .then(() => seen.push(`a+5 ${clock.now()}`));
      clock.soon(() => seen.push('soon after a'));
    });
    clock.after(20, () => seen.push(`c ${clock.now()}`));
    clock.after(15, () => seen.push('never')).cancel();
    clock.after(31, () => seen.push('later'));
    await clock.advance(30);
    expect(seen).toEqual(['a 10', 'soon after a', 'a+5 15', 'b 20', 'c 20']);
    expect([clock.now(), clock.monotonic()]).toEqual([30, 30]);
  });

  it('advances as far as a promise needs, and says so when it never settles', async () => {
    const clock = new VirtualClock(0);
    const work = clock.sleep(400).then(() => 'done');
    expect(await clock.advanceUntil(work)).toBe('done');
    expect(clock.now()).toBe(400);
    await expect(clock.advanceUntil(new Promise(() => undefined), 50)).rejects.toThrow('not settled within 50 ms');
  });

  it('keeps a thousand timers in order', async () => {
    const clock = new VirtualClock(0);
    const seen: number[] = [];
    for (let n = 0; n < 1000; n++) {
      const due = (n * 7919) % 1000;
      clock.after(due, () => seen.push(due));
    }
    await clock.advance(1000);
    expect(seen).toEqual(Array.from({ length: 1000 }, (_, n) => n));
  });

  it('wakes a sleeper whose signal is aborted, with the reason', async () => {
    const clock = new VirtualClock();
    const ending = new AbortController();
    const sleeping = clock.sleep(1000, ending.signal);
    ending.abort(new Error('stop'));
    await expect(sleeping).rejects.toThrow('stop');
    await expect(clock.sleep(1000, ending.signal)).rejects.toThrow('stop');
  });
});

describe('systemClock', () => {
  it('wakes at once when aborted, and soon comes after what is queued', async () => {
    const ending = new AbortController();
    const sleeping = systemClock.sleep(60_000, ending.signal);
    ending.abort(new Error('stop'));
    await expect(sleeping).rejects.toThrow('stop');
    const seen: string[] = [];
    await new Promise<void>((resolve) => {
      systemClock.soon(() => {
        seen.push('soon');
        resolve();
      });
      void Promise.resolve().then(() => seen.push('microtask'));
    });
    expect(seen).toEqual(['microtask', 'soon']);
  });

  it('does not fire a wait of months at once', async () => {
    let fired = false;
    const timer = systemClock.after(2 ** 40, () => {
      fired = true;
    });
    await systemClock.sleep(5);
    timer.cancel();
    expect(fired).toBe(false);
  });
});
