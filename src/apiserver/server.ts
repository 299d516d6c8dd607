import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Clock, Identity, Random, Transport } from '../kube/index.ts';
import { ApiError, type CustomResourceDefinition } from '../meta/index.ts';
import type { AccountTokens } from './access/account-tokens.ts';
import type { Authenticator, Authorizer, ReviewKind } from './access/interfaces.ts';
import { builtinKinds } from './builtin/index.ts';
import { type AggregatedResource, DefinitionCache } from './custom-resources.ts';
import { DefinitionCleaner } from './definition-cleaner.ts';
import { directTransport } from './direct.ts';
import { Documents } from './documents.ts';
import { Handler } from './handler.ts';
import type { ReadyCheck } from './health.ts';
import { Front, type ListenOptions, type TlsFiles } from './listen.ts';
import { ServerMetrics } from './metrics.ts';
import { Plane } from './plane.ts';
import { type Admission, defaultLimits, type Limits, type ServerContext } from './registry/call.ts';
import type { ServedResource } from './resource.ts';
import { Setup } from './setup.ts';
import type { Storage } from './storage/storage.ts';

export interface ApiServerOptions {
  storage: Storage;
  clock: Clock;
  random: Random;
  log: Logger;
  authenticator: Authenticator;
  authorizer: Authorizer;
  /** Kinds that are answered and never stored, in every plane. */
  reviews?: readonly ReviewKind[];
  /** Judges every write of an object after it was validated; throws ApiError to refuse. */
  admission?: Admission;
  /** Signs the tokens of service accounts; none are issued where absent. */
  accountTokens?: AccountTokens;
  /** Also served at `/metrics` of the root plane. */
  metrics?: Registry;
  limits?: Partial<Limits>;
}

export interface PlaneOptions {
  /** `root`, `hub`, `cell/<location>`, `project/<id>`. */
  id: string;
  /** `/` for the root plane. */
  path: string;
  project?: string;
  /** Installed, or brought up to date: written only where they differ. */
  crds: readonly CustomResourceDefinition[];
  aggregated?: readonly AggregatedResource[];
}

/** The embedded Kubernetes API server: many planes, one store, one port. */
export class ApiServer {
  readonly #context: ServerContext;
  readonly #handler: Handler;
  readonly #front: Front;
  readonly #definitions = new DefinitionCache();
  readonly #reviews: readonly ReviewKind[];
  readonly #planes = new Map<string, Plane>();
  readonly #byPath = new Map<string, Plane>();
  /** Base paths of planes that are closed and not gone. */
  readonly #closed = new Map<string, string>();
  readonly #readyChecks: ReadyCheck[] = [];
  readonly #setup: Setup;
  readonly #cleaner: DefinitionCleaner;

  constructor(options: ApiServerOptions) {
    const { storage, clock, random, log, authorizer } = options;
    const limits = { ...defaultLimits, ...options.limits };
    const metrics = options.metrics === undefined ? undefined : new ServerMetrics(options.metrics, clock);
    this.#cleaner = new DefinitionCleaner(log);
    this.#context = {
      storage,
      clock,
      random,
      limits,
      admission: options.admission,
      accountTokens: options.accountTokens,
      definitionDeleted: (call, definition) => this.#cleaner.start(call, definition),
    };
    this.#reviews = options.reviews ?? [];
    this.#handler = new Handler({
      context: this.#context,
      authorizer,
      log,
      metrics,
      documents: new Documents({ metrics: options.metrics, readyChecks: this.#readyChecks }),
      findPlane: (base) => this.#findPlane(base),
      projectExists: (id) => this.#projectExists(id),
    });
    this.#front = new Front({ handler: this.#handler, authenticator: options.authenticator, clock, log, limits });
    this.#setup = new Setup(this.#context);
  }

  /**
   * Serves a plane: the built-in kinds, its CRDs, the namespaces `default` and `kube-system`. What it already holds
   * stays. Rejects where a CRD is not valid, naming it.
   */
  async openPlane(options: PlaneOptions): Promise<void> {
    if (this.#planes.has(options.id)) throw new Error(`plane ${options.id} is open already`);
    const plane = new Plane({
      id: options.id,
      path: options.path,
      project: options.project,
      builtins: builtinKinds,
      aggregated: options.aggregated ?? [],
      reviews: this.#reviews,
      definitions: this.#definitions,
    });
    if (this.#byPath.has(plane.path)) throw new Error(`${options.path} is the path of another plane`);
    await this.#setup.run(plane, options.crds);
    this.#planes.set(plane.id, plane);
    this.#byPath.set(plane.path, plane);
    this.#closed.delete(plane.path);
  }

  /** Stops serving a plane: its watches end, its path answers 503, nothing is deleted. */
  async closePlane(id: string): Promise<void> {
    const plane = this.#planes.get(id);
    if (plane === undefined) return;
    this.#planes.delete(id);
    this.#byPath.delete(plane.path);
    this.#closed.set(plane.path, id);
    plane.end();
  }

  /** Closes a plane and forgets everything in it; its path answers 404 from then on. */
  async dropPlane(id: string): Promise<void> {
    await this.closePlane(id);
    await this.#context.storage.dropPlane(id);
    for (const [path, closed] of this.#closed) if (closed === id) this.#closed.delete(path);
  }

  /** Ids of the open planes. */
  planes(): string[] {
    return [...this.#planes.keys()];
  }

  /** What a plane serves just now, CRDs added at run time included. Throws where it is not open. */
  resources(id: string): ServedResource[] {
    const plane = this.#planes.get(id);
    if (plane === undefined) throw new Error(`plane ${id} is not open`);
    return [...plane.served()].map((served) => served.resource);
  }

  /** `/readyz` fails while a check does. */
  addReadyCheck(check: ReadyCheck): void {
    this.#readyChecks.push(check);
  }

  /** A direct call into the server as `identity`: authorized like any other request, without sockets. */
  transport(identity: Identity): Transport {
    return directTransport(this.#handler, identity);
  }

  /** Serves HTTPS until `close`. */
  listen(options: ListenOptions): Promise<{ port: number }> {
    return this.#front.listen(options);
  }

  /** Serves with another certificate from the next connection on, on every port. */
  replaceCertificate(tls: TlsFiles): void {
    this.#front.replaceCertificate(tls);
  }

  /** Ends every watch and connection. The storage is its owner's to close. */
  async close(): Promise<void> {
    for (const id of [...this.#planes.keys()]) await this.closePlane(id);
    await this.#front.close();
  }

  #findPlane(base: string): Plane | undefined {
    const plane = this.#byPath.get(base);
    if (plane === undefined && this.#closed.has(base)) {
      throw ApiError.of('ServiceUnavailable', `the control plane ${this.#closed.get(base)} is closed just now`);
    }
    return plane;
  }

  async #projectExists(id: string): Promise<boolean> {
    const key = { plane: 'root', resource: 'resourcemanager.miloapis.com/projects', namespace: '', name: id };
    try {
      return (await this.#context.storage.get(key)) !== undefined;
    } catch {
      // A name no key can have.
      return false;
    }
  }
}
