import { cloneJson, isNullable, propertiesOf, schemaAt, setOwn } from './json-schema.ts';
import type { JsonSchema } from './schema.ts';

type Defaulter = (value: unknown) => void;

/**
 * Compiles defaulting: an absent property (or a null one, where the schema is not nullable) takes a copy of its default,
 * and defaults inside it apply then; nothing is made up for an absent parent that has no default of its own.
 *
 * @returns undefined where nothing below `schema` has a default.
 */
export function compileDefaulter(schema: JsonSchema): Defaulter | undefined {
  const fields: { name: string; preset: unknown; nullable: boolean; inner: Defaulter | undefined }[] = [];
  const named = new Set<string>();
  for (const [name, property] of propertiesOf(schema)) {
    named.add(name);
    const inner = compileDefaulter(property);
    if (property.default === undefined && inner === undefined) continue;
    fields.push({ name, preset: property.default, nullable: isNullable(property), inner });
  }
  const additional = schemaAt(schema, 'additionalProperties');
  const other = additional === undefined ? undefined : compileDefaulter(additional);
  const otherPreset = additional === undefined || isNullable(additional) ? undefined : additional.default;
  const items = schemaAt(schema, 'items');
  const item = items === undefined ? undefined : compileDefaulter(items);
  const itemPreset = items === undefined || isNullable(items) ? undefined : items.default;
  const hasOther = other !== undefined || otherPreset !== undefined;
  if (fields.length === 0 && !hasOther && item === undefined && itemPreset === undefined) return undefined;

  return (value) => {
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) {
      for (let i = 0; i < value.length; i++) {
        if (value[i] === null && itemPreset !== undefined) value[i] = cloneJson(itemPreset);
        item?.(value[i]);
      }
      return;
    }
    const object = value as Record<string, unknown>;
    for (const field of fields) {
      const present = Object.hasOwn(object, field.name) ? object[field.name] : undefined;
      if (field.preset !== undefined && (present === undefined || (present === null && !field.nullable))) {
        setOwn(object, field.name, cloneJson(field.preset));
      } else if (present === undefined) continue;
      field.inner?.(object[field.name]);
    }
    if (!hasOther) return;
    for (const key in object) {
      if (named.has(key)) continue;
      if (object[key] === null && otherPreset !== undefined) setOwn(object, key, cloneJson(otherPreset));
      other?.(object[key]);
    }
  };
}
