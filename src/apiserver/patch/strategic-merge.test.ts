import { describe, expect, it } from 'vitest';
import { ApiError, deepFreeze } from '../../meta/index.ts';
import { applyStrategicMergePatch, strategicMergeSupported } from './index.ts';

const node = { group: '', kind: 'Node' };
const configMap = { group: '', kind: 'ConfigMap' };

function patched(target: Record<string, unknown>, patch: unknown, kind = node): unknown {
  return applyStrategicMergePatch(deepFreeze(target), deepFreeze(patch), kind);
}

function refusal(target: Record<string, unknown>, patch: unknown, kind = node): ApiError {
  try {
    patched(target, patch, kind);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('the patch was accepted');
}

const conditions = (...types: string[]) => ({
  status: { conditions: types.map((type) => ({ type, status: 'True' })) },
});
const typesOf = (object: unknown) =>
  (object as ReturnType<typeof conditions>).status.conditions.map(({ type }) => type);

describe('strategic merge patch', () => {
  it('is a merge patch for maps', () => {
    expect(patched({ data: { a: '1', b: '2' } }, { data: { a: null, c: '3' } }, configMap)).toEqual({
      data: { b: '2', c: '3' },
    });
    expect(patched({}, { data: { a: null, c: { d: null } } }, configMap)).toEqual({ data: { c: {} } });
  });

  it('merges a list of objects by its key, in the order of both', () => {
    const result = patched(conditions('A', 'B', 'C'), {
      status: { conditions: [{ type: 'B', status: 'False' }, { type: 'N' }] },
    });
    expect(result).toEqual({
      status: {
        conditions: [
          { type: 'A', status: 'True' },
          { type: 'B', status: 'False' },
          { type: 'N' },
          { type: 'C', status: 'True' },
        ],
      },
    });
  });

  it('merges ownerReferences by uid and finalizers as a set in every kind', () => {
    const before = { metadata: { finalizers: ['a', 'b'], ownerReferences: [{ uid: '1', name: 'x' }] } };
    const patch = { metadata: { finalizers: ['b', 'c'], ownerReferences: [{ uid: '1', controller: true }] } };
    expect(patched(before, patch, configMap)).toEqual({
      metadata: { finalizers: ['a', 'b', 'c'], ownerReferences: [{ uid: '1', name: 'x', controller: true }] },
    });
  });

  it('replaces lists without a merge key', () => {
    expect(patched({ spec: { taints: [{ key: 'a' }] } }, { spec: { taints: [{ key: 'b' }] } })).toEqual({
      spec: { taints: [{ key: 'b' }] },
    });
  });

  it('deletes an item with $patch: delete', () => {
    const patch = {
      status: {
        conditions: [
          { $patch: 'delete', type: 'A' },
          { type: 'B', status: 'Unknown' },
        ],
      },
    };
    expect(patched(conditions('A', 'B'), patch)).toEqual({
      status: { conditions: [{ type: 'B', status: 'Unknown' }] },
    });
  });

  it('replaces a list with an item $patch: replace, merges with $patch: merge', () => {
    expect(
      typesOf(patched(conditions('A'), { status: { conditions: [{ type: 'B' }, { $patch: 'replace' }] } })),
    ).toEqual(['B']);
    expect(typesOf(patched(conditions('A'), { status: { conditions: [{ $patch: 'merge' }, { type: 'A' }] } }))).toEqual(
      ['A'],
    );
  });

  it('replaces or empties a map with $patch', () => {
    expect(patched({ data: { a: '1' } }, { data: { $patch: 'replace', b: '2' } }, configMap)).toEqual({
      data: { b: '2' },
    });
    expect(patched({ data: { a: '1' } }, { data: { $patch: 'delete' } }, configMap)).toEqual({ data: {} });
    expect(patched({ data: { a: '1' } }, { data: { $patch: 'merge', b: '2' } }, configMap)).toEqual({
      data: { a: '1', b: '2' },
    });
  });

  it('keeps only $retainKeys', () => {
    expect(patched({ data: { a: '1', b: '2' } }, { data: { $retainKeys: ['b', 'c'], c: '3' } }, configMap)).toEqual({
      data: { b: '2', c: '3' },
    });
  });

  it('deletes plain values with $deleteFromPrimitiveList', () => {
    const patch = { metadata: { '$deleteFromPrimitiveList/finalizers': ['a'], finalizers: ['c'] } };
    const result = patched({ metadata: { finalizers: ['a', 'b'] } }, patch) as { metadata: { finalizers: string[] } };
    expect(new Set(result.metadata.finalizers)).toEqual(new Set(['b', 'c']));
  });

  it('orders with $setElementOrder', () => {
    const patch = {
      status: {
        '$setElementOrder/conditions': [{ type: 'C' }, { type: 'N' }, { type: 'A' }],
        conditions: [{ type: 'N' }],
      },
    };
    expect(typesOf(patched(conditions('A', 'B', 'C'), patch))).toEqual(['B', 'C', 'N', 'A']);
    expect(
      patched({ metadata: { finalizers: ['a', 'b'] } }, { metadata: { '$setElementOrder/finalizers': ['b', 'a'] } }),
    ).toEqual({ metadata: { finalizers: ['b', 'a'] } });
  });

  it('leaves no directive in a part that is new', () => {
    expect(
      patched(
        {},
        {
          status: {
            conditions: [
              { $patch: 'delete', type: 'A' },
              { type: 'B', reason: null },
            ],
          },
        },
      ),
    ).toEqual({
      status: { conditions: [{ type: 'B' }] },
    });
  });

  it('treats __proto__ as data', () => {
    const result = patched({ data: {} }, JSON.parse('{"data":{"__proto__":{"polluted":"1"}}}'), configMap);
    expect(JSON.stringify(result)).toBe('{"data":{"__proto__":{"polluted":"1"}}}');
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it.each<[unknown, string]>([
    [[], 'a strategic merge patch must be an object'],
    [{ $patch: 'remove' }, "unknown patch type 'remove' in map"],
    [{ status: { conditions: [{ status: 'True' }] } }, 'does not contain declared merge key: type'],
    [{ status: { conditions: ['x'] } }, 'every item of conditions must be an object'],
    [{ metadata: { finalizers: [{}] } }, 'finalizers must hold plain values'],
    [
      { metadata: { '$deleteFromPrimitiveList/finalizers': 'a' } },
      '$deleteFromPrimitiveList/finalizers must be a list of plain values',
    ],
    [{ status: { '$setElementOrder/conditions': [{}] } }, 'every item of $setElementOrder/conditions needs type'],
    [{ spec: { '$setElementOrder/taints': [] } }, 'invalid patch format of setElementOrder list'],
    [{ spec: { $retainKeys: 'a' } }, 'invalid patch format of $retainKeys: it must be a list'],
    [{ spec: { $retainKeys: ['a'], b: 1 } }, 'it does not name b'],
  ])('answers 400 on %j', (patch, message) => {
    const error = refusal(conditions('A'), patch);
    expect([error.code, error.reason]).toEqual([400, 'BadRequest']);
    expect(error.message).toContain(message);
  });

  it('is for built-in kinds only', () => {
    expect(strategicMergeSupported('', 'Node')).toBe(true);
    expect(strategicMergeSupported('events.k8s.io', 'Event')).toBe(true);
    expect(strategicMergeSupported('', 'Event')).toBe(true);
    expect(strategicMergeSupported('apiextensions.k8s.io', 'CustomResourceDefinition')).toBe(false);
    expect(strategicMergeSupported('example.com', 'Node')).toBe(false);
    expect(refusal({}, {}, { group: 'example.com', kind: 'Widget' }).code).toBe(415);
  });
});
