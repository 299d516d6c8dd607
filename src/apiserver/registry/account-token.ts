import { formatTime, type KubeObject } from '../../meta/index.ts';
import { type BoundObject, issuerOf } from '../access/account-tokens.ts';
import { storedObject } from '../codec.ts';
import { badRequest, conflict, fieldInvalid, invalid, noSuchPath, notFound } from '../errors.ts';
import { bodyText, decodeOrRefuse, notDecodable } from '../http/body.ts';
import { type ApiResponse, json } from '../http/message.ts';
import { bodyFormat } from '../http/negotiate.ts';
import { type Call, storageKey } from './call.ts';
import { placeInNamespace } from './create.ts';
import { ownedByAsker } from './managed-fields.ts';
import { writeOptions } from './options.ts';

const group = 'authentication.k8s.io';
const version = 'v1';
const kind = 'TokenRequest';
/** kube-apiserver's figures (pkg/apis/authentication/validation). */
const defaultSeconds = 3600;
const leastSeconds = 600;
const mostSeconds = 2 ** 32;

interface TokenRequest extends KubeObject {
  spec?: {
    audiences?: string[] | null;
    expirationSeconds?: number | null;
    boundObjectRef?: { kind?: string; apiVersion?: string; name?: string; uid?: string } | null;
  };
}

/** POST on `serviceaccounts/<name>/token`. Throws 400, 404, 409 for a bound object of another uid, 422. */
export async function createToken(call: Call): Promise<ApiResponse> {
  const { accountTokens } = call.server;
  if (accountTokens === undefined) throw noSuchPath();
  writeOptions(call.request, 'CreateOptions');
  const request = decode(call);
  placeInNamespace(call, request);
  const { name, namespace, now } = call;
  const record = await call.server.storage.get(storageKey(call));
  if (record === undefined) throw notFound(call.served.resource, name);
  const { metadata } = storedObject(record.value);
  const { audiences, boundObjectRef, expirationSeconds } = request.spec ?? {};
  const seconds = expirationSeconds ?? defaultSeconds;
  check(call, request, seconds);
  const base = call.plane.path;
  const entries = ownedByAsker(
    { ...request, spec: { ...request.spec, expirationSeconds: seconds } },
    call.request,
    now,
    'token',
  );
  const intended = audiences == null || audiences.length === 0 ? [issuerOf(base)] : audiences;
  const secret = boundObjectRef == null ? undefined : await boundSecret(call, boundObjectRef);
  const { token, expires } = accountTokens.issue({
    plane: call.plane.id,
    base,
    namespace,
    account: { name, uid: metadata.uid! },
    audiences: intended,
    seconds,
    ...(secret === undefined ? {} : { secret }),
  });
  return json(201, {
    kind,
    apiVersion: `${group}/${version}`,
    metadata: {
      ...request.metadata,
      name,
      namespace,
      uid: metadata.uid,
      creationTimestamp: formatTime(now),
      ...(entries.length === 0 ? {} : { managedFields: entries }),
    },
    spec: { audiences: intended, expirationSeconds: seconds, boundObjectRef: boundObjectRef ?? null },
    status: { token, expirationTimestamp: formatTime(expires) },
  });
}

function decode(call: Call): TokenRequest {
  const contentType = call.request.headers['content-type'];
  const format = bodyFormat(Array.isArray(contentType) ? contentType[0] : contentType);
  const { value } = decodeOrRefuse(bodyText(call.request.body), format, false, notDecodable);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badRequest(`the body must be a ${kind} of ${group}/${version}`);
  }
  const { apiVersion = `${group}/${version}`, kind: given = kind, metadata, spec } = value as Partial<TokenRequest>;
  if (given !== kind || apiVersion !== `${group}/${version}`) {
    throw badRequest(`the body must be a ${kind} of ${group}/${version}`);
  }
  const isMap = (part: unknown): boolean => part == null || (typeof part === 'object' && !Array.isArray(part));
  const request = { apiVersion, kind, metadata: metadata ?? { name: '' }, spec: spec ?? {} } as TokenRequest;
  if (!isMap(metadata) || !isMap(spec) || !isWellFormed(request.spec!)) {
    throw badRequest(
      `${kind} in version "${version}" cannot be handled as a ${kind}: a field has a value of a wrong type`,
    );
  }
  return request;
}

function isWellFormed({ audiences, expirationSeconds, boundObjectRef }: NonNullable<TokenRequest['spec']>): boolean {
  const isText = (value: unknown): boolean => value == null || typeof value === 'string';
  const list = audiences ?? [];
  if (!Array.isArray(list) || !list.every((audience) => typeof audience === 'string')) return false;
  if (expirationSeconds != null && !Number.isSafeInteger(expirationSeconds)) return false;
  if (boundObjectRef == null) return true;
  if (typeof boundObjectRef !== 'object' || Array.isArray(boundObjectRef)) return false;
  return ['kind', 'apiVersion', 'name', 'uid'].every((field) => isText(Reflect.get(boundObjectRef, field)));
}

/** Throws 422. */
function check(call: Call, { metadata }: TokenRequest, seconds: number): void {
  if ((metadata.name ?? '') !== '' && metadata.name !== call.name) {
    const why = 'must match the service account name if specified';
    throw invalid({ group, kind }, call.name, [fieldInvalid('metadata.name', metadata.name, why)]);
  }
  const field = 'spec.expirationSeconds';
  if (seconds < leastSeconds) {
    throw invalid({ group, kind }, '', [
      fieldInvalid(field, seconds, 'may not specify a duration less than 10 minutes'),
    ]);
  }
  if (seconds > mostSeconds) {
    throw invalid({ group, kind }, '', [
      fieldInvalid(field, seconds, 'may not specify a duration larger than 2^32 seconds'),
    ]);
  }
}

/** The Secret a token is to be bound to. There are no pods and nodes here: none can be found. */
async function boundSecret(
  call: Call,
  { apiVersion, kind: of, name = '', uid = '' }: NonNullable<NonNullable<TokenRequest['spec']>['boundObjectRef']>,
): Promise<BoundObject> {
  const plural = { Secret: 'secrets', Pod: 'pods', Node: 'nodes' }[of ?? ''];
  if (plural === undefined || apiVersion !== 'v1') {
    throw badRequest(`cannot bind token to object of type /${apiVersion}, Kind=${of}`);
  }
  const { id: plane } = call.plane;
  const key = { plane, resource: `/${plural}`, namespace: call.namespace, name };
  const record = plural === 'secrets' && name !== '' ? await call.server.storage.get(key) : undefined;
  const resource = { group: '', plural };
  if (record === undefined) throw notFound(resource, name);
  const actual = storedObject(record.value).metadata.uid!;
  if (uid !== '' && uid !== actual) {
    throw conflict(
      { group: '', plural: 'Secret' },
      name,
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  }
  return { name, uid: actual };
}
