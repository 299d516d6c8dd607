import { int32, map, object, oneOf, optional, text } from '../schema.ts';

/**
 * What the kinds of `ipam.miloapis.com` share. IPAM serves them itself: it validates with all it knows, so the
 * schemas here give types and descriptions, and neither defaults nor CEL rules.
 */
export const ipam = { group: 'ipam.miloapis.com', version: 'v1alpha1', servedBy: 'aggregated' } as const;

export function localRef(description: string) {
  return object(description, { name: text('Name of the object.') });
}

export function objectRef(description: string) {
  return object(description, {
    apiGroup: optional(text('API group of the object.')),
    kind: optional(text('Kind of the object.')),
    namespace: optional(text('Namespace of the object.')),
    name: optional(text('Name of the object.')),
  });
}

export function scope(description: string) {
  return map(
    description,
    object('The object that plays the role.', {
      apiGroup: optional(text('API group of the object.')),
      kind: text('Kind of the object.'),
      name: text('Name of the object.'),
      uid: optional(text('UID of the object: another object of the same name is another scope.')),
    }),
  );
}

export function family(description = 'Address family.') {
  return oneOf(description, ['IPv4', 'IPv6']);
}

export function reclaimPolicy(description: string) {
  return oneOf(description, ['Delete', 'Retain']);
}

/** A duration as Go writes it: `90s`, `1h30m`. */
export function duration(description: string) {
  return text(description, { format: 'duration' });
}

export function reservations() {
  return object('Blocks at the ends of each pool that are never handed out.', {
    leading: optional(int32('Blocks at the start.')),
    trailing: optional(int32('Blocks at the end.')),
    unitPrefixLength: optional(int32('Prefix length of one block.')),
  });
}
