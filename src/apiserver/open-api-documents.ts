import { ApiError } from '../meta/index.ts';
import { PageNotFound } from './errors.ts';
import type { ApiRequest, ApiResponse } from './http/message.ts';
import { mediaRanges } from './http/negotiate.ts';
import { type OpenApiDocument, openApiV2, openApiV2ProtobufType, openApiV3, openApiV3Index } from './openapi/index.ts';
import type { Plane } from './plane.ts';

/** `/openapi/v2`, `/openapi/v3` and one document per group and version under it. Throws 404, 406. */
export function openApiDocument(request: ApiRequest, plane: Plane, path: string): ApiResponse {
  const resources = [...plane.served()].map((served) => served.resource);
  if (path === '/openapi/v2') {
    const form = v2Form(request);
    const type = form === 'json' ? 'application/json' : protobufContentType;
    return answer(request, openApiV2(resources, form), type);
  }
  if (path === '/openapi/v3') return answer(request, openApiV3Index(resources, plane.path), 'application/json');
  const match = /^\/openapi\/v3\/(?:api\/([^/]+)|apis\/([^/]+)\/([^/]+))$/.exec(path);
  const group = match?.[2] ?? '';
  const version = match?.[1] ?? match?.[3];
  if (!resources.some((resource) => resource.group === group && resource.version === version)) throw new PageNotFound();
  return answer(request, openApiV3({ group, version: version! }, resources), 'application/json');
}

/** As it is answered: the older name has an `@` in it, which Go's clients ask for and cannot parse. */
const protobufContentType = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

/** The protobuf form has been named in two ways: clients up to 1.28 want it, newer ones JSON. */
const protobufTypes = new Set([
  openApiV2ProtobufType,
  protobufContentType,
  'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
]);

function v2Form(request: ApiRequest): 'json' | 'protobuf' {
  const accept = request.headers.accept;
  const text = (Array.isArray(accept) ? accept.join(',') : accept) ?? '';
  if (text === '') return 'json';
  for (const { type } of mediaRanges(text)) {
    if (protobufTypes.has(type)) return 'protobuf';
    if (type === 'application/json' || type === '*/*' || type === 'application/*') return 'json';
  }
  throw ApiError.of(
    'NotAcceptable',
    `only the following media types are accepted: application/json, ${openApiV2ProtobufType}`,
  );
}

function answer(request: ApiRequest, document: OpenApiDocument, contentType: string): ApiResponse {
  const etag = `"${document.hash}"`;
  const headers = { 'content-type': contentType, etag, vary: 'Accept' };
  if (request.headers['if-none-match'] === etag) return { status: 304, headers, body: '' };
  return { status: 200, headers, body: document.bytes };
}
