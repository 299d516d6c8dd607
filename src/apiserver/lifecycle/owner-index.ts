import { intern, type KubeObject, type OwnerReference } from '../../meta/index.ts';
import { storedObject } from '../codec.ts';
import { Recent } from '../recent.ts';
import type { StorageEvent, StorageKey } from '../storage/storage.ts';

export const orphanFinalizer = 'orphan';
export const foregroundFinalizer = 'foregroundDeletion';

export type ObjectLocation = Pick<StorageKey, 'resource' | 'namespace' | 'name'>;

/** An object with owner references. */
export interface Dependent extends ObjectLocation {
  readonly uid: string;
  readonly owners: readonly OwnerReference[];
}

interface Known {
  readonly dependent: Dependent;
  /** Its owner references as they stand in its text (one character a byte), where they can be told by it. */
  readonly text: string | undefined;
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

/** What tells that an object is of interest, found in one pass over its text. */
const words = /"(ownerReferences|foregroundDeletion|orphan)"/g;

/**
 * Who owns what in one plane, kept from committed bytes. Objects without owner references and without the garbage
 * collector's finalizers, and updates that leave owner references as they were, are recognised in the bytes and never
 * parsed: nearly every write is one of those.
 */
export class OwnerIndex {
  readonly #dependents = new Map<string, Known>();
  /** By the owner's uid. */
  readonly #byOwner = new Map<string, Set<Dependent>>();
  /** Lists of owners of objects seen last, by their text. */
  readonly #siblings = new Recent<string, readonly OwnerReference[]>(256);
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

  /** Takes a change in; answers what it means. A record read from a list is a `put`. */
  apply(event: Pick<StorageEvent, 'type' | 'key' | 'value'>): Finding[] {
    const { key } = event;
    const location = locationKey(key);
    if (event.type === 'delete') return this.#deleted(location, storedObject(event.value));
    const text = view(event.value).toString('latin1');
    const { owners, finalizing } = scan(text);
    const known = this.#dependents.get(location);
    if (!finalizing && !this.#waitingByLocation.has(location)) {
      if (owners === 'none' && known === undefined) return [];
      // A JSON list ends where it ends: beginning with the same list is having the same list.
      if (known?.text !== undefined && typeof owners === 'number' && text.startsWith(known.text, owners)) return [];
    }
    const object = storedObject(event.value);
    return this.#put(
      key,
      location,
      object,
      typeof owners === 'number' ? recognisable(object, text, owners) : undefined,
    );
  }

  #put(key: StorageKey, location: string, object: KubeObject, text: string | undefined): Finding[] {
    const uid = object.metadata?.uid;
    if (typeof uid !== 'string') return [];
    const findings = this.#setOwners(location, { ...pick(key), uid, owners: this.#owners(object, text) }, text);
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

  /** By their text, where they have one: siblings have the same owners, and share the list. */
  #owners(object: KubeObject, text: string | undefined): readonly OwnerReference[] {
    if (text === undefined) return ownersOf(object);
    let owners = this.#siblings.get(text);
    if (owners === undefined) {
      owners = ownersOf(object);
      this.#siblings.set(text, owners);
    }
    return owners;
  }

  #setOwners(location: string, dependent: Dependent, text: string | undefined): Finding[] {
    const findings = this.#removeDependent(location);
    if (dependent.owners.length === 0) return findings;
    this.#dependents.set(location, { dependent, text: text && intern(text) });
    for (const { uid } of dependent.owners) {
      const set = this.#byOwner.get(uid);
      if (set === undefined) this.#byOwner.set(uid, new Set([dependent]));
      else set.add(dependent);
    }
    findings.push({ type: 'owners', dependent });
    return findings;
  }

  #deleted(location: string, object: KubeObject): Finding[] {
    this.#forgetWaiting(location);
    const findings = this.#removeDependent(location);
    const uid = object.metadata?.uid;
    if (typeof uid === 'string') {
      findings.push({ type: 'gone', uid, dependents: this.dependentsOf(uid) });
    }
    return findings;
  }

  /** Answers the owners in foreground deletion that it no longer stands in the way of. */
  #removeDependent(location: string): Finding[] {
    const dependent = this.#dependents.get(location)?.dependent;
    if (dependent === undefined) return [];
    this.#dependents.delete(location);
    const findings: Finding[] = [];
    for (const { uid } of dependent.owners) {
      const set = this.#byOwner.get(uid);
      set?.delete(dependent);
      if (set?.size === 0) this.#byOwner.delete(uid);
      const owner = this.#waitingByUid.get(uid);
      if (owner !== undefined) findings.push({ type: 'released', owner });
    }
    return findings;
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
 * Where `"ownerReferences"` is in an object's text: `none`, or `several` where it cannot be told which is the object's own
 * (a template inside a spec has some too). And whether a finalizer of the garbage collector may be in it.
 */
function scan(text: string): { owners: number | 'none' | 'several'; finalizing: boolean } {
  let owners: number | 'none' | 'several' = 'none';
  let finalizing = false;
  words.lastIndex = 0;
  for (let found = words.exec(text); found !== null; found = words.exec(text)) {
    if (found[1] !== 'ownerReferences') finalizing = true;
    else owners = owners === 'none' ? found.index : 'several';
  }
  return { owners, finalizing };
}

/** The text by which the owner references of `object` are known again, where they are what stands at `start`. */
function recognisable(object: KubeObject, text: string, start: number): string | undefined {
  const list = `"ownerReferences":${JSON.stringify(object.metadata?.ownerReferences)}`;
  const bytes = Buffer.from(list, 'utf8').toString('latin1');
  return text.startsWith(bytes, start) ? bytes : undefined;
}

function view(value: Uint8Array): Buffer {
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}

function pick({ resource, namespace, name }: ObjectLocation): ObjectLocation {
  return { resource, namespace, name };
}

function locationKey({ resource, namespace, name }: ObjectLocation): string {
  return [resource, namespace, name].join('\0');
}
