import { type Failure, failure, inBody, printValue } from './failure.ts';
import { stringFormats } from './formats.ts';
import { isIntOrString, numberAt, stringAt } from './json-schema.ts';
import { regexOf } from './regex/regex.ts';
import type { JsonSchema } from './schema.ts';

/** Code points, as Go counts runes; the common case needs no look inside. */
function longerThan(text: string, limit: number): boolean {
  return text.length > limit && (text.length > 2 * limit || countRunes(text) > limit);
}

function countRunes(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length - 1; i++) {
    const code = text.charCodeAt(i);
    if (code < 0xd800 || code > 0xdbff) continue;
    const next = text.charCodeAt(i + 1);
    if (next < 0xdc00 || next > 0xdfff) continue;
    count--;
    i++;
  }
  return count;
}

/** What a string has to be, beyond its type. Of length and pattern only the first that does not hold is told. */
export function stringChecks(schema: JsonSchema): ((value: string, out: Failure[]) => void)[] {
  const checks: ((value: string, out: Failure[]) => void)[] = [];
  const form: ((value: string) => Failure | undefined)[] = [];
  const max = numberAt(schema, 'maxLength');
  if (max !== undefined) {
    form.push((value) =>
      longerThan(value, max)
        ? failure('FieldValueTooLong', 'Too long', `may not be more than ${max} bytes`)
        : undefined,
    );
  }
  const min = numberAt(schema, 'minLength');
  if (min !== undefined && min > 0) {
    form.push((value) =>
      value.length < min || (value.length < 2 * min && countRunes(value) < min)
        ? inBody(value, `should be at least ${min} chars long`)
        : undefined,
    );
  }
  const pattern = stringAt(schema, 'pattern');
  if (pattern !== undefined && pattern !== '') {
    const regex = regexOf(pattern);
    form.push((value) => (regex.test(value) ? undefined : inBody(value, `should match '${pattern}'`)));
  }
  if (form.length > 0) {
    checks.push((value, out) => {
      for (const check of form) {
        const found = check(value);
        if (found === undefined) continue;
        out.push(found);
        return;
      }
    });
  }
  const format = stringAt(schema, 'format');
  const hasFormat =
    format === undefined ? undefined : (stringFormats.get(format.replaceAll('-', '')) ?? stringFormats.get(format));
  if (hasFormat !== undefined) {
    checks.push((value, out) => {
      if (hasFormat(value)) return;
      out.push(
        failure(
          'FieldValueTypeInvalid',
          `Invalid value: ${printValue(value)}`,
          (path) => `${path} in body must be of type ${format}: ${printValue(value)}`,
        ),
      );
    });
  }
  return checks;
}

/** What a number has to be, beyond its type. */
export function numberChecks(schema: JsonSchema): ((value: number, out: Failure[]) => void)[] {
  const checks: ((value: number, out: Failure[]) => void)[] = [];
  const max = numberAt(schema, 'maximum');
  const min = numberAt(schema, 'minimum');
  const step = numberAt(schema, 'multipleOf');
  const format = stringAt(schema, 'format');
  if (format === 'int32' && schema.type === 'integer') {
    checks.push((value, out) => {
      if (value < -(2 ** 31) || value >= 2 ** 31) out.push(formatOverflow(value, 'int32'));
    });
  } else if (schema.type === 'integer' || isIntOrString(schema)) {
    checks.push((value, out) => {
      if (value < -(2 ** 63) || value >= 2 ** 63) out.push(formatOverflow(value, 'int64'));
    });
  }
  if (step !== undefined && step > 0) {
    checks.push((value, out) => {
      const quotient = value / step;
      if (Math.abs(quotient - Math.round(quotient)) > 1e-9) out.push(inBody(value, `should be a multiple of ${step}`));
    });
  }
  if (max !== undefined) {
    const exclusive = schema.exclusiveMaximum === true;
    checks.push((value, out) => {
      if (exclusive ? value >= max : value > max) {
        out.push(inBody(value, `should be less than ${exclusive ? '' : 'or equal to '}${max}`));
      }
    });
  }
  if (min !== undefined) {
    const exclusive = schema.exclusiveMinimum === true;
    checks.push((value, out) => {
      if (exclusive ? value <= min : value < min) {
        out.push(inBody(value, `should be greater than ${exclusive ? '' : 'or equal to '}${min}`));
      }
    });
  }
  return checks;
}

function formatOverflow(value: number, format: string): Failure {
  return inBody(value, `must be of type integer in range of ${format}`);
}
