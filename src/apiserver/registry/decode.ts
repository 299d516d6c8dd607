import type { KubeObject } from '../../meta/index.ts';
import { badRequest, fieldInvalid, invalid } from '../errors.ts';
import { bodyText, decodeOrRefuse, notDecodable } from '../http/body.ts';
import { bodyFormat } from '../http/negotiate.ts';
import { isObject, propertiesOf, schemaAt } from '../schema/json-schema.ts';
import type { JsonSchema } from '../schema/schema.ts';
import { normalizeMetadata } from '../validation/metadata.ts';
import type { Call } from './call.ts';
import type { FieldValidation } from './options.ts';

/**
 * The object in the body of a create or update: right kind, metadata of the right shape, unknown fields dropped and
 * told of as `fieldValidation` asks.
 */
export function decodeObject(call: Call, mode: FieldValidation): KubeObject {
  const { served, request } = call;
  const contentType = request.headers['content-type'];
  const format = bodyFormat(Array.isArray(contentType) ? contentType[0] : contentType);
  const text = bodyText(request.body);
  const { value, duplicates } = decodeOrRefuse(text, format, mode !== 'Ignore', (error) =>
    unrecognized(served.resource.kind, notDecodable(error), text),
  );
  const { apiVersion, resource, strategy } = served;
  const object = objectOfKind({ kind: resource.kind, apiVersion, custom: strategy.custom }, value, text);
  const problems = [...duplicates, ...shape(call, object)];
  if (problems.length > 0) {
    report(call, mode, problems, (list) => {
      const { version, kind } = served.resource;
      return badRequest(
        `${kind} in version "${version}" cannot be handled as a ${kind}: strict decoding error: ${list}`,
      );
    });
  }
  return object;
}

/** Tells of unknown and duplicate fields of a patched object: 422 with what the patch made where the mode is Strict. */
export function reportPatchProblems(
  call: Call,
  mode: FieldValidation,
  problems: readonly string[],
  patched: () => unknown,
): void {
  if (problems.length === 0) return;
  report(call, mode, problems, (list) => unfitPatch(patched(), `strict decoding error: ${list}`));
}

/** 422 for a patch that makes what is no object of the kind. */
export function unfitPatch(patched: unknown, why: string): Error {
  const wrong = fieldInvalid('patch', JSON.stringify(sorted(patched)), why);
  return invalid({ group: '', kind: '' }, '', [wrong]);
}

/** A copy with the keys of every object in order, as Go writes maps. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, child]) => [key, sorted(child)]),
  );
}

function report(call: Call, mode: FieldValidation, problems: readonly string[], refuse: (list: string) => Error): void {
  if (mode === 'Strict') throw refuse(problems.join(', '));
  if (mode === 'Warn') call.warnings.push(...problems);
}

/** Normalizes metadata and prunes the rest, in place; answers `unknown field "…"` texts. Throws 400 on a wrong type. */
export function shape(call: Call, object: KubeObject): string[] {
  const { kind, version, schema } = call.served.resource;
  let unknown: string[];
  try {
    unknown = normalizeMetadata(object);
  } catch (error) {
    throw badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${(error as Error).message}`);
  }
  if (!call.served.strategy.custom) emptyNulls(object, schema.source);
  dropRepeatedOwners(call, object);
  const pruned = schema.prune(object as unknown as Record<string, unknown>);
  if (unknown.length === 0 && pruned.length === 0) return [];
  return [...unknown, ...pruned].map((path) => `unknown field "${path}"`);
}

/** A null in a map of texts is an empty text to Go. */
function emptyNulls(object: KubeObject, schema: JsonSchema): void {
  const fields = object as unknown as Record<string, unknown>;
  for (const [name, property] of propertiesOf(schema)) {
    const map = fields[name];
    if (schemaAt(property, 'additionalProperties') === undefined || !isObject(map)) continue;
    for (const key of Object.keys(map)) if (map[key] === null) map[key] = '';
  }
}

/** Of several references to one owner the first counts. */
function dropRepeatedOwners(call: Call, { metadata }: KubeObject): void {
  const owners = metadata.ownerReferences;
  if (owners === undefined || owners.length < 2) return;
  const seen = new Set<string>();
  const repeated = new Set<string>();
  metadata.ownerReferences = owners.filter(({ uid }) => {
    if (seen.has(uid)) repeated.add(uid);
    return !seen.has(uid) && seen.add(uid);
  });
  if (repeated.size === 0) return;
  call.warnings.push(
    `.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${[...repeated].join(', ')}`,
  );
}

export function unrecognized(kind: string, why: string, text: string): string {
  return `the object provided is unrecognized (must be of type ${kind}): ${why} (${summaryOf(text)})`;
}

const summaryBytes = 30;

/** The beginning of a body: as it is where it looks like JSON, else in hexadecimal. */
function summaryOf(text: string): string {
  if (text === '') return '<empty>';
  const bytes = Buffer.from(text);
  const start = bytes.subarray(0, summaryBytes);
  const more = bytes.length > summaryBytes ? ' ...' : '';
  return `${text.startsWith('{') ? start.toString('utf8') : start.toString('hex')}${more}`;
}

/** What a body has to be. */
interface Wanted {
  kind: string;
  apiVersion: string;
  custom: boolean;
}

/** The object a body is. Throws 400 where it is another kind or none. */
export function objectOfKind({ kind, apiVersion: wanted, custom }: Wanted, value: unknown, text: string): KubeObject {
  if (value !== null && (typeof value !== 'object' || Array.isArray(value))) {
    const type = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
    const why = `couldn't get version/kind; json parse error: json: cannot unmarshal ${type} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`;
    throw badRequest(unrecognized(kind, why, text));
  }
  const object = (value ?? {}) as KubeObject;
  for (const field of ['apiVersion', 'kind'] as const) {
    const given: unknown = object[field];
    if (given === undefined || given === null || given === '') {
      // A custom resource must say what it is; what is built in is what its path says.
      if (!custom) object[field] = field === 'kind' ? kind : wanted;
    } else if (typeof given !== 'string') {
      const type = typeof given === 'object' ? (Array.isArray(given) ? 'array' : 'object') : typeof given;
      const name = field === 'kind' ? '.kind' : '.apiVersion';
      const why = `couldn't get version/kind; json parse error: json: cannot unmarshal ${type} into Go struct field ${name} of type string`;
      throw badRequest(unrecognized(kind, why, text));
    }
  }
  if ((object.kind ?? '') === '') throw badRequest(unrecognized(kind, `Object 'Kind' is missing in '${text}'`, text));
  const { apiVersion = '' } = object as { apiVersion?: string };
  if (custom) {
    if (apiVersion !== wanted) {
      throw badRequest(
        `the API version in the data (${apiVersion}) does not match the expected API version (${wanted})`,
      );
    }
    return object;
  }
  if (object.kind !== kind || apiVersion !== wanted) {
    const version = apiVersion.slice(apiVersion.indexOf('/') + 1);
    throw badRequest(
      `${object.kind} in version "${version}" cannot be handled as a ${kind}: no kind "${object.kind}" is registered for version "${apiVersion}" in scheme "pkg/runtime/scheme.go:111"`,
    );
  }
  return object;
}
