import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { CommittedRow, LoadedEntry, Opened, Range, RangeQuery, Row } from './protocol.ts';
import type { StorageKey, StoredRecord } from './storage.ts';

/** Where the newest state of a key is. */
interface Live {
  entry: number;
  revision: number;
}

export interface Found extends Live {
  value: Uint8Array;
}

/** How many bytes of values are loaded at a time. */
const partBytes = 2 ** 18;

/** Reads and writes `store_live` and `store_log` (see `database.ts`). The caller holds the transaction. */
export class Log {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  /** By plane, then resource. */
  readonly #collections = new Map<string, Map<string, number>>();
  #nextId: number;

  constructor(database: DatabaseSync) {
    this.#database = database;
    for (const row of this.prepared('SELECT id, plane, resource FROM store_collection WHERE dropped = 0').all()) {
      this.#remember(row.plane as string, row.resource as string, row.id as number);
    }
    const last = this.prepared('SELECT max(id) AS id FROM store_log').get()?.id as number | null;
    // The tail may have been removed: ids behind the point of compaction would never be loaded as events.
    this.#nextId = Math.max(last ?? 0, this.meta('compacted')) + 1;
  }

  /** The statement of a text, prepared once. */
  prepared(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  meta(name: 'compacted' | 'horizon' | 'floor'): number {
    return (this.prepared('SELECT value FROM store_meta WHERE name = ?').get(name)?.value as number | undefined) ?? 0;
  }

  setMeta(name: 'compacted' | 'horizon' | 'floor', value: number): void {
    this.prepared('INSERT INTO store_meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value').run(
      name,
      value,
    );
  }

  /** The newest revision that was ever acknowledged. */
  revision(): number {
    const last = this.prepared('SELECT revision FROM store_log ORDER BY id DESC LIMIT 1').get()?.revision;
    return Math.max((last as number | undefined) ?? 0, this.meta('horizon'), this.meta('floor'));
  }

  revisionOf(key: StorageKey): number | 'absent' {
    const collection = this.#collection(key);
    return (collection === undefined ? undefined : this.#live(collection, key))?.revision ?? 'absent';
  }

  get(key: StorageKey): StoredRecord | undefined {
    const found = this.find(key);
    return found === undefined ? undefined : { key, revision: found.revision, value: found.value };
  }

  /** The record with the place of its entry. */
  find(key: StorageKey): Found | undefined {
    const collection = this.#collection(key);
    const live = collection === undefined ? undefined : this.#live(collection, key);
    return live === undefined ? undefined : { ...live, value: this.#value(live.entry) };
  }

  /**
   * Writes one row. Answers undefined when it deletes what is not there. `previous` is read only where it is asked for.
   * `known`: what this transaction has found under the key already; null: nothing.
   */
  write(row: Row, revision: number, withPrevious: boolean, known?: Found | null): CommittedRow | undefined {
    const { key } = row;
    const collection = this.#collection(key) ?? (row.deleted ? undefined : this.#newCollection(key));
    if (collection === undefined) return undefined;
    const live = known === undefined ? this.#live(collection, key) : (known ?? undefined);
    if (row.deleted && live === undefined) return undefined;
    const id = this.#nextId++;
    this.prepared('INSERT INTO store_log VALUES (?, ?, ?, ?, ?, ?, ?, ?)').run(
      id,
      revision,
      collection,
      key.namespace,
      key.name,
      row.deleted ? 1 : 0,
      live?.entry ?? 0,
      row.value,
    );
    if (row.deleted) {
      this.prepared('DELETE FROM store_live WHERE collection = ? AND namespace = ? AND name = ?').run(
        collection,
        key.namespace,
        key.name,
      );
    } else if (live === undefined) {
      this.prepared('INSERT INTO store_live VALUES (?, ?, ?, ?, ?)').run(
        collection,
        key.namespace,
        key.name,
        id,
        revision,
      );
    } else {
      this.prepared(
        'UPDATE store_live SET entry = ?, revision = ? WHERE collection = ? AND namespace = ? AND name = ?',
      ).run(id, revision, collection, key.namespace, key.name);
    }
    if (!withPrevious || live === undefined) return row;
    return { ...row, previous: { revision: live.revision, value: known?.value ?? this.#value(live.entry) } };
  }

  /** Records in key order. */
  range(query: RangeQuery): Range {
    const collection = this.#collection(query);
    if (collection === undefined) return { records: [], more: false };
    const { where, parameters } = conditions(query);
    const limit = query.limit === undefined ? -1 : query.limit + 1;
    const rows = this.prepared(
      `SELECT live.namespace, live.name, live.revision, log.value FROM store_live AS live
       CROSS JOIN store_log AS log ON log.id = live.entry
       WHERE live.collection = ?${where} ORDER BY live.namespace, live.name LIMIT ?`,
    ).all(collection, ...parameters, limit);
    const more = query.limit !== undefined && rows.length > query.limit;
    if (more) rows.pop();
    const records = rows.map((row) => ({
      key: {
        plane: query.plane,
        resource: query.resource,
        namespace: row.namespace as string,
        name: row.name as string,
      },
      revision: row.revision as number,
      value: row.value as Uint8Array,
    }));
    return { records, more };
  }

  count(query: RangeQuery): number {
    const collection = this.#collection(query);
    if (collection === undefined) return 0;
    const { where, parameters } = conditions(query);
    const sql = `SELECT count(*) AS rows FROM store_live AS live WHERE live.collection = ?${where}`;
    return this.prepared(sql).get(collection, ...parameters)!.rows as number;
  }

  /** Makes a plane empty at once; its rows are reclaimed bit by bit (see `Housekeeping`). */
  drop(plane: string, revision: number): void {
    this.prepared('UPDATE store_collection SET dropped = ? WHERE plane = ? AND dropped = 0').run(revision, plane);
    this.prepared('INSERT INTO store_dropped VALUES (?, ?) ON CONFLICT DO UPDATE SET revision = excluded.revision').run(
      plane,
      revision,
    );
    this.#collections.delete(plane);
  }

  /** What was ever written, and up to where: all the front end has to know before any record. */
  opened(): Opened {
    const dropped = this.prepared('SELECT plane, revision FROM store_dropped').all();
    return {
      resources: this.#resources(),
      revision: this.revision(),
      horizon: this.meta('horizon'),
      dropped: dropped.map((row) => ({ plane: row.plane as string, revision: row.revision as number })),
    };
  }

  /**
   * Everything the front end keeps: the history, and the live records of resources not in `uncached`; in order of id, so that
   * what an event replaced comes before it. Only numbers are held of all of it, values of one part at a time.
   */
  *load(uncached: ReadonlySet<string>): Generator<LoadedEntry[], void> {
    const places = new Map<number, { plane: string; resource: string }>();
    const live = new Set<number>();
    for (const [plane, resources] of this.#collections) {
      for (const [resource, id] of resources) {
        places.set(id, { plane, resource });
        if (uncached.has(resource)) continue;
        const entries = this.prepared('SELECT entry FROM store_live WHERE collection = ?').iterate(id);
        for (const { entry } of entries) live.add(entry as number);
      }
    }
    const events = new Set<number>();
    const wanted = new Set(live);
    const history = 'SELECT id, collection, previous FROM store_log WHERE id > ? AND revision > ?';
    for (const row of this.prepared(history).iterate(this.meta('compacted'), this.meta('horizon'))) {
      if (!places.has(row.collection as number)) continue;
      events.add(row.id as number);
      wanted.add(row.id as number);
      if (row.previous !== 0) wanted.add(row.previous as number);
    }
    const entry = this.prepared('SELECT * FROM store_log WHERE id = ?');
    let part: LoadedEntry[] = [];
    let bytes = 0;
    for (const id of Float64Array.from(wanted).sort()) {
      const row = entry.get(id);
      const place = row && places.get(row.collection as number);
      if (row === undefined || place === undefined) continue;
      const value = row.value as Uint8Array;
      part.push({
        id,
        key: { ...place, namespace: row.namespace as string, name: row.name as string },
        revision: row.revision as number,
        value,
        deleted: row.deleted === 1,
        live: live.has(id),
        event: events.has(id),
        previous: row.previous as number,
      });
      bytes += value.byteLength;
      if (bytes < partBytes) continue;
      yield part;
      part = [];
      bytes = 0;
    }
    if (part.length > 0) yield part;
  }

  /** Resources that have records or history. */
  #resources(): string[] {
    const rows = this.prepared('SELECT DISTINCT resource FROM store_collection WHERE dropped = 0').all();
    return rows.map((row) => row.resource as string);
  }

  #live(collection: number, key: StorageKey): Live | undefined {
    return this.prepared(
      'SELECT entry, revision FROM store_live WHERE collection = ? AND namespace = ? AND name = ?',
    ).get(collection, key.namespace, key.name) as unknown as Live | undefined;
  }

  #value(entry: number): Uint8Array {
    const row = this.prepared('SELECT value FROM store_log WHERE id = ?').get(entry);
    if (row === undefined) throw new Error(`the store is damaged: entry ${entry} is missing`);
    return row.value as Uint8Array;
  }

  #collection(key: { plane: string; resource: string }): number | undefined {
    return this.#collections.get(key.plane)?.get(key.resource);
  }

  #newCollection(key: StorageKey): number {
    const sql = 'INSERT INTO store_collection (plane, resource) VALUES (?, ?)';
    const id = Number(this.prepared(sql).run(key.plane, key.resource).lastInsertRowid);
    this.#remember(key.plane, key.resource, id);
    return id;
  }

  #remember(plane: string, resource: string, id: number): void {
    let resources = this.#collections.get(plane);
    if (resources === undefined) {
      resources = new Map();
      this.#collections.set(plane, resources);
    }
    resources.set(resource, id);
  }
}

function conditions(query: RangeQuery): { where: string; parameters: string[] } {
  const { namespace, after } = query;
  if (namespace === undefined) {
    if (after === undefined) return { where: '', parameters: [] };
    return { where: ' AND (live.namespace, live.name) > (?, ?)', parameters: [after.namespace, after.name] };
  }
  if (after === undefined || after.namespace < namespace) {
    return { where: ' AND live.namespace = ?', parameters: [namespace] };
  }
  if (after.namespace > namespace) return { where: ' AND false', parameters: [] };
  return { where: ' AND live.namespace = ? AND live.name > ?', parameters: [namespace, after.name] };
}
