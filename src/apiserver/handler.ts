import type { Logger } from 'pino';
import { ApiError } from '../meta/index.ts';
import type { AccessAttributes, Authorizer } from './access/interfaces.ts';
import { denied } from './denied.ts';
import type { Documents } from './documents.ts';
import { badRequest, methodNotAllowed, noSuchPath, notFound, notOffered, PageNotFound } from './errors.ts';
import { bodyText, decodeOrRefuse, notDecodable } from './http/body.ts';
import { type ApiRequest, type ApiResponse, failure, inFormat, json, text as textResponse } from './http/message.ts';
import { bodyFormat, booleanParameter, negotiateOutput } from './http/negotiate.ts';
import { parseResourcePath, type ResourcePath, splitPlanePath } from './http/path.ts';
import type { ServerMetrics } from './metrics.ts';
import type { Plane } from './plane.ts';
import { acceptProtobuf } from './protobuf/request.ts';
import { createToken } from './registry/account-token.ts';
import type { Call, ServerContext } from './registry/call.ts';
import { create } from './registry/create.ts';
import { objectOfKind, unrecognized } from './registry/decode.ts';
import { remove, removeCollection } from './registry/delete.ts';
import { ownedByAsker } from './registry/managed-fields.ts';
import { patch } from './registry/patch.ts';
import { get, list } from './registry/read.ts';
import { changeScale, getScale } from './registry/scale.ts';
import { update } from './registry/update.ts';
import { watch } from './registry/watch.ts';
import type { Served } from './served.ts';

/** From a request to its answer: plane, authorization, resource, verb. */

export interface HandlerOptions {
  readonly context: ServerContext;
  readonly authorizer: Authorizer;
  readonly log: Logger;
  readonly documents: Documents;
  readonly metrics: ServerMetrics | undefined;
  /** The open plane with this base path; throws where it is known and not open, undefined where it is unknown. */
  findPlane(base: string): Plane | undefined;
  /** Whether the root plane has the project, whose plane is not open. */
  projectExists(id: string): Promise<boolean>;
}

/** The verb a request asks authorization for. */
type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

export class Handler {
  readonly #options: HandlerOptions;

  constructor(options: HandlerOptions) {
    this.#options = options;
  }

  /** Never rejects: what goes wrong is a Status. */
  async handle(request: ApiRequest): Promise<ApiResponse> {
    // A refusal carries them too: what was odd may be why.
    const warnings: string[] = [];
    const response = await this.#answer(request, warnings);
    return warnings.length === 0 ? response : { ...response, warnings };
  }

  async #answer(request: ApiRequest, warnings: string[]): Promise<ApiResponse> {
    try {
      return await this.#route(acceptProtobuf(request), warnings);
    } catch (error) {
      if (error instanceof PageNotFound) return textResponse(404, '404 page not found\n');
      if (error instanceof ApiError) return inFormat(failure(error), single(request.headers.accept));
      this.#options.log.error({ err: error, method: request.method, path: request.path }, 'request failed');
      const message = `Internal error occurred: ${error instanceof Error ? error.message : String(error)}`;
      return failure(ApiError.of('InternalError', message));
    }
  }

  async #route(request: ApiRequest, warnings: string[]): Promise<ApiResponse> {
    const where = splitPlanePath(request.path);
    const plane = this.#options.findPlane(where.base);
    if (plane === undefined) {
      if (where.kind !== 'project') throw new PageNotFound();
      if (await this.#options.projectExists(where.project)) {
        throw ApiError.of('ServiceUnavailable', `the control plane of project ${where.project} is not open yet`);
      }
      throw notFound({ group: 'resourcemanager.miloapis.com', plural: 'projects' }, where.project);
    }
    const path = parseResourcePath(where.rest);
    if (path === undefined) return this.#document(request, plane, where.rest);
    return this.#resource(request, plane, path, warnings);
  }

  #document(request: ApiRequest, plane: Plane, path: string): Promise<ApiResponse> | ApiResponse {
    const method = request.method.toLowerCase();
    const verb = method === 'head' ? 'get' : method;
    const noResource = { group: '', resource: '', subresource: '', namespace: '', name: '' };
    this.#allow({ ...noResource, plane: plane.id, identity: request.identity, verb, path });
    return this.#options.documents.answer(request, plane, path);
  }

  /** Throws 403. */
  #allow(attributes: AccessAttributes, name = attributes.name): void {
    const { allowed, reason = '' } = this.#options.authorizer.authorize(attributes);
    if (!allowed) throw denied(attributes, name, reason);
  }

  async #resource(request: ApiRequest, plane: Plane, path: ResourcePath, warnings: string[]): Promise<ApiResponse> {
    const served = plane.find(path.group, path.version, path.plural);
    if (served === undefined) {
      const review = plane.review(path.group, path.version, path.plural);
      if (review !== undefined) return this.#review(request, plane, path, review);
    }
    const verb = verbOf(request, path);
    const scope = scopeOf(path, verb, request);
    const authorize = (asked: string): void => this.#authorize(request, plane, path, asked, scope);
    authorize(verb);
    if (served === undefined || leadsAstray(served, path, verb)) {
      if (served?.strategy.custom === false && path.name === '' && path.namespace === '') throw notOffered();
      throw plane.isBuiltIn(path.group, path.version) ? noSuchPath() : new PageNotFound();
    }
    if (served.deprecationWarning !== undefined) warnings.push(served.deprecationWarning);
    checkPathNames(served, path);
    const call: Call = {
      server: this.#options.context,
      plane,
      served,
      request,
      identity: request.identity,
      namespace: path.namespace,
      name: path.name,
      subresource: path.subresource,
      output: negotiateOutput(single(request.headers.accept)),
      now: this.#options.context.clock.now(),
      warnings,
      authorize,
    };
    checkOffered(call, verb);
    const { metrics } = this.#options;
    return metrics === undefined ? carryOut(call, verb) : measured(metrics, call, verb);
  }

  #authorize(request: ApiRequest, plane: Plane, path: ResourcePath, verb: string, scope: { name: string }): void {
    const { group, plural, subresource } = path;
    // A namespace is within itself, so that a role in it can grant it.
    const namespace = group === '' && plural === 'namespaces' ? path.name : path.namespace;
    const { identity } = request;
    const { name } = scope;
    this.#allow(
      { plane: plane.id, identity, verb, group, resource: plural, subresource, namespace, name, path: '' },
      path.name,
    );
  }

  async #review(
    request: ApiRequest,
    plane: Plane,
    path: ResourcePath,
    review: NonNullable<ReturnType<Plane['review']>>,
  ): Promise<ApiResponse> {
    if (path.name !== '') throw noSuchPath();
    if (request.method !== 'POST') throw notOffered();
    this.#authorize(request, plane, path, 'create', { name: '' });
    const text = bodyText(request.body);
    const apiVersion = `${review.group}/${review.version}`;
    const format = bodyFormat(single(request.headers['content-type']));
    const { value } = decodeOrRefuse(text, format, false, (error) =>
      unrecognized(review.kind, notDecodable(error), text),
    );
    const object = objectOfKind({ kind: review.kind, apiVersion, custom: false }, value, text);
    const now = this.#options.context.clock.now();
    const { identity } = request;
    const where = path.namespace === '' ? {} : { namespace: path.namespace };
    const answer = await review.review(
      { plane: plane.id, base: plane.path, identity, namespace: path.namespace, now },
      object,
    );
    const entries = ownedByAsker(answer, request, now);
    const metadata = { ...answer.metadata, ...where, ...(entries.length === 0 ? {} : { managedFields: entries }) };
    return json(201, { ...answer, metadata });
  }
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(',') : header;
}

function verbOf(request: ApiRequest, path: ResourcePath): Verb {
  switch (request.method) {
    case 'GET':
    case 'HEAD':
      if (path.name !== '') return 'get';
      return booleanParameter(request.query, 'watch') === true ? 'watch' : 'list';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return path.name === '' ? 'deletecollection' : 'delete';
    default:
      // What no verb stands for has no name in the refusal.
      throw methodNotAllowed({ group: path.group, plural: path.plural }, '');
  }
}

/** Whether a path says a namespace where the kind has none, or none where one object of a namespace is meant. */
function leadsAstray({ resource }: Served, { namespace }: ResourcePath, verb: Verb): boolean {
  if (!resource.namespaced) return namespace !== '';
  return namespace === '' && verb !== 'list' && verb !== 'watch';
}

const nameSelector = /^metadata\.name=([^,=\\]+)$/;

/** A list or watch of one name counts as being about that object, so that a role may grant just it. */
function scopeOf(path: ResourcePath, verb: Verb, request: ApiRequest): { name: string } {
  if (path.name !== '' || (verb !== 'list' && verb !== 'watch' && verb !== 'deletecollection'))
    return { name: path.name };
  const selector = request.query.get('fieldSelector');
  return { name: selector === null ? '' : (nameSelector.exec(selector)?.[1] ?? '') };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: what no name can have
const impossibleName = /[\u0000-\u001f\ud800-\udfff]/;

/** No object can have such a name: what storage would not even take as a key is not there. */
function checkPathNames(served: Served, path: ResourcePath): void {
  if (impossibleName.test(path.name) || impossibleName.test(path.namespace)) throw notFound(served.resource, path.name);
}

function checkOffered(call: Call, verb: Verb): void {
  const { resource, strategy } = call.served;
  const { subresource, name } = call;
  const refuse = (): ApiError => (strategy.custom ? methodNotAllowed(resource, verb) : notOffered());
  if (subresource !== '') {
    const offered =
      (subresource === 'status' && resource.subresources.status) ||
      (subresource === 'scale' && resource.subresources.scale !== undefined) ||
      strategy.asked?.[subresource] !== undefined ||
      strategy.extraSubresources?.includes(subresource) === true;
    if (!offered) throw strategy.custom ? notFound(resource, name) : noSuchPath();
    if (strategy.asked?.[subresource] !== undefined) {
      if (verb !== 'create') throw refuse();
      return;
    }
    const extra = strategy.extraSubresources?.includes(subresource) === true;
    if (verb !== 'update' && (extra || (verb !== 'get' && verb !== 'patch'))) throw refuse();
    return;
  }
  if (resource.verbs !== undefined && !resource.verbs.includes(verb)) throw refuse();
  // The name of a custom resource that is made is the one it has, whatever the path says.
  if (verb === 'create' && name !== '' && !strategy.custom) throw refuse();
  if ((verb === 'update' || verb === 'patch') && name === '') {
    throw strategy.custom ? badRequest('name must be provided') : notOffered();
  }
}

async function measured(metrics: ServerMetrics, call: Call, verb: Verb): Promise<ApiResponse> {
  const since = metrics.start();
  const { group, plural } = call.served.resource;
  const [plane = ''] = call.plane.id.split('/', 1);
  const labels = { plane, verb, group, resource: plural, subresource: call.subresource };
  try {
    const response = await carryOut(call, verb);
    metrics.answered({ ...labels, code: response.status }, since);
    return response;
  } catch (error) {
    metrics.answered({ ...labels, code: error instanceof ApiError ? error.code : 500 }, since);
    throw error;
  }
}

/**
 * A write is judged by the newest state, commits still on their way to disk included. Its refusal waits for these: told at
 * once, it would tell of what a reader does not see yet, and of what a crash may undo.
 */
async function carryOut(call: Call, verb: Verb): Promise<ApiResponse> {
  try {
    return await dispatch(call, verb);
  } catch (error) {
    if (error instanceof ApiError && !isRead(verb)) await call.server.storage.settled();
    throw error;
  }
}

function isRead(verb: Verb): boolean {
  return verb === 'get' || verb === 'list' || verb === 'watch';
}

function dispatch(call: Call, verb: Verb): Promise<ApiResponse> {
  if (call.subresource === 'token') return createToken(call);
  if (call.subresource === 'scale') return verb === 'get' ? getScale(call) : changeScale(call);
  switch (verb) {
    case 'get':
      return get(call);
    case 'list':
      return list(call);
    case 'watch':
      return watch(call);
    case 'create':
      return create(call);
    case 'update':
      return update(call);
    case 'patch':
      return patch(call);
    case 'delete':
      return remove(call);
    case 'deletecollection':
      return removeCollection(call);
  }
}
