import { ApiError } from '../../meta/index.ts';
import type { Procedure } from './storage.ts';

/** Procedures for the tests: a counter of leases, in a table of its own. */

export const schema =
  'CREATE TABLE IF NOT EXISTS test_lease (name TEXT PRIMARY KEY, number INTEGER NOT NULL UNIQUE) STRICT';

const encoder = new TextEncoder();
const keyOf = (resource: string, name: string) => ({ plane: 'p', resource, namespace: 'n', name });

interface Lease {
  name: string;
  resource?: string;
  fail?: 'plain' | 'status' | 'unique' | 'promise';
}

const lease: Procedure = (tx, argument) => {
  const { name, resource = 'ipam/claims', fail } = argument as Lease;
  const number = Number(tx.one('SELECT coalesce(max(number), 0) + 1 AS number FROM test_lease')?.number);
  tx.run('INSERT INTO test_lease VALUES (?, ?)', name, fail === 'unique' ? 1 : number);
  tx.put(keyOf(resource, name), encoder.encode(JSON.stringify({ number, revision: tx.revision, now: tx.now })));
  if (fail === 'plain') throw new Error(`no lease for ${name}`);
  if (fail === 'status') {
    throw ApiError.of('Invalid', `pool exhausted for ${name}`, {
      name,
      causes: [{ reason: 'Exhausted', field: 'spec' }],
    });
  }
  if (fail === 'promise') return Promise.resolve(1);
  return { number };
};

const unlease: Procedure = (tx, argument) => {
  const { name, resource = 'ipam/claims' } = argument as Lease;
  const { changes } = tx.run('DELETE FROM test_lease WHERE name = ?', name);
  const key = keyOf(resource, name);
  const held = tx.get(key);
  if (held !== undefined) tx.delete(key, held.value);
  return { changes };
};

/** Writes one key twice and reads it between; deletes another that it has just made. */
const twice: Procedure = (tx) => {
  tx.put(keyOf('ipam/claims', 'twice'), encoder.encode('first'));
  const seen = new TextDecoder().decode(tx.get(keyOf('ipam/claims', 'twice'))?.value);
  tx.put(keyOf('ipam/claims', 'twice'), encoder.encode('second'));
  tx.put(keyOf('ipam/claims', 'gone'), encoder.encode('x'));
  tx.delete(keyOf('ipam/claims', 'gone'), encoder.encode('x'));
  return { seen, gone: tx.get(keyOf('ipam/claims', 'gone')) === undefined };
};

const leases: Procedure = (tx) =>
  tx.all('SELECT name, number FROM test_lease ORDER BY name').map((row) => ({ ...row }));

const cheat: Procedure = (tx) => tx.run('COMMIT');

export const procedures: Record<string, Procedure> = { lease, unlease, twice, leases, cheat };
