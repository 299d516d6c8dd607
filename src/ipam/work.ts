import type {
  ProcedureMoment,
  ProcedureOperation,
  ProcedureStep,
  SqlValue,
  StorageKey,
  StoredRecord,
} from '../apiserver/index.ts';
import type { KubeObject } from '../meta/index.ts';
import { Known } from './known.ts';
import { group, type Plural } from './objects.ts';

export type Row = Record<string, SqlValue>;

/**
 * What a step asks its driver for. On the way of an allocation: where a bound parameter takes part in planning (a join, or
 * `column = ?` beside ORDER BY or min), SQLite prepares the statement anew at every execution, 8 to 40 microseconds.
 * `? + 0` and `? || ''` keep it out.
 */
export type Operation = ProcedureOperation;

/**
 * A piece of IPAM's logic. It does no I/O: it yields operations, and whoever drives it answers them, at once (SQLite) or
 * after a round trip (PostgreSQL). Statements keep to what both speak, with `?` for parameters.
 */
export type Step<T> = ProcedureStep<T>;

export function* rows(sql: string, ...parameters: SqlValue[]): Step<Row[]> {
  return (yield { kind: 'rows', sql, parameters }) as Row[];
}

export function* one(sql: string, ...parameters: SqlValue[]): Step<Row | undefined> {
  return ((yield { kind: 'rows', sql, parameters }) as Row[])[0];
}

/** How many rows it changed. */
export function* run(sql: string, ...parameters: SqlValue[]): Step<number> {
  return (yield { kind: 'run', sql, parameters }) as number;
}

/** A statement whose count nobody needs: where a store is far away, nothing waits for it. */
export function* exec(sql: string, ...parameters: SqlValue[]): Step<void> {
  yield { kind: 'exec', sql, parameters };
}

/** A step that asks for nothing. */
// biome-ignore lint/correctness/useYield: that is what it is.
export function* nothing(): Step<undefined> {
  return undefined;
}

/** Runs steps side by side, so that a store that is far away is asked once for what they ask next. They only read. */
export function* together<A, B, C>(a: Step<A>, b: Step<B>, c: Step<C>): Step<[A, B, C]> {
  const steps: Step<unknown>[] = [a, b, c];
  const results: unknown[] = [];
  const asked = new Map<number, Operation>();
  const go = (index: number, input?: unknown) => {
    const next = steps[index]!.next(input);
    if (next.done === true) results[index] = next.value;
    else asked.set(index, next.value);
  };
  for (const index of steps.keys()) go(index);
  while (asked.size > 0) {
    const round = [...asked];
    asked.clear();
    const answers = (yield { kind: 'together', operations: round.map(([, operation]) => operation) }) as unknown[];
    for (const [n, [index]] of round.entries()) go(index, answers[n]);
  }
  return results as [A, B, C];
}

interface Change {
  key: StorageKey;
  object: KubeObject;
  deleted: boolean;
}

/** One transaction's circumstances, and the objects it will have written once it has succeeded. */
export class Work {
  readonly plane: string;
  readonly project: string;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  /** Rest of a freed block where its pool sets none. */
  readonly defaultRestSeconds: number;
  /** What UIDs of objects made here are derived from: unique to the request. */
  readonly seed: string;
  readonly known: Known;
  /** Ids of pools this transaction made: gone again if it is refused. */
  readonly madePools = new Set<number>();
  readonly #revision: string;
  readonly #changes = new Map<string, Change>();

  constructor(
    { revision, now, kept }: ProcedureMoment,
    request: { plane: string; project: string; defaultRestSeconds: number; seed: string },
  ) {
    this.#revision = String(revision);
    this.now = now;
    this.plane = request.plane;
    this.project = request.project;
    this.defaultRestSeconds = request.defaultRestSeconds;
    this.seed = request.seed;
    this.known = Known.of(kept);
  }

  /** What `step` answers, read once. Nothing is remembered where that is undefined. */
  *remember<T>(key: string, step: Step<T>): Step<T> {
    const known = this.known.records.get(key) as T | undefined;
    if (known !== undefined) return known;
    const found = yield* step;
    if (found !== undefined) this.known.records.set(key, found);
    return found;
  }

  /** A class, a pool or an offer is written: what was read of them is read again. */
  forget(): void {
    this.known.records.clear();
  }

  get changes(): Iterable<Change> {
    return this.#changes.values();
  }

  /** The object as this transaction sees it. */
  *get<T extends KubeObject>(plural: Plural, namespace: string, name: string): Step<T | undefined> {
    const key = keyOf(this.plane, plural, namespace, name);
    const change = this.#changes.get(id(key));
    if (change !== undefined) return change.deleted ? undefined : (change.object as T);
    const record = (yield { kind: 'record', key }) as StoredRecord | undefined;
    return record === undefined ? undefined : (JSON.parse(Buffer.from(record.value).toString()) as T);
  }

  /** `object` is kept: do not change it afterwards. Answers it with its resourceVersion. */
  put<T extends KubeObject>(plural: Plural, object: T): T {
    const key = keyOf(this.plane, plural, object.metadata.namespace ?? '', object.metadata.name);
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: this.#revision } };
    this.#changes.set(id(key), { key, object: stored, deleted: false });
    return stored;
  }

  delete<T extends KubeObject>(plural: Plural, last: T): T {
    const key = keyOf(this.plane, plural, last.metadata.namespace ?? '', last.metadata.name);
    const stored = { ...last, metadata: { ...last.metadata, resourceVersion: this.#revision } };
    this.#changes.set(id(key), { key, object: stored, deleted: true });
    return stored;
  }
}

export function keyOf(plane: string, plural: Plural, namespace: string, name: string): StorageKey {
  return { plane, resource: `${group}/${plural}`, namespace, name };
}

function id(key: StorageKey): string {
  return `${key.resource}\0${key.namespace}\0${key.name}`;
}
