import { jsonEqual, type KubeObject, type ObjectMeta, type Stored } from '../meta/index.ts';
import { sourceUid } from './keys.ts';

type Body = Record<string, unknown>;

/** Top-level fields that are not carried: identity and metadata have rules of their own, status goes its own way. */
const notCarried = new Set(['apiVersion', 'kind', 'metadata', 'status']);

/** Everything of an object but its metadata and status: for most kinds, `spec`. */
function bodyOf(object: KubeObject): Body {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !notCarried.has(key)));
}

/**
 * What a copy of `source` looks like: body, labels and annotations, with the source's UID recorded. Never status, owner
 * references or finalizers (they mean something only where they were written).
 */
export function copyOf(source: Stored<KubeObject>): KubeObject {
  const metadata: ObjectMeta = {
    name: source.metadata.name,
    annotations: { ...source.metadata.annotations, [sourceUid]: source.metadata.uid },
  };
  if (source.metadata.namespace !== undefined) metadata.namespace = source.metadata.namespace;
  if (source.metadata.labels !== undefined) metadata.labels = { ...source.metadata.labels };
  return { apiVersion: source.apiVersion, kind: source.kind, metadata, ...bodyOf(source) };
}

/**
 * `held` brought up to `wanted` (an object to PUT), or undefined where it already is. Finalizers and, where `wanted` names
 * none, owner references of the held object stay: others put them there.
 */
export function updateOf(wanted: KubeObject, held: Stored<KubeObject>): KubeObject | undefined {
  const owners = wanted.metadata.ownerReferences ?? held.metadata.ownerReferences;
  const same =
    jsonEqual(bodyOf(wanted), bodyOf(held)) &&
    jsonEqual(wanted.metadata.labels ?? {}, held.metadata.labels ?? {}) &&
    jsonEqual(wanted.metadata.annotations ?? {}, held.metadata.annotations ?? {}) &&
    jsonEqual(owners ?? [], held.metadata.ownerReferences ?? []);
  if (same) return undefined;
  const metadata: ObjectMeta = { ...held.metadata };
  if (wanted.metadata.labels === undefined) delete metadata.labels;
  else metadata.labels = wanted.metadata.labels;
  if (wanted.metadata.annotations === undefined) delete metadata.annotations;
  else metadata.annotations = wanted.metadata.annotations;
  if (owners !== undefined) metadata.ownerReferences = owners;
  const next: KubeObject = { apiVersion: held.apiVersion, kind: held.kind, metadata, ...bodyOf(wanted) };
  if (held.status !== undefined) next.status = held.status;
  return next;
}

export function sourceUidOf(copy: KubeObject): string | undefined {
  return copy.metadata.annotations?.[sourceUid];
}
