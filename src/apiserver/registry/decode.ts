import type { KubeObject } from '../../meta/index.ts';
import { badRequest, invalid } from '../errors.ts';
import { bodyText, decodeOrRefuse, notDecodable } from '../http/body.ts';
import { bodyFormat } from '../http/negotiate.ts';
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
    unrecognized(call, notDecodable(error), text),
  );
  const object = checkKind(call, value, text);
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

/** Tells of unknown and duplicate fields of a patched object: 422 naming the patch where the mode is Strict. */
export function reportPatchProblems(
  call: Call,
  mode: FieldValidation,
  problems: readonly string[],
  patch: string,
): void {
  if (problems.length === 0) return;
  report(call, mode, problems, (list) =>
    invalid({ group: '', kind: '' }, '', [
      {
        reason: 'FieldValueInvalid',
        field: 'patch',
        message: `Invalid value: ${JSON.stringify(patch)}: strict decoding error: ${list}`,
      },
    ]),
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
  const pruned = schema.prune(object as unknown as Record<string, unknown>);
  if (unknown.length === 0 && pruned.length === 0) return [];
  return [...unknown, ...pruned].map((path) => `unknown field "${path}"`);
}

function unrecognized(call: Call, why: string, text: string): string {
  return `the object provided is unrecognized (must be of type ${call.served.resource.kind}): ${why} (${summaryOf(text)})`;
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

function checkKind(call: Call, value: unknown, text: string): KubeObject {
  const { served } = call;
  const { kind } = served.resource;
  if (value !== null && (typeof value !== 'object' || Array.isArray(value))) {
    const type = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
    const why = `couldn't get version/kind; json parse error: json: cannot unmarshal ${type} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`;
    throw badRequest(unrecognized(call, why, text));
  }
  const object = (value ?? {}) as KubeObject;
  for (const field of ['apiVersion', 'kind'] as const) {
    const given: unknown = object[field];
    if (given === undefined || given === null || given === '') {
      // A custom resource must say what it is; what is built in is what its path says.
      if (!served.strategy.custom) object[field] = field === 'kind' ? kind : served.apiVersion;
    } else if (typeof given !== 'string') {
      const type = typeof given === 'object' ? (Array.isArray(given) ? 'array' : 'object') : typeof given;
      const name = field === 'kind' ? '.kind' : '.apiVersion';
      const why = `couldn't get version/kind; json parse error: json: cannot unmarshal ${type} into Go struct field ${name} of type string`;
      throw badRequest(unrecognized(call, why, text));
    }
  }
  if ((object.kind ?? '') === '') throw badRequest(unrecognized(call, `Object 'Kind' is missing in '${text}'`, text));
  if ((object.apiVersion ?? '') === '') {
    const why = `Object 'apiVersion' is missing in '${text}'`;
    throw badRequest(`${object.kind} in version "" cannot be handled as a ${kind}: ${why}`);
  }
  if (object.apiVersion !== served.apiVersion) {
    throw badRequest(
      `the API version in the data (${object.apiVersion}) does not match the expected API version (${served.apiVersion})`,
    );
  }
  if (object.kind !== kind) {
    throw badRequest(
      `${object.kind} in version "${served.resource.version}" cannot be handled as a ${kind}: the body must be a ${kind} of ${served.apiVersion}`,
    );
  }
  return object;
}
