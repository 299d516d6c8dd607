import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  differenceOfSets,
  encodeFieldSet,
  type FieldSet,
  intersectSets,
  parseFieldSet,
  pathsOf,
  setsEqual,
  unionSets,
} from './field-set.ts';

const element = fc.constantFrom('f:a', 'f:b', 'k:{"name":"x"}', 'v:1', 'i:0');
const path = fc.array(element, { minLength: 1, maxLength: 4 });
const paths = fc.array(path, { maxLength: 12 });

function setOf(list: readonly (readonly string[])[]): FieldSet | undefined {
  return list.reduce<FieldSet | undefined>((set, elements) => {
    const node = [...elements].reverse().reduce<FieldSet>((below, key) => ({ [key]: below }), {});
    return unionSets(set, node);
  }, undefined);
}

const keysOf = (list: readonly (readonly string[])[]): Set<string> => new Set(list.map((item) => item.join('\n')));
const ofKeys = (keys: Iterable<string>): FieldSet | undefined => setOf([...keys].map((key) => key.split('\n')));

describe('field sets', () => {
  it('do what sets of paths do', () => {
    fc.assert(
      fc.property(paths, paths, (a, b) => {
        const [left, right] = [keysOf(a), keysOf(b)];
        expect(unionSets(setOf(a), setOf(b))).toEqual(ofKeys(left.union(right)));
        expect(differenceOfSets(setOf(a), setOf(b))).toEqual(ofKeys(left.difference(right)));
        expect(intersectSets(setOf(a), setOf(b))).toEqual(ofKeys(left.intersection(right)));
        expect(setsEqual(setOf(a), setOf(b))).toBe(left.symmetricDifference(right).size === 0);
        expect(pathsOf(setOf(a))).toHaveLength(left.size);
      }),
    );
  });

  it('answer the set itself where an operation changes nothing', () => {
    const set = setOf([['f:a', 'f:b'], ['f:a']]);
    expect(differenceOfSets(set, setOf([['f:b']]))).toBe(set);
    expect(unionSets(set, setOf([['f:a', 'f:b']]))).toBe(set);
  });

  it('survive encoding, in order', () => {
    fc.assert(
      fc.property(paths, (list) => {
        const set = setOf(list);
        const encoded = encodeFieldSet(set);
        expect(parseFieldSet(JSON.parse(JSON.stringify(encoded)))).toEqual(set);
      }),
    );
    const encoded = encodeFieldSet(setOf([['v:1'], ['k:{"name":"x"}', 'f:b'], ['f:b'], ['f:a'], ['k:{"name":"x"}']]));
    expect(JSON.stringify(encoded)).toBe('{"f:a":{},"f:b":{},"k:{\\"name\\":\\"x\\"}":{".":{},"f:b":{}},"v:1":{}}');
  });

  it('decode keys in any spelling to one', () => {
    expect(
      parseFieldSet({ 'k:{ "b": 1, "a": "x" }': {}, 'k:{"a":"\\u0078","b":1}': { 'f:c': {} }, 'v: 1': {} }),
    ).toEqual({
      'k:{"a":"x","b":1}': { '.': {}, 'f:c': {} },
      'v:1': {},
    });
  });

  it.each([
    [null],
    ['f:a'],
    [[]],
    [{ a: {} }],
    [{ 'f:a': 1 }],
    [{ 'f:a': null }],
    [{ 'k:': {} }],
    [{ 'k:[]': {} }],
    [{ 'k:{}': {} }],
    [{ 'v:{': {} }],
    [{ 'i:x': {} }],
    [JSON.parse('{"__proto__":{}}')],
    [JSON.parse(`${'{"f:a":'.repeat(5000)}{}${'}'.repeat(5000)}`)],
  ])('refuse what is no FieldsV1 (%#)', (value) => {
    expect(parseFieldSet(value)).toBe('invalid');
  });

  it('decode nothing to the empty set', () => {
    expect(parseFieldSet({})).toBeUndefined();
    expect(parseFieldSet({ '.': {} })).toBeUndefined();
  });

  it('print as Kubernetes prints paths, a level before the next', () => {
    const set = setOf([
      ['f:spec', 'f:items', 'k:{"name":"a","port":80}', 'f:value'],
      ['f:spec', 'f:items', 'k:{"name":"a","port":80}'],
      ['f:spec', 'f:tags', 'v:"x"'],
      ['f:spec', 'f:number'],
    ]);
    expect(pathsOf(set)).toEqual([
      '.spec.number',
      '.spec.items[name="a",port=80]',
      '.spec.items[name="a",port=80].value',
      '.spec.tags[="x"]',
    ]);
  });
});
