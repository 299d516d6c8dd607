/**
 * What a schema of the configuration says, applied. (A schema library would do it too, and would be two fifths of all modules
 * that a start loads.)
 */

/** The part of JSON Schema that the configuration is written in. */
export interface Node {
  type: 'integer' | 'string' | 'boolean' | 'object';
  description: string;
  default?: unknown;
  enum?: readonly string[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  properties?: Record<string, Node>;
  additionalProperties?: Node;
}

/**
 * A copy of `value`, which stands at `path`, with the defaults of what is not given.
 * @throws one sentence that names the first field that is unknown or wrong, and says what would be right.
 */
export function filled(value: unknown, node: Node, path: string): unknown {
  const problem = problemOf(value, node);
  if (problem !== undefined) throw new Error(`${path} ${problem}`);
  if (node.type !== 'object') return value;
  const given = value as Record<string, unknown>;
  const at = (name: string) => (path === '' ? name : `${path}.${name}`);
  const { properties, additionalProperties } = node;
  if (properties === undefined) {
    const entries = Object.entries(given).map(([name, inner]) => [
      name,
      filled(inner, additionalProperties!, at(name)),
    ]);
    return Object.fromEntries(entries);
  }
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(properties, name)) continue;
    throw new Error(`${at(name)} is not a field; known here: ${Object.keys(properties).join(', ')}`);
  }
  const fields: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(properties)) {
    const inner = given[name] === undefined ? property.default : given[name];
    if (inner !== undefined) fields[name] = filled(inner, property, at(name));
  }
  return fields;
}

function problemOf(value: unknown, node: Node): string | undefined {
  const { minimum = -Infinity, maximum = Infinity, minLength = 0, maxLength = Infinity } = node;
  if (node.enum !== undefined) {
    return node.enum.some((one) => one === value) ? undefined : `must be one of: ${node.enum.join(', ')}`;
  }
  switch (node.type) {
    case 'integer':
      if (!Number.isSafeInteger(value)) return 'must be integer';
      if ((value as number) < minimum) return `must be >= ${minimum}`;
      return (value as number) > maximum ? `must be <= ${maximum}` : undefined;
    case 'string':
      if (typeof value !== 'string') return 'must be string';
      if (value.length < minLength) return `must not have fewer than ${minLength} characters`;
      return value.length > maxLength ? `must not have more than ${maxLength} characters` : undefined;
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'must be boolean';
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value)
        ? undefined
        : 'must be a mapping of fields';
  }
}
