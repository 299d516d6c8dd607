import { canonicalJson, isObject } from './object.ts';

/**
 * A set of field paths, kept in its FieldsV1 form so that nothing is encoded or decoded per write: an object whose keys
 * are path elements (`f:name`, `k:{"type":"Ready"}`, `v:"value"`, `i:0`). A node without keys is a path in the set; a
 * node with keys is in the set itself where it has the key `.`. Sets are never changed once made, and share nodes. The
 * empty set is `undefined`; a root never holds `.`.
 */
export interface FieldSet {
  readonly [element: string]: FieldSet;
}

export type MutableFieldSet = Record<string, FieldSet>;

/** The node of a path that is in the set and has no paths below it. */
export const leafNode: FieldSet = Object.freeze({});

const self = '.';

export function isLeafNode(node: FieldSet): boolean {
  for (const _ in node) return false;
  return true;
}

/** Whether the path of this node is itself in the set. */
export function isMember(node: FieldSet): boolean {
  return node[self] !== undefined || isLeafNode(node);
}

/** `node` as a member: `.` is added where paths lie below. `node` must be fresh: it is changed. */
export function withSelf(node: MutableFieldSet | undefined): FieldSet {
  if (node === undefined || isLeafNode(node)) return leafNode;
  node[self] = leafNode;
  return node;
}

export function unionSets(a: FieldSet | undefined, b: FieldSet | undefined): FieldSet | undefined {
  if (a === undefined || b === undefined || a === b) return a ?? b;
  return unionNodes(a, b);
}

function unionNodes(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a;
  const aLeaf = isLeafNode(a);
  const bLeaf = isLeafNode(b);
  if (aLeaf && bLeaf) return a;
  if (aLeaf) return b[self] === undefined ? { [self]: leafNode, ...b } : b;
  if (bLeaf) return a[self] === undefined ? { [self]: leafNode, ...a } : a;
  let result: MutableFieldSet | undefined;
  for (const element in b) {
    const mine = a[element];
    const theirs = b[element] as FieldSet;
    const joined = mine === undefined ? theirs : unionNodes(mine, theirs);
    if (joined === mine) continue;
    result ??= { ...a };
    result[element] = joined;
  }
  return result ?? a;
}

/** The paths of `a` that are not in `b`; `a` itself where they have none in common. */
export function differenceOfSets(a: FieldSet | undefined, b: FieldSet | undefined): FieldSet | undefined {
  if (a === undefined || b === undefined) return a;
  return differenceOfNodes(a, b);
}

function differenceOfNodes(a: FieldSet, b: FieldSet): FieldSet | undefined {
  if (isLeafNode(a)) return isMember(b) ? undefined : a;
  if (isLeafNode(b)) return a[self] === undefined ? a : without(a, self);
  let result: FieldSet | undefined = a;
  for (const element in b) {
    const mine: FieldSet | undefined = result[element];
    if (mine === undefined) continue;
    const left: FieldSet | undefined = element === self ? undefined : differenceOfNodes(mine, b[element] as FieldSet);
    if (left === mine) continue;
    result = left === undefined ? without(result, element) : { ...result, [element]: left };
    if (result === undefined) return undefined;
    // What is left is the path itself: a leaf now, of which only `.` could still go.
    if (isLeafNode(result)) return isMember(b) ? undefined : result;
  }
  return result;
}

function without(node: FieldSet, removed: string): FieldSet | undefined {
  const rest: MutableFieldSet = {};
  let count = 0;
  let onlySelf = true;
  for (const element in node) {
    if (element === removed) continue;
    rest[element] = node[element] as FieldSet;
    count++;
    if (element !== self) onlySelf = false;
  }
  if (count === 0) return undefined;
  return onlySelf ? leafNode : rest;
}

/** The paths in both. */
export function intersectSets(a: FieldSet | undefined, b: FieldSet | undefined): FieldSet | undefined {
  return a === undefined || b === undefined ? undefined : intersectNodes(a, b);
}

function intersectNodes(a: FieldSet, b: FieldSet): FieldSet | undefined {
  let below: MutableFieldSet | undefined;
  for (const element in a) {
    if (element === self) continue;
    const theirs = b[element];
    if (theirs === undefined) continue;
    const common = intersectNodes(a[element] as FieldSet, theirs);
    if (common === undefined) continue;
    below ??= {};
    below[element] = common;
  }
  return isMember(a) && isMember(b) ? withSelf(below) : below;
}

export function setsEqual(a: FieldSet | undefined, b: FieldSet | undefined): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined) return false;
  let count = 0;
  for (const element in a) {
    const theirs = b[element];
    if (theirs === undefined || !setsEqual(a[element], theirs)) return false;
    count++;
  }
  for (const _ in b) count--;
  return count === 0;
}

/** The paths of a set as people read them: `.metadata.labels`, `.status.conditions[type="Ready"].reason`; a level first. */
export function pathsOf(set: FieldSet | undefined): string[] {
  const paths: string[] = [];
  if (set !== undefined) collectPaths(set, '', paths);
  return paths;
}

function collectPaths(node: FieldSet, prefix: string, paths: string[]): void {
  const elements = Object.keys(node)
    .filter((element) => element !== self)
    .sort();
  for (const element of elements) {
    if (isMember(node[element] as FieldSet)) paths.push(prefix + printElement(element));
  }
  for (const element of elements) collectPaths(node[element] as FieldSet, prefix + printElement(element), paths);
}

/** One path element as it stands in a path. */
export function printElement(element: string): string {
  const text = element.slice(2);
  switch (element[0]) {
    case 'f':
      return `.${text}`;
    case 'k': {
      const keys = Object.entries(JSON.parse(text) as Record<string, unknown>);
      return `[${keys.map(([key, value]) => `${key}=${canonicalJson(value)}`).join(',')}]`;
    }
    case 'v':
      return `[=${text}]`;
    default:
      return `[${text}]`;
  }
}

/** Deeper than any schema; a set a client nests deeper is not one of ours. */
const maximumDepth = 128;

/**
 * Decodes a `fieldsV1` that a client sent.
 *
 * @returns the set with every key in canonical form, `undefined` for an empty one, or `'invalid'`.
 */
export function parseFieldSet(value: unknown): FieldSet | undefined | 'invalid' {
  if (!isObject(value)) return 'invalid';
  const node = parseNode(value, maximumDepth);
  if (node === undefined) return 'invalid';
  const set = node[self] === undefined ? node : without(node, self);
  return set === undefined || isLeafNode(set) ? undefined : set;
}

function parseNode(value: unknown, depth: number): FieldSet | undefined {
  if (!isObject(value) || depth === 0) return undefined;
  const node: MutableFieldSet = {};
  let onlySelf = true;
  for (const key of Object.keys(value)) {
    if (key === self) {
      if (!isObject(value[key])) return undefined;
      node[self] = leafNode;
      continue;
    }
    const element = canonicalElement(key);
    const child = element === undefined ? undefined : parseNode(value[key], depth - 1);
    if (element === undefined || child === undefined) return undefined;
    onlySelf = false;
    const before = node[element];
    node[element] = before === undefined ? child : unionNodes(before, child);
  }
  return onlySelf ? leafNode : node;
}

function canonicalElement(key: string): string | undefined {
  if (key.startsWith('f:')) return key;
  if (key.startsWith('i:')) return /^i:-?[0-9]{1,9}$/.test(key) ? key : undefined;
  if (!key.startsWith('k:') && !key.startsWith('v:')) return undefined;
  try {
    const value: unknown = JSON.parse(key.slice(2));
    if (key[0] === 'k' && (!isObject(value) || Object.keys(value).length === 0)) return undefined;
    return `${key.slice(0, 2)}${canonicalJson(value)}`;
  } catch {
    return undefined;
  }
}

/** The FieldsV1 of a set with its keys in order, as it is best shown and compared as text. */
export function encodeFieldSet(set: FieldSet | undefined): Record<string, unknown> {
  const encoded: Record<string, unknown> = {};
  if (set === undefined) return encoded;
  for (const element of Object.keys(set).sort()) encoded[element] = encodeFieldSet(set[element]);
  return encoded;
}
