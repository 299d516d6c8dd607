import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isApiError, jsonEqual } from '../../meta/index.ts';
import { wholePaths } from './claim.ts';
import { compareValues } from './compare.ts';
import { differenceOfSets, encodeFieldSet, type FieldSet, parseFieldSet, pathsOf } from './field-set.ts';
import { rootType } from './field-type.ts';
import { Scenario, widgetSchema } from './scenario.fixture.ts';

const text = fc.constantFrom('a', 'b', 'c');
const optional = { requiredKeys: [] as [] };
const map = fc.dictionary(text, text, { maxKeys: 3 });
const items = fc.uniqueArray(fc.record({ name: text, value: text, labels: map }, { requiredKeys: ['name'] }), {
  selector: (item) => item.name,
  maxLength: 3,
});
const spec = fc.record(
  {
    text,
    atomicList: fc.array(text, { maxLength: 2 }),
    tags: fc.uniqueArray(text, { maxLength: 3 }),
    items,
    map,
    structs: fc.dictionary(text, fc.record({ a: text, b: text }, optional), { maxKeys: 2 }),
    nested: fc.record({ a: text, deeper: fc.record({ c: text }, optional) }, optional),
    open: fc.record({ known: text, x: fc.oneof(text, map) }, optional),
  },
  optional,
);
const parts = fc.record(
  { metadata: fc.record({ labels: map, finalizers: fc.uniqueArray(text) }, optional), spec },
  optional,
);
const write = fc.record({
  manager: fc.constantFrom('one', 'two', 'three'),
  operation: fc.constantFrom('apply', 'force', 'update'),
  parts,
});
type Write = typeof write extends fc.Arbitrary<infer T> ? T : never;

function perform(s: Scenario, { manager, operation, parts: content }: Write): void {
  if (operation === 'update') {
    s.update(manager, content);
    return;
  }
  try {
    s.apply(manager, content, { force: operation === 'force' });
  } catch (error) {
    if (!isApiError(error, 'Conflict')) throw error;
  }
}

function history(writes: readonly Write[]): Scenario {
  const s = new Scenario();
  for (const one of writes) perform(s, one);
  return s;
}

const writes = fc.array(write, { maxLength: 6 });

describe('whatever was written before', () => {
  it('an apply applied twice changes nothing the second time', () => {
    fc.assert(
      fc.property(writes, parts, (before, applied) => {
        const s = history(before);
        s.apply('last', applied, { force: true });
        const once = s.object;
        expect(s.apply('last', applied)).toBe(false);
        expect(s.object).toBe(once);
      }),
    );
  });

  it('an update that changes nothing leaves entries and their times as they were, whatever is in open places', () => {
    const anything = fc.jsonValue({ maxDepth: 3 });
    fc.assert(
      fc.property(writes, anything, anything, (before, open, template) => {
        const s = history(before);
        const content = { spec: { open: { known: 'k', x: open }, template: { x: template } } };
        s.update('one', structuredClone(content));
        const { entries } = s;
        s.update('two', structuredClone(content));
        expect(s.entries).toEqual(entries);
      }),
    );
  });

  it('a forced apply leaves all it asked for in the object', () => {
    fc.assert(
      fc.property(writes, parts, (before, applied) => {
        const s = history(before);
        s.apply('last', applied, { force: true });
        const again = new Scenario();
        again.object = s.object;
        expect(again.apply('other', applied)).toBe(Object.keys(s.owned('last') ?? {}).length > 0);
        expect(again.spec).toEqual(s.spec);
      }),
    );
  });

  it('nobody owns what is not in the object', () => {
    fc.assert(
      fc.property(writes, (before) => {
        const s = history(before);
        if (s.object === undefined) return;
        const present = wholePaths(s.object, rootType(widgetSchema, { subresource: '', statusSubresource: true }));
        for (const entry of s.entries) {
          expect(pathsOf(differenceOfSets(entry.fieldsV1 as FieldSet, present))).toEqual([]);
        }
      }),
    );
  });

  it('no two entries are of one manager, and none is empty', () => {
    fc.assert(
      fc.property(writes, (before) => {
        const { entries } = history(before);
        expect(new Set(entries.map(({ manager, operation }) => `${manager} ${operation}`)).size).toBe(entries.length);
        expect(entries.filter(({ fieldsV1 }) => Object.keys(fieldsV1).length === 0)).toEqual([]);
      }),
    );
  });

  it('managedFields survive encoding and decoding', () => {
    fc.assert(
      fc.property(writes, (before) => {
        for (const { fieldsV1 } of history(before).entries) {
          const sent = JSON.parse(JSON.stringify(encodeFieldSet(fieldsV1 as FieldSet)));
          expect(parseFieldSet(sent)).toEqual(fieldsV1);
        }
      }),
    );
  });

  it('the changes between two objects are what one has and the other has not, or has otherwise', () => {
    const type = rootType(widgetSchema, { subresource: '', statusSubresource: true });
    fc.assert(
      fc.property(parts, parts, (a, b) => {
        const changes = compareValues(a, b, type);
        const back = compareValues(b, a, type);
        expect(compareValues(a, structuredClone(a), type)).toBeUndefined();
        expect(changes === undefined).toBe(back === undefined);
        if (jsonEqual(a, b)) expect(changes).toBeUndefined();
        const gone = pathsOf(changes?.removed).filter((path) => !pathsOf(back?.written).includes(path));
        expect(gone).toEqual([]);
      }),
    );
  });
});

describe('two managers of disjoint fields', () => {
  const one = fc.record(
    { text, tags: fc.uniqueArray(fc.constantFrom('a', 'b')), nested: fc.record({ a: text }) },
    optional,
  );
  const two = fc.record(
    { map, tags: fc.uniqueArray(fc.constantFrom('c', 'd')), nested: fc.record({ b: text }) },
    optional,
  );

  it('reach one object in either order', () => {
    fc.assert(
      fc.property(one, two, one, two, (a, b, laterA, laterB) => {
        const first = new Scenario();
        const second = new Scenario();
        first.apply('one', { spec: a });
        first.apply('two', { spec: b });
        first.apply('one', { spec: laterA });
        first.apply('two', { spec: laterB });
        second.apply('two', { spec: b });
        second.apply('one', { spec: a });
        second.apply('two', { spec: laterB });
        second.apply('one', { spec: laterA });
        expect(sorted(first.spec)).toEqual(sorted(second.spec));
        expect(first.owned('one')).toEqual(second.owned('one'));
        expect(first.owned('two')).toEqual(second.owned('two'));
      }),
    );
  });
});

/** Without the order of set elements, which is that of arrival; and without containers nothing is in. */
function sorted(value: unknown): Record<string, unknown> {
  const { tags, ...rest } = (value ?? {}) as { tags?: string[] };
  return { ...rest, ...(tags === undefined || tags.length === 0 ? {} : { tags: [...tags].sort() }) };
}
