import type { KubeObject, OwnerReference } from '../../meta/index.ts';
import type { StorageEvent, StorageKey } from '../storage/storage.ts';

export const orphanFinalizer = 'orphan';
export const foregroundFinalizer = 'foregroundDeletion';

export type ObjectLocation = Pick<StorageKey, 'resource' | 'namespace' | 'name'>;

/** An object with owner references. */
export interface Dependent extends ObjectLocation {
  readonly uid: string;
  readonly owners: readonly OwnerReference[];
}

/** What a change asks the garbage collector to look at. */
export type Finding =
  /** Its owner references are new. */
  | { type: 'owners'; dependent: Dependent }
  /** It is being deleted and waits for the garbage collector: its dependents are to be orphaned or deleted first. */
  | { type: 'waiting'; object: ObjectLocation; uid: string }
  /** It is gone for good. */
  | { type: 'gone'; uid: string; dependents: readonly Dependent[] }
  /** One of the dependents an owner in foreground deletion waits for is no longer in its way. */
  | { type: 'released'; owner: ObjectLocation };

const needle = {
  owners: Buffer.from('"ownerReferences"'),
  orphan: Buffer.from(`"${orphanFinalizer}"`),
  foreground: Buffer.from(`"${foregroundFinalizer}"`),
};

/**
 * Who owns what in one plane, kept from committed bytes. Objects without owner references and without the garbage
 * collector's finalizers, and updates that leave owner references as they were, are recognised in the bytes and never
 * parsed: nearly every write is one of those.
 */
export class OwnerIndex {
  readonly #dependents = new Map<string, Dependent>();
  /** By the owner's uid. */
  readonly #byOwner = new Map<string, Set<Dependent>>();
  /** Objects in foreground deletion, by location and by uid. */
  readonly #waitingByLocation = new Map<string, string>();
  readonly #waitingByUid = new Map<string, ObjectLocation>();

  dependentsOf(uid: string): Dependent[] {
    return [...(this.#byOwner.get(uid) ?? [])];
  }

  hasDependents(uid: string): boolean {
    return this.#byOwner.has(uid);
  }

  /** Whether the object of that uid is in foreground deletion. */
  isDeletingDependents(uid: string): boolean {
    return this.#waitingByUid.has(uid);
  }

  /** Takes a change in; answers what it means. A record read from a list is a `put` without `previous`. */
  apply(event: Pick<StorageEvent, 'type' | 'key' | 'value' | 'previous'>): Finding[] {
    const { key } = event;
    const location = locationKey(key);
    const bytes = view(event.value);
    if (event.type === 'delete') return this.#deleted(location, parse(bytes));
    const finalizing = bytes.includes(needle.foreground) || bytes.includes(needle.orphan);
    const owned = bytes.includes(needle.owners);
    const known = this.#dependents.get(location);
    const watched = finalizing || this.#waitingByLocation.has(location);
    if (!watched) {
      if (!owned && known === undefined) return [];
      if (known !== undefined && event.previous !== undefined && sameOwners(bytes, view(event.previous))) return [];
    }
    return this.#put(key, location, parse(bytes));
  }

  #put(key: StorageKey, location: string, object: KubeObject): Finding[] {
    const uid = object.metadata?.uid;
    if (typeof uid !== 'string') return [];
    const findings = this.#setOwners(key, location, uid, ownersOf(object));
    const finalizers = object.metadata.deletionTimestamp === undefined ? [] : (object.metadata.finalizers ?? []);
    const foreground = finalizers.includes(foregroundFinalizer);
    const wasForeground = this.#waitingByLocation.has(location);
    if (foreground && !wasForeground) {
      this.#waitingByLocation.set(location, uid);
      this.#waitingByUid.set(uid, pick(key));
    } else if (!foreground && wasForeground) this.#forgetWaiting(location);
    if ((foreground && !wasForeground) || finalizers.includes(orphanFinalizer)) {
      findings.push({ type: 'waiting', object: pick(key), uid });
    }
    return findings;
  }

  #setOwners(key: StorageKey, location: string, uid: string, owners: OwnerReference[]): Finding[] {
    const before = this.#dependents.get(location);
    if (before !== undefined) this.#unlink(location, before);
    const findings = before === undefined ? [] : this.#released(before);
    if (owners.length === 0) return findings;
    const dependent: Dependent = { ...pick(key), uid, owners };
    this.#dependents.set(location, dependent);
    for (const { uid: owner } of owners) {
      const set = this.#byOwner.get(owner);
      if (set === undefined) this.#byOwner.set(owner, new Set([dependent]));
      else set.add(dependent);
    }
    findings.push({ type: 'owners', dependent });
    return findings;
  }

  #deleted(location: string, object: KubeObject): Finding[] {
    this.#forgetWaiting(location);
    const before = this.#dependents.get(location);
    if (before !== undefined) this.#unlink(location, before);
    const findings = before === undefined ? [] : this.#released(before);
    const uid = object.metadata?.uid;
    if (typeof uid === 'string') {
      findings.push({ type: 'gone', uid, dependents: this.dependentsOf(uid) });
    }
    return findings;
  }

  #unlink(location: string, dependent: Dependent): void {
    this.#dependents.delete(location);
    for (const { uid } of dependent.owners) {
      const set = this.#byOwner.get(uid);
      set?.delete(dependent);
      if (set?.size === 0) this.#byOwner.delete(uid);
    }
  }

  #released(dependent: Dependent): Finding[] {
    return dependent.owners.flatMap(({ uid }) => {
      const owner = this.#waitingByUid.get(uid);
      return owner === undefined ? [] : [{ type: 'released' as const, owner }];
    });
  }

  #forgetWaiting(location: string): void {
    const uid = this.#waitingByLocation.get(location);
    if (uid === undefined) return;
    this.#waitingByLocation.delete(location);
    this.#waitingByUid.delete(uid);
  }
}

/** Well-formed owner references of an object; the rest was refused when it was written, or is nobody's. */
export function ownersOf(object: KubeObject): OwnerReference[] {
  const owners: unknown = object.metadata.ownerReferences;
  if (!Array.isArray(owners)) return [];
  return owners.filter(
    (owner: Partial<OwnerReference> | null) =>
      typeof owner?.uid === 'string' &&
      typeof owner.kind === 'string' &&
      typeof owner.name === 'string' &&
      typeof owner.apiVersion === 'string',
  );
}

/**
 * Whether two versions of an object have the same owner references, judged by the text. False where that cannot be told
 * for certain: the word appears more than once (a template inside a spec has owner references of its own), or a bracket
 * inside a name cuts the text short.
 */
function sameOwners(a: Buffer, b: Buffer): boolean {
  const left = ownersText(a);
  const right = ownersText(b);
  if (left === undefined || right === undefined || left.compare(right) !== 0) return false;
  try {
    JSON.parse(left.toString('utf8'));
    return true;
  } catch {
    return false;
  }
}

/** `[{…}]` of the one `"ownerReferences":` in an object's text. */
function ownersText(bytes: Buffer): Buffer | undefined {
  const found = bytes.indexOf(needle.owners);
  const start = found + needle.owners.length;
  if (found < 0 || bytes.indexOf(needle.owners, start) >= 0) return undefined;
  if (bytes[start] !== 0x3a || bytes[start + 1] !== 0x5b) return undefined;
  const end = bytes.indexOf(0x5d, start);
  return end < 0 ? undefined : bytes.subarray(start + 1, end + 1);
}

function view(value: Uint8Array): Buffer {
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}

function parse(bytes: Buffer): KubeObject {
  return JSON.parse(bytes.toString('utf8')) as KubeObject;
}

function pick({ resource, namespace, name }: ObjectLocation): ObjectLocation {
  return { resource, namespace, name };
}

function locationKey({ resource, namespace, name }: ObjectLocation): string {
  return `${resource}\0${namespace}\0${name}`;
}
