import { describe, expect, it } from 'vitest';
import { ApiError, deepFreeze } from '../../meta/index.ts';
import { applyJsonPatch, maximumJsonPatchOperations } from './json-patch.ts';

function refusal(target: unknown, operations: unknown): ApiError {
  try {
    applyJsonPatch(target, operations);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('the patch was accepted');
}

describe('JSON patch', () => {
  // RFC 6902, appendix A.
  it.each<[string, unknown, unknown, unknown]>([
    ['A.1 adds a member', { foo: 'bar' }, [{ op: 'add', path: '/baz', value: 'qux' }], { foo: 'bar', baz: 'qux' }],
    [
      'A.2 adds an element',
      { foo: ['bar', 'baz'] },
      [{ op: 'add', path: '/foo/1', value: 'qux' }],
      { foo: ['bar', 'qux', 'baz'] },
    ],
    ['A.3 removes a member', { baz: 'qux', foo: 'bar' }, [{ op: 'remove', path: '/baz' }], { foo: 'bar' }],
    [
      'A.4 removes an element',
      { foo: ['bar', 'qux', 'baz'] },
      [{ op: 'remove', path: '/foo/1' }],
      { foo: ['bar', 'baz'] },
    ],
    [
      'A.5 replaces',
      { baz: 'qux', foo: 'bar' },
      [{ op: 'replace', path: '/baz', value: 'boo' }],
      { baz: 'boo', foo: 'bar' },
    ],
    [
      'A.6 moves a value',
      { foo: { bar: 'baz', waldo: 'fred' }, qux: { corge: 'grault' } },
      [{ op: 'move', from: '/foo/waldo', path: '/qux/thud' }],
      { foo: { bar: 'baz' }, qux: { corge: 'grault', thud: 'fred' } },
    ],
    [
      'A.7 moves an element',
      { foo: ['all', 'grass', 'cows', 'eat'] },
      [{ op: 'move', from: '/foo/1', path: '/foo/3' }],
      { foo: ['all', 'cows', 'eat', 'grass'] },
    ],
    [
      'A.8 tests',
      { baz: 'qux', foo: ['a', 2, 'c'] },
      [
        { op: 'test', path: '/baz', value: 'qux' },
        { op: 'test', path: '/foo/1', value: 2 },
      ],
      { baz: 'qux', foo: ['a', 2, 'c'] },
    ],
    [
      'A.10 adds a nested object',
      { foo: 'bar' },
      [{ op: 'add', path: '/child', value: { grandchild: {} } }],
      { foo: 'bar', child: { grandchild: {} } },
    ],
    [
      'A.11 ignores unknown members of an operation',
      { foo: 'bar' },
      [{ op: 'add', path: '/baz', value: 'qux', xyz: 123 }],
      { foo: 'bar', baz: 'qux' },
    ],
    ['A.14 unescapes ~', { '/': 9, '~1': 10 }, [{ op: 'test', path: '/~01', value: 10 }], { '/': 9, '~1': 10 }],
    [
      'A.16 appends',
      { foo: ['bar'] },
      [{ op: 'add', path: '/foo/-', value: ['abc', 'def'] }],
      { foo: ['bar', ['abc', 'def']] },
    ],
    // Against the RFC, as kube-apiserver does.
    ['replace of nothing adds it', { a: 1 }, [{ op: 'replace', path: '/b', value: 1 }], { a: 1, b: 1 }],
    ['replaces the whole', { a: 1 }, [{ op: 'replace', path: '', value: { b: 2 } }], { b: 2 }],
    ['adds null', {}, [{ op: 'add', path: '/a', value: null }], { a: null }],
    [
      'tests objects in any key order',
      { a: { x: 1, y: 2 } },
      [{ op: 'test', path: '/a', value: { y: 2, x: 1 } }],
      { a: { x: 1, y: 2 } },
    ],
  ])('%s', (_, target, operations, result) => {
    expect(applyJsonPatch(deepFreeze(target), deepFreeze(operations))).toStrictEqual(result);
  });

  it.each<[string, unknown, unknown, string]>([
    ['A.9 failed test', { baz: 'qux' }, [{ op: 'test', path: '/baz', value: 'bar' }], 'testing value /baz failed'],
    [
      'A.12 no such target',
      { foo: 'bar' },
      [{ op: 'add', path: '/baz/bat', value: 'qux' }],
      'doc is missing path: "/baz/bat"',
    ],
    [
      'A.15 string is not number',
      { '/': 9, '~1': 10 },
      [{ op: 'test', path: '/~01', value: '10' }],
      'testing value /~01 failed',
    ],
    [
      'remove of nothing',
      { a: 1 },
      [{ op: 'remove', path: '/b' }],
      'remove operation does not apply: doc is missing path: "/b"',
    ],
    ['test of nothing', { a: 1 }, [{ op: 'test', path: '/b', value: 1 }], 'doc is missing path: "/b"'],
    ['move into itself', { a: { b: {} } }, [{ op: 'move', from: '/a', path: '/a/b/c' }], 'cannot move into itself'],
    ['index past the end', { a: [1] }, [{ op: 'add', path: '/a/2', value: 1 }], 'is not an index of its array'],
    ['leading zero', { a: [1, 2] }, [{ op: 'remove', path: '/a/01' }], 'doc is missing path: "/a/01"'],
    ['inherited member', {}, [{ op: 'remove', path: '/toString' }], 'doc is missing path: "/toString"'],
    [
      'inherited prototype',
      {},
      [{ op: 'add', path: '/__proto__/polluted', value: 1 }],
      'doc is missing path: "/__proto__/polluted"',
    ],
  ])('answers 422 on %s', (_, target, operations, message) => {
    const error = refusal(deepFreeze(target), operations);
    expect(error.code).toBe(422);
    expect(error.reason).toBe('Invalid');
    expect(error.message).toContain('the server rejected our request due to an error in our request: ');
    expect(error.message).toContain(message);
  });

  it.each<[string, unknown, string]>([
    ['a number for an operation', [1], 'operation 0 of the JSON patch must be an object'],
    ['an unknown op', [{ op: 'merge', path: '/a' }], 'op must be one of add, remove, replace, move, copy, test'],
    ['a missing path', [{ op: 'remove' }], 'path must be a JSON pointer'],
    ['a path without slash', [{ op: 'remove', path: 'a' }], 'must be empty or begin with "/"'],
    ['a bad escape', [{ op: 'remove', path: '/a~2' }], 'not followed by 0 or 1'],
    ['a missing value', [{ op: 'add', path: '/a' }], 'add needs a value'],
    ['a missing from', [{ op: 'move', path: '/a' }], 'from must be a JSON pointer'],
  ])('answers 422 on %s', (_, operations, message) => {
    const error = refusal({ a: 1 }, operations);
    expect([error.code, error.reason]).toEqual([422, 'Invalid']);
    expect(error.message).toContain(message);
  });

  it('answers 400 on an object for a patch', () => {
    const error = refusal({ a: 1 }, { op: 'add' });
    expect([error.code, error.message]).toEqual([
      400,
      'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
    ]);
  });

  it('refuses more than 10,000 operations, and applies 10,000', () => {
    const operations = Array.from({ length: maximumJsonPatchOperations }, () => ({
      op: 'add',
      path: '/a/-',
      value: 1,
    }));
    expect((applyJsonPatch({ a: [] }, operations) as { a: number[] }).a).toHaveLength(10_000);
    const error = refusal({ a: [] }, [...operations, operations[0]]);
    expect([error.code, error.message]).toEqual([
      413,
      'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
    ]);
  });

  it('refuses copies that grow without bound', () => {
    const doubling = Array.from({ length: 64 }, (_, index) => ({ op: 'copy', from: '', path: `/c${index}` }));
    expect(refusal({ a: 'x'.repeat(1000) }, doubling).code).toBe(413);
  });

  it('keeps copies apart from each other, from the target and from the patch', () => {
    const target = deepFreeze({ a: { list: [1] } });
    const operations = deepFreeze([
      { op: 'copy', from: '/a', path: '/b' },
      { op: 'add', path: '/b/list/-', value: 2 },
      { op: 'add', path: '/c', value: { list: [] } },
      { op: 'add', path: '/c/list/-', value: 3 },
    ]);
    expect(applyJsonPatch(target, operations)).toEqual({ a: { list: [1] }, b: { list: [1, 2] }, c: { list: [3] } });
  });

  it('stores __proto__ as data', () => {
    const result = applyJsonPatch({}, [{ op: 'add', path: '/__proto__', value: { polluted: true } }]);
    expect(JSON.stringify(result)).toBe('{"__proto__":{"polluted":true}}');
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
  });
});
