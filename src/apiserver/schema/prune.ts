import { isEmbedded, isNullable, isObject, preserves, propertiesOf, schemaAt } from './json-schema.ts';
import { pruneMetadata } from './metadata.ts';
import type { JsonSchema } from './schema.ts';

/** Drops in place; adds the path (`.a[0].b`) of each unknown field. */
type Pruner = (value: unknown, unknown: string[]) => void;

/**
 * Compiles pruning (KEP-95): fields the schema does not name go, and so do nulls where the schema is not nullable.
 * `x-kubernetes-preserve-unknown-fields` keeps what is unknown below it, but named children are pruned again.
 *
 * @returns undefined where nothing below `schema` can ever be pruned.
 */
export function compilePruner(schema: JsonSchema, isRoot: boolean): Pruner | undefined {
  const items = schemaAt(schema, 'items');
  const pruneItem = items === undefined ? undefined : compilePruner(items, false);
  const pruneFields = compileFields(schema, isRoot);
  if (pruneItem === undefined && pruneFields === undefined) return undefined;
  return (value, unknown) => {
    if (Array.isArray(value)) {
      if (pruneItem === undefined) return;
      for (let i = 0; i < value.length; i++) {
        const before = unknown.length;
        pruneItem(value[i], unknown);
        if (unknown.length > before) prefix(unknown, before, `[${i}]`);
      }
    } else if (typeof value === 'object' && value !== null && pruneFields !== undefined) {
      pruneFields(value as Record<string, unknown>, unknown);
    }
  };
}

function compileFields(schema: JsonSchema, isRoot: boolean) {
  const embedded = isRoot || isEmbedded(schema);
  const known = new Map<string, { prune: Pruner | undefined; nullable: boolean }>();
  for (const [name, property] of propertiesOf(schema)) {
    known.set(name, { prune: compilePruner(property, false), nullable: isNullable(property) });
  }
  if (embedded) {
    const metadata: Pruner = (value, unknown) => {
      if (isObject(value)) pruneMetadata(value, unknown);
    };
    for (const name of ['apiVersion', 'kind']) known.set(name, { prune: undefined, nullable: false });
    known.set('metadata', { prune: metadata, nullable: false });
  }
  const additional = schemaAt(schema, 'additionalProperties');
  const other =
    additional === undefined
      ? undefined
      : { prune: compilePruner(additional, false), nullable: isNullable(additional) };
  const keepsOthers = preserves(schema) || schema.additionalProperties === true || other !== undefined;
  const isScalar = typeof schema.type === 'string' && schema.type !== 'object';
  if (isScalar || (keepsOthers && other === undefined && known.size === 0)) return undefined;

  return (value: Record<string, unknown>, unknown: string[]): void => {
    for (const key in value) {
      const field = known.get(key) ?? other;
      if (field === undefined) {
        if (keepsOthers) continue;
        delete value[key];
        unknown.push(`.${key}`);
        continue;
      }
      const item = value[key];
      if (item === null || item === undefined) {
        if (item === undefined || !field.nullable) delete value[key];
      } else if (typeof item === 'object' && field.prune !== undefined) {
        const before = unknown.length;
        field.prune(item, unknown);
        if (unknown.length > before) prefix(unknown, before, `.${key}`);
      }
    }
  };
}

function prefix(paths: string[], from: number, segment: string): void {
  for (let i = from; i < paths.length; i++) paths[i] = segment + paths[i];
}
