import { jsonEqual } from '../../meta/index.ts';
import { compileRules } from './cel/rules.ts';
import { compileDefaulter } from './defaults.ts';
import { type Failure, toFieldError } from './failure.ts';
import { compilePruner } from './prune.ts';
import { isUnchanged } from './ratchet.ts';
import type { CompiledSchema, FieldError, JsonSchema } from './schema.ts';
import { canonical, compileValidator } from './values.ts';

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
  return {
    source: schema,
    prune(object) {
      const unknown: string[] = [];
      prune?.(object, unknown);
      return unknown.map((path) => (path.startsWith('.') ? path.slice(1) : path));
    },
    applyDefaults(object) {
      applyDefaults?.(object);
    },
    validate(object, old) {
      const found: Failure[] = [];
      checkValues(object, found);
      if (found.length === 0 || (old !== undefined && found.every((one) => isUnchanged(one, schema, object, old)))) {
        found.length = 0;
        checkRules ??= compileRules(schema);
        checkRules(object, old, found);
      }
      if (found.length === 0) return [];
      const counted = old === undefined ? found : found.filter((one) => !isUnchanged(one, schema, object, old));
      return distinct(counted.map(toFieldError));
    },
  };
}

function distinct(errors: FieldError[]): FieldError[] {
  return errors.filter((error, index) => !errors.slice(0, index).some((before) => jsonEqual(before, error)));
}
