import { bitsOf, IpAddress, type IpFamily, IpPrefix } from '../address/index.ts';
import { jsonEqual, parseDuration } from '../meta/index.ts';
import { rangeCauses, unitCauses } from './fixed-ranges.ts';
import type { IPAllocation, IPClaim, IPClass, IPPool, Reservations, Scope } from './objects.ts';
import { type FieldCause, forbiddenValue, invalidValue, requiredValue } from './refusals.ts';
import { impliedRoles } from './scope.ts';

const roleName = /^[a-zA-Z][a-zA-Z0-9-]{0,62}$/;

function roleCauses(field: string, roles: readonly string[] | undefined): FieldCause[] {
  const causes: FieldCause[] = [];
  for (const [index, role] of (roles ?? []).entries()) {
    if (!roleName.test(role) || role === '__proto__') {
      causes.push(
        invalidValue(`${field}[${index}]`, role, 'a role is a letter, then letters, digits and "-", at most 63'),
      );
    } else if (roles!.indexOf(role) !== index) {
      causes.push({
        reason: 'FieldValueDuplicate',
        field: `${field}[${index}]`,
        message: `Duplicate value: ${JSON.stringify(role)}`,
      });
    }
  }
  return causes;
}

function reservationCauses(family: IpFamily, reservations: Reservations | undefined): FieldCause[] {
  if (reservations === undefined) return [];
  const count = (reservations.leading ?? 0) + (reservations.trailing ?? 0);
  const unit = reservations.unitPrefixLength;
  const causes: FieldCause[] = [];
  if (count > 1024)
    causes.push(invalidValue('spec.reservations', count, 'leading and trailing together are at most 1024'));
  if (count > 0 && unit === undefined) {
    causes.push(requiredValue('spec.reservations.unitPrefixLength', 'says how large one reserved unit is'));
  }
  if (unit !== undefined && (unit < 1 || unit > bitsOf[family])) {
    causes.push(invalidValue('spec.reservations.unitPrefixLength', unit, `must be 1 to ${bitsOf[family]}`));
  }
  return causes;
}

function leaseCauses(field: string, text: string | undefined): FieldCause[] {
  if (text === undefined) return [];
  const lease = parseDuration(text);
  if (lease === undefined) return [invalidValue(field, text, 'must be a duration such as 36h or 1h30m')];
  return lease === 0 ? [invalidValue(field, text, 'must not be zero; leave it out to retain for ever')] : [];
}

function restCauses(text: string | undefined): FieldCause[] {
  if (text === undefined || parseDuration(text) !== undefined) return [];
  return [invalidValue('spec.restPeriod', text, 'must be a duration such as 60s, or 0s')];
}

function lengthCause(field: string, length: number | undefined, family: IpFamily | undefined, min = 0): FieldCause[] {
  const max = family === undefined ? 128 : bitsOf[family];
  if (length === undefined || (Number.isInteger(length) && length >= min && length <= max)) return [];
  return [invalidValue(field, length, `must be ${min} to ${max}`)];
}

function frozen(field: string, now: unknown, before: unknown): FieldCause[] {
  return jsonEqual(now, before) ? [] : [invalidValue(field, now ?? null, 'field is immutable')];
}

export function classCauses(object: IPClass, old?: IPClass): FieldCause[] {
  const spec = object.spec ?? {};
  if (old !== undefined) {
    const fields = ['source', 'ipFamily', 'parentClassName', 'poolPer', 'uniqueWithin'] as const;
    const causes = fields.flatMap((field) => frozen(`spec.${field}`, spec[field], old.spec?.[field]));
    if (causes.length > 0) return causes;
  }
  if (spec.source !== undefined) {
    return [
      forbiddenValue('spec.source', 'classes of other projects are not supported; define the class in this project'),
    ];
  }
  if (spec.ipFamily !== 'IPv4' && spec.ipFamily !== 'IPv6') {
    return [
      spec.ipFamily === undefined
        ? requiredValue('spec.ipFamily', 'IPv4 or IPv6')
        : {
            reason: 'FieldValueNotSupported',
            field: 'spec.ipFamily',
            message: `Unsupported value: ${JSON.stringify(spec.ipFamily)}: supported values: "IPv4", "IPv6"`,
          },
    ];
  }
  const family = spec.ipFamily === 'IPv4' ? 4 : 6;
  const causes = [
    ...roleCauses('spec.poolPer', spec.poolPer),
    ...roleCauses('spec.uniqueWithin', spec.uniqueWithin),
    ...reservationCauses(family, spec.reservations),
    ...unitCauses(spec.reservations, spec.defaultPrefixLength ?? 0),
    ...leaseCauses('spec.retentionLease', spec.retentionLease),
    ...restCauses(spec.restPeriod),
    ...lengthCause('spec.defaultPrefixLength', spec.defaultPrefixLength, family),
    ...lengthCause('spec.allowedPrefixLengths.min', spec.allowedPrefixLengths?.min, family),
    ...lengthCause('spec.allowedPrefixLengths.max', spec.allowedPrefixLengths?.max, family),
  ];
  if (spec.parentClassName === object.metadata.name) {
    causes.push(invalidValue('spec.parentClassName', spec.parentClassName, 'a class is not its own parent'));
  }
  if (spec.uniqueWithin?.some((role) => impliedRoles.has(role))) {
    causes.push(
      invalidValue(
        'spec.uniqueWithin',
        spec.uniqueWithin,
        'addresses are unique within a project anyway: project is not a role here',
      ),
    );
  }
  if (spec.poolPer?.includes('project') && spec.poolPer.includes('allProjects')) {
    causes.push(
      invalidValue('spec.poolPer', spec.poolPer, 'has both project and allProjects; exactly one may be there'),
    );
  }
  if (spec.reservations !== undefined && (spec.poolPer?.length ?? 0) === 0) {
    causes.push(forbiddenValue('spec.reservations', 'only a class with poolPer has pools to reserve in'));
  }
  if (spec.strategy === 'LeastUtilized') {
    causes.push(forbiddenValue('spec.strategy', 'LeastUtilized is not supported yet; use FirstFit'));
  }
  const { min, max } = spec.allowedPrefixLengths ?? {};
  if (min !== undefined && max !== undefined && min > max) {
    causes.push(invalidValue('spec.allowedPrefixLengths.min', min, `must not be greater than max (${max})`));
  }
  const preset = spec.defaultPrefixLength;
  if (preset !== undefined && ((min !== undefined && preset < min) || (max !== undefined && preset > max))) {
    causes.push(invalidValue('spec.defaultPrefixLength', preset, 'must lie inside spec.allowedPrefixLengths'));
  }
  return causes;
}

export function poolCauses(object: IPPool, old?: IPPool): FieldCause[] {
  const spec = object.spec ?? {};
  if (old !== undefined) {
    const fields = ['ipFamily', 'parentPoolRef', 'classRef', 'scope'] as const;
    const ofClass = ['cidr', 'prefixLength', 'reservations'] as const;
    const frozenFields = old.spec?.classRef === undefined ? fields : [...fields, ...ofClass];
    const causes = frozenFields.flatMap((field) => frozen(`spec.${field}`, spec[field], old.spec?.[field]));
    if (causes.length > 0) return causes;
  }
  const provisioned = old?.spec?.classRef !== undefined;
  const causes: FieldCause[] = [];
  let prefix: IpPrefix | undefined;
  let family: IpFamily | undefined = spec.ipFamily === 'IPv4' ? 4 : spec.ipFamily === 'IPv6' ? 6 : undefined;
  if (spec.parentPoolRef === undefined) {
    if (spec.prefixLength !== undefined)
      causes.push(forbiddenValue('spec.prefixLength', 'a root pool says its range in spec.cidr'));
    if (spec.ipFamily === undefined) causes.push(requiredValue('spec.ipFamily', 'of a root pool: IPv4 or IPv6'));
    if (spec.cidr === undefined) {
      causes.push(requiredValue('spec.cidr', 'a pool has either a range (spec.cidr) or a parent (spec.parentPoolRef)'));
    } else {
      try {
        prefix = IpPrefix.parse(spec.cidr);
        if (family !== undefined && family !== prefix.family) {
          causes.push(
            invalidValue('spec.cidr', spec.cidr, `is IPv${prefix.family}, and spec.ipFamily says ${spec.ipFamily}`),
          );
        }
        family = prefix.family;
      } catch (error) {
        causes.push(invalidValue('spec.cidr', spec.cidr, (error as Error).message));
      }
    }
  } else {
    if (spec.cidr !== undefined)
      causes.push(forbiddenValue('spec.cidr', 'a child pool gets its range from its parent; set spec.prefixLength'));
    if (spec.ipFamily !== undefined && !provisioned)
      causes.push(forbiddenValue('spec.ipFamily', 'a child pool has the family of its parent'));
    if (spec.prefixLength === undefined)
      causes.push(requiredValue('spec.prefixLength', 'how large a block of the parent it is'));
    causes.push(...lengthCause('spec.prefixLength', spec.prefixLength, undefined, 1));
    if (spec.parentPoolRef.name === object.metadata.name) {
      causes.push(invalidValue('spec.parentPoolRef.name', spec.parentPoolRef.name, 'a pool is not its own parent'));
    }
  }
  if (spec.classRef !== undefined && !provisioned) {
    causes.push(forbiddenValue('spec.classRef', 'is set on pools a class provisions; use spec.classNames'));
  }
  if (spec.visibility === 'shared') {
    causes.push(
      forbiddenValue(
        'spec.visibility',
        'sharing a pool with other projects is not supported; use platform or consumer',
      ),
    );
  }
  if (spec.allocation?.strategy === 'LeastUtilized') {
    causes.push(
      forbiddenValue('spec.allocation.strategy', 'LeastUtilized is not supported yet; use FirstFit or BestFit'),
    );
  }
  const { minPrefixLength: min, maxPrefixLength: max } = spec.allocation ?? {};
  causes.push(
    ...lengthCause('spec.allocation.minPrefixLength', min, family),
    ...lengthCause('spec.allocation.maxPrefixLength', max, family),
  );
  if (min !== undefined && max !== undefined && min > max) {
    causes.push(
      invalidValue('spec.allocation.minPrefixLength', min, `must not be greater than maxPrefixLength (${max})`),
    );
  }
  causes.push(
    ...reservationCauses(family ?? 6, spec.reservations),
    ...rangeCauses(spec, prefix),
    ...(prefix === undefined ? [] : unitCauses(spec.reservations, prefix.length)),
    ...leaseCauses('spec.maxRetentionLease', spec.maxRetentionLease),
    ...restCauses(spec.restPeriod),
  );
  return causes;
}

export function claimCauses(object: IPClaim, old?: IPClaim): FieldCause[] {
  const spec = object.spec ?? {};
  if (old !== undefined) {
    const fields = ['className', 'ipFamily', 'prefixLength', 'scope', 'target'] as const;
    return fields.flatMap((field) => frozen(`spec.${field}`, spec[field], old.spec?.[field]));
  }
  const causes: FieldCause[] = [];
  if ((spec.className ?? '') === '' && spec.ipFamily === undefined) {
    causes.push(requiredValue('spec.className', 'name a class, or a family (spec.ipFamily) for its default class'));
  }
  if (spec.target === 'ScopeRange') {
    for (const field of ['address', 'prefixLength', 'reclaimPolicy'] as const) {
      if (spec[field] !== undefined && spec[field] !== '') {
        causes.push(forbiddenValue(`spec.${field}`, 'a ScopeRange claim holds the range its class provisions'));
      }
    }
  }
  if (spec.address !== undefined && spec.address !== '') {
    const address = IpAddress.tryParse(spec.address);
    if (address === undefined)
      causes.push(invalidValue('spec.address', spec.address, 'must be an IP address, without a prefix length'));
    else if (spec.ipFamily !== undefined && spec.ipFamily !== `IPv${address.family}`) {
      causes.push(
        invalidValue('spec.address', spec.address, `is IPv${address.family}, and spec.ipFamily says ${spec.ipFamily}`),
      );
    }
  }
  causes.push(
    ...lengthCause('spec.prefixLength', spec.prefixLength, spec.ipFamily === 'IPv4' ? 4 : undefined, 1),
    ...scopeCauses(spec.scope),
  );
  return causes;
}

function scopeCauses(scope: Scope | undefined): FieldCause[] {
  const causes: FieldCause[] = [];
  for (const [role, ref] of Object.entries(scope ?? {})) {
    const field = `spec.scope.${role}`;
    if (impliedRoles.has(role)) causes.push(forbiddenValue(field, 'is the project the request comes from'));
    else if (!roleName.test(role)) causes.push(invalidValue('spec.scope', role, 'is no role name'));
    if (!ref?.kind) causes.push(requiredValue(`${field}.kind`, 'the kind of the object'));
    if (!ref?.name) causes.push(requiredValue(`${field}.name`, 'the name of the object'));
  }
  return causes;
}

export function allocationUpdateCauses(object: IPAllocation, old: IPAllocation): FieldCause[] {
  return frozen('spec', object.spec, old.spec);
}

/** Why an allocation may not be deleted; nothing where it may. */
export function allocationDeleteCauses(object: IPAllocation): FieldCause[] {
  if (object.spec?.purpose !== 'Claim') {
    return [
      forbiddenValue(
        'spec.purpose',
        `this allocation belongs to a pool (${object.spec?.purpose}); it goes with the pool`,
      ),
    ];
  }
  if (object.spec.claimRef === undefined) return [];
  return [forbiddenValue('spec.claimRef', `is bound by IPClaim "${object.spec.claimRef.name}"; delete the claim`)];
}
