import type { Registry } from 'prom-client';
import { aggregatedDiscovery, apiGroupDocument, apiGroupList, apiResourceList, apiVersions } from './discovery.ts';
import { notOffered, PageNotFound } from './errors.ts';
import { healthOf, type ReadyCheck } from './health.ts';
import { type ApiRequest, type ApiResponse, inFormat, json, text } from './http/message.ts';
import { mediaRanges } from './http/negotiate.ts';
import { openApiDocument } from './open-api-documents.ts';
import type { Plane } from './plane.ts';

const version = {
  major: '1',
  minor: '33',
  gitVersion: 'v1.33.0+berth',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: 'none',
  compiler: 'none',
  platform: `${process.platform}/${process.arch}`,
};

/** What a plane answers on paths that are no resource. Documents are made once per change of what the plane serves. */
export class Documents {
  readonly #metrics: Registry | undefined;
  readonly #readyChecks: readonly ReadyCheck[];
  readonly #made = new WeakMap<Plane, { serial: number; bodies: Map<string, string> }>();

  constructor(options: { metrics: Registry | undefined; readyChecks: readonly ReadyCheck[] }) {
    this.#metrics = options.metrics;
    this.#readyChecks = options.readyChecks;
  }

  /** Throws 404, 405, 406. */
  async answer(request: ApiRequest, plane: Plane, rawPath: string): Promise<ApiResponse> {
    const path = rawPath.length > 1 && rawPath.endsWith('/') ? rawPath.slice(0, -1) : rawPath;
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      throw notOffered();
    }
    const health = healthOf(path, request.query, this.#readyChecks);
    if (health !== undefined) return health;
    if (path === '/metrics' && plane.path === '' && this.#metrics !== undefined) {
      const response = text(200, await this.#metrics.metrics());
      response.headers['content-type'] = this.#metrics.contentType;
      return response;
    }
    if (path === '/version') return json(200, version);
    if (path.startsWith('/openapi/')) return openApiDocument(request, plane, path);
    if (path === '/api' || path === '/apis') return this.#groups(request, plane, path === '/api');
    const { accept } = request.headers;
    return inFormat(this.#plain(plane, path), Array.isArray(accept) ? accept[0] : accept);
  }

  #groups(request: ApiRequest, plane: Plane, core: boolean): ApiResponse {
    const accept = request.headers.accept;
    for (const range of mediaRanges((Array.isArray(accept) ? accept.join(',') : accept) ?? '')) {
      const { parameters } = range;
      const form = parameters.get('v');
      if (range.type !== 'application/json') continue;
      if (parameters.get('as') === undefined) break;
      if (parameters.get('g') !== 'apidiscovery.k8s.io' || parameters.get('as') !== 'APIGroupDiscoveryList') continue;
      if (form !== 'v2' && form !== 'v2beta1') continue;
      const key = `aggregated ${core} ${form}`;
      const body = this.#cached(plane, key, () => aggregatedDiscovery(plane, core, form));
      const type = `application/json;g=apidiscovery.k8s.io;v=${form};as=APIGroupDiscoveryList`;
      return { status: 200, headers: { 'content-type': type, vary: 'Accept' }, body: body! };
    }
    const body = this.#cached(plane, core ? '/api' : '/apis', () => (core ? apiVersions() : apiGroupList(plane)));
    const plain = { status: 200, headers: { 'content-type': 'application/json', vary: 'Accept' }, body: body! };
    return inFormat(plain, Array.isArray(accept) ? accept[0] : accept);
  }

  #plain(plane: Plane, path: string): ApiResponse {
    const body = this.#cached(plane, path, () => {
      const [root, group, groupVersion, rest] = path.slice(1).split('/');
      if (path === '/') return { paths: rootPaths };
      if (root === 'api' && group === 'v1' && groupVersion === undefined) return apiResourceList(plane, '', 'v1');
      if (root !== 'apis' || group === undefined || rest !== undefined) return undefined;
      if (groupVersion === undefined) return apiGroupDocument(plane, group);
      return apiResourceList(plane, group, groupVersion);
    });
    if (body === undefined) throw new PageNotFound();
    return { status: 200, headers: { 'content-type': 'application/json' }, body };
  }

  #cached(plane: Plane, key: string, make: () => object | undefined): string | undefined {
    let made = this.#made.get(plane);
    if (made === undefined || made.serial !== plane.serial) {
      made = { serial: plane.serial, bodies: new Map() };
      this.#made.set(plane, made);
    }
    const known = made.bodies.get(key);
    if (known !== undefined) return known;
    const document = make();
    // What is not there is not remembered: anybody can ask for any path.
    if (document === undefined) return undefined;
    const body = JSON.stringify(document);
    made.bodies.set(key, body);
    return body;
  }
}

const rootPaths = [
  '/api',
  '/api/v1',
  '/apis',
  '/healthz',
  '/livez',
  '/metrics',
  '/openapi/v2',
  '/openapi/v3',
  '/readyz',
  '/version',
];
