import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Stored } from '../../meta/index.ts';
import { type Thing, thing } from '../testing/scripted-server.ts';
import { ObjectStore } from './store.ts';

const step = fc.record({
  set: fc.boolean(),
  namespace: fc.constantFrom('a', 'b'),
  name: fc.constantFrom('x', 'y', 'z'),
  colors: fc.array(fc.constantFrom('red', 'green', 'blue'), { maxLength: 3 }),
});

it('an index has every object under each of its values, be it the only one there or one of several', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const store = new ObjectStore<Thing>((error) => {
        throw error;
      });
      const values = (object: Stored<Thing>) => [...new Set(object.spec?.color?.split(' ').filter(Boolean))];
      store.addIndex('color', values);
      const model = new Map<string, Stored<Thing>>();
      for (const { set, namespace, name, colors } of steps) {
        if (set) {
          const object = thing(name, { color: colors.join(' ') }, { namespace }) as Stored<Thing>;
          store.set(object);
          model.set(`${namespace}/${name}`, object);
        } else {
          store.delete(namespace, name);
          model.delete(`${namespace}/${name}`);
        }
        for (const color of ['red', 'green', 'blue']) {
          const expected = [...model.values()].filter((object) => values(object).includes(color));
          const found = store.byIndex('color', color);
          expect(found).toHaveLength(expected.length);
          expect(new Set(found)).toEqual(new Set(expected));
        }
      }
    }),
    { numRuns: 300 },
  );
});
