import { jsonEqual, type KubeObject } from '../../meta/index.ts';
import { badRequest, conflict, fieldInvalid, invalid } from '../errors.ts';
import type { FieldError } from '../schema/schema.ts';
import type { Served } from '../served.ts';
import {
  type MetadataRules,
  standardFinalizers,
  validateMetadata,
  validateMetadataUpdate,
} from '../validation/metadata.ts';
import { type Call, strategyContext } from './call.ts';
import { timeText } from './now.ts';
import { omitEmpty } from './omit-empty.ts';

/** What kube-apiserver's registry does to an object between decoding and storing. All functions work in place. */

type Fields = Record<string, unknown>;

/** The server's own fields, status isolation, defaults. */
export function prepareCreate(call: Call, object: KubeObject): void {
  const { served, server, now } = call;
  const { metadata } = object;
  metadata.uid = server.random.uuid();
  metadata.creationTimestamp = timeText(now);
  delete metadata.resourceVersion;
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  delete (metadata as { selfLink?: string }).selfLink;
  if (served.strategy.generation) metadata.generation = 1;
  else delete metadata.generation;
  if (served.resource.subresources.status) delete object.status;
  served.resource.schema.applyDefaults(object as unknown as Fields);
  served.strategy.prepareCreate?.(object, strategyContext(call));
  omitEmpty(object, served.strategy.omitEmpty ?? []);
}

function metadataRules({ resource: { namespaced }, strategy: { nameRule, custom } }: Served): MetadataRules {
  return { nameRule, namespaced, custom };
}

/** Throws 400 where a built-in object holds a value of a wrong type: one that Go's decoder would not take. */
function validateSchema(
  call: Call,
  already: readonly FieldError[],
  object: KubeObject,
  old?: KubeObject,
  settled = false,
): FieldError[] {
  const { resource, strategy } = call.served;
  const [now, before] = [object, old] as unknown as [Fields, Fields | undefined];
  const errors = resource.schema.validate(now, before, already, settled);
  const mistyped = strategy.custom ? undefined : errors.find((error) => error.reason === 'FieldValueTypeInvalid');
  if (mistyped === undefined) return errors;
  const { kind, version } = resource;
  const [, got, wanted] = /^Invalid value: "(\w+)": .* must be of type (\w+)/.exec(mistyped.message) ?? [];
  const given = got === 'integer' || got === 'number' ? 'number' : got === 'boolean' ? 'bool' : got;
  const place = `${kind}.${mistyped.field.replace(/\[.*?\]/g, '')}`;
  throw badRequest(
    `${kind} in version "${version}" cannot be handled as a ${kind}: json: cannot unmarshal ${given} into Go struct field ${place} of type ${wanted}`,
  );
}

/** What a refusal calls the kind: as it is stored, whichever group it is served in. */
function storedKind({ storage, resource: { kind } }: Served): { group: string; kind: string } {
  return { group: storage.slice(0, storage.indexOf('/')), kind };
}

/** What the scale subresource of a custom resource asks of the counts it is made from. */
function validateScale(call: Call, object: KubeObject): FieldError[] {
  const { scale } = call.served.resource.subresources;
  if (scale === undefined) return [];
  const errors: FieldError[] = [];
  for (const path of [scale.specReplicasPath, scale.statusReplicasPath]) {
    const value = countAt(object, path);
    if (typeof value === 'string') errors.push(fieldInvalid(path, 0, `${path} accessor error: ${value}`));
    else if (value < 0) errors.push(fieldInvalid(path, value, 'should be a non-negative integer'));
    else if (value > 2147483647) errors.push(fieldInvalid(path, value, 'should be less than or equal to 2147483647'));
  }
  return errors;
}

/** The count at `path`, 0 where there is none; a text where something else is there or on the way. */
function countAt(object: KubeObject, path: string): number | string {
  let value: unknown = object;
  for (const step of path.replace(/^\./, '').split('.')) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return unlike(value, 'map[string]interface{}');
    }
    if (!Object.hasOwn(value, step)) return 0;
    value = (value as Fields)[step];
  }
  return Number.isInteger(value) ? (value as number) : unlike(value, 'int64');
}

/** What Go says of a value of another type than it expected. */
function unlike(value: unknown, expected: string): string {
  const types: Record<string, string> = { string: 'string', number: 'float64', boolean: 'bool' };
  const type = types[typeof value] ?? (Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}');
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return `${text} is of the type ${type}, expected ${expected}`;
}

/** Throws 422. */
export function validateCreate(call: Call, object: KubeObject): void {
  const { strategy } = call.served;
  const errors = validateMetadata(object.metadata, metadataRules(call.served));
  errors.push(...validateSchema(call, errors, object));
  errors.push(...validateScale(call, object));
  if (errors.length === 0) errors.push(...(strategy.validate?.(object) ?? []));
  if (errors.length > 0) throw invalid(storedKind(call.served), object.metadata.name ?? '', errors);
  warnOfFinalizers(call, object);
  admit(call, object);
}

function warnOfFinalizers(call: Call, { metadata }: KubeObject): void {
  if (!call.served.strategy.custom) return;
  for (const finalizer of metadata.finalizers ?? []) {
    if (finalizer.includes('/') || standardFinalizers.has(finalizer)) continue;
    const text = `metadata.finalizers: ${JSON.stringify(finalizer)}: prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers`;
    if (!call.warnings.includes(text)) call.warnings.push(text);
  }
}

function admit(call: Call, object: KubeObject, old?: KubeObject): void {
  const { plane, identity, served, server } = call;
  const { group, plural } = served.resource;
  server.admission?.({
    plane: plane.id,
    identity,
    group,
    resource: plural,
    object,
    ...(old === undefined ? {} : { old }),
  });
}

/** Throws 409 where an update means another object of the name, in the words of the store that finds it out. */
export function checkUid(
  { served, namespace }: Call,
  { metadata }: KubeObject,
  { metadata: before }: KubeObject,
): void {
  const { uid } = metadata;
  if (uid === undefined || uid === before.uid) return;
  const { group, plural } = served.resource;
  const own = served.strategy.custom || group === 'apiextensions.k8s.io' ? [group] : [];
  const key = ['/registry', ...own, plural, ...(namespace === '' ? [] : [namespace]), before.name].join('/');
  const failed = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${before.uid}`;
  const why = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${failed}`;
  throw conflict(served.resource, before.name, why);
}

/**
 * Makes `next` what an update of `old` may store: identity and server fields kept, the other side of the status
 * subresource untouched, generation moved where the spec did.
 */
export function prepareUpdate(call: Call, next: KubeObject, old: KubeObject): void {
  const { served, subresource } = call;
  const { metadata } = next;
  const before = old.metadata;
  metadata.uid = before.uid!;
  metadata.creationTimestamp = before.creationTimestamp!;
  if (before.deletionTimestamp !== undefined) {
    metadata.deletionTimestamp = before.deletionTimestamp;
    if (before.deletionGracePeriodSeconds !== undefined) {
      metadata.deletionGracePeriodSeconds ??= before.deletionGracePeriodSeconds;
    }
  }
  delete (metadata as { selfLink?: string }).selfLink;
  if (before.generation === undefined) delete metadata.generation;
  else metadata.generation = before.generation;
  isolate(served, next, old, subresource);
  served.resource.schema.applyDefaults(next as unknown as Fields);
  served.strategy.prepareUpdate?.(next, old, subresource, strategyContext(call));
  omitEmpty(next, served.strategy.omitEmpty ?? []);
  if (served.strategy.generation && specChanged(served, next, old)) metadata.generation = (before.generation ?? 0) + 1;
}

/** Main resource: status stays. Status subresource of a custom resource: only status and managed fields may change. */
function isolate(served: Served, next: KubeObject, old: KubeObject, subresource: string): void {
  if (subresource === 'status') {
    const status = next.status;
    const fields = next as unknown as Fields;
    for (const key of Object.keys(fields)) {
      if (key !== 'status' && key !== 'metadata' && !Object.hasOwn(old, key)) delete fields[key];
    }
    for (const key of Object.keys(old)) {
      if (key !== 'metadata' && key !== 'status') fields[key] = (old as unknown as Fields)[key];
    }
    if (status !== undefined) next.status = status;
    const { managedFields, resourceVersion } = next.metadata;
    next.metadata = {
      ...old.metadata,
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    };
    if (managedFields === undefined) delete next.metadata.managedFields;
    else next.metadata.managedFields = managedFields;
  } else if (served.resource.subresources.status) {
    if (old.status === undefined) delete next.status;
    else next.status = old.status;
  }
}

function specChanged(served: Served, next: KubeObject, old: KubeObject): boolean {
  const ignoreStatus = served.resource.subresources.status;
  const [after, before] = [next as unknown as Fields, old as unknown as Fields];
  for (const key of new Set([...Object.keys(after), ...Object.keys(before)])) {
    if (key === 'metadata' || (key === 'status' && ignoreStatus)) continue;
    if (!jsonEqual(after[key], before[key])) return true;
  }
  return false;
}

/** kube-apiserver looks at the metadata of an updated custom resource three times, and says each time what is wrong. */
function metadataOfUpdate({ served }: Call, { metadata }: KubeObject, old: KubeObject): FieldError[] {
  const wrong = validateMetadata(metadata, metadataRules(served));
  const changed = validateMetadataUpdate(metadata, old.metadata);
  return served.strategy.custom
    ? [...wrong, ...wrong, ...wrong, ...changed, ...changed]
    : [...wrong, ...wrong, ...changed, ...changed];
}

/** `settled`: `old` was stored under today's schema. Throws 422. */
export function validateUpdate(call: Call, next: KubeObject, old: KubeObject, settled: boolean): void {
  const { strategy } = call.served;
  const errors = metadataOfUpdate(call, next, old);
  errors.push(...validateSchema(call, errors, next, old, settled));
  errors.push(...validateScale(call, next));
  if (errors.length === 0) errors.push(...(strategy.validate?.(next, old) ?? []));
  if (errors.length > 0) throw invalid(storedKind(call.served), next.metadata.name, errors);
  warnOfFinalizers(call, next);
  admit(call, next, old);
}

/** PUT of a custom resource must name the version it replaces. Throws 422. */
export function requireResourceVersion(call: Call, object: KubeObject): void {
  const asked = object.metadata.resourceVersion ?? '';
  if (!/^0*$/.test(asked) || call.served.strategy.unconditionalUpdate) return;
  const { group, plural } = call.served.resource;
  throw invalid({ group, kind: plural }, object.metadata.name, [
    fieldInvalid('metadata.resourceVersion', 0, 'must be specified for an update'),
  ]);
}
