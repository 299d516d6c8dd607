import { expect, it } from 'vitest';
import type { Plane } from '../kube/index.ts';
import type { KubeObject, Stored } from '../meta/index.ts';
import { isInTheWay, tellTaken } from './taken.ts';

function thing(name: string, deletionTimestamp?: string): Stored<KubeObject> {
  const creationTimestamp = '2026-01-01T00:00:00Z';
  const going = deletionTimestamp === undefined ? {} : { deletionTimestamp };
  const metadata = { name, namespace: 'ns', uid: name, resourceVersion: '1', creationTimestamp, ...going };
  return { apiVersion: 'test.example/v1', kind: 'Thing', metadata };
}

const planeOf = (id: string) => ({ id }) as Plane;

it('is an Event of what is in the way and of what is looked at instead, each in its plane, and a line in the log', () => {
  const events: unknown[] = [];
  const lines: unknown[] = [];
  const silent = () => {};
  const about = { object: thing('source'), plane: planeOf('project/alpha') };
  tellTaken(
    { holder: thing('held'), plane: planeOf('hub'), about },
    'carrier',
    (holder, plane) => ({ reason: 'NameTaken', message: `${holder.metadata.name} of ${plane.id}` }),
    {
      log: { debug: silent, info: silent, error: silent, warn: (fields, message) => lines.push([message, fields]) },
      recorder: (plane, controller) => ({
        event: (object, { type, reason, note }) => {
          events.push([plane.id, controller, object.metadata.name, type, reason, note]);
        },
        stop: silent,
      }),
    },
  );
  expect(events).toEqual([
    ['hub', 'carrier', 'held', 'Warning', 'NameTaken', 'held of hub'],
    ['project/alpha', 'carrier', 'source', 'Warning', 'NameTaken', 'held of hub'],
  ]);
  const fields = { plane: 'hub', kind: 'Thing', namespace: 'ns', name: 'held', controller: 'carrier' };
  expect(lines).toEqual([['held of hub', { ...fields, reason: 'NameTaken' }]]);
});

it('in the way is what is known for no copy, and is not on its way out', () => {
  expect(isInTheWay(undefined, thing('a'))).toBe(true);
  expect(isInTheWay('uid', thing('a'))).toBe(false);
  expect(isInTheWay(undefined, thing('a', '2026-01-01T00:00:00Z'))).toBe(false);
});
