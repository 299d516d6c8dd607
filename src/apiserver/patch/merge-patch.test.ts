import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deepFreeze, jsonEqual } from '../../meta/index.ts';
import { applyMergePatch } from './merge-patch.ts';

describe('merge patch', () => {
  // RFC 7386, appendix A: original, patch, result.
  it.each<[unknown, unknown, unknown]>([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'b' }, ['c'], ['c']],
    [{ a: 'foo' }, null, null],
    [{ a: 'foo' }, 'bar', 'bar'],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ])('%j with %j is %j', (target, patch, result) => {
    expect(applyMergePatch(deepFreeze(target), deepFreeze(patch))).toStrictEqual(result);
  });

  it('shares what it does not touch, and answers the target itself where nothing changes', () => {
    const target = deepFreeze({ spec: { a: 1 }, status: { ready: true } });
    const result = applyMergePatch(target, { status: { ready: false } }) as typeof target;
    expect(result.spec).toBe(target.spec);
    expect(applyMergePatch(target, { status: { ready: true, gone: null } })).toBe(target);
  });

  it('treats __proto__ and constructor as data', () => {
    const patch = JSON.parse(
      '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"a":{"__proto__":1}}',
    );
    const result = applyMergePatch({ a: {} }, patch);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
    expect(JSON.stringify(result)).toBe(
      '{"a":{"__proto__":1},"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
    );
    expect(JSON.stringify(applyMergePatch(result, JSON.parse('{"__proto__":null,"constructor":null}')))).toBe(
      '{"a":{"__proto__":1}}',
    );
  });

  it('is idempotent', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (target, patch) => {
        const once = applyMergePatch(target, patch);
        return jsonEqual(applyMergePatch(once, patch), once);
      }),
    );
  });
});
