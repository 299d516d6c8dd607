import { compileRules, hasRules } from './cel/rules.ts';
import { compileDefaulter } from './defaults.ts';
import { type Failure, maximumFailures, toFieldError } from './failure.ts';
import { compilePruner } from './prune.ts';
import { isUnchanged } from './ratchet.ts';
import type { CompiledSchema, FieldError, JsonSchema } from './schema.ts';
import { canonical } from './unique.ts';
import { compileValidator } from './values.ts';

const cache = new Map<string, WeakRef<CompiledSchema>>();
const bySource = new WeakMap<JsonSchema, CompiledSchema>();

/**
 * Compiles the structural schema of a resource (`openAPIV3Schema` of one CRD version). Schemas of equal content share one
 * compiled form, so that a thousand planes cost one. CEL rules are compiled when a first object meets them.
 *
 * @throws Error where a pattern is not an RE2 expression: `checkCustomResourceDefinition` finds that first.
 */
export function compileSchema(schema: JsonSchema): CompiledSchema {
  const known = bySource.get(schema);
  if (known !== undefined) return known;
  const key = canonical(schema);
  let compiled = cache.get(key)?.deref();
  if (compiled === undefined) {
    compiled = compile(schema);
    if (cache.size >= 1_000) for (const [text, ref] of cache) if (ref.deref() === undefined) cache.delete(text);
    cache.set(key, new WeakRef(compiled));
  }
  // Only what nobody can change is known by identity.
  if (Object.isFrozen(schema)) bySource.set(schema, compiled);
  return compiled;
}

function compile(schema: JsonSchema): CompiledSchema {
  const prune = compilePruner(schema, true);
  const applyDefaults = compileDefaulter(schema);
  const checkValues = compileValidator(schema, true);
  let checkRules: ReturnType<typeof compileRules> | undefined;
  let ruled: boolean | undefined;
  return {
    source: schema,
    prune(object) {
      const unknown: string[] = [];
      prune?.(object, unknown);
      return unknown.map((path) => (path.startsWith('.') ? path.slice(1) : path)).sort();
    },
    applyDefaults(object) {
      applyDefaults?.(object);
    },
    validate(object, old, already = [], settled = false) {
      let found: Failure[] = [];
      checkValues(object, found, settled ? old : undefined);
      if (found.length > 0) found = counted(found, schema, object, old);
      if (found.some(blocks) || already.some(blocks)) {
        ruled ??= hasRules(schema);
        const errors = distinct(found.map(toFieldError));
        return ruled ? [...errors, unchecked] : errors;
      }
      const broken: Failure[] = [];
      checkRules ??= compileRules(schema);
      checkRules(object, old, broken, settled);
      if (broken.length > 0) found.push(...counted(broken, schema, object, old));
      return distinct(found.map(toFieldError));
    },
  };
}

const blocking: ReadonlySet<FieldError['reason']> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

/** Whether a rule about such an object would mean nothing, or cost too much (apiextensions-apiserver's hasBlockingErr). */
function blocks({ reason }: { reason: FieldError['reason'] }): boolean {
  return blocking.has(reason);
}

const unchecked: FieldError = {
  reason: 'FieldValueInvalid',
  field: '<nil>',
  message:
    'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
};

/** Without what an update is excused from. Looking is expensive: an object with too many failures is not excused at all. */
function counted(found: Failure[], schema: JsonSchema, object: unknown, old: unknown): Failure[] {
  if (old === undefined || found.length >= maximumFailures) return found;
  return found.filter((one) => !isUnchanged(one, schema, object, old));
}

function distinct(errors: FieldError[]): FieldError[] {
  if (errors.length < 2) return errors;
  return [...new Map(errors.map((error) => [`${error.field}\0${error.message}`, error])).values()];
}
