import type { KubeObject, Stored } from '../../meta/index.ts';

interface Index<T extends KubeObject> {
  values: (object: Stored<T>) => readonly string[];
  /** The one object of a value as it is, being by far the most usual; several by key. */
  byValue: Map<string, Stored<T> | Map<string, Stored<T>>>;
  /** Under which values each key is filed, so that taking it out never asks `values` about an old object. */
  filed: Map<string, readonly string[]>;
}

/** Objects by key, by namespace and by index; every change costs the same however many there are. */
export class ObjectStore<T extends KubeObject> {
  readonly #namespaces = new Map<string, Map<string, Stored<T>>>();
  readonly #indexes = new Map<string, Index<T>>();
  readonly #onError: (error: unknown) => void;

  /** `onError` hears of an index function that threw; the object is then in no place of that index. */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  get(namespace: string, name: string): Stored<T> | undefined {
    return this.#namespaces.get(namespace)?.get(name);
  }

  list(namespace?: string): Stored<T>[] {
    if (namespace !== undefined) return [...(this.#namespaces.get(namespace)?.values() ?? [])];
    const all: Stored<T>[] = [];
    for (const objects of this.#namespaces.values()) for (const object of objects.values()) all.push(object);
    return all;
  }

  set(object: Stored<T>): void {
    const { namespace = '', name } = object.metadata;
    let objects = this.#namespaces.get(namespace);
    if (objects === undefined) {
      objects = new Map();
      this.#namespaces.set(namespace, objects);
    }
    objects.set(name, object);
    if (this.#indexes.size === 0) return;
    const key = keyOf(namespace, name);
    for (const index of this.#indexes.values()) this.#file(index, key, object);
  }

  delete(namespace: string, name: string): void {
    const objects = this.#namespaces.get(namespace);
    if (!objects?.delete(name)) return;
    if (objects.size === 0) this.#namespaces.delete(namespace);
    const key = keyOf(namespace, name);
    for (const index of this.#indexes.values()) unfile(index, key);
  }

  byIndex(name: string, value: string): Stored<T>[] {
    const index = this.#indexes.get(name);
    if (index === undefined) throw new Error(`there is no index ${JSON.stringify(name)}`);
    const found = index.byValue.get(value);
    if (found === undefined) return [];
    return found instanceof Map ? [...found.values()] : [found];
  }

  addIndex(name: string, values: (object: Stored<T>) => readonly string[]): void {
    if (this.#indexes.has(name)) return;
    const index: Index<T> = { values, byValue: new Map(), filed: new Map() };
    for (const object of this.list()) this.#file(index, keyOfObject(object), object);
    this.#indexes.set(name, index);
  }

  #file(index: Index<T>, key: string, object: Stored<T>): void {
    let values: readonly string[] = [];
    try {
      values = index.values(object);
    } catch (error) {
      this.#onError(error);
    }
    const before = index.filed.get(key);
    if (before === undefined || !sameTexts(before, values)) {
      unfile(index, key);
      if (values.length > 0) index.filed.set(key, values);
    }
    for (const value of values) {
      const objects = index.byValue.get(value);
      if (objects instanceof Map) objects.set(key, object);
      else if (objects === undefined || keyOfObject(objects) === key) index.byValue.set(value, object);
      else {
        index.byValue.set(
          value,
          new Map([
            [keyOfObject(objects), objects],
            [key, object],
          ]),
        );
      }
    }
  }
}

function sameTexts(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, position) => text === b[position]);
}

/** A key of one text: neither part of an object's key can contain a slash. Joined, so that the parts are not kept beside it. */
export function keyOf(namespace: string, name: string): string {
  return [namespace, name].join('/');
}

function keyOfObject({ metadata }: KubeObject): string {
  return keyOf(metadata.namespace ?? '', metadata.name);
}

function unfile<T extends KubeObject>(index: Index<T>, key: string): void {
  const values = index.filed.get(key);
  if (values === undefined) return;
  index.filed.delete(key);
  for (const value of values) {
    const objects = index.byValue.get(value);
    if (!(objects instanceof Map) || (objects.delete(key) && objects.size === 0)) index.byValue.delete(value);
  }
}
