import type { Collection } from './collection.ts';
import type { Past } from './history.ts';
import { nameOf, rangeOf } from './key.ts';
import type { ListQuery, StoredRecord } from './storage.ts';

/** Records of one page and how many follow it. */
export interface Page {
  records: StoredRecord[];
  remaining: number;
}

/** A page of today's records of a cached collection. */
export function pageNow(collection: Collection, query: ListQuery): Page {
  const { from, to } = rangeOf(query);
  const limit = query.limit ?? Number.POSITIVE_INFINITY;
  const records: StoredRecord[] = [];
  for (const name of collection.keys.range(from, to)) {
    if (records.length === limit) {
      const end = to === undefined ? collection.keys.size : collection.keys.rank(to);
      return { records, remaining: end - collection.keys.rank(name) };
    }
    records.push(collection.records.get(name)!);
  }
  return { records, remaining: 0 };
}

/** A page of the records as they were before what is in `changed` happened. */
export function pageThen(collection: Collection, query: ListQuery, changed: ReadonlyMap<string, Past>): Page {
  const { from, to } = rangeOf(query);
  const today: StoredRecord[] = [];
  for (const name of collection.keys.range(from, to)) {
    if (!changed.has(name)) today.push(collection.records.get(name)!);
  }
  const all = merge(today, pastRecords(changed, from, to));
  const limit = query.limit ?? all.length;
  return { records: all.slice(0, limit), remaining: Math.max(0, all.length - limit) };
}

/** What `changed` says was there, between two `nameOf` texts (from included, to excluded), in order. */
export function pastRecords(changed: ReadonlyMap<string, Past>, from: string, to: string | undefined): StoredRecord[] {
  const names: string[] = [];
  for (const [name, past] of changed) {
    if (past.before !== undefined && name >= from && (to === undefined || name < to)) names.push(name);
  }
  return names.sort().map((name) => changed.get(name)!.before!);
}

/** Merges two lists in key order. */
export function merge(a: readonly StoredRecord[], b: readonly StoredRecord[]): StoredRecord[] {
  if (b.length === 0) return [...a];
  const merged: StoredRecord[] = [];
  let index = 0;
  for (const record of b) {
    const name = nameOf(record.key);
    for (; index < a.length && nameOf(a[index]!.key) < name; index += 1) merged.push(a[index]!);
    merged.push(record);
  }
  for (; index < a.length; index += 1) merged.push(a[index]!);
  return merged;
}
