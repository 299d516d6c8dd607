import type { Lease } from '../../meta/index.ts';
import { fieldForbidden, fieldInvalid, fieldNotSupported } from '../errors.ts';
import type { FieldError } from '../schema/schema.ts';
import { qualifiedName } from '../validation/names.ts';
import { ageColumn, builtin, int32, object, string, time } from './define.ts';

function validateLease(lease: Lease): FieldError[] {
  const errors: FieldError[] = [];
  const { leaseDurationSeconds, leaseTransitions, strategy, preferredHolder } = (lease.spec ?? {}) as NonNullable<
    Lease['spec']
  > & { strategy?: string; preferredHolder?: string };
  if (leaseDurationSeconds !== undefined && leaseDurationSeconds <= 0) {
    errors.push(fieldInvalid('spec.leaseDurationSeconds', leaseDurationSeconds, 'must be greater than 0'));
  }
  if (leaseTransitions !== undefined && leaseTransitions < 0) {
    errors.push(fieldInvalid('spec.leaseTransitions', leaseTransitions, 'must be greater than or equal to 0'));
  }
  if (strategy !== undefined) {
    const wrong = strategy.includes('/') ? qualifiedName(strategy) : undefined;
    // The path is doubled in kube-apiserver too.
    const field = 'spec.strategy.strategy';
    if (wrong !== undefined) errors.push(fieldInvalid(field, strategy, wrong));
    else if (!strategy.includes('/') && strategy !== 'OldestEmulationVersion') {
      errors.push(fieldNotSupported(field, strategy, ['OldestEmulationVersion']));
    }
  }
  if ((preferredHolder ?? '') !== '' && (strategy ?? '') === '') {
    errors.push(fieldForbidden('spec.preferredHolder', 'may only be specified if `strategy` is defined'));
  }
  return errors;
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
  strategy: { createOnUpdate: true, validate: (lease) => validateLease(lease as Lease) },
});
