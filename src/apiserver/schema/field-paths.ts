import { isObject, own, propertiesOf, schemaAt } from './json-schema.ts';
import type { JsonSchema } from './schema.ts';

const step = /\.([A-Za-z_$][\w$-]*)|\['((?:[^'\\]|\\.)*)'\]/y;

/**
 * The schema a path like `.spec.template['a.b']` leads to from `schema`, over properties and maps; undefined where it leads
 * nowhere. `parts` are its steps. Throws a sentence where the text is no path.
 */
export function followFieldPath(schema: JsonSchema, path: string): { parts: string[]; schema: JsonSchema | undefined } {
  const parts: string[] = [];
  let found: JsonSchema | undefined = schema;
  for (let at = 0; at < path.length; at = step.lastIndex) {
    step.lastIndex = at;
    const match = step.exec(path);
    if (match === null) throw new Error(`does not refer to a field: ${path.slice(at)}`);
    const name = match[1] ?? match[2]!.replace(/\\(.)/g, '$1');
    parts.push(name);
    found = found === undefined ? undefined : below(found, name);
  }
  return { parts, schema: found };
}

function below(schema: JsonSchema, name: string): JsonSchema | undefined {
  const properties = schema.properties;
  const property = isObject(properties) ? own(properties, name) : undefined;
  if (isObject(property)) return property;
  return propertiesOf(schema).length === 0 ? schemaAt(schema, 'additionalProperties') : undefined;
}
