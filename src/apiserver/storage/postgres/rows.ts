import type pg from 'pg';
import { checkRow, wholeKey } from '../key.ts';
import type { SqlValue, StorageEvent, StorageKey, StoredRecord } from '../storage.ts';
import { query } from './connection.ts';

const keyColumns = ['plane', 'resource', 'namespace', 'name'] as const;
const sameKey = (a: string, b: string) => keyColumns.map((each) => `${a}.${each} = ${b}.${each}`).join(' AND ');

const readRows = `SELECT n.at, l.revision, l.value
  FROM unnest(?::text[], ?::text[], ?::text[], ?::text[]) WITH ORDINALITY AS n (plane, resource, namespace, name, at)
  JOIN berth_live l ON ${sameKey('l', 'n')}`;

/**
 * Writes any number of rows, and the log of it. All values are in one run of bytes: an array of them would be sent as text.
 * `first`: nothing else in this statement wrote the key before; otherwise `earlier` says where what was written is.
 */
const writeRows = `WITH data AS (SELECT ?::bytea AS bytes), new AS (
    SELECT n.*, substring(data.bytes FROM n.start FOR n.length) AS value,
      CASE WHEN n.earlier_length >= 0 THEN substring(data.bytes FROM n.earlier_start FOR n.earlier_length) END AS earlier
    FROM data, unnest(?::bigint[], ?::integer[], ?::text[], ?::text[], ?::text[], ?::text[], ?::boolean[], ?::integer[],
      ?::integer[], ?::boolean[], ?::boolean[], ?::integer[], ?::integer[], ?::bigint[])
      AS n (revision, seq, plane, resource, namespace, name, deleted, start, length,
        first, last, earlier_start, earlier_length, earlier_revision)
  ), live AS (
    INSERT INTO berth_live (plane, resource, namespace, name, revision, value)
    SELECT plane, resource, namespace, name, revision, value FROM new WHERE last AND NOT deleted
    ON CONFLICT (plane, resource, namespace, name) DO UPDATE SET revision = excluded.revision, value = excluded.value
  ), gone AS (
    DELETE FROM berth_live l USING new n WHERE n.last AND n.deleted AND ${sameKey('l', 'n')}
  )
  INSERT INTO berth_log (revision, seq, plane, resource, namespace, name, deleted, value, previous, previous_revision)
  SELECT n.revision, n.seq, n.plane, n.resource, n.namespace, n.name, n.deleted, n.value,
    coalesce(n.earlier, l.value), CASE WHEN n.earlier IS NULL THEN l.revision ELSE n.earlier_revision END
  FROM new n LEFT JOIN berth_live l ON n.first AND ${sameKey('l', 'n')}
  WHERE NOT n.deleted OR l.plane IS NOT NULL OR n.earlier IS NOT NULL
  RETURNING revision, seq, previous, previous_revision`;

/** A change of a record. `value` of a deleted one is its last state. */
export interface Change {
  key: StorageKey;
  deleted: boolean;
  value: Uint8Array;
}

interface Entry extends Change {
  revision: number;
  /** Which of its commit's rows it is. */
  seq: number;
  /** What this transaction wrote under the key before, and has not sent yet. */
  earlier: Entry | undefined;
  last: boolean;
}

/**
 * The records of one transaction of the database, which many commits share: read together before they begin, written together
 * once they are done. In between, what one has written is what the next one reads.
 */
export class Rows {
  readonly #client: pg.Client;
  readonly #fetched = new Map<string, StoredRecord | undefined>();
  readonly #written = new Map<string, Entry>();
  #entries: Entry[] = [];

  constructor(client: pg.Client) {
    this.#client = client;
  }

  /** Reads what is going to be asked for. */
  async fetch(keys: readonly StorageKey[]): Promise<void> {
    if (keys.length === 0) return;
    const columns = keyColumns.map((column) => keys.map((key) => key[column]));
    const { rows } = await query(this.#client, readRows, columns as unknown as SqlValue[]);
    for (const key of keys) this.#fetched.set(wholeKey(key), undefined);
    for (const row of rows) {
      const key = keys[Number(row.at) - 1]!;
      this.#fetched.set(wholeKey(key), recordOf(key, row));
    }
  }

  async get(key: StorageKey): Promise<StoredRecord | undefined> {
    const id = wholeKey(key);
    const written = this.#written.get(id);
    if (written !== undefined) {
      return written.deleted ? undefined : { key, revision: written.revision, value: written.value };
    }
    if (!this.#fetched.has(id)) await this.fetch([key]);
    return this.#fetched.get(id);
  }

  /** Takes what a commit has changed, each key once. */
  add(revision: number, changes: readonly Change[]): void {
    for (const [seq, change] of changes.entries()) {
      const id = wholeKey(change.key);
      const earlier = this.#written.get(id);
      if (earlier !== undefined) earlier.last = false;
      const entry: Entry = { ...change, revision, seq, earlier, last: true };
      this.#written.set(id, entry);
      this.#entries.push(entry);
    }
  }

  /** Sends what was added. Answers its events, in order, once it is written. Reads ask the database again from here on. */
  async flush(): Promise<StorageEvent[]> {
    const entries = this.#entries;
    this.#entries = [];
    this.#written.clear();
    this.#fetched.clear();
    if (entries.length === 0) return [];
    const { rows } = await query(this.#client, writeRows, packed(entries));
    const found = new Map(rows.map((row) => [`${row.revision}/${row.seq}`, row]));
    return entries.flatMap(({ key, revision, seq, deleted, value }): StorageEvent[] => {
      const before = found.get(`${revision}/${seq}`);
      if (before === undefined) return [];
      const previous = before.previous as Uint8Array | null;
      const type = deleted ? 'delete' : 'put';
      const event: StorageEvent = { type, key, revision, value };
      if (previous !== null) event.previous = { key, revision: Number(before.previous_revision), value: previous };
      return [event];
    });
  }
}

/** Parameters of `writeRows`. */
function packed(entries: readonly Entry[]): SqlValue[] {
  const starts = new Map<Entry, number>();
  let length = 0;
  for (const entry of entries) {
    // The first byte is number one.
    starts.set(entry, length + 1);
    length += entry.value.byteLength;
  }
  const there = ({ earlier }: Entry) => (earlier === undefined || earlier.deleted ? undefined : earlier);
  const columns = [
    Buffer.concat(entries.map((entry) => entry.value)),
    entries.map((entry) => entry.revision),
    entries.map((entry) => entry.seq),
    ...keyColumns.map((column) => entries.map((entry) => entry.key[column])),
    entries.map((entry) => entry.deleted),
    entries.map((entry) => starts.get(entry)!),
    entries.map((entry) => entry.value.byteLength),
    entries.map((entry) => entry.earlier === undefined),
    entries.map((entry) => entry.last),
    entries.map((entry) => starts.get(there(entry) ?? entry)!),
    entries.map((entry) => there(entry)?.value.byteLength ?? -1),
    entries.map((entry) => there(entry)?.revision ?? 0),
  ];
  return columns as unknown as SqlValue[];
}

/** Throws for a key or a value no store takes. */
export function checked(change: Change): Change {
  checkRow(change.key, change.value);
  return change;
}

export function recordOf(key: StorageKey, row: Record<string, SqlValue>): StoredRecord {
  return { key, revision: Number(row.revision), value: row.value as Uint8Array };
}
