import { IPAllocation, IPClass, IPPool, type NetworkInterfaceClaim } from '../../../api/index.ts';
import {
  type Client,
  type Clock,
  type InformerEvent,
  type Log,
  type Random,
  type Request,
  type RunningInformer,
  startInformer,
  type Timer,
} from '../../../kube/index.ts';
import type { KubeObject, ResourceType, Stored } from '../../../meta/index.ts';
import type { Refusal } from '../../shared/refusal.ts';
import { Line } from './line.ts';

export interface LinesDeps {
  clock: Clock;
  random: Random;
  log: Log;
  client(project: string): Client;
}

/** How a claim's wait is known to it: the refusal that stands until it may try again. */
export interface Standing {
  refusal: Refusal;
  /** Key of the request that was refused. */
  request: string;
}

interface Entry extends Standing {
  line: NamedLine;
  request: string;
  key: Request;
  enqueue: (request: Request) => void;
}

interface NamedLine {
  id: string;
  project: string;
  dependsOn: readonly string[];
  line: Line;
  /** The refusal its claims share, where it names nothing of the claim it was told to. */
  shared: Standing | undefined;
  fallback: Timer | undefined;
}

/** A change nobody told of is found after about this long, by the head alone. */
const fallbackMilliseconds = 30_000;
/**
 * What a pool shows lags by up to a second behind what was taken from it, so that a block freed right after one was taken
 * may not show: the head asks once more this long after the line began, and after somebody of it was served.
 */
const lagMilliseconds = 1_100;

/**
 * Who waits for what of IPAM (behaviour, *Waiting is woken*). IPAM keeps no queue and answers at once, naming what could
 * help; claims that were told the same wait in one line per plane, and the objects named are watched while there is one.
 */
export class Lines {
  readonly #deps: LinesDeps;
  readonly #lines = new Map<string, NamedLine>();
  /** By UID of the claim. */
  readonly #entries = new Map<string, Entry>();
  /** What was refused to whom, and the line that waits for it: newcomers who need the same go to its end. */
  readonly #needs = new Map<string, NamedLine>();
  /** By project, then by kind. */
  readonly #watches = new Map<string, Map<string, RunningInformer<KubeObject>>>();

  constructor(deps: LinesDeps) {
    this.#deps = deps;
  }

  /** The refusal that stands for a claim, or undefined where it may ask IPAM. */
  standing(uid: string): Standing | undefined {
    const entry = this.#entries.get(uid);
    return entry === undefined || entry.line.line.mayTry(uid) ? undefined : entry;
  }

  /**
   * Puts a claim that was never refused at its place in the line for what it needs, if others wait for just that. Answers
   * the refusal it shares with them.
   */
  joinOthers(
    claim: Stored<NetworkInterfaceClaim>,
    place: Request,
    needs: readonly string[],
    enqueue: Entry['enqueue'],
  ) {
    const { uid } = claim.metadata;
    if (this.#entries.has(uid)) return this.standing(uid);
    for (const need of needs) {
      const named = this.#needs.get(need);
      if (named?.shared === undefined || named.line.size === 0) continue;
      this.#enter(named, claim, place, named.shared, enqueue);
      return named.shared;
    }
    return undefined;
  }

  /** IPAM has refused a claim. Answers whether something will wake it. */
  refused(
    claim: Stored<NetworkInterfaceClaim>,
    place: Request,
    project: string,
    need: string,
    standing: Standing,
    enqueue: Entry['enqueue'],
  ): boolean {
    const { uid } = claim.metadata;
    const { dependsOn } = standing.refusal;
    if (dependsOn.length === 0) {
      this.left(uid, false);
      return false;
    }
    const id = [place.plane, project, ...[...dependsOn].sort()].join('\0');
    const before = this.#entries.get(uid);
    if (before !== undefined && before.line.id !== id) this.left(uid, false);
    const named = this.#lines.get(id) ?? this.#open(id, project, dependsOn);
    // Only this reason's message says nothing of the claim that was refused.
    if (standing.refusal.reason === 'AddressPoolExhausted') {
      named.shared = standing;
      this.#needs.set(need, named);
    }
    this.#enter(named, claim, place, standing, enqueue);
    return true;
  }

  /** A claim waits no more. `served`: it got what the line waits for, so there may be more. */
  left(uid: string, served: boolean): void {
    const entry = this.#entries.get(uid);
    if (entry === undefined) return;
    this.#entries.delete(uid);
    this.#call(entry.line.line.leave(uid, served));
    if (entry.line.line.size === 0) this.#close(entry.line);
    else if (served) this.#arm(entry.line, lagMilliseconds);
  }

  /** A plane is left: nobody of it waits here any more. */
  forget(plane: string): void {
    for (const [uid, entry] of this.#entries) if (entry.key.plane === plane) this.#entries.delete(uid);
    for (const named of [...this.#lines.values()]) if (named.id.startsWith(`${plane}\0`)) this.#close(named);
  }

  #enter(
    named: NamedLine,
    claim: Stored<NetworkInterfaceClaim>,
    key: Request,
    standing: Standing,
    enqueue: Entry['enqueue'],
  ): void {
    const { uid, creationTimestamp, namespace = '', name } = claim.metadata;
    this.#entries.set(uid, { ...standing, line: named, key, enqueue });
    this.#call(named.line.refuse({ uid, order: `${creationTimestamp}\0${namespace}\0${name}` }));
  }

  #call(uids: readonly string[]): void {
    for (const uid of uids) {
      const entry = this.#entries.get(uid);
      entry?.enqueue(entry.key);
    }
  }

  #open(id: string, project: string, dependsOn: readonly string[]): NamedLine {
    const named: NamedLine = { id, project, dependsOn, line: new Line(), shared: undefined, fallback: undefined };
    this.#lines.set(id, named);
    this.#arm(named, lagMilliseconds);
    this.#watch(project, dependsOn);
    return named;
  }

  #close(named: NamedLine): void {
    named.fallback?.cancel();
    this.#lines.delete(named.id);
    for (const [need, line] of this.#needs) if (line === named) this.#needs.delete(need);
    if ([...this.#lines.values()].some((each) => each.project === named.project)) return;
    const watches = this.#watches.get(named.project);
    this.#watches.delete(named.project);
    for (const informer of watches?.values() ?? []) void informer.stop();
  }

  #arm(named: NamedLine, milliseconds = fallbackMilliseconds * (0.75 + this.#deps.random.next() / 2)): void {
    named.fallback?.cancel();
    named.fallback = this.#deps.clock.after(milliseconds, () => {
      this.#call(named.line.wake());
      this.#arm(named);
    });
  }

  #wake(project: string, dependency: string): void {
    for (const named of this.#lines.values()) {
      if (named.project === project && named.dependsOn.includes(dependency)) this.#call(named.line.wake());
    }
  }

  /** Begins to watch the kinds these objects are of in a project. They are watched as long as anybody waits there. */
  #watch(project: string, dependsOn: readonly string[]): void {
    const { clock, random, log } = this.#deps;
    const client = this.#deps.client(project);
    const running = this.#watches.get(project) ?? new Map<string, RunningInformer<KubeObject>>();
    this.#watches.set(project, running);
    const start = <T extends KubeObject>(type: ResourceType<T>, wakes: (event: InformerEvent<T>) => string[]): void => {
      if (running.has(type.plural)) return;
      const onError = (err: unknown) =>
        log.debug({ err, project, kind: type.kind }, 'what claims wait for can not be watched; tried again');
      const informer = startInformer({ client, type, clock, random, onError });
      informer.onEvent((event) => {
        for (const dependency of wakes(event)) this.#wake(project, dependency);
      });
      running.set(type.plural, informer as unknown as RunningInformer<KubeObject>);
    };
    start(IPPool, wokenByPool);
    start(IPClass, wokenByClass);
    // As many as there are addresses: only for who needs one of them to go.
    if (dependsOn.some((each) => each.startsWith('ipallocations/'))) start(IPAllocation, wokenByAllocation);
  }
}

function wokenByClass(event: InformerEvent<IPClass>): string[] {
  return event.type === 'updated' && sameGeneration(event) ? [] : [`ipclasses/${event.object.metadata.name}`];
}

function wokenByAllocation({ type, object }: InformerEvent<IPAllocation>): string[] {
  return type === 'deleted' ? [`ipallocations/${object.metadata.name}`] : [];
}

/**
 * What a pool's change can help: those who wait for it, where more is free in it or it is another one now; and those who
 * wait for a class it offers, where it is new or offers another.
 */
export function wokenByPool(event: InformerEvent<IPPool>): string[] {
  const { metadata, spec } = event.object;
  const own = `ippools/${metadata.name}`;
  if (event.type === 'updated' && sameGeneration(event)) return hasMoreRoom(event.object, event.old) ? [own] : [];
  const classes = [...(spec?.classNames ?? []), ...(spec?.classRef === undefined ? [] : [spec.classRef.name])];
  return [own, ...classes.map((name) => `ipclasses/${name}`)];
}

function sameGeneration({ object, old }: { object: KubeObject; old: KubeObject }): boolean {
  return object.metadata.generation === old.metadata.generation;
}

function hasMoreRoom(now: IPPool, before: IPPool): boolean {
  const [free, held] = [now, before].map(({ status }) => BigInt(status?.capacity?.available ?? '0'));
  const { largestFreePrefixLength: largest } = now.status ?? {};
  return free! > held! || (largest !== undefined && largest < (before.status?.largestFreePrefixLength ?? 129));
}
