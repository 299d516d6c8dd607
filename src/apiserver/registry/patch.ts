import { ApiError, isApiError, type KubeObject } from '../../meta/index.ts';
import { badRequest, conflict, fieldInvalid, invalid } from '../errors.ts';
import { type BodySyntaxError, bodyText, decodeOrRefuse } from '../http/body.ts';
import type { ApiResponse } from '../http/message.ts';
import { baseType, unsupportedMediaType } from '../http/negotiate.ts';
import {
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  serverSideApply,
  strategicMergeSupported,
} from '../patch/index.ts';
import type { Call } from './call.ts';
import { createObject } from './create.ts';
import { reportPatchProblems, shape, unfitPatch } from './decode.ts';
import { trackManager } from './managed-fields.ts';
import { timeText } from './now.ts';
import { type FieldValidation, writeOptions } from './options.ts';
import { checkNameAndPlace, modify } from './update.ts';

const jsonPatch = 'application/json-patch+json';
const mergePatch = 'application/merge-patch+json';
const strategicPatch = 'application/strategic-merge-patch+json';
const applyPatch = 'application/apply-patch+yaml';

/** PATCH on an object or its status. */
export async function patch(call: Call): Promise<ApiResponse> {
  const header = call.request.headers['content-type'];
  const type = baseType(Array.isArray(header) ? header[0] : header);
  const { group, kind } = call.served.resource;
  if (type === applyPatch) return apply(call);
  const strategic = strategicMergeSupported(group, kind);
  if (type !== jsonPatch && type !== mergePatch && !(type === strategicPatch && strategic)) {
    const accepted = [jsonPatch, mergePatch, ...(strategic ? [strategicPatch] : []), applyPatch];
    throw unsupportedMediaType(accepted);
  }
  const { dryRun, manager, fieldValidation: mode } = writeOptions(call.request, 'PatchOptions');
  const text = bodyText(call.request.body);
  const { value, duplicates } = decodeOrRefuse(text, 'json', mode !== 'Ignore', () => 'invalid JSON patch');
  checkPatchBody(type, value);
  return modify(call, {
    dryRun,
    change: (current, attempt) => {
      const changed = changeBy(type, current, value, call);
      const problems = finishPatched(call, changed, current);
      if (attempt === 1) {
        reportPatchProblems(call, mode, [...duplicates, ...problems], () => changeBy(type, current, value, call));
      }
      return changed;
    },
    track: (next, old) => trackManager(call, next, old, manager),
  });
}

function undecodable(error: BodySyntaxError): string {
  return `error decoding patch: ${error.message}`;
}

function changeBy(type: string, current: KubeObject, patched: unknown, call: Call): KubeObject {
  let result: unknown;
  if (type === jsonPatch) result = applyJsonPatch(current, patched);
  else if (type === mergePatch) result = applyMergePatch(current, patched);
  else result = applyStrategicMergePatch({ ...current }, patched, call.served.resource);
  if (typeof result !== 'object' || result === null || Array.isArray(result)) {
    throw ApiError.of('Invalid', 'the server rejected our request due to an error in our request', {});
  }
  return result as KubeObject;
}

/** Throws 400 for a body of another form than the patch's type has. */
function checkPatchBody(type: string, value: unknown): void {
  if (type === jsonPatch) return;
  if (value === null) throw badRequest('Invalid JSON Patch');
  if (typeof value === 'object' && !Array.isArray(value)) return;
  const form = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  const why = `json: cannot unmarshal ${form} into Go value of type map[string]interface {}`;
  throw badRequest(type === strategicPatch ? why : `error decoding patch: ${why}`);
}

/** Checks what a patch left, and gives it the shape of the kind; answers unknown fields. */
function finishPatched(call: Call, object: KubeObject, current: KubeObject): string[] {
  checkSameKind(call, object);
  checkSameObject(call, object.metadata?.uid, current);
  const problems = shapePatched(call, object);
  checkNameAndPlace(call, object);
  return problems;
}

/** Throws 422 with what the patch made where a value has a wrong type. */
function shapePatched(call: Call, object: KubeObject): string[] {
  try {
    return shape(call, object);
  } catch (error) {
    if (!isApiError(error, 'BadRequest')) throw error;
    const why = error.message.replace(/^.*? cannot be handled as a [^:]*: /, '');
    throw unfitPatch(object, why);
  }
}

/** Throws 422 where a patch means another object of the name. */
function checkSameObject(call: Call, uid: unknown, current: KubeObject): void {
  if (uid === undefined || uid === null || uid === '' || uid === current.metadata.uid) return;
  const wrong = fieldInvalid('metadata.uid', uid, 'field is immutable');
  throw invalid(call.served.resource, call.name, call.served.strategy.custom ? [wrong, wrong] : [wrong]);
}

/** Throws 422 where a patch made another kind of the object. */
function checkSameKind({ served, name }: Call, object: KubeObject): void {
  const { kind: wanted } = served.resource;
  const { kind, apiVersion } = object;
  if (kind === wanted && apiVersion === served.apiVersion) return;
  const field = kind === wanted ? 'apiVersion' : 'kind';
  const [got, must] = kind === wanted ? [apiVersion, served.apiVersion] : [kind, wanted];
  const version = String(apiVersion ?? '');
  const group = version.includes('/') ? version.slice(0, version.indexOf('/')) : '';
  throw invalid({ group, kind: String(kind ?? '') }, name, [fieldInvalid(field, got ?? '', `must be ${must}`)]);
}

/** Throws 400: what is applied is a set, and says each owner once. */
function refuseRepeatedOwners({ metadata }: KubeObject, subject: string): void {
  const owners: unknown = (metadata as { ownerReferences?: unknown } | undefined)?.ownerReferences;
  if (!Array.isArray(owners)) return;
  const uids = owners.map((owner: { uid?: unknown } | null) => owner?.uid);
  const repeated = uids.find((uid, index) => typeof uid === 'string' && uids.indexOf(uid) !== index);
  if (repeated === undefined) return;
  const why = `.metadata.ownerReferences: duplicate entries for key [uid=${JSON.stringify(repeated)}]`;
  throw badRequest(`failed to create typed patch object (${subject}): ${why}`);
}

/** Server-side apply: makes the object where it is not there. */
async function apply(call: Call): Promise<ApiResponse> {
  const { request, served } = call;
  const { dryRun, manager, force, fieldValidation: mode } = writeOptions(request, 'PatchOptions', true);
  const text = bodyText(request.body);
  // Any JSON is YAML: the quick parser first, as most clients send JSON.
  const format = text.trimStart().startsWith('{') ? 'json' : 'yaml';

  const decodeApplied = (report: boolean): KubeObject => {
    const { value, duplicates } = decodeOrRefuse(text, format, report && mode !== 'Ignore', undecodable);
    if (report) reportApplyDuplicates(call, mode, duplicates);
    const { applied, subject } = checkApplied(call, value);
    refuseRepeatedOwners(applied, subject);
    const [unknown] = shape(call, applied);
    if (unknown !== undefined) {
      const path = /^unknown field "(.*)"$/.exec(unknown)?.[1] ?? unknown;
      throw badRequest(`failed to create typed patch object (${subject}): .${path}: field not declared in schema`);
    }
    return applied;
  };
  const input = (live: KubeObject | undefined, applied: KubeObject) => ({
    live,
    applied,
    manager,
    force,
    subresource: call.subresource === 'status' ? ('status' as const) : ('' as const),
    statusSubresource: served.resource.subresources.status,
    schema: served.resource.schema.source,
    apiVersion: served.apiVersion,
    time: timeText(call.now),
  });

  return modify(call, {
    dryRun,
    change: (current, attempt) => {
      const applied = decodeApplied(attempt === 1);
      const { resourceVersion, uid } = applied.metadata;
      checkSameObject(call, uid, current);
      const result = serverSideApply(input(current, applied)).object;
      return {
        ...result,
        metadata: {
          ...result.metadata,
          ...(uid === undefined ? {} : { uid }),
          resourceVersion: resourceVersion ?? '',
        },
      };
    },
    // Ownership is already recorded.
    track: () => {},
    ...(call.subresource === ''
      ? {
          create: async () => {
            const applied = decodeApplied(true);
            if ((applied.metadata.uid ?? '') !== '') {
              const why = `uid mismatch: the provided object specified uid ${applied.metadata.uid}, and no existing object was found`;
              throw conflict(served.resource, call.name, why);
            }
            call.authorize('create');
            // A version says which object is meant where there is one.
            delete (applied.metadata as { resourceVersion?: string }).resourceVersion;
            const { object } = serverSideApply(input(undefined, applied));
            return createObject(call, object, dryRun, () => {});
          },
        }
      : {}),
  });
}

function reportApplyDuplicates(call: Call, mode: FieldValidation, duplicates: readonly string[]): void {
  if (duplicates.length === 0) return;
  const list = duplicates.join(', ');
  if (mode === 'Strict') throw badRequest(`error strict decoding patch: ${list}`);
  call.warnings.push(...duplicates);
}

/** `subject` is what messages call the patch. Throws 400. */
function checkApplied(call: Call, value: unknown): { applied: KubeObject; subject: string } {
  if (Array.isArray(value) || (value !== null && typeof value !== 'object')) {
    const form = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
    throw badRequest(
      `error decoding patch: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${form} into Go value of type map[string]interface {}`,
    );
  }
  const applied = (value ?? {}) as KubeObject;
  const { kind } = call.served.resource;
  if (applied.apiVersion !== call.served.apiVersion || applied.kind !== kind) {
    const version = String(applied.apiVersion ?? '');
    const qualified = version.includes('/') ? version : `/${version}`;
    throw badRequest(`invalid object type: ${qualified}, Kind=${applied.kind ?? ''}`);
  }
  const metadata = (applied.metadata ?? {}) as { name?: unknown; namespace?: unknown; generateName?: unknown };
  if (typeof metadata !== 'object' || Array.isArray(metadata)) throw badRequest('metadata must be an object');
  applied.metadata = metadata as KubeObject['metadata'];
  if (metadata.generateName === undefined) metadata.name ??= call.name;
  const { group, version } = call.served.resource;
  const subject = `${metadata.namespace ?? ''}/${metadata.name}; ${group}/${version}, Kind=${kind}`;
  checkNameAndPlace(call, applied);
  return { applied, subject };
}
