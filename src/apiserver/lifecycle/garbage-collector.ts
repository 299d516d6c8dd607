import type { Client, Request } from '../../kube/index.ts';
import { isTerminating, type KubeObject, type OwnerReference, type Stored } from '../../meta/index.ts';
import { objectAtHand } from '../codec.ts';
import { Recent } from '../recent.ts';
import type { ServedResource } from '../resource.ts';
import type { StorageEvent, StoredRecord } from '../storage/storage.ts';
import { keyOf, orphan, removeFinalizer, writeOwners } from './dependents.ts';
import type { Follower } from './follow.ts';
import { reportInvalidNamespace } from './invalid-owner.ts';
import {
  type Dependent,
  type Finding,
  foregroundFinalizer,
  type ObjectLocation,
  OwnerIndex,
  orphanFinalizer,
  ownersOf,
} from './owner-index.ts';
import { findResource, garbageCollectorAccount, type LifecyclePlane } from './plane.ts';
import { type LifecycleOptions, PlaneWorkers } from './workers.ts';

const concurrency = 16;
const crds = 'apiextensions.k8s.io/customresourcedefinitions';
/** A CRD's resource is served a moment after the CRD is stored. */
const afterCrdMilliseconds = 1000;
/** Uids of deleted owners that are remembered, so that each of a thousand dependents need not ask for the owner again. */
const rememberedUids = 10_000;
/** Objects that may come to own something made a moment after them. */
const writtenUids = 2_000;

interface PlaneState extends Follower {
  readonly plane: LifecyclePlane;
  readonly client: Client;
  readonly index: OwnerIndex;
  /** Owners seen alive, by uid: `<group>/<kind>`, namespace and name they have. */
  readonly alive: Map<string, string>;
  /** Objects of the last writes, whether they own something or not, likewise: most dependents are made right after their owner. */
  readonly written: Recent<string, string>;
  readonly gone: Set<string>;
  /** Dependents that name a kind this plane does not serve. */
  readonly unresolved: Set<string>;
  readonly reported: Set<string>;
}

/** How an owner reference stands, by a live read. */
type Standing = 'solid' | 'absent' | 'waiting' | 'unresolvable' | 'invalid';

/**
 * Deletes what nobody owns any more, by the rules of kube-controller-manager's garbage collector: an object goes when
 * none of its owners exists; background, foreground and orphan propagation; owners are found absent by a live read. One
 * for all planes: it follows the store's commits, so an idle plane costs nothing but an empty index. Every deletion is a
 * request like any other.
 */
export class GarbageCollector {
  readonly #options: LifecycleOptions;
  readonly workers: PlaneWorkers<PlaneState>;

  constructor(options: LifecycleOptions) {
    this.#options = options;
    this.workers = new PlaneWorkers(options, {
      concurrency,
      about: (request) => `garbage collection of ${nameFor(request)}`,
      do: (state, request) => this.#look(state, request),
    });
  }

  /** What to tell about `plane` from now on. */
  open(plane: LifecyclePlane): Follower {
    const index = new OwnerIndex();
    const state: PlaneState = {
      plane,
      client: plane.client(garbageCollectorAccount),
      index,
      alive: new Map(),
      written: new Recent(writtenUids),
      gone: new Set(),
      unresolved: new Set(),
      reported: new Set(),
      loaded: ({ key, value }: StoredRecord) => this.#take(state, index.apply({ type: 'put', key, value })),
      changed: (event: StorageEvent) => {
        if (event.key.resource === crds) this.#retryUnresolved(state);
        if (event.type === 'put') noteWritten(state, objectAtHand(event.value));
        this.#take(state, index.apply(event));
      },
    };
    this.workers.open(plane.id, state);
    return state;
  }

  #take(state: PlaneState, findings: readonly Finding[]): void {
    for (const finding of findings) {
      switch (finding.type) {
        case 'owners':
          if (needsLook(state, finding.dependent)) this.#add(state, finding.dependent);
          break;
        case 'waiting':
          // A dependent in foreground deletion is deleted in the foreground too, so it must hear that its owner waits.
          for (const dependent of state.index.dependentsOf(finding.uid)) this.#add(state, dependent);
          this.#add(state, finding.object);
          break;
        case 'gone':
          state.alive.delete(finding.uid);
          state.written.delete(finding.uid);
          remember(state.gone, finding.uid);
          for (const dependent of finding.dependents) this.#add(state, dependent);
          break;
        case 'released':
          this.#add(state, finding.owner);
          break;
      }
    }
  }

  #add(state: PlaneState, object: ObjectLocation): void {
    this.workers.queue.add(requestFor(state.plane.id, object));
  }

  #retryUnresolved(state: PlaneState): void {
    for (const key of state.unresolved) {
      this.workers.queue.addAfter(requestFor(state.plane.id, JSON.parse(key) as ObjectLocation), afterCrdMilliseconds);
    }
    state.unresolved.clear();
  }

  async #look(state: PlaneState, request: Request): Promise<void> {
    const location = locationOf(request);
    const resource = findResource(state.plane, location.resource);
    if (resource === undefined) return;
    const live = await state.client.get(resource, { namespace: location.namespace, name: location.name });
    if (live === undefined) return;
    const finalizers = live.metadata.finalizers ?? [];
    if (isTerminating(live)) {
      if (finalizers.includes(orphanFinalizer)) return this.#orphanDependents(state, resource, live);
      if (finalizers.includes(foregroundFinalizer)) return this.#deleteDependentsFirst(state, resource, live);
      return;
    }
    if (ownersOf(live).length > 0) await this.#judge(state, resource, live, location);
  }

  async #orphanDependents(state: PlaneState, resource: ServedResource, owner: Stored<KubeObject>): Promise<void> {
    const { uid } = owner.metadata;
    for (const dependent of state.index.dependentsOf(uid)) {
      const of = findResource(state.plane, dependent.resource);
      if (of !== undefined) await orphan(state.client, of, dependent, uid);
    }
    await removeFinalizer(state.client, resource, owner, orphanFinalizer);
  }

  /** The owner goes when none of its dependents blocks it: whichever is released last brings it back here. */
  async #deleteDependentsFirst(state: PlaneState, resource: ServedResource, owner: Stored<KubeObject>): Promise<void> {
    const { uid } = owner.metadata;
    const blocking = state.index.dependentsOf(uid).filter((dependent) => blocks(dependent, uid));
    if (blocking.length === 0) return removeFinalizer(state.client, resource, owner, foregroundFinalizer);
    for (const dependent of blocking) {
      if (!state.index.isDeletingDependents(dependent.uid)) this.#add(state, dependent);
    }
  }

  async #judge(
    state: PlaneState,
    resource: ServedResource,
    object: Stored<KubeObject>,
    location: ObjectLocation,
  ): Promise<void> {
    const owners = ownersOf(object);
    const standings = new Map<OwnerReference, Standing>();
    for (const owner of owners) standings.set(owner, await this.#stand(state, resource, object, owner));
    const being = (standing: Standing) => owners.filter((owner) => standings.get(owner) === standing);
    if (being('invalid').length > 0) return;
    if (being('unresolvable').length > 0) {
      state.unresolved.add(JSON.stringify(location));
      return;
    }
    const solid = being('solid');
    if (solid.length === owners.length) return;
    // Somebody still owns it: it only loses the owners that are gone or go.
    if (solid.length > 0) return writeOwners(state.client, resource, object, solid);

    const { uid, resourceVersion } = object.metadata;
    const dependents = state.index.dependentsOf(uid);
    let propagationPolicy: 'Background' | 'Foreground' | 'Orphan' = 'Background';
    if (being('waiting').length > 0 && dependents.length > 0) {
      propagationPolicy = 'Foreground';
      if (dependents.some((dependent) => state.index.isDeletingDependents(dependent.uid))) {
        // It may be a cycle, each waiting for the other: this one stops holding its owners up.
        const unblocked = owners.map((owner) => ({ ...owner, blockOwnerDeletion: false }));
        await writeOwners(state.client, resource, object, unblocked);
        const preconditions = { uid };
        await state.client.delete(resource, keyOf(object), { preconditions, propagationPolicy });
        return;
      }
    } else if (object.metadata.finalizers?.includes(orphanFinalizer)) propagationPolicy = 'Orphan';
    else if (object.metadata.finalizers?.includes(foregroundFinalizer)) propagationPolicy = 'Foreground';
    // The version too: an owner that was added since must not find its dependent deleted.
    await state.client.delete(resource, keyOf(object), { preconditions: { uid, resourceVersion }, propagationPolicy });
  }

  async #stand(
    state: PlaneState,
    resource: ServedResource,
    object: Stored<KubeObject>,
    owner: OwnerReference,
  ): Promise<Standing> {
    const kind = ownerKind(state.plane, owner);
    const namespace = object.metadata.namespace ?? '';
    const report = () => this.#report(state, resource, object, owner);
    if (kind?.namespaced && namespace === '') {
      await report();
      return 'invalid';
    }
    if (state.gone.has(owner.uid)) return 'absent';
    if (kind === undefined) return 'unresolvable';
    const live = await state.client.get(kind, { namespace: kind.namespaced ? namespace : '', name: owner.name });
    if (live === undefined || live.metadata.uid !== owner.uid) {
      if (kind.namespaced && (await livesElsewhere(state.client, kind, owner, namespace))) await report();
      return 'absent';
    }
    if (isTerminating(live) && live.metadata.finalizers?.includes(foregroundFinalizer)) return 'waiting';
    // Deleted while it was read: the event has been, and comes for no dependent a second time.
    if (!state.gone.has(owner.uid)) state.alive.set(owner.uid, ownerText(owner, kind.namespaced ? namespace : ''));
    return 'solid';
  }

  async #report(
    state: PlaneState,
    resource: ServedResource,
    object: Stored<KubeObject>,
    owner: OwnerReference,
  ): Promise<void> {
    const once = `${object.metadata.uid} ${owner.uid}`;
    if (state.reported.has(once)) return;
    remember(state.reported, once);
    try {
      await reportInvalidNamespace(state.client, resource, object, owner, this.#options);
    } catch (error) {
      // An event tells people; nothing waits for it.
      this.#options.onError(error, `event about the owners of ${object.kind} ${object.metadata.name}`);
    }
  }
}

function needsLook(state: PlaneState, { owners, namespace }: Dependent): boolean {
  return owners.some((owner) => state.index.isDeletingDependents(owner.uid) || !isAlive(state, owner, namespace));
}

/** Whether an owner is known to be there, under the name it is referred to by: of its end the store would have told. */
function isAlive({ alive, written }: PlaneState, owner: OwnerReference, namespace: string): boolean {
  const known = alive.get(owner.uid) ?? written.get(owner.uid);
  if (known === undefined || (known !== ownerText(owner, namespace) && known !== ownerText(owner, ''))) return false;
  alive.set(owner.uid, known);
  return true;
}

function noteWritten({ written }: PlaneState, object: KubeObject | undefined): void {
  const uid = object?.metadata.uid;
  if (object === undefined || uid === undefined || written.get(uid) !== undefined) return;
  const { apiVersion, kind, metadata } = object;
  written.set(uid, ownerText({ apiVersion, kind, name: metadata.name }, metadata.namespace ?? ''));
}

function blocks(dependent: Dependent, owner: string): boolean {
  // An object that owns itself would wait for itself.
  if (dependent.uid === owner) return false;
  return dependent.owners.some((reference) => reference.uid === owner && reference.blockOwnerDeletion === true);
}

function ownerText(owner: Pick<OwnerReference, 'apiVersion' | 'kind' | 'name'>, namespace: string): string {
  return `${groupOf(owner)}/${owner.kind}/${namespace}/${owner.name}`;
}

function ownerKind(plane: LifecyclePlane, owner: OwnerReference): ServedResource | undefined {
  const group = groupOf(owner);
  for (const resource of plane.resources())
    if (resource.kind === owner.kind && resource.group === group) return resource;
  return undefined;
}

function groupOf(owner: Pick<OwnerReference, 'apiVersion'>): string {
  const slash = owner.apiVersion.indexOf('/');
  return slash < 0 ? '' : owner.apiVersion.slice(0, slash);
}

/** Whether an owner that is absent from its dependent's namespace exists in another one. */
async function livesElsewhere(
  client: Client,
  kind: ServedResource,
  owner: OwnerReference,
  namespace: string,
): Promise<boolean> {
  const { items } = await client.list(kind, { fieldSelector: `metadata.name=${owner.name}` });
  return items.some((item) => item.metadata.uid === owner.uid && item.metadata.namespace !== namespace);
}

function remember(set: Set<string>, value: string): void {
  if (set.size >= rememberedUids) set.delete(set.values().next().value!);
  set.add(value);
}

/** A resource has one slash, a name has no space. */
function requestFor(plane: string, { resource, namespace, name }: ObjectLocation): Request {
  return { plane, namespace, name: `${resource} ${name}` };
}

function locationOf(request: Request): ObjectLocation {
  const space = request.name.indexOf(' ');
  const { namespace, name } = request;
  return { resource: name.slice(0, space), namespace, name: name.slice(space + 1) };
}

function nameFor(request: Request): string {
  const { resource, namespace, name } = locationOf(request);
  return `${resource} ${namespace === '' ? name : `${namespace}/${name}`} in ${request.plane}`;
}
