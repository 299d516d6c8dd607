import type { WireEvent } from '../../kube/index.ts';
import type { KubeObject } from '../../meta/index.ts';
import { bytesToText, decode, servedBytes, shared } from '../codec.ts';
import type { Frame } from '../http/frame-queue.ts';
import { Recent } from '../recent.ts';
import type { Served } from '../served.ts';
import type { StorageEvent } from '../storage/storage.ts';
import { partialObjectMetadata, type TableOptions } from '../table/index.ts';
import { tableOf } from './table.ts';

/** The lines of a watch. Their bytes are made once per event and form, and shared by everyone who watches. */

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

const prefixes: Record<EventType, Uint8Array> = {
  ADDED: Buffer.from('{"type":"ADDED","object":'),
  MODIFIED: Buffer.from('{"type":"MODIFIED","object":'),
  DELETED: Buffer.from('{"type":"DELETED","object":'),
};
const suffix = Buffer.from('}\n');

interface CachedLine {
  type: EventType;
  served: Served;
  line: Uint8Array;
}
/** Of the values that were told last. A value may be kept for as long as its object: its lines must not be. */
const lines = new Recent<Uint8Array, CachedLine[]>(512);

/** `{"type":…,"object":…}` and a line feed. */
export class EventFrame implements Frame {
  readonly #served: Served;
  readonly #type: EventType;
  readonly #value: Uint8Array;
  readonly #revision: number;

  constructor(served: Served, type: EventType, value: Uint8Array, revision: number) {
    this.#served = served;
    this.#type = type;
    this.#value = value;
    this.#revision = revision;
  }

  get size(): number {
    return this.#value.byteLength + prefixes[this.#type].byteLength + suffix.byteLength;
  }

  event(): WireEvent {
    return { type: this.#type, object: shared(this.#served, this.#value, this.#revision) };
  }

  bytes(): Uint8Array {
    const type = this.#type;
    const served = this.#served;
    const value = this.#value;
    const known = lines.get(value);
    const hit = known?.find((entry) => entry.type === type && entry.served === served);
    if (hit !== undefined) return hit.line;
    const line = Buffer.concat([prefixes[type], servedBytes(served, value, this.#revision), suffix]);
    if (known === undefined) lines.set(value, [{ type, served, line }]);
    else known.push({ type, served, line });
    return line;
  }
}

const departures = new Recent<StorageEvent, Uint8Array>(512);

/** An object that a change took out of a selection, as its DELETED event shows it: as it was, at the change's revision. */
export function departed(event: StorageEvent): Uint8Array {
  const known = departures.get(event);
  if (known !== undefined) return known;
  const object = JSON.parse(bytesToText(event.previous!.value)) as KubeObject;
  object.metadata.resourceVersion = String(event.revision);
  const value = Buffer.from(JSON.stringify(object));
  departures.set(event, value);
  return value;
}

export function bookmarkFrame(served: Served, revision: number, initialEventsEnd: boolean): Frame {
  const metadata = {
    resourceVersion: String(revision),
    ...(initialEventsEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
  };
  return lineOf('BOOKMARK', { kind: served.resource.kind, apiVersion: served.apiVersion, metadata });
}

export function lineOf(type: string, object: unknown): Frame {
  const line = Buffer.from(`${JSON.stringify({ type, object })}\n`);
  return { size: line.length, bytes: () => line, event: () => ({ type, object }) };
}

/** Frames of a watch that wants Tables or metadata only: made for each such watcher. */
export class TransformedFrames {
  readonly #served: Served;
  readonly #as: 'Table' | 'PartialObjectMetadata';
  readonly #options: () => TableOptions;
  #columnsSent = false;

  constructor(served: Served, as: 'Table' | 'PartialObjectMetadata', options: () => TableOptions) {
    this.#served = served;
    this.#as = as;
    this.#options = options;
  }

  event(type: EventType, value: Uint8Array, revision: number): Frame {
    return lineOf(type, this.#transform(decode(this.#served, value, revision)));
  }

  bookmark(revision: number, initialEventsEnd: boolean): Frame {
    const metadata = {
      resourceVersion: String(revision),
      ...(initialEventsEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
    };
    const { resource, apiVersion } = this.#served;
    const object = { kind: resource.kind, apiVersion, metadata } as unknown as KubeObject;
    return lineOf('BOOKMARK', this.#transform(object));
  }

  #transform(object: KubeObject): unknown {
    if (this.#as === 'PartialObjectMetadata') return partialObjectMetadata(object, this.#options().version);
    // Column definitions come with the first event alone.
    const noHeaders = this.#columnsSent;
    this.#columnsSent = true;
    const metadata = { resourceVersion: object.metadata.resourceVersion ?? '' };
    return tableOf(this.#served, [object], { ...this.#options(), noHeaders, metadata });
  }
}
