import { jsonEqual } from '../../meta/index.ts';
import { type Failure, failure, printValue, type Validator } from './failure.ts';
import { schemaAt, schemasAt } from './json-schema.ts';
import type { JsonSchema } from './schema.ts';

/** `enum`. */
export function enumCheck(schema: JsonSchema): Validator[] {
  const values = schema.enum;
  if (!Array.isArray(values) || values.length === 0) return [];
  const scalars = new Set(values);
  const complex = values.filter((value) => typeof value === 'object' && value !== null);
  const texts = values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
  const supported = texts.map((text) => JSON.stringify(text)).join(', ');
  return [
    (value, out) => {
      if (scalars.has(value) || complex.some((candidate) => jsonEqual(candidate, value))) return;
      out.push(
        failure('FieldValueNotSupported', `Unsupported value: ${printValue(value)}`, `supported values: ${supported}`),
      );
    },
  ];
}

/** `anyOf`, `oneOf`, `allOf` and `not`, whose parts `compileValidator` compiles. */
export function compositions(schema: JsonSchema, compileValidator: (part: JsonSchema) => Validator): Validator[] {
  const checks: Validator[] = [];
  const compile = (key: string) => schemasAt(schema, key).map((part) => compileValidator(part));
  const attempt = (part: Validator, value: unknown): Failure[] => {
    const found: Failure[] = [];
    part(value, found);
    return found;
  };
  const must = (what: string) =>
    failure('FieldValueInvalid', 'Invalid value: ""', (path) => `"${path}" must ${what}`, { nameless: true });
  const least = (results: Failure[][]) => results.reduce((best, next) => (next.length < best.length ? next : best));

  const anyOf = compile('anyOf');
  if (anyOf.length > 0) {
    checks.push((value, out) => {
      const results: Failure[][] = [];
      for (const part of anyOf) {
        const found = attempt(part, value);
        if (found.length === 0) return;
        results.push(found);
      }
      out.push(must('validate at least one schema (anyOf)'), ...least(results));
    });
  }
  const oneOf = compile('oneOf');
  if (oneOf.length > 0) {
    checks.push((value, out) => {
      const results = oneOf.map((part) => attempt(part, value));
      const valid = results.filter((found) => found.length === 0).length;
      if (valid === 1) return;
      const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`;
      out.push(must(`validate one and only one schema (oneOf). ${found}`));
      if (valid === 0) out.push(...least(results));
    });
  }
  const allOf = compile('allOf');
  if (allOf.length > 0) {
    checks.push((value, out) => {
      const results = allOf.map((part) => attempt(part, value));
      const failed = results.filter((found) => found.length > 0).length;
      if (failed === 0) return;
      for (const found of results) out.push(...found);
      out.push(must(`validate all the schemas (allOf)${failed === allOf.length ? '. None validated' : ''}`));
    });
  }
  const not = schemaAt(schema, 'not');
  if (not !== undefined) {
    const part = compileValidator(not);
    checks.push((value, out) => {
      if (attempt(part, value).length === 0) out.push(must('not validate the schema (not)'));
    });
  }
  return checks;
}
