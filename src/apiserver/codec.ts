import { deepFreeze, type KubeObject } from '../meta/index.ts';
import { Recent } from './recent.ts';
import type { Served } from './served.ts';

/** Between stored bytes and objects. Bytes are served as they are wherever nothing must change. */

export function bytesToText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

/** Whether the stored bytes are the served form: same version, and written under today's schema. */
export function servedAsStored(served: Served, revision: number): boolean {
  return (
    served.strategy.convert === undefined &&
    served.apiVersion === served.storedApiVersion &&
    revision >= served.schemaRevision
  );
}

/** A fresh object in the served form, free to be changed. */
export function decode(served: Served, value: Uint8Array, revision: number): KubeObject {
  let object = JSON.parse(bytesToText(value)) as KubeObject;
  if (served.strategy.convert !== undefined) object = served.strategy.convert.fromStored(object);
  const older = revision < served.schemaRevision;
  const fields = object as unknown as Record<string, unknown>;
  const { schema } = served.resource;
  const storedAs = object.apiVersion;
  object.apiVersion = served.apiVersion;
  if (served.siblings !== undefined && storedAs !== served.apiVersion) {
    // Defaults are those of the version it is stored in; what the version asked for does not have is not shown.
    if (older) served.siblings.get(storedAs)?.applyDefaults(fields);
    schema.prune(fields);
  } else if (older) {
    schema.prune(fields);
    schema.applyDefaults(fields);
  }
  return object;
}

/**
 * The objects of the last values written here: a write is told to its writer, to watches and to the server's own followers
 * within moments, and often changed again soon, and all of them would parse it. Bounded, because an object takes many
 * times the memory of its bytes.
 */
const written = new Recent<Uint8Array, { object: KubeObject; served: Served }>(512);

/** What stored bytes say, as they say it. Not to be changed: it may be everybody's. */
export function storedObject(value: Uint8Array): KubeObject {
  return written.get(value)?.object ?? (JSON.parse(bytesToText(value)) as KubeObject);
}

/** The same where it is at hand, without a look into the bytes. */
export function objectAtHand(value: Uint8Array): KubeObject | undefined {
  return written.get(value)?.object;
}

/** The object of stored bytes in the served form, deep-frozen: to be read, by others too. */
export function shared(served: Served, value: Uint8Array, revision: number): KubeObject {
  const known = servedAsStored(served, revision) ? written.get(value) : undefined;
  return deepFreeze(known?.object ?? decode(served, value, revision));
}

/**
 * The object of stored bytes in the served form, as the base of a change: deep-frozen only where nothing in it is left to
 * be pruned or defaulted in place, having been written under the very schema that is served now.
 */
export function base(served: Served, value: Uint8Array, revision: number): KubeObject {
  const known = written.get(value);
  // Kinds of the server itself have no revision of their schema: what an older program stored may be of another shape.
  const current = known?.served === served && served.schemaRevision > 0 && servedAsStored(served, revision);
  return current ? deepFreeze(known.object) : decode(served, value, revision);
}

/** The bytes of a stored object in the served form. */
export function servedBytes(served: Served, value: Uint8Array, revision: number): Uint8Array {
  if (servedAsStored(served, revision)) return value;
  return Buffer.from(JSON.stringify(decode(served, value, revision)));
}

/**
 * What storage calls with the revision of the commit: sets resourceVersion on `object` and writes the stored form. Once the
 * commit is durable `object` is shared and must not change any more.
 */
export function encoder(served: Served, object: KubeObject): (revision: number) => Uint8Array {
  return (revision) => {
    object.metadata.resourceVersion = String(revision);
    if (served.strategy.convert === undefined && served.apiVersion === served.storedApiVersion) {
      const value = bytesOf(object);
      written.set(value, { object, served });
      return value;
    }
    const stored = { ...(served.strategy.convert?.toStored(object) ?? object), apiVersion: served.storedApiVersion };
    const schema = served.siblings?.get(served.storedApiVersion);
    if (schema === undefined) return bytesOf(stored);
    const complete = structuredClone(stored);
    schema.applyDefaults(complete as unknown as Record<string, unknown>);
    return bytesOf(complete);
  };
}

const encoding = new TextEncoder();

/** In a buffer of their own, unlike Buffer.from: what is kept by storage must not keep other buffers' memory. */
function bytesOf(value: unknown): Uint8Array {
  return encoding.encode(JSON.stringify(value));
}

const noLabels = Object.freeze({});
const labelled = new Recent<object, Readonly<Record<string, string>>>(512);

/** Labels of a stored object, be it a record or an event. Remembered, so that many watchers parse it once. */
export function labelsOf(state: { readonly value: Uint8Array }): Readonly<Record<string, string>> {
  let labels = labelled.get(state);
  if (labels === undefined) {
    labels = storedObject(state.value).metadata.labels ?? noLabels;
    labelled.set(state, labels);
  }
  return labels;
}
