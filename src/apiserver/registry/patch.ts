import type { KubeObject } from '../../meta/index.ts';
import { badRequest, conflict } from '../errors.ts';
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
import { reportPatchProblems, shape } from './decode.ts';
import { trackManager } from './managed-fields.ts';
import { timeText } from './now.ts';
import { writeOptions } from './options.ts';
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
  const { value, duplicates } = decodeOrRefuse(text, 'json', mode !== 'Ignore', undecodable);
  if (type !== jsonPatch && (typeof value !== 'object' || value === null || Array.isArray(value))) {
    throw badRequest('the body of a merge patch must be a JSON object');
  }
  return modify(call, {
    dryRun,
    change: (current, attempt) => {
      const changed = changeBy(type, current, value, call);
      const problems = finishPatched(call, changed);
      if (attempt === 1) reportPatchProblems(call, mode, [...duplicates, ...problems], text);
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
    throw badRequest('the patch must leave a JSON object');
  }
  return result as KubeObject;
}

/** Checks what a patch left, and gives it the shape of the kind; answers unknown fields. */
function finishPatched(call: Call, object: KubeObject): string[] {
  const { kind } = call.served.resource;
  if (object.kind !== kind || object.apiVersion !== call.served.apiVersion) {
    throw badRequest(`a patch may not change apiVersion or kind (${call.served.apiVersion}, Kind=${kind})`);
  }
  const problems = shape(call, object);
  checkNameAndPlace(call, object);
  return problems;
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
    const applied = checkApplied(call, value);
    const problems = shape(call, applied);
    if (report) reportPatchProblems(call, mode, [...duplicates, ...problems], text);
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
            const { object } = serverSideApply(input(undefined, applied));
            return createObject(call, object, dryRun, () => {});
          },
        }
      : {}),
  });
}

function checkApplied(call: Call, value: unknown): KubeObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badRequest('the body of an apply patch must be an object');
  }
  const object = value as KubeObject;
  const { kind } = call.served.resource;
  if (object.apiVersion !== call.served.apiVersion || object.kind !== kind) {
    throw badRequest(
      `the body of an apply patch must say apiVersion: ${call.served.apiVersion} and kind: ${kind}, not ${JSON.stringify(object.apiVersion ?? '')} and ${JSON.stringify(object.kind ?? '')}`,
    );
  }
  const metadata = (object.metadata ?? {}) as { name?: unknown };
  if (typeof metadata !== 'object' || Array.isArray(metadata)) throw badRequest('metadata must be an object');
  object.metadata = metadata as KubeObject['metadata'];
  metadata.name ??= call.name;
  checkNameAndPlace(call, object);
  return object;
}
