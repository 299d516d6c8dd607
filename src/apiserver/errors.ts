import { ApiError, type StatusCause } from '../meta/index.ts';
import type { FieldError } from './schema/schema.ts';

/** The failures kube-apiserver answers, in its words (apimachinery `api/errors`). */

interface GroupPlural {
  group: string;
  plural: string;
}

interface GroupKind {
  group: string;
  kind: string;
}

/** `deployments.apps`, or `pods` for core. */
export function qualifiedResource(resource: GroupPlural): string {
  return resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`;
}

function details(resource: GroupPlural, name: string): { name?: string; group?: string; kind: string } {
  return {
    ...(name === '' ? {} : { name }),
    ...(resource.group === '' ? {} : { group: resource.group }),
    kind: resource.plural,
  };
}

export function notFound(resource: GroupPlural, name: string): ApiError {
  return ApiError.of('NotFound', `${qualifiedResource(resource)} "${name}" not found`, details(resource, name));
}

/**
 * A path that nothing is registered for: Go's plain text, not a Status. The error still is what a client makes of it.
 */
export class PageNotFound extends ApiError {
  constructor() {
    super(noSuchPath().status);
    this.name = 'PageNotFound';
  }
}

/** A path below a built-in group and version that leads nowhere. */
export function noSuchPath(): ApiError {
  return ApiError.of('NotFound', 'the server could not find the requested resource', {});
}

export function alreadyExists(resource: GroupPlural, name: string): ApiError {
  const message = `${qualifiedResource(resource)} "${name}" already exists`;
  return ApiError.of('AlreadyExists', message, details(resource, name));
}

export function conflict(resource: GroupPlural, name: string, why?: string): ApiError {
  const reason = why ?? 'the object has been modified; please apply your changes to the latest version and try again';
  const message = `Operation cannot be fulfilled on ${qualifiedResource(resource)} "${name}": ${reason}`;
  return ApiError.of('Conflict', message, details(resource, name));
}

export function forbidden(resource: GroupPlural, name: string, why: string): ApiError {
  const subject = name === '' ? qualifiedResource(resource) : `${qualifiedResource(resource)} "${name}"`;
  return ApiError.of('Forbidden', `${subject} is forbidden: ${why}`, details(resource, name));
}

export function methodNotAllowed(resource: GroupPlural, action: string): ApiError {
  const message = `${action} is not supported on resources of kind "${qualifiedResource(resource)}"`;
  return ApiError.of('MethodNotAllowed', message, details(resource, ''));
}

/** A method that a built-in path does not have. */
export function notOffered(): ApiError {
  return ApiError.of('MethodNotAllowed', 'the server does not allow this method on the requested resource', {});
}

export function badRequest(message: string): ApiError {
  return ApiError.of('BadRequest', message);
}

/** 422 with one cause per error; the message lists them once each, as `field.ErrorList.ToAggregate` prints them. */
export function invalid(kind: GroupKind, name: string, errors: readonly FieldError[]): ApiError {
  const qualified = kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`;
  const texts = [...new Set(errors.map((error) => `${error.field}: ${error.message}`))];
  const list = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  const causes: StatusCause[] = errors.map((error) => ({
    reason: error.reason,
    message: error.message,
    field: error.field,
  }));
  return ApiError.of('Invalid', `${qualified} "${name}" is invalid: ${list}`, {
    ...(name === '' ? {} : { name }),
    ...(kind.group === '' ? {} : { group: kind.group }),
    ...(kind.kind === '' ? {} : { kind: kind.kind }),
    causes,
  });
}

/** 410 for a watch or list whose revision is no longer kept. */
export function expired(message: string): ApiError {
  return ApiError.of('Expired', message);
}

export function resourceVersionTooLarge(asked: string | number, current: number): ApiError {
  return ApiError.of('Timeout', `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });
}

export function fieldInvalid(field: string, value: unknown, why: string): FieldError {
  return { reason: 'FieldValueInvalid', field, message: `Invalid value: ${JSON.stringify(value)}: ${why}` };
}

export function fieldRequired(field: string, why: string): FieldError {
  return { reason: 'FieldValueRequired', field, message: `Required value${why === '' ? '' : `: ${why}`}` };
}

export function fieldForbidden(field: string, why: string): FieldError {
  return { reason: 'FieldValueForbidden', field, message: `Forbidden: ${why}` };
}

export function fieldNotSupported(field: string, value: unknown, supported: readonly string[]): FieldError {
  const list = supported.map((item) => JSON.stringify(item)).join(', ');
  return {
    reason: 'FieldValueNotSupported',
    field,
    message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${list}`,
  };
}
