import type { KubeObject, Lease } from '../../meta/index.ts';
import { badRequest, fieldInvalid } from '../errors.ts';
import type { FieldError } from '../schema/schema.ts';
import { ageColumn, builtin, int32, object, string, time } from './define.ts';

function validateLease(lease: Lease): FieldError[] {
  const errors: FieldError[] = [];
  const { leaseDurationSeconds, leaseTransitions } = lease.spec ?? {};
  if (leaseDurationSeconds !== undefined && leaseDurationSeconds <= 0) {
    errors.push(fieldInvalid('spec.leaseDurationSeconds', leaseDurationSeconds, 'must be greater than 0'));
  }
  if (leaseTransitions !== undefined && leaseTransitions < 0) {
    errors.push(fieldInvalid('spec.leaseTransitions', leaseTransitions, 'must be greater than or equal to 0'));
  }
  return errors;
}

/** A Lease shows its spec, said or not, and of it nothing that is for coordinated election: a feature that is off. */
function fill(lease: KubeObject): void {
  const { strategy: _, preferredHolder: __, ...spec } = (lease as Lease & { spec?: Coordinated }).spec ?? {};
  for (const value of [spec.acquireTime, spec.renewTime]) checkMicroTime(value);
  lease.spec = spec;
}

const microTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(.*)$/;

/** Throws 400 for a time that does not say its microseconds: Go reads no other. */
function checkMicroTime(value: unknown): void {
  if (typeof value !== 'string') return;
  const rest = microTime.exec(value)?.[1];
  if (rest !== undefined && /^\.\d{6}(?!\d)/.test(rest)) return;
  const [odd, wanted] = rest === undefined ? [value, '2006'] : [rest, '.000000'];
  const why = `parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05.000000Z07:00": cannot parse ${JSON.stringify(odd)} as "${wanted}"`;
  throw badRequest(`Lease in version "v1" cannot be handled as a Lease: ${why}`);
}

interface Coordinated {
  strategy?: string;
  preferredHolder?: string;
}

export const leases = builtin({
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
  description: 'Lease defines a lease concept.',
  properties: {
    spec: object({
      holderIdentity: string,
      leaseDurationSeconds: int32,
      acquireTime: time,
      renewTime: time,
      leaseTransitions: int32,
      strategy: string,
      preferredHolder: string,
    }),
  },
  columns: [{ name: 'Holder', type: 'string', jsonPath: '.spec.holderIdentity' }, ageColumn],
  strategy: {
    createOnUpdate: true,
    unconditionalUpdate: false,
    zero: { spec: {} },
    prepareCreate: fill,
    prepareUpdate: fill,
    validate: (lease) => validateLease(lease as Lease),
  },
});
