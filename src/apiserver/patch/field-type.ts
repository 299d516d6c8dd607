import type { JsonSchema } from '../schema/schema.ts';
import { isObject, type JsonObject } from './object.ts';

/**
 * How the parts of a value are owned, read from a structural schema (the Kubernetes merge strategy keywords):
 * `leaf` as one (scalars, atomic maps and lists), `map` key by key, `listMap` item by item found by its keys, `set`
 * element by element, `untracked` by nobody. A value whose form is not its type's is a leaf.
 */
export type FieldType = LeafType | MapType | ListMapType | SetType | UntrackedType;

export interface LeafType {
  readonly shape: 'leaf';
}

export interface UntrackedType {
  readonly shape: 'untracked';
}

export interface MapType {
  readonly shape: 'map';
  /** Declared fields. */
  readonly fields: ReadonlyMap<string, MapField>;
  /** Type of every other key; where absent there are no others, and an applied one is refused. */
  readonly element: FieldType | undefined;
}

export interface MapField {
  readonly type: FieldType;
  /** `f:<name>`, made once. */
  readonly element: string;
}

export interface ListMapType {
  readonly shape: 'listMap';
  /** Sorted. */
  readonly keys: readonly string[];
  /** `"<key>":` for each of them, made once. */
  readonly labels: readonly string[];
  /** Value of a key that an item leaves out. */
  readonly defaults: ReadonlyMap<string, unknown>;
  readonly item: FieldType;
}

export interface SetType {
  readonly shape: 'set';
}

export const leafType: LeafType = { shape: 'leaf' };
const untracked: UntrackedType = { shape: 'untracked' };

/** Without a schema: maps are granular, lists and scalars are leaves. */
export const deducedType: MapType = deduced();

function deduced(): MapType {
  const type: { shape: 'map'; fields: ReadonlyMap<string, MapField>; element: FieldType | undefined } = {
    shape: 'map',
    fields: new Map(),
    element: undefined,
  };
  type.element = type;
  return type;
}

export function mapOf(fields: Record<string, FieldType>, element?: FieldType): MapType {
  const entries = Object.entries(fields).map(([name, type]): [string, MapField] => [
    name,
    { type, element: `f:${name}` },
  ]);
  return { shape: 'map', fields: new Map(entries), element };
}

function listMapOf(keys: readonly string[], defaults: ReadonlyMap<string, unknown>, item: FieldType): ListMapType {
  const sorted = [...keys].sort();
  return { shape: 'listMap', keys: sorted, labels: sorted.map((key) => `${JSON.stringify(key)}:`), defaults, item };
}

/** Type of the value under `key`, where undeclared keys are deduced. */
export function typeOfKey(type: MapType, key: string): FieldType {
  return type.fields.get(key)?.type ?? type.element ?? deducedType;
}

function objectMeta(untrackedNames: readonly string[]): MapType {
  return mapOf({
    ...Object.fromEntries(untrackedNames.map((name) => [name, untracked])),
    labels: mapOf({}, leafType),
    annotations: mapOf({}, leafType),
    finalizers: { shape: 'set' },
    // Each is owned as one.
    ownerReferences: listMapOf(['uid'], new Map(), leafType),
    generateName: leafType,
  });
}

/** What the server itself writes into metadata, or what names the object: no manager owns it. */
const serverOwnedMetadata = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'generation',
  'resourceVersion',
  'selfLink',
  'managedFields',
] as const;

const metadataType = objectMeta(serverOwnedMetadata);

/** Metadata of an object embedded in another is the writer's, all of it. */
const embeddedMetadata: MapType = {
  ...metadataType,
  fields: new Map(
    [...metadataType.fields].map(([name, field]) => [
      name,
      field.type === untracked ? { ...field, type: leafType } : field,
    ]),
  ),
};

/** Which part of an object a write is of: what one manager writes through each is kept apart. */
export type TrackedSubresource = '' | 'status' | 'scale';

export interface RootScope {
  subresource: TrackedSubresource;
  /** Whether the resource serves `/status`: if so, writes to the main resource do not track `status`. */
  statusSubresource: boolean;
}

interface CompiledRoot {
  main: MapType;
  mainWithoutStatus: MapType;
  statusOnly: MapType;
}

const compiledRoots = new WeakMap<JsonSchema, CompiledRoot>();
const deducedRoot = rootsOf({}, deducedType);

/** Type of a whole object as writes through `scope` see it. Compiled once per schema object. */
export function rootType(schema: JsonSchema | undefined, scope: RootScope): MapType {
  const roots = schema === undefined ? deducedRoot : compiledRootOf(schema);
  if (scope.subresource === 'status') return roots.statusOnly;
  return scope.statusSubresource ? roots.mainWithoutStatus : roots.main;
}

function compiledRootOf(schema: JsonSchema): CompiledRoot {
  const known = compiledRoots.get(schema);
  if (known !== undefined) return known;
  const type = compileFieldType(schema);
  const made =
    type.shape === 'map'
      ? rootsOf(Object.fromEntries([...type.fields].map(([name, field]) => [name, field.type])), type.element)
      : deducedRoot;
  compiledRoots.set(schema, made);
  return made;
}

function rootsOf(fields: Record<string, FieldType>, element: FieldType | undefined): CompiledRoot {
  const all: Record<string, FieldType> = { ...fields, apiVersion: untracked, kind: untracked, metadata: metadataType };
  const status = fields.status ?? element ?? deducedType;
  const hidden = Object.fromEntries(Object.keys(all).map((name) => [name, untracked]));
  return {
    main: mapOf(all, element),
    mainWithoutStatus: mapOf({ ...all, status: untracked }, element),
    statusOnly: mapOf({ ...hidden, status }, untracked),
  };
}

/** The ownership type of a value with structural schema `schema`. */
export function compileFieldType(schema: JsonSchema): FieldType {
  if (schema['x-kubernetes-int-or-string'] === true) return leafType;
  if (schema.type === 'array') return compileList(schema);
  const preservesUnknown = schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (schema.type !== 'object' && !preservesUnknown) return schema.type === undefined ? deducedType : leafType;
  if (schema['x-kubernetes-map-type'] === 'atomic') return leafType;
  return compileMap(schema, preservesUnknown);
}

function compileMap(schema: JsonSchema, preservesUnknown: boolean): FieldType {
  const fields: Record<string, FieldType> = {};
  if (isObject(schema.properties)) {
    for (const [name, property] of Object.entries(schema.properties)) {
      if (isObject(property)) fields[name] = compileFieldType(property);
    }
  }
  if (schema['x-kubernetes-embedded-resource'] === true) {
    Object.assign(fields, { apiVersion: leafType, kind: leafType, metadata: embeddedMetadata });
  }
  return mapOf(fields, elementType(schema, preservesUnknown || Object.keys(fields).length === 0));
}

function elementType(schema: JsonSchema, open: boolean): FieldType | undefined {
  if (isObject(schema.additionalProperties)) return compileFieldType(schema.additionalProperties);
  return schema.additionalProperties === true || open ? deducedType : undefined;
}

function compileList(schema: JsonSchema): FieldType {
  const items = isObject(schema.items) ? schema.items : {};
  if (schema['x-kubernetes-list-type'] === 'set') return { shape: 'set' };
  const keys = schema['x-kubernetes-list-map-keys'];
  if (schema['x-kubernetes-list-type'] !== 'map' || !Array.isArray(keys) || keys.length === 0) return leafType;
  const properties: JsonObject = isObject(items.properties) ? items.properties : {};
  const defaults = new Map<string, unknown>();
  for (const key of keys as string[]) {
    const property = properties[key];
    if (isObject(property) && property.default !== undefined) defaults.set(key, property.default);
  }
  return listMapOf(keys as string[], defaults, compileFieldType(items));
}
