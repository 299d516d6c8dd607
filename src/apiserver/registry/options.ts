import { fieldForbidden, fieldInvalid, fieldNotSupported, fieldRequired, invalid } from '../errors.ts';
import type { ApiRequest } from '../http/message.ts';
import { booleanParameter } from '../http/negotiate.ts';
import type { FieldError } from '../schema/schema.ts';

/** CreateOptions, UpdateOptions and PatchOptions: what the query of a write says of it. */

export type FieldValidation = 'Strict' | 'Warn' | 'Ignore';

export interface WriteOptions {
  readonly dryRun: boolean;
  readonly fieldValidation: FieldValidation;
  /** Who the changed fields belong to. */
  readonly manager: string;
  /** Of an apply: takes fields over from others. */
  readonly force: boolean;
}

const managerLimitBytes = 128;

/** Throws 422 with one cause per option that is wrong. */
export function writeOptions(
  request: ApiRequest,
  kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions',
  apply = false,
): WriteOptions {
  const { query } = request;
  const asked = query.get('fieldManager') ?? '';
  const force = kind === 'PatchOptions' ? booleanParameter(query, 'force') : undefined;
  const errors: FieldError[] = [];
  if (apply && asked === '') errors.push(fieldRequired('fieldManager', 'is required for apply patch'));
  if (!apply && force !== undefined) errors.push(fieldForbidden('force', 'may not be specified for non-apply patch'));
  checkManager(asked, errors);
  const dryRun = query.getAll('dryRun');
  checkDryRun(dryRun, errors);
  const validation = query.get('fieldValidation') ?? '';
  if (!['', 'Ignore', 'Strict', 'Warn'].includes(validation)) {
    errors.push(fieldNotSupported('fieldValidation', validation, ['', 'Ignore', 'Strict', 'Warn']));
  }
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind }, '', errors);
  return {
    dryRun: dryRun.length > 0,
    fieldValidation: validation === '' ? 'Warn' : (validation as FieldValidation),
    manager: asked === '' ? managerOf(request) : asked,
    force: force ?? false,
  };
}

export function checkDryRun(values: readonly unknown[], errors: FieldError[]): void {
  if (values.some((value) => value !== 'All')) errors.push(fieldNotSupported('dryRun', values, ['All']));
}

function checkManager(manager: string, errors: FieldError[]): void {
  if (Buffer.byteLength(manager) > managerLimitBytes) {
    errors.push({
      reason: 'FieldValueTooLong',
      field: 'fieldManager',
      message: `Too long: may not be more than ${managerLimitBytes} bytes`,
    });
  }
  let at = 0;
  for (const character of manager) {
    if (!printable.test(character)) {
      const code = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
      errors.push(fieldInvalid('fieldManager', manager, `invalid character U+${code} (at position ${at})`));
    }
    at += Buffer.byteLength(character);
  }
}

/** As Go's unicode.IsPrint: letters, marks, numbers, punctuation, symbols and the plain space. */
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

/** The user agent up to its first slash. */
function managerOf({ headers }: ApiRequest): string {
  const agent = headers['user-agent'];
  const name = (Array.isArray(agent) ? agent[0] : agent)?.split('/')[0]?.slice(0, managerLimitBytes) ?? '';
  return name === '' ? 'unknown' : name;
}
