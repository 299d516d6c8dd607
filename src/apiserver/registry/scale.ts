import type { KubeObject } from '../../meta/index.ts';
import { bytesToText, decode } from '../codec.ts';
import { badRequest, notFound } from '../errors.ts';
import { bodyText, decodeOrRefuse, notDecodable } from '../http/body.ts';
import type { ApiResponse } from '../http/message.ts';
import { baseType, bodyFormat, unsupportedMediaType } from '../http/negotiate.ts';
import { applyJsonPatch, applyMergePatch } from '../patch/index.ts';
import { type Call, storageKey } from './call.ts';
import { trackManager } from './managed-fields.ts';
import { writeOptions } from './options.ts';
import { respondPlain } from './respond.ts';
import { modify } from './update.ts';

/** The scale subresource of a custom resource: autoscaling/v1 Scale over the paths its CRD names. */

type Fields = Record<string, unknown>;

interface Scale extends KubeObject {
  spec?: { replicas?: number };
  status?: { replicas: number; selector?: string };
}

export async function getScale(call: Call): Promise<ApiResponse> {
  const record = await call.server.storage.get(storageKey(call));
  if (record === undefined) throw notFound(call.served.resource, call.name);
  return respondPlain(call, 200, scaleOf(call, decode(call.served, record.value, record.revision)));
}

/** PUT and PATCH. */
export async function changeScale(call: Call): Promise<ApiResponse> {
  const kind = call.request.method === 'PUT' ? 'UpdateOptions' : 'PatchOptions';
  const { dryRun, manager } = writeOptions(call.request, kind);
  const change = scaleChange(call);
  const response = await modify(
    { ...call, output: { as: 'object', version: 'v1', format: 'json' } },
    {
      dryRun,
      change: (current) => {
        const before = scaleOf(call, current);
        const scale = change(before);
        const replicas = scale.spec?.replicas ?? 0;
        if (!Number.isInteger(replicas)) throw badRequest('spec.replicas of a Scale must be a whole number');
        const path = pathOf(call.served.resource.subresources.scale!.specReplicasPath);
        const next = withValueAt(current as unknown as Fields, path, replicas) as unknown as KubeObject;
        next.metadata.resourceVersion = scale.metadata.resourceVersion ?? '';
        return next;
      },
      track: (next, old) => trackManager(call, next, old, manager),
    },
  );
  const { body } = response;
  const object = JSON.parse(typeof body === 'string' ? body : bytesToText(body as Uint8Array)) as KubeObject;
  return respondPlain(call, 200, scaleOf(call, object));
}

function scaleChange(call: Call): (before: Scale) => Scale {
  const header = call.request.headers['content-type'];
  const type = Array.isArray(header) ? header[0] : header;
  const text = bodyText(call.request.body);
  if (call.request.method === 'PUT') {
    const { value } = decodeOrRefuse(text, bodyFormat(type), false, notDecodable);
    const scale = checkScale(value);
    if (scale.metadata?.name !== call.name) {
      throw badRequest(
        `the name of the object (${scale.metadata?.name ?? ''}) does not match the name on the URL (${call.name})`,
      );
    }
    return () => scale;
  }
  const { value } = decodeOrRefuse(text, 'json', false, (error) => `error decoding patch: ${error.message}`);
  switch (baseType(type)) {
    case 'application/merge-patch+json':
    case 'application/strategic-merge-patch+json':
      return (before) => checkScale(applyMergePatch(withoutVersion(before), value));
    case 'application/json-patch+json':
      return (before) => checkScale(applyJsonPatch(withoutVersion(before), value));
    default:
      throw unsupportedMediaType(['application/json-patch+json', 'application/merge-patch+json']);
  }
}

/** A patch names the version it is for only when it says so itself. */
function withoutVersion(scale: Scale): Scale {
  const { resourceVersion: _, ...metadata } = scale.metadata;
  return { ...scale, metadata };
}

function checkScale(value: unknown): Scale {
  const scale = value as Scale;
  if (typeof scale !== 'object' || scale === null || scale.kind !== 'Scale' || scale.apiVersion !== 'autoscaling/v1') {
    throw badRequest('the body of a scale request must be a Scale of autoscaling/v1');
  }
  if (typeof scale.metadata !== 'object' || scale.metadata === null) throw badRequest('metadata must be an object');
  return scale;
}

function scaleOf(call: Call, object: KubeObject): Scale {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = call.served.resource.subresources.scale!;
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const replicas = readAt(object, pathOf(specReplicasPath));
  const current = readAt(object, pathOf(statusReplicasPath));
  const selector = labelSelectorPath === undefined ? undefined : readAt(object, pathOf(labelSelectorPath));
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    },
    spec: typeof replicas === 'number' ? { replicas } : {},
    status: {
      replicas: typeof current === 'number' ? current : 0,
      ...(typeof selector === 'string' ? { selector } : {}),
    },
  };
}

function pathOf(text: string): string[] {
  return text.replace(/^\./, '').split('.');
}

function readAt(object: KubeObject, path: readonly string[]): unknown {
  let value: unknown = object;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string, unknown>)[step];
  }
  return value;
}

/** A copy with the value at `path`; what is beside the path is shared. */
function withValueAt(fields: Fields, path: readonly string[], value: unknown): Fields {
  const [step, ...rest] = path as [string, ...string[]];
  if (rest.length === 0) return { ...fields, [step]: value };
  const inner = Object.hasOwn(fields, step) ? fields[step] : undefined;
  const below = typeof inner === 'object' && inner !== null ? (inner as Fields) : {};
  return { ...fields, [step]: withValueAt(below, rest, value) };
}
