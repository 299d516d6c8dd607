import type { KubeObject } from '../meta/index.ts';
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
  object.apiVersion = served.apiVersion;
  if (revision < served.schemaRevision) {
    served.resource.schema.prune(object as unknown as Record<string, unknown>);
    served.resource.schema.applyDefaults(object as unknown as Record<string, unknown>);
  }
  return object;
}

/** The bytes of a stored object in the served form. */
export function servedBytes(served: Served, value: Uint8Array, revision: number): Uint8Array {
  if (servedAsStored(served, revision)) return value;
  return Buffer.from(JSON.stringify(decode(served, value, revision)));
}

/** What storage calls with the revision of the commit: sets resourceVersion on `object` and writes the stored form. */
export function encoder(served: Served, object: KubeObject): (revision: number) => Uint8Array {
  return (revision) => {
    object.metadata.resourceVersion = String(revision);
    if (served.strategy.convert === undefined && served.apiVersion === served.storedApiVersion) {
      return Buffer.from(JSON.stringify(object));
    }
    const stored = served.strategy.convert?.toStored(object) ?? object;
    return Buffer.from(JSON.stringify({ ...stored, apiVersion: served.storedApiVersion }));
  };
}

const noLabels = Object.freeze({});
const labelCache = new WeakMap<Uint8Array, Readonly<Record<string, string>>>();

/** Labels of a stored object. Remembered per buffer, so that many watchers parse an event once. */
export function labelsOf(value: Uint8Array): Readonly<Record<string, string>> {
  let labels = labelCache.get(value);
  if (labels === undefined) {
    labels = (JSON.parse(bytesToText(value)) as KubeObject).metadata.labels ?? noLabels;
    labelCache.set(value, labels);
  }
  return labels;
}
