import { fabricAnnotations, NetworkAttachmentDefinition, VPC, VPCAttachment } from '../../../api/index.ts';
import type { Plane } from '../../../kube/index.ts';
import { ApiError, type Stored } from '../../../meta/index.ts';
import { type Attachment, attachmentIdentifier } from '../../codec/index.ts';
import { keyOf } from '../cell.ts';
import { recordedPair, repeatedPair } from './pair.ts';

const byVpc = 'fabric/vpc-identifier';
const byPair = 'fabric/attachment-identifier';

/** Identifiers written ahead on the VPC at once: after a restart so many at most are passed over. */
const writtenAhead = 64;

/** What is known of the identifiers of one VPC. */
interface Run {
  /** The one handed out last; 0: none yet. */
  last: number;
  /** What the VPC says, as this process wrote it; undefined before that. */
  until: number | undefined;
  /** How many more may be handed out before the VPC has to say so. */
  ahead: number;
  /** Handed out, and not on a definition yet. */
  pending: Set<number>;
  /** Hands out one at a time. */
  turn: Promise<unknown>;
}

/** Makes the identifiers in use known: those on definitions, which are the record, and in the status that repeats them. */
export function indexIdentifiers(plane: Plane): void {
  const definitions = plane.informer(NetworkAttachmentDefinition);
  definitions.addIndex(byVpc, (definition) => {
    const pair = recordedPair(definition);
    return pair === undefined ? [] : [String(pair.vpc)];
  });
  definitions.addIndex(byPair, (definition) => keysOf(recordedPair(definition)));
  plane.informer(VPCAttachment).addIndex(byPair, (attachment) => keysOf(repeatedPair(attachment)));
}

function keysOf(pair: Attachment | undefined): string[] {
  return pair === undefined ? [] : [`${pair.vpc}/${pair.attachment}`];
}

/** Pure. The next identifier after `last`, going round, that nobody holds; undefined where every one is held. */
export function nextIdentifier(
  last: number,
  isHeld: (identifier: number) => boolean,
  largest: number,
): number | undefined {
  for (let step = 0; step < largest; step++) {
    const identifier = ((last + step) % largest) + 1;
    if (!isHeld(identifier)) return identifier;
  }
  return undefined;
}

/**
 * Hands out the identifiers of attachments in each VPC of the cells: the next after the last, so that a freed one is not
 * soon somebody else's. How far that has gone is written on the VPC ahead of use, and so outlives the process.
 */
export class Identifiers {
  readonly #runs = new Map<string, Run>();
  /** What interfaces had last, by plane and UID. */
  readonly #last = new Map<string, Attachment>();
  readonly #largest: number;

  constructor(largest: number = attachmentIdentifier.largest) {
    this.#largest = largest;
  }

  /**
   * One of VPC `id` that nobody holds, and nobody else is given until `settle`; undefined where every one is held. An
   * interface whose objects were all deleted by hand gets the one it had.
   */
  take(plane: Plane, vpc: Stored<VPC>, id: number, interfaceUid: string): Promise<number | undefined> {
    const run = this.#runOf(plane, id);
    const taken = run.turn.then(() => this.#again(run, plane, id, interfaceUid) ?? this.#next(run, plane, vpc, id));
    run.turn = taken.catch(() => undefined);
    return taken;
  }

  /** It is on a definition now, or will not be: what holds it can be seen. */
  settle(plane: Plane, { vpc, attachment }: Attachment): void {
    this.#runs.get(runKey(plane, vpc))?.pending.delete(attachment);
  }

  /** An interface has this pair. */
  note(plane: Plane, interfaceUid: string, pair: Attachment): void {
    this.#last.set(`${plane.id}\0${interfaceUid}`, pair);
  }

  forgetInterface(plane: Plane, interfaceUid: string): void {
    this.#last.delete(`${plane.id}\0${interfaceUid}`);
  }

  /** Forgets a plane that is left. */
  forget(plane: Plane): void {
    for (const map of [this.#runs, this.#last]) {
      for (const key of map.keys()) if (key.startsWith(`${plane.id}\0`)) map.delete(key);
    }
  }

  #again(run: Run, plane: Plane, vpc: number, interfaceUid: string): number | undefined {
    const last = this.#last.get(`${plane.id}\0${interfaceUid}`);
    if (last?.vpc !== vpc || run.pending.has(last.attachment) || isInUse(plane, last)) return undefined;
    run.pending.add(last.attachment);
    return last.attachment;
  }

  async #next(run: Run, plane: Plane, vpc: Stored<VPC>, id: number): Promise<number | undefined> {
    const isHeld = (each: number) => run.pending.has(each) || isInUse(plane, { vpc: id, attachment: each });
    let next = nextIdentifier(run.last, isHeld, this.#largest);
    if (next === undefined) return undefined;
    if (this.#distance(run.last, next) > run.ahead) {
      await this.#writeAhead(run, plane, vpc, id);
      next = nextIdentifier(run.last, isHeld, this.#largest);
      if (next === undefined) return undefined;
    }
    run.ahead -= this.#distance(run.last, next);
    run.last = next;
    run.pending.add(next);
    return next;
  }

  /**
   * Writes on the VPC how far identifiers will be handed out, before any of them is. What it says now is read live: a cache may be
   * late, and whoever wrote there since has handed out what this process must not.
   */
  async #writeAhead(run: Run, plane: Plane, seen: Stored<VPC>, id: number): Promise<void> {
    const vpc = await plane.client.get(VPC, keyOf(seen));
    if (vpc === undefined || vpc.metadata.uid !== seen.metadata.uid) {
      throw ApiError.of('Conflict', `VPC ${seen.metadata.name} is another one by now`);
    }
    const said = Number(vpc.metadata.annotations?.[fabricAnnotations.attachmentsUntil]);
    const legal = Number.isInteger(said) && said >= 1 && said <= this.#largest;
    // A VPC that says nothing had no attachments, or got them from somebody who kept no account.
    if (legal && said !== run.until) run.last = said;
    else if (run.until === undefined) run.last = largestOf(plane, id);
    const next = nextIdentifier(run.last, (each) => isInUse(plane, { vpc: id, attachment: each }), this.#largest) ?? 1;
    const until = ((next + writtenAhead - 1) % this.#largest) + 1;
    const { uid, resourceVersion } = vpc.metadata;
    const annotations = { [fabricAnnotations.attachmentsUntil]: String(until) };
    const body = { metadata: { uid, resourceVersion, annotations } };
    await plane.client.patch(VPC, keyOf(vpc), { type: 'merge', body });
    run.until = until;
    run.ahead = this.#distance(run.last, next) + writtenAhead;
  }

  #distance(from: number, to: number): number {
    return (to - from + this.#largest) % this.#largest;
  }

  #runOf(plane: Plane, id: number): Run {
    const key = runKey(plane, id);
    let run = this.#runs.get(key);
    if (run === undefined) {
      run = { last: 0, until: undefined, ahead: -1, pending: new Set(), turn: Promise.resolve() };
      this.#runs.set(key, run);
    }
    return run;
  }
}

function runKey(plane: Plane, vpc: number): string {
  return `${plane.id}\0${vpc}`;
}

function isInUse(plane: Plane, { vpc, attachment }: Attachment): boolean {
  const key = `${vpc}/${attachment}`;
  return (
    plane.informer(NetworkAttachmentDefinition).byIndex(byPair, key).length > 0 ||
    plane.informer(VPCAttachment).byIndex(byPair, key).length > 0
  );
}

function largestOf(plane: Plane, vpc: number): number {
  const definitions = plane.informer(NetworkAttachmentDefinition).byIndex(byVpc, String(vpc));
  return definitions.reduce((largest, each) => Math.max(largest, recordedPair(each)?.attachment ?? 0), 0);
}
