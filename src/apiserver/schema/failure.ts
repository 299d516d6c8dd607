import type { FieldError } from './schema.ts';

/**
 * A failure while it travels up from the value it is about: each level adds its own segment (`.name` or `[3]`), so that
 * a valid object never pays for a path.
 */
export interface Failure {
  /** Innermost first. */
  readonly segments: string[];
  readonly reason: FieldError['reason'];
  /** As field.Error prints it before the detail: `Invalid value: "x"`. */
  readonly body: string;
  /** What follows, given the path (`spec.mtu`). Empty where there is nothing to add. */
  readonly detail: string | ((path: string) => string);
  /** Levels from the failing path up to the value the rule belongs to: 1 for a missing property, whose parent asks. */
  readonly ownerDepth: number;
  /** Whether an unchanged value excuses this failure on update (KEP-4008); a rule that reads `oldSelf` is never excused. */
  readonly ratchets: boolean;
  /** The field error names no field; its detail says what it is about. */
  readonly nameless: boolean;
}

export function failure(
  reason: FieldError['reason'],
  body: string,
  detail: Failure['detail'] = '',
  options: { segments?: string[]; ownerDepth?: number; ratchets?: boolean; nameless?: boolean } = {},
): Failure {
  return {
    segments: options.segments ?? [],
    reason,
    body,
    detail,
    ownerDepth: options.ownerDepth ?? 0,
    ratchets: options.ratchets ?? true,
    nameless: options.nameless ?? false,
  };
}

/** Adds `segment` to every failure from index `from` on. */
export function locate(failures: Failure[], from: number, segment: string): void {
  for (let i = from; i < failures.length; i++) failures[i]!.segments.push(segment);
}

/** `spec.addresses[0].family`. */
export function pathOf(found: Failure): string {
  const path = found.segments.toReversed().join('');
  return path.startsWith('.') ? path.slice(1) : path;
}

export function toFieldError(found: Failure): FieldError {
  const path = pathOf(found);
  const detail = typeof found.detail === 'function' ? found.detail(path) : found.detail;
  const field = found.nameless ? '<nil>' : path;
  return { reason: found.reason, field, message: detail === '' ? found.body : `${found.body}: ${detail}` };
}

/** A value as field.Error prints it: strings quoted as Go does, numbers and booleans bare, the rest as JSON. */
export function printValue(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (value === undefined) return '""';
  const text = JSON.stringify(value);
  return text ?? 'null';
}

/** Go's %q: like JSON's, but with \x and \u forms for what is not printable. */
export function quote(text: string): string {
  let out = '"';
  for (const char of text) {
    const code = char.codePointAt(0)!;
    if (char === '"' || char === '\\') out += `\\${char}`;
    else if (code === 0x0a) out += '\\n';
    else if (code === 0x0d) out += '\\r';
    else if (code === 0x09) out += '\\t';
    else if (code < 0x20 || code === 0x7f) out += `\\x${code.toString(16).padStart(2, '0')}`;
    else if (code >= 0xd800 && code <= 0xdfff) out += '\\ufffd';
    else out += char;
  }
  return `${out}"`;
}

export function invalid(value: unknown, detail: Failure['detail']): Failure {
  return failure('FieldValueInvalid', `Invalid value: ${printValue(value)}`, detail);
}

export function inBody(value: unknown, what: string): Failure {
  return invalid(value, (path) => `${path} in body ${what}`);
}

/** More than anybody reads: validation stops looking there, so that a hostile object cannot fill the memory with refusals. */
export const maximumFailures = 1_000;

/** Adds what is wrong with `value`, but for its fields that are the very ones of `valid`. */
export type Validator = (value: unknown, out: Failure[], valid?: Record<string, unknown>) => void;
