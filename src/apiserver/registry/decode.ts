import type { KubeObject } from '../../meta/index.ts';
import { badRequest, invalid } from '../errors.ts';
import { bodyText, decodeText } from '../http/body.ts';
import { bodyFormat } from '../http/negotiate.ts';
import { normalizeMetadata } from '../validation/metadata.ts';
import { type Call, type FieldValidation, fieldValidation } from './call.ts';

/**
 * The object in the body of a create or update: right kind, metadata of the right shape, unknown fields dropped and
 * told of as `fieldValidation` asks.
 */
export function decodeObject(call: Call): KubeObject {
  const { served, request } = call;
  const mode = fieldValidation(request.query);
  const contentType = request.headers['content-type'];
  const format = bodyFormat(Array.isArray(contentType) ? contentType[0] : contentType);
  const text = bodyText(request.body);
  const { value, duplicates } = decodeText(text, format, mode !== 'Ignore');
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

function checkKind(call: Call, value: unknown, text: string): KubeObject {
  const { kind } = call.served.resource;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badRequest(`the object provided is unrecognized (must be of type ${kind}): it is not a JSON object`);
  }
  const object = value as KubeObject;
  const { apiVersion, kind: given } = object;
  if (given === undefined || given === '') object.kind = kind;
  if (apiVersion === undefined || apiVersion === '') object.apiVersion = call.served.apiVersion;
  if (object.kind !== kind || object.apiVersion !== call.served.apiVersion) {
    const summary = text.length > 30 ? `${text.slice(0, 30)} ...` : text;
    if (typeof object.kind !== 'string' || typeof object.apiVersion !== 'string') {
      throw badRequest(`the object provided is unrecognized (must be of type ${kind}): ${summary}`);
    }
    const got = `${object.apiVersion}, Kind=${object.kind}`;
    throw badRequest(
      `the API version in the data (${got}) does not match the expected API version (${call.served.apiVersion}, Kind=${kind})`,
    );
  }
  return object;
}

export interface DeleteOptions {
  preconditions?: { uid?: string; resourceVersion?: string };
  propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  dryRun: readonly string[];
}

/** DeleteOptions from the body, or from the query where there is no body. Throws 400 and 422. */
export function decodeDeleteOptions(call: Call): DeleteOptions {
  const { request } = call;
  let given: Record<string, unknown> = {};
  if (request.body !== undefined && request.body.length > 0) {
    const contentType = request.headers['content-type'];
    const format = bodyFormat(Array.isArray(contentType) ? contentType[0] : contentType);
    const { value } = decodeText(bodyText(request.body), format, false);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw badRequest('the body of a delete must be DeleteOptions');
    }
    given = value as Record<string, unknown>;
    if (given.kind !== undefined && given.kind !== 'DeleteOptions') {
      throw badRequest(`the body of a delete must be DeleteOptions, not ${JSON.stringify(given.kind)}`);
    }
  }
  const policy = given.propagationPolicy ?? request.query.get('propagationPolicy') ?? undefined;
  const orphan = given.orphanDependents ?? request.query.get('orphanDependents') ?? undefined;
  if (policy !== undefined && !['Background', 'Foreground', 'Orphan'].includes(policy as string)) {
    throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', [
      {
        reason: 'FieldValueNotSupported',
        field: 'propagationPolicy',
        message: `Unsupported value: ${JSON.stringify(policy)}: supported values: "Background", "Foreground", "Orphan"`,
      },
    ]);
  }
  if (policy !== undefined && orphan !== undefined) {
    throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', [
      {
        reason: 'FieldValueInvalid',
        field: 'propagationPolicy',
        message: `Invalid value: ${JSON.stringify(policy)}: orphanDependents and deletionPropagation cannot be both set`,
      },
    ]);
  }
  const orphaned = orphan === undefined ? undefined : orphan === true || orphan === 'true' ? 'Orphan' : 'Background';
  const effective = (policy ?? orphaned) as DeleteOptions['propagationPolicy'];
  const dryRun = given.dryRun ?? request.query.getAll('dryRun');
  if (!Array.isArray(dryRun)) throw badRequest('dryRun must be a list');
  return {
    ...(effective === undefined ? {} : { propagationPolicy: effective }),
    ...(given.preconditions == null ? {} : { preconditions: checkPreconditions(given.preconditions) }),
    dryRun: dryRun as string[],
  };
}

function checkPreconditions(value: unknown): NonNullable<DeleteOptions['preconditions']> {
  if (typeof value !== 'object') throw badRequest('preconditions must be an object');
  const { uid, resourceVersion } = value as Record<string, unknown>;
  for (const field of [uid, resourceVersion]) {
    if (field != null && typeof field !== 'string') throw badRequest('preconditions must hold strings');
  }
  return {
    ...(uid == null ? {} : { uid: uid as string }),
    ...(resourceVersion == null ? {} : { resourceVersion: resourceVersion as string }),
  };
}
