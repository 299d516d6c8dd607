import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Registry } from 'prom-client';
import type { BackingRequest, ProcedureTransaction, SqlValue, Storage, StorageKey } from '../apiserver/index.ts';
import { VirtualClock } from '../kube/index.ts';
import { ApiError, isApiError, type KubeObject, type Status } from '../meta/index.ts';
import { apiVersion, group, type IPAllocation, type IPClaim, type IPPool, type Plural } from './objects.ts';
import { procedures, schema } from './procedures.ts';
import { seedClasses, seedPools, seedRanges } from './seed.ts';
import { createIpam } from './service.ts';

/** What the store's thread does for a procedure, over a database in memory, with a fault to order. */
export class ProcedureStore {
  readonly database = new DatabaseSync(':memory:');
  readonly objects = new Map<string, { revision: number; value: Uint8Array }>();
  revision = 0;
  readonly kept = new Map<string, unknown>();
  /** Statements until one throws; undefined: none does. */
  failAfter: number | undefined;
  readonly #now: () => number;
  readonly #statements = new Map<string, StatementSync>();

  constructor(now: () => number) {
    this.#now = now;
    this.database.exec(schema);
  }

  #prepared(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  call(procedure: string, argument: unknown): { revision: number; result: unknown } {
    const revision = this.revision + 1;
    const rows = new Map<string, Uint8Array | undefined>();
    let wrote = false;
    const fault = (sql = 'select') => {
      wrote ||= !/^\s*(select|with)\b/i.test(sql);
      if (this.failAfter !== undefined && this.failAfter-- === 0) throw new Error('the process dies here');
    };
    const tx: ProcedureTransaction = {
      revision,
      now: this.#now(),
      kept: this.kept,
      get: (key) => {
        const found = this.objects.get(idOf(key));
        return found === undefined ? undefined : { key, ...found };
      },
      put: (key, value) => {
        fault();
        rows.set(idOf(key), value);
      },
      delete: (key) => {
        fault();
        rows.set(idOf(key), undefined);
      },
      all: (sql, ...parameters) => {
        fault(sql);
        return this.#prepared(sql).all(...parameters) as Record<string, SqlValue>[];
      },
      one: (sql, ...parameters) => {
        fault(sql);
        return this.#prepared(sql).get(...parameters) as Record<string, SqlValue> | undefined;
      },
      run: (sql, ...parameters) => {
        fault(sql);
        return { changes: Number(this.#prepared(sql).run(...parameters).changes) };
      },
    };
    this.database.exec('SAVEPOINT call');
    try {
      const result = procedures[procedure]!(tx, structuredClone(argument));
      this.database.exec('RELEASE call');
      for (const [id, value] of rows) {
        if (value === undefined) this.objects.delete(id);
        else this.objects.set(id, { revision, value });
      }
      this.revision = revision;
      return { revision, result: structuredClone(result) };
    } catch (error) {
      if (wrote) this.kept.clear();
      this.database.exec('ROLLBACK TO call; RELEASE call');
      throw error instanceof ApiError ? new ApiError(structuredClone(error.status)) : error;
    }
  }
}

function idOf(key: StorageKey): string {
  return JSON.stringify([key.plane, key.resource, key.namespace, key.name]);
}

/** IPAM on a virtual clock, spoken to as the generic handlers do. */
export class TestIpam {
  readonly clock = new VirtualClock();
  readonly store = new ProcedureStore(() => this.clock.now());
  readonly errors: object[] = [];
  readonly ipam: ReturnType<typeof createIpam>;
  #uids = 0;

  constructor(defaultRestSeconds = 0, metrics?: Registry) {
    this.ipam = createIpam({
      storage: {
        call: async (procedure: string, argument: unknown) => this.store.call(procedure, argument),
      } as Storage,
      clock: this.clock,
      log: { error: (context) => this.errors.push(context) },
      defaultRestSeconds,
      ...(metrics === undefined ? {} : { metrics }),
    });
  }

  /** A project with the classes and pools every project starts with. */
  async seed(project: string, index = 0): Promise<void> {
    for (const each of seedClasses()) await this.create(project, 'ipclasses', each);
    for (const each of seedPools(seedRanges(index))) await this.create(project, 'ippools', each);
  }

  #request(project: string | undefined, plural: Plural, dryRun: boolean): BackingRequest {
    const plane = project === undefined ? 'root' : `project/${project}`;
    return { plane, project, subresource: '', dryRun, resource: { plural }, now: this.clock.now() } as BackingRequest;
  }

  #backing(plural: Plural) {
    return this.ipam.backings.find((each) => each.plural === plural)!.backing;
  }

  async create<T extends KubeObject>(
    project: string | undefined,
    plural: Plural,
    object: T,
    dryRun = false,
  ): Promise<T> {
    const metadata = {
      ...object.metadata,
      uid: `uid-${++this.#uids}`,
      creationTimestamp: '2026-01-01T00:00:00Z',
      generation: 1,
    };
    return (await this.#backing(plural).create(this.#request(project, plural, dryRun), { ...object, metadata })) as T;
  }

  async update<T extends KubeObject>(
    project: string,
    plural: Plural,
    change: (object: T) => void,
    name: string,
    namespace = '',
  ): Promise<T> {
    const old = this.get<T>(project, plural, name, namespace)!;
    const object = structuredClone(old);
    change(object);
    return (await this.#backing(plural).update(this.#request(project, plural, false), object, old)) as T;
  }

  async delete<T extends KubeObject>(project: string, plural: Plural, name: string, namespace = ''): Promise<T> {
    const old = this.get<T>(project, plural, name, namespace)!;
    return (await this.#backing(plural).delete(this.#request(project, plural, false), old)) as T;
  }

  claim(
    project: string,
    name: string,
    spec: IPClaim['spec'],
    extra: { dryRun?: boolean; labels?: Record<string, string> } = {},
  ) {
    const object: IPClaim = {
      apiVersion,
      kind: 'IPClaim',
      metadata: { name, namespace: 'default', ...(extra.labels === undefined ? {} : { labels: extra.labels }) },
      spec: spec!,
    };
    return this.create(project, 'ipclaims', object, extra.dryRun);
  }

  release(project: string, name: string): Promise<IPClaim> {
    return this.delete<IPClaim>(project, 'ipclaims', name, 'default');
  }

  get<T extends KubeObject>(project: string, plural: Plural, name: string, namespace = ''): T | undefined {
    const id = idOf({ plane: `project/${project}`, resource: `${group}/${plural}`, namespace, name });
    const found = this.store.objects.get(id);
    return found === undefined ? undefined : (JSON.parse(Buffer.from(found.value).toString()) as T);
  }

  list<T extends KubeObject>(project: string, plural: Plural): T[] {
    const found: T[] = [];
    for (const [id, { value }] of this.store.objects) {
      const [plane, resource] = JSON.parse(id) as string[];
      if (plane === `project/${project}` && resource === `${group}/${plural}`) {
        found.push(JSON.parse(Buffer.from(value).toString()) as T);
      }
    }
    return found;
  }

  pools(project: string): IPPool[] {
    return this.list<IPPool>(project, 'ippools');
  }

  allocations(project: string, purpose = 'Claim'): IPAllocation[] {
    return this.list<IPAllocation>(project, 'ipallocations').filter((each) => each.spec?.purpose === purpose);
  }

  /** Everything stored, tables and objects, for comparing before with after. */
  snapshot(): string {
    const tables = ['class', 'pool', 'offer', 'space', 'freed', 'free', 'block', 'identity'].map((table) =>
      this.store.database.prepare(`SELECT * FROM ipam_${table}`).all(),
    );
    return JSON.stringify(
      [tables, [...this.store.objects].map(([id, { value }]) => [id, Buffer.from(value).toString()])],
      (_, value) => (value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value),
    );
  }
}

/** Scope of a claim on a network at a location, as the network controllers write it. */
export function scopeOf(network: string, location = 'us-central-1') {
  const apiGroup = 'networking.datumapis.com';
  return {
    network: { apiGroup, kind: 'Network', name: network, uid: `${network}-uid` },
    location: { apiGroup, kind: 'Location', name: location },
  };
}

/** The Status a request is refused with. Throws where it is not refused. */
export async function refusalOf(request: Promise<unknown>): Promise<Status> {
  try {
    await request;
  } catch (error) {
    if (error instanceof ApiError) return error.status;
    throw error;
  }
  throw new Error('the request was not refused');
}

/** Whether it was done, and not refused as a conflict. */
export function accepted(request: Promise<unknown>): Promise<boolean> {
  return request.then(
    () => true,
    (error: unknown) => {
      if (isApiError(error, 'Conflict')) return false;
      throw error;
    },
  );
}
