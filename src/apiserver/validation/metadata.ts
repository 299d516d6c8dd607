import { formatTime, type KubeObject, type ObjectMeta, parseTime } from '../../meta/index.ts';
import { fieldForbidden, fieldInvalid, fieldRequired } from '../errors.ts';
import type { FieldError } from '../schema/schema.ts';
import { dnsSubdomain, labelValue, type NameRule, qualifiedName } from './names.ts';

type Shape = 'string' | 'number' | 'time' | 'strings' | 'map' | 'owners' | 'managedFields';

const shapes = new Map<string, Shape>([
  ['name', 'string'],
  ['generateName', 'string'],
  ['namespace', 'string'],
  ['selfLink', 'string'],
  ['uid', 'string'],
  ['resourceVersion', 'string'],
  ['generation', 'number'],
  ['creationTimestamp', 'time'],
  ['deletionTimestamp', 'time'],
  ['deletionGracePeriodSeconds', 'number'],
  ['labels', 'map'],
  ['annotations', 'map'],
  ['finalizers', 'strings'],
  ['ownerReferences', 'owners'],
  ['managedFields', 'managedFields'],
]);

const ownerFields = new Set(['apiVersion', 'kind', 'name', 'uid', 'controller', 'blockOwnerDeletion']);

/**
 * Gives `object.metadata` the shape of ObjectMeta, in place: null and empty values go, unknown fields go and are answered
 * as paths. Throws a sentence where a value has the wrong type.
 */
export function normalizeMetadata(object: { metadata?: unknown }): string[] {
  if (object.metadata === undefined || object.metadata === null) object.metadata = {};
  const metadata = object.metadata;
  if (typeof metadata !== 'object' || Array.isArray(metadata)) {
    throw new Error(`json: cannot unmarshal ${formOf(metadata)} into Go value of type v1.ObjectMeta`);
  }
  const unknown: string[] = [];
  const fields = metadata as Record<string, unknown>;
  for (const key in fields) {
    const shape = shapes.get(key);
    const value = fields[key];
    if (shape === undefined) {
      unknown.push(`metadata.${key}`);
      delete fields[key];
    } else if (value === null || value === '') {
      delete fields[key];
    } else {
      checkShape(shape, key, value, fields, unknown);
    }
  }
  return unknown;
}

function checkShape(
  shape: Shape,
  key: string,
  value: unknown,
  fields: Record<string, unknown>,
  unknown: string[],
): void {
  const path = `metadata.${key}`;
  switch (shape) {
    case 'string':
      if (typeof value !== 'string') throw mistyped(value, key, 'string');
      return;
    case 'number':
      if (!Number.isSafeInteger(value)) throw mistyped(value, key, 'int64');
      return;
    case 'time':
      fields[key] = formatTime(timeOf(value));
      return;
    case 'strings':
      if (!Array.isArray(value)) throw mistyped(value, key, '[]string');
      for (const item of value) if (typeof item !== 'string') throw mistyped(item, key, 'string');
      if (value.length === 0) delete fields[key];
      return;
    case 'map': {
      if (typeof value !== 'object' || Array.isArray(value)) {
        throw mistyped(value, key, 'map[string]string');
      }
      let count = 0;
      const map = value as Record<string, unknown>;
      for (const entry in map) {
        count++;
        if (map[entry] === null) map[entry] = '';
        else if (typeof map[entry] !== 'string') throw mistyped(map[entry], key, 'string');
      }
      if (count === 0) delete fields[key];
      return;
    }
    case 'owners':
      if (!Array.isArray(value)) throw mistyped(value, key, '[]v1.OwnerReference');
      value.forEach((owner: unknown, index) => {
        checkOwner(owner, `${path}[${index}]`, unknown);
      });
      if (value.length === 0) delete fields[key];
      return;
    case 'managedFields':
      if (!Array.isArray(value) || value.some((entry) => typeof entry !== 'object' || entry === null)) {
        throw mistyped(value, key, '[]v1.ManagedFieldsEntry');
      }
      for (const { time } of value as { time?: unknown }[]) if (time !== undefined && time !== null) timeOf(time);
      return;
  }
}

/** Milliseconds since the Unix epoch. */
function timeOf(value: unknown): number {
  const time = typeof value === 'string' ? parseTime(value) : undefined;
  if (time !== undefined) return time;
  const text = JSON.stringify(value);
  throw new Error(`parsing time ${text} as "2006-01-02T15:04:05Z07:00": cannot parse ${text} as "2006"`);
}

/** How encoding/json calls the form of a value. */
export function formOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : value === null ? 'null' : typeof value;
}

function mistyped(value: unknown, key: string, type: string): Error {
  return new Error(`json: cannot unmarshal ${formOf(value)} into Go struct field ObjectMeta.${key} of type ${type}`);
}

function checkOwner(owner: unknown, path: string, unknown: string[]): void {
  if (typeof owner !== 'object' || owner === null || Array.isArray(owner)) throw new Error(`${path} must be an object`);
  const fields = owner as Record<string, unknown>;
  for (const key of Object.keys(fields)) {
    if (!ownerFields.has(key)) {
      unknown.push(`${path}.${key}`);
      delete fields[key];
    } else if (fields[key] === null) {
      delete fields[key];
    } else {
      const type = key === 'controller' || key === 'blockOwnerDeletion' ? 'boolean' : 'string';
      if (typeof fields[key] !== type) throw new Error(`${path}.${key} must be a ${type}`);
    }
  }
}

/** What of an object's kind matters for the rules of its metadata. */
export interface MetadataRules {
  readonly nameRule: NameRule;
  readonly namespaced: boolean;
  /** A custom resource: its finalizers may be of any form a label's key may have. */
  readonly custom: boolean;
}

/** ValidateObjectMeta: names, label and annotation syntax, finalizers, owner references. */
export function validateMetadata(metadata: ObjectMeta, { nameRule, namespaced, custom }: MetadataRules): FieldError[] {
  const errors: FieldError[] = [];
  if (metadata.generateName !== undefined) {
    refuse('metadata.generateName', metadata.generateName, nameRule(maskTrailingDash(metadata.generateName)), errors);
  }
  if ((metadata.name ?? '') === '') {
    errors.push(fieldRequired('metadata.name', 'name or generateName is required'));
  } else {
    refuse('metadata.name', metadata.name, nameRule(metadata.name), errors);
  }
  if (!namespaced && metadata.namespace !== undefined) {
    errors.push(fieldForbidden('metadata.namespace', 'not allowed on this type'));
  }
  validateLabels(metadata.labels, 'metadata.labels', errors);
  validateAnnotations(metadata.annotations, errors);
  validateOwners(metadata, errors);
  validateFinalizers(metadata.finalizers ?? [], custom, errors);
  return errors;
}

/** Adds one error for each thing a name rule has against `value`. */
export function refuse(field: string, value: string, wrong: readonly string[], errors: FieldError[]): void {
  for (const why of wrong) errors.push(fieldInvalid(field, value, why));
}

/** What a name rule judges of the base of a generated name: a dash at its end stands for what comes after it. */
function maskTrailingDash(base: string): string {
  return base.length > 1 && base.endsWith('-') ? `${base.slice(0, -2)}a` : base;
}

export function validateLabels(labels: Record<string, string> | undefined, field: string, errors: FieldError[]): void {
  for (const key in labels) {
    refuse(field, key, qualifiedName(key), errors);
    refuse(field, labels[key]!, labelValue(labels[key]!), errors);
  }
}

const annotationsLimitBytes = 256 * 1024;

function validateAnnotations(annotations: Record<string, string> | undefined, errors: FieldError[]): void {
  let size = 0;
  for (const key in annotations) {
    refuse('metadata.annotations', key, qualifiedName(key.toLowerCase()), errors);
    size += key.length + annotations[key]!.length;
  }
  if (size > annotationsLimitBytes) {
    errors.push({
      reason: 'FieldValueTooLong',
      field: 'metadata.annotations',
      message: `Too long: may not be more than ${annotationsLimitBytes} bytes`,
    });
  }
}

/** Finalizers without a prefix that built-in kinds may have. */
export const standardFinalizers = new Set(['foregroundDeletion', 'orphan', 'kubernetes']);

function validateFinalizers(finalizers: readonly string[], custom: boolean, errors: FieldError[]): void {
  for (const finalizer of finalizers) {
    refuse('metadata.finalizers', finalizer, qualifiedName(finalizer), errors);
  }
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    const why = 'finalizer orphan and foregroundDeletion cannot be both set';
    errors.push(fieldInvalid('metadata.finalizers', finalizers, why));
  }
  if (custom) return;
  for (const [index, finalizer] of finalizers.entries()) {
    if (finalizer.includes('/') || standardFinalizers.has(finalizer)) continue;
    const why = 'name is neither a standard finalizer name nor is it fully qualified';
    errors.push(fieldInvalid(`metadata.finalizers[${index}]`, finalizer, why));
  }
}

function validateOwners(metadata: ObjectMeta, errors: FieldError[]): void {
  let controller: string | undefined;
  for (const [index, owner] of (metadata.ownerReferences ?? []).entries()) {
    const field = `metadata.ownerReferences[${index}]`;
    if ((owner.apiVersion ?? '') === '') {
      errors.push(fieldRequired(`${field}.apiVersion`, 'must not be empty'));
    }
    if ((owner.kind ?? '') === '') errors.push(fieldRequired(`${field}.kind`, 'must not be empty'));
    if ((owner.name ?? '') === '') errors.push(fieldRequired(`${field}.name`, 'must not be empty'));
    if ((owner.uid ?? '') === '') errors.push(fieldRequired(`${field}.uid`, 'must not be empty'));
    if (owner.apiVersion === 'v1' && owner.kind === 'Event') {
      errors.push(fieldInvalid(field, owner, '/v1, Kind=Event is disallowed from being an owner'));
    }
    if (owner.controller !== true) continue;
    const name = `${owner.kind}/${owner.name}`;
    if (controller !== undefined) {
      const why = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`;
      errors.push(fieldInvalid('metadata.ownerReferences', metadata.ownerReferences, why));
    }
    controller ??= name;
  }
}

/** ValidateObjectMetaUpdate: what an update may not change. `next` already carries the server's own fields. */
export function validateMetadataUpdate(next: ObjectMeta, old: ObjectMeta): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ['creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const) {
    if (next[field] !== old[field]) {
      errors.push(fieldInvalid(`metadata.${field}`, next[field] ?? null, 'field is immutable'));
    }
  }
  if (old.deletionTimestamp !== undefined) {
    const before = new Set(old.finalizers ?? []);
    const added = (next.finalizers ?? []).filter((finalizer) => !before.has(finalizer));
    if (added.length > 0) {
      const list = added.map((finalizer) => JSON.stringify(finalizer)).join(', ');
      errors.push(
        fieldForbidden(
          'metadata.finalizers',
          `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`,
        ),
      );
    }
  }
  return errors;
}

/** The rule custom resources and most built-ins have for their names. */
export const defaultNameRule: NameRule = dnsSubdomain;

/** `name` of an object for a message, whatever shape the object has. */
export function nameOf(object: KubeObject): string {
  return object.metadata.name ?? object.metadata.generateName ?? '';
}
