import { jsonEqual } from '../../meta/index.ts';
import { itemTypeOf, wholePaths } from './claim.ts';
import { type FieldSet, leafNode, type MutableFieldSet, withSelf } from './field-set.ts';
import { type FieldType, type MapType, typeOfKey } from './field-type.ts';
import { groupItems, type ListType, listElement, listElements } from './list-items.ts';
import { isObject, type JsonObject, ownValue } from './object.ts';

/** What a write did: paths that are new or hold another value, and paths that are gone. */
export interface Changes {
  written: FieldSet | undefined;
  removed: FieldSet | undefined;
}

/** The changes from `before` to `after`; undefined where there are none. An order of items alone is no change. */
export function compareValues(before: unknown, after: unknown, type: FieldType): Changes | undefined {
  if (before === after || type.shape === 'untracked') return undefined;
  if (before === undefined) return { written: wholePaths(after, type), removed: undefined };
  if (after === undefined) return { written: undefined, removed: wholePaths(before, type) };
  if (type.shape === 'map') return compareAsMaps(before, after, type);
  if (type.shape !== 'leaf') return compareAsLists(before, after, type);
  return jsonEqual(before, after) ? undefined : { written: leafNode, removed: undefined };
}

class ChangesBuilder {
  #written: MutableFieldSet | undefined;
  #removed: MutableFieldSet | undefined;

  add(element: string, changes: Changes | undefined): void {
    if (changes?.written !== undefined) {
      this.#written ??= {};
      this.#written[element] = changes.written;
    }
    if (changes?.removed !== undefined) {
      this.#removed ??= {};
      this.#removed[element] = changes.removed;
    }
  }

  done(): Changes | undefined {
    if (this.#written === undefined && this.#removed === undefined) return undefined;
    return { written: this.#written, removed: this.#removed };
  }
}

function compareAsMaps(before: unknown, after: unknown, type: MapType): Changes | undefined {
  const left = isObject(before) ? before : undefined;
  const right = isObject(after) ? after : undefined;
  const noMap = left === undefined && right === undefined;
  // Two empty ones, or null and {}, or lists where the schema says nothing: a change is one of the field itself.
  if (noMap || (isVoid(before, left) && isVoid(after, right))) {
    return jsonEqual(before, after) ? undefined : { written: leafNode, removed: undefined };
  }
  if (left !== undefined && right !== undefined) return compareMaps(left, right, type);
  return replaced(before, after, left !== undefined, right !== undefined, type);
}

function isVoid(value: unknown, object: JsonObject | undefined): boolean {
  return value === null || (object !== undefined && Object.keys(object).length === 0);
}

function compareMaps(before: JsonObject, after: JsonObject, type: MapType): Changes | undefined {
  let changes: ChangesBuilder | undefined;
  for (const key of Object.keys(after)) {
    const value = after[key];
    const old = ownValue(before, key);
    if (value === old || value === undefined) continue;
    const field = type.fields.get(key);
    const difference = compareValues(old, value, field?.type ?? typeOfKey(type, key));
    if (difference === undefined) continue;
    changes ??= new ChangesBuilder();
    changes.add(field?.element ?? `f:${key}`, difference);
  }
  for (const key of Object.keys(before)) {
    if (before[key] === undefined || ownValue(after, key) !== undefined) continue;
    const field = type.fields.get(key);
    const difference = compareValues(before[key], undefined, field?.type ?? typeOfKey(type, key));
    if (difference === undefined) continue;
    changes ??= new ChangesBuilder();
    changes.add(field?.element ?? `f:${key}`, difference);
  }
  return changes?.done();
}

function compareAsLists(before: unknown, after: unknown, type: ListType): Changes | undefined {
  const left = Array.isArray(before) ? before : undefined;
  const right = Array.isArray(after) ? after : undefined;
  if (left !== undefined && right !== undefined) return compareLists(left, right, type);
  if (left === undefined && right === undefined) {
    return jsonEqual(before, after) ? undefined : { written: leafNode, removed: undefined };
  }
  return replaced(before, after, left !== undefined, right !== undefined, type);
}

function compareLists(before: unknown[], after: unknown[], type: ListType): Changes | undefined {
  const shared = commonStart(before, after, type);
  if (shared === before.length && shared === after.length) return undefined;
  const leftElements = listElements(before, type);
  const rightElements = listElements(after, type);
  if (leftElements === undefined || rightElements === undefined) {
    return jsonEqual(before, after) ? undefined : { written: leafNode, removed: undefined };
  }
  if (areSameWithoutDuplicates(leftElements, rightElements)) {
    const pairs = new ChangesBuilder();
    leftElements.forEach((element, index) => {
      pairs.add(element, compareValues(before[index], after[index], itemTypeOf(type)));
    });
    return pairs.done();
  }
  const left = groupItems(before, leftElements);
  const right = groupItems(after, rightElements);
  const changes = new ChangesBuilder();
  for (const [element, items] of right) changes.add(element, compareItems(left.get(element), items, type));
  for (const [element, items] of left)
    if (!right.has(element)) changes.add(element, compareItems(items, undefined, type));
  return changes.done();
}

/** How many items from the start are equal one by one: in most writes, all of them. */
function commonStart(before: readonly unknown[], after: readonly unknown[], type: ListType): number {
  const length = Math.min(before.length, after.length);
  let index = 0;
  while (index < length && jsonEqual(before[index], after[index]) && listElement(before[index], type) !== undefined)
    index++;
  return index;
}

function areSameWithoutDuplicates(left: readonly string[], right: readonly string[]): boolean {
  if (left.length !== right.length) return false;
  for (let index = 0; index < left.length; index++) if (left[index] !== right[index]) return false;
  return new Set(left).size === left.length;
}

/** Items of one key on both sides. Duplicates are owned as one, since nobody can say which of them is whose. */
function compareItems(
  before: unknown[] | undefined,
  after: unknown[] | undefined,
  type: ListType,
): Changes | undefined {
  const itemType = itemTypeOf(type);
  if ((before?.length ?? 1) === 1 && (after?.length ?? 1) === 1)
    return compareValues(before?.[0], after?.[0], itemType);
  if (before === undefined) return { written: leafNode, removed: undefined };
  if (after === undefined) return { written: undefined, removed: leafNode };
  return jsonEqual(before, after) ? undefined : { written: leafNode, removed: undefined };
}

/** A value whose form changed: the field is written, what lay below the old one is gone, what lies below the new is new. */
function replaced(before: unknown, after: unknown, leftBelow: boolean, rightBelow: boolean, type: FieldType): Changes {
  const written = rightBelow ? wholePaths(after, type) : leafNode;
  const removed = leftBelow ? below(wholePaths(before, type)) : undefined;
  return { written: withSelf({ ...written }), removed };
}

function below(node: FieldSet): FieldSet | undefined {
  const { '.': _, ...rest } = node;
  return Object.keys(rest).length === 0 ? undefined : rest;
}
