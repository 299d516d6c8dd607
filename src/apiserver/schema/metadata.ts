import type { ObjectMeta } from '../../meta/index.ts';
import { validateMetadata } from '../validation/metadata.ts';
import { type Failure, failure, printValue } from './failure.ts';
import { isObject } from './json-schema.ts';

type Check = (value: unknown) => string | undefined;

const string: Check = (value) => (typeof value === 'string' ? undefined : 'string');
const integer: Check = (value) => (Number.isInteger(value) ? undefined : 'integer');
const stringMap: Check = (value) =>
  isObject(value) && Object.values(value).every((item) => typeof item === 'string') ? undefined : 'object of strings';
const strings: Check = (value) =>
  Array.isArray(value) && value.every((item) => typeof item === 'string') ? undefined : 'array of strings';
const objects: Check = (value) => (Array.isArray(value) && value.every(isObject) ? undefined : 'array of objects');

/** metav1.ObjectMeta, field by field. */
const fields = new Map<string, Check>([
  ['name', string],
  ['generateName', string],
  ['namespace', string],
  ['selfLink', string],
  ['uid', string],
  ['resourceVersion', string],
  ['generation', integer],
  ['creationTimestamp', string],
  ['deletionTimestamp', string],
  ['deletionGracePeriodSeconds', integer],
  ['labels', stringMap],
  ['annotations', stringMap],
  ['ownerReferences', objects],
  ['finalizers', strings],
  ['managedFields', objects],
]);

/** Drops what ObjectMeta does not have, and nulls; adds the names of what was unknown. */
export function pruneMetadata(metadata: Record<string, unknown>, unknown: string[]): void {
  for (const key of Object.keys(metadata)) {
    if (!fields.has(key)) {
      delete metadata[key];
      unknown.push(`.${key}`);
    } else if (metadata[key] === null || metadata[key] === undefined) delete metadata[key];
  }
}

/** Adds a type error for every field of `metadata` that is not what ObjectMeta says. */
export function checkMetadata(metadata: unknown, out: Failure[]): void {
  if (!isObject(metadata)) {
    out.push(typeFailure(metadata, 'object'));
    return;
  }
  for (const key in metadata) {
    const value = metadata[key];
    if (value === null || value === undefined) continue;
    const expected = fields.get(key)?.(value);
    if (expected === undefined) continue;
    const found = typeFailure(value, expected);
    found.segments.push(`.${key}`);
    out.push(found);
  }
}

/** Adds what labels, annotations, finalizers and owners of an embedded object may not be; its name may be anything. */
export function checkEmbeddedMetadata(metadata: ObjectMeta, out: Failure[]): void {
  const { labels, annotations, finalizers, ownerReferences } = metadata;
  const judged = { name: 'embedded', labels, annotations, finalizers, ownerReferences } as ObjectMeta;
  const rules = { nameRule: () => [], namespaced: false, custom: true };
  for (const { reason, field, message } of validateMetadata(judged, rules)) {
    out.push(failure(reason, message, '', { segments: [field.replace(/^metadata/, '')] }));
  }
}

function typeFailure(value: unknown, expected: string): Failure {
  return failure(
    'FieldValueTypeInvalid',
    `Invalid value: ${printValue(value)}`,
    (path) => `${path} must be of type ${expected}`,
  );
}
