import { ApiError, type StatusCause, type StatusDetails, type StatusReason } from '../meta/index.ts';
import { group, kindOf, type Plural } from './objects.ts';

/** Cause types of reference B.3, and `AddressInUse`, which is ours. */
export type CauseType =
  | 'Exhausted'
  | 'AllocationRetained'
  | 'ClaimExists'
  | 'ClassNotFound'
  | 'NoDefaultClass'
  | 'NoOfferingPool'
  | 'PrefixLengthRejected'
  | 'ScopeRolesMissing'
  | 'NoProjectScope'
  | 'AddressInUse';

/** An object whose change could satisfy a refused request. */
export interface Dependency {
  plural: 'ippools' | 'ipclasses' | 'ipallocations';
  name: string;
}

interface Refused {
  message: string;
  cause?: CauseType;
  causeMessage?: string;
  field?: string;
  details?: StatusDetails;
  dependsOn?: readonly Dependency[];
}

function refuse(reason: StatusReason, refused: Refused): ApiError {
  const causes: StatusCause[] = [...(refused.details?.causes ?? [])];
  if (refused.cause !== undefined) {
    causes.push({
      reason: refused.cause,
      message: refused.causeMessage ?? refused.message,
      ...(refused.field === undefined ? {} : { field: refused.field }),
    });
  }
  for (const { plural, name } of refused.dependsOn ?? []) {
    causes.push({
      reason: 'DependsOn',
      message: `a change of ${plural}/${name} could help`,
      field: `${plural}/${name}`,
    });
  }
  const details = { ...refused.details, ...(causes.length === 0 ? {} : { causes }) };
  return ApiError.of(reason, refused.message, Object.keys(details).length === 0 ? undefined : details);
}

export function badRequest(refused: Refused): ApiError {
  return refuse('BadRequest', refused);
}

export function conflict(plural: Plural, name: string, refused: Refused): ApiError {
  return refuse('Conflict', { ...refused, details: { group, kind: plural, name } });
}

/**
 * 507. `pool` only where the pool the claim itself draws from ran out, not an ancestor; `within`: what there is to say to
 * whoever has named class and pool already.
 */
export function exhausted(
  pool: string | undefined,
  message: string,
  dependsOn: readonly Dependency[],
  within = message,
): ApiError {
  const details: StatusDetails = { group, kind: 'ippools', ...(pool === undefined ? {} : { name: pool }) };
  return refuse('InsufficientStorage', { message, cause: 'Exhausted', causeMessage: within, details, dependsOn });
}

/** The object has moved on since the caller read it. */
export function modified(plural: Plural, name: string): ApiError {
  return refuse('Conflict', {
    message: `Operation cannot be fulfilled on ${plural}.${group} "${name}": the object has been modified; please apply your changes to the latest version and try again`,
    details: { group, kind: plural, name },
  });
}

export function notFound(plural: Plural, name: string): ApiError {
  return refuse('NotFound', {
    message: `${plural}.${group} "${name}" not found`,
    details: { group, kind: plural, name },
  });
}

export function alreadyExists(plural: Plural, name: string): ApiError {
  return refuse('AlreadyExists', {
    message: `${plural}.${group} "${name}" already exists`,
    details: { group, kind: plural, name },
  });
}

export function forbidden(plural: Plural, name: string, why: string): ApiError {
  return refuse('Forbidden', {
    message: `${plural}.${group} "${name}" is forbidden: ${why}`,
    details: { group, kind: plural, name },
  });
}

export interface FieldCause {
  reason:
    | 'FieldValueInvalid'
    | 'FieldValueRequired'
    | 'FieldValueForbidden'
    | 'FieldValueNotSupported'
    | 'FieldValueDuplicate';
  field: string;
  message: string;
}

export function invalidValue(field: string, value: unknown, why: string): FieldCause {
  return { reason: 'FieldValueInvalid', field, message: `Invalid value: ${JSON.stringify(value)}: ${why}` };
}

export function requiredValue(field: string, why: string): FieldCause {
  return { reason: 'FieldValueRequired', field, message: `Required value: ${why}` };
}

export function forbiddenValue(field: string, why: string): FieldCause {
  return { reason: 'FieldValueForbidden', field, message: `Forbidden: ${why}` };
}

/** 422 with one cause per field. */
export function invalid(plural: Plural, name: string, causes: readonly FieldCause[]): ApiError {
  const texts = causes.map((cause) => `${cause.field}: ${cause.message}`);
  const list = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  return refuse('Invalid', {
    message: `${kindOf[plural]}.${group} "${name}" is invalid: ${list}`,
    details: { group, kind: kindOf[plural], name, causes: [...causes] },
  });
}
