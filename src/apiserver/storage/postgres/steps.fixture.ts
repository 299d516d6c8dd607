import { ApiError } from '../../../meta/index.ts';
import type { StepProcedure, StorageKey } from '../storage.ts';

/** Procedures for the tests: a counter in a table of its own, shown as a record. */
export const postgresSchema = {
  name: 'counter',
  version: 1,
  text: 'CREATE TABLE IF NOT EXISTS counter (name TEXT PRIMARY KEY, value BIGINT NOT NULL);',
};

const encoder = new TextEncoder();

/** How often `clash` is still told that another transaction stood in its way. */
export const clashes = { left: 0 };

export const steps: Record<string, StepProcedure> = {
  *clash(_tx, argument) {
    const { key } = argument as { key: StorageKey };
    if (clashes.left-- > 0) {
      const raise = `DO $$ BEGIN RAISE EXCEPTION 'in the way' USING ERRCODE = 'serialization_failure'; END $$`;
      yield { kind: 'exec', sql: raise, parameters: [] };
    }
    yield { kind: 'put', key, value: encoder.encode('made') };
  },
  *moment(tx) {
    const sql = `SELECT current_setting('synchronous_commit') AS synchronous, (extract(epoch FROM now()) * 1000)::bigint AS now`;
    const rows = (yield { kind: 'rows', sql, parameters: [] }) as { synchronous: string; now: number }[];
    return { ...rows[0], tx: tx.now };
  },
  *add(tx, argument) {
    const { key, fail, nothing } = argument as { key: StorageKey; fail?: boolean; nothing?: boolean };
    yield {
      kind: 'exec',
      sql: 'INSERT INTO counter VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET value = counter.value + 1',
      parameters: [key.name],
    };
    if (nothing === true) {
      // The database refuses it, and nobody waits for the answer.
      yield { kind: 'exec', sql: 'INSERT INTO counter VALUES (?, NULL)', parameters: [key.name] };
      yield { kind: 'put', key, value: encoder.encode('refused') };
      return;
    }
    const rows = (yield { kind: 'rows', sql: 'SELECT value FROM counter WHERE name = ?', parameters: [key.name] }) as {
      value: number;
    }[];
    const value = rows[0]!.value;
    yield { kind: 'put', key, value: encoder.encode(`${value}@${tx.revision}`) };
    if (fail === true) throw ApiError.of('Conflict', 'refused after its statements');
    return value;
  },
};
