import type { Past } from './history.ts';
import { collectionOf, nameOf, rangeOf } from './key.ts';
import { merge, pastRecords } from './listing.ts';
import type { EngineHost, Range, RangeQuery } from './protocol.ts';
import { type ListPage, type ListQuery, RevisionCompacted, type StoredRecord } from './storage.ts';

/** Rows asked of the database at once: a listing of a million must not hold up the commits behind it. */
const rowsAtOnce = 2000;
const remembered = 1000;

export interface UncachedContext {
  host: EngineHost;
  /** Asks the host; `use` is called in the turn the answer arrives in, when `visible` and `since` fit it. */
  read: <T, R>(ask: (done: (answer: T) => void) => void, use: (answer: T) => R) => Promise<R>;
  /** Revision of the newest visible commit. */
  visible: () => number;
  /** What has changed in this collection since a revision; throws `RevisionCompacted`. */
  since: (revision: number) => Map<string, Past>;
  /** What followed pages handed out before, by `pageEnd`: counting a million keys for each page would cost more than the page. */
  remaining: Map<string, number>;
}

/** `Storage.list` of a resource that is not kept in memory: by key range from the database, in parts. */
export async function listUncached(query: ListQuery, context: UncachedContext): Promise<ListPage> {
  try {
    return await pages(query, context, rowsAtOnce);
  } catch (error) {
    if (query.revision !== undefined || !(error instanceof RevisionCompacted)) throw error;
    // History was overtaken between two parts of a page that names no revision: all in one part needs none.
    return pages(query, context, Number.MAX_SAFE_INTEGER);
  }
}

async function pages(query: ListQuery, context: UncachedContext, part: number): Promise<ListPage> {
  const limit = query.limit ?? Number.POSITIVE_INFINITY;
  const records: StoredRecord[] = [];
  let { revision, after } = query;
  for (;;) {
    const wanted = Math.min(limit - records.length, part);
    const { records: found, last, more, at } = await readPart(query, after, wanted, revision, context);
    revision = at;
    after = last ?? after;
    for (const record of found) records.push(record);
    if (records.length > limit || (more && records.length === limit) || !more) {
      const beyond = more || records.length > limit;
      if (records.length > limit) records.length = limit;
      const remaining = beyond ? await countAfter(query, records, at, context) : 0;
      return { records, revision: at, remaining };
    }
  }
}

interface Part {
  records: StoredRecord[];
  /** Where the database stopped reading. */
  last?: { namespace: string; name: string };
  more: boolean;
  at: number;
}

/** One part, as it was at `revision`, or is now, which is then the revision of what follows. */
function readPart(
  query: ListQuery,
  after: ListQuery['after'],
  limit: number,
  revision: number | undefined,
  context: UncachedContext,
): Promise<Part> {
  const range = rangeQuery(query, after);
  return context.read(
    (done) => context.host.range({ ...range, limit }, done),
    ({ records, more }: Range) => {
      const at = revision ?? context.visible();
      const last = records.at(-1)?.key;
      const part = (all: StoredRecord[]) => ({ records: all, more, at, ...(last === undefined ? {} : { last }) });
      const changed = at === context.visible() ? undefined : context.since(at);
      if (changed === undefined || changed.size === 0) return part(records);
      const { from, to } = rangeOf(range);
      const bound = more && last !== undefined ? `${nameOf(last)}\0` : to;
      const unchanged = records.filter((record) => !changed.has(nameOf(record.key)));
      return part(merge(unchanged, pastRecords(changed, from, bound)));
    },
  );
}

async function countAfter(
  query: ListQuery,
  records: readonly StoredRecord[],
  revision: number,
  context: UncachedContext,
): Promise<number> {
  const last = records.at(-1)?.key ?? query.after;
  const known = query.after === undefined ? undefined : context.remaining.get(pageEnd(query, query.after, revision));
  const remaining = known === undefined ? await count(query, last, revision, context) : known - records.length;
  if (last !== undefined) {
    const key = pageEnd(query, last, revision);
    context.remaining.delete(key);
    context.remaining.set(key, remaining);
    for (const oldest of context.remaining.keys()) {
      if (context.remaining.size <= remembered) break;
      context.remaining.delete(oldest);
    }
  }
  return remaining;
}

function count(
  query: ListQuery,
  after: ListQuery['after'],
  revision: number,
  context: UncachedContext,
): Promise<number> {
  const range = rangeQuery(query, after);
  return context.read(
    (done) => context.host.count(range, done),
    (now: number) => {
      if (revision === context.visible()) return now;
      const { from, to } = rangeOf(range);
      let then = now;
      for (const [name, past] of context.since(revision)) {
        if (name < from || (to !== undefined && name >= to)) continue;
        then += (past.before === undefined ? 0 : 1) - (past.existsNow ? 1 : 0);
      }
      return then;
    },
  );
}

function rangeQuery({ plane, resource, namespace }: ListQuery, after: ListQuery['after']): RangeQuery {
  return {
    plane,
    resource,
    ...(namespace === undefined ? {} : { namespace }),
    ...(after === undefined ? {} : { after: { namespace: after.namespace, name: after.name } }),
  };
}

function pageEnd(query: ListQuery, last: { namespace: string; name: string }, revision: number): string {
  return [revision, collectionOf(query), query.namespace ?? '\0', nameOf(last)].join('\0');
}
