import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyDelta, DeltaBase, deltaOf, largestValue } from './delta.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

/** An object as it is stored. */
function instance(number: number): object {
  const condition = (type: string, status: string) => ({
    type,
    status,
    reason: status === 'True' ? type : 'Pending',
    message: status === 'True' ? `Bound to interface load-${number}-eth0` : 'Waiting for controller',
    lastTransitionTime: `2026-01-01T00:00:${10 + (number % 50)}Z`,
  });
  return {
    apiVersion: 'compute.datumapis.com/v1alpha',
    kind: 'Instance',
    metadata: { name: `load-${number}`, namespace: 'default', resourceVersion: `${1000 + number}`, labels: { ü: 'ß' } },
    spec: { networkInterfaces: [{ name: 'eth0', network: { name: 'default' }, ipFamilies: ['IPv6', 'IPv4'] }] },
    status: { conditions: [condition('Bound', 'True'), condition('Ready', number % 2 === 0 ? 'True' : 'Unknown')] },
  };
}

/** One text and another made of it by cutting out, putting in and moving. */
const edited = fc
  .tuple(
    fc.string({ maxLength: 400, unit: 'binary' }),
    fc.array(fc.tuple(fc.nat(400), fc.nat(60), fc.string({ maxLength: 40 }), fc.nat(400)), { maxLength: 12 }),
  )
  .map(([from, edits]) => {
    let to = from;
    for (const [at, cut, put, moved] of edits) {
      const piece = to.slice(at, at + cut);
      to = to.slice(0, at) + put + to.slice(at + cut);
      if (moved % 2 === 0) to = to.slice(0, moved) + piece + to.slice(moved);
    }
    return [bytes(from), bytes(to)] as const;
  });

describe('delta', () => {
  it('and its base give the value, whatever the two are', () => {
    const arbitrary = fc.tuple(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ maxLength: 300 }));
    const repetitive = fc.tuple(
      fc.array(fc.nat(2), { maxLength: 600 }).map((list) => Uint8Array.from(list)),
      fc.array(fc.nat(2), { maxLength: 600 }).map((list) => Uint8Array.from(list)),
    );
    fc.assert(
      fc.property(fc.oneof(arbitrary, repetitive, edited), ([from, to]) => {
        const base = new DeltaBase(from);
        const delta = deltaOf(base, to, 10_000);
        expect(applyDelta(base, delta!)).toEqual(to);
      }),
      { numRuns: 3000 },
    );
  });

  it('of an object from another of its kind is a small part of it', () => {
    const base = new DeltaBase(bytes(JSON.stringify(instance(7))));
    for (let number = 0; number < 200; number += 1) {
      const value = bytes(JSON.stringify(instance(number)));
      const delta = deltaOf(base, value, value.length);
      expect(applyDelta(base, delta!)).toEqual(value);
      expect(delta!.length).toBeLessThan(value.length / 4);
    }
  });

  it('is given up once it would be longer than asked', () => {
    fc.assert(
      fc.property(edited, fc.nat(500), ([from, to], limit) => {
        const delta = deltaOf(new DeltaBase(from), to, limit);
        if (delta !== undefined) expect(delta.length).toBeLessThanOrEqual(limit);
      }),
      { numRuns: 1000 },
    );
  });

  it('finds what is alike in values longer than what is indexed of them, and refuses none up to the largest', () => {
    const line = (n: number) => `{"line":${n},"hash":"${Math.imul(n, 0x9e3779b1) >>> 0}"}\n`;
    const lines = Array.from({ length: 10_000 }, (_, n) => line(n));
    const from = bytes(lines.join('').slice(0, largestValue));
    const to = bytes(`${line(-1)}${lines.join('')}`.slice(0, largestValue));
    const base = new DeltaBase(from);
    const delta = deltaOf(base, to, largestValue);
    expect(delta!.length).toBeLessThan(200);
    expect(applyDelta(base, delta!)).toEqual(to);
    const random = Uint8Array.from({ length: largestValue }, (_, n) => Math.imul(n * n, 0x9e3779b1) >>> 24);
    expect(deltaOf(base, random, largestValue / 2)).toBeUndefined();
  });
});
