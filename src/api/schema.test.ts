import { describe, expect, it } from 'vitest';
import { allKinds, type JsonSchema } from './index.ts';
import type { CelRule } from './schema.ts';

interface Node {
  path: string;
  schema: JsonSchema;
  /** Whether the items of every list above can be matched with those of the old object: oldSelf is known here. */
  correlatable: boolean;
}

/** Every node of a schema, its root first. */
function nodesOf(schema: JsonSchema, path: string, correlatable = true): Node[] {
  const nodes: Node[] = [{ path, schema, correlatable }];
  for (const [name, child] of Object.entries((schema.properties as Record<string, JsonSchema>) ?? {})) {
    nodes.push(...nodesOf(child, `${path}.${name}`, correlatable));
  }
  if (schema.items !== undefined) {
    const byKey = schema['x-kubernetes-list-type'] === 'map';
    nodes.push(...nodesOf(schema.items as JsonSchema, `${path}[]`, correlatable && byKey));
  }
  if (schema.additionalProperties !== undefined) {
    nodes.push(...nodesOf(schema.additionalProperties as JsonSchema, `${path}{}`, correlatable));
  }
  return nodes;
}

const rulesOf = ({ schema }: Node) => (schema['x-kubernetes-validations'] as CelRule[] | undefined) ?? [];

describe.each(allKinds.map((kind) => [kind.kind, kind] as const))('schema of %s', (_, kind) => {
  const nodes = nodesOf(kind.schema, kind.kind);

  it('is structural: every node has a type, lists have items, objects do not mix properties and values', () => {
    for (const { path, schema } of nodes) {
      if (schema['x-kubernetes-int-or-string'] === true) {
        expect(schema.type, path).toBeUndefined();
        expect(schema.anyOf, path).toEqual([{ type: 'integer' }, { type: 'string' }]);
        continue;
      }
      expect(['object', 'array', 'string', 'integer', 'number', 'boolean'], path).toContain(schema.type);
      if (schema.type === 'array') expect(schema.items, path).toBeTypeOf('object');
      expect(schema.properties !== undefined && schema.additionalProperties !== undefined, path).toBe(false);
    }
  });

  it('requires only what it has, and what can not be defaulted', () => {
    for (const { path, schema } of nodes) {
      const properties = (schema.properties as Record<string, JsonSchema> | undefined) ?? {};
      for (const name of (schema.required as string[] | undefined) ?? []) {
        expect(Object.keys(properties), path).toContain(name);
        expect(properties[name], `${path}.${name}`).not.toHaveProperty('default');
      }
    }
  });

  it('keys its list maps by scalars that are required or have a default', () => {
    for (const { path, schema } of nodes) {
      if (schema['x-kubernetes-list-type'] !== 'map') continue;
      const item = schema.items as { required?: string[]; properties: Record<string, JsonSchema> };
      for (const key of schema['x-kubernetes-list-map-keys'] as string[]) {
        expect(['string', 'integer', 'boolean'], path).toContain(item.properties[key]?.type);
        expect((item.required ?? []).includes(key) || 'default' in item.properties[key]!, path).toBe(true);
      }
    }
  });

  it('describes every field', () => {
    for (const { path, schema } of nodes) {
      if (path.startsWith(`${kind.kind}.metadata`)) continue;
      expect(schema.description, path).toMatch(/\S{2,}.*[.:)0-9a-z]$/);
    }
  });

  it('looks at the old object only where Kubernetes can find it', () => {
    for (const node of nodes) {
      for (const { rule } of rulesOf(node)) {
        if (rule.includes('oldSelf')) expect(node.correlatable, `${node.path}: ${rule}`).toBe(true);
      }
    }
  });

  it('says with every rule what would be right, in one line', () => {
    for (const node of nodes) {
      for (const { message } of rulesOf(node)) expect(message, node.path).toMatch(/^[A-Za-z][^\n]{10,}$/);
    }
  });

  it('keeps every condition list as a map keyed by type', () => {
    const lists = nodes.filter(({ path }) => path.endsWith('conditions'));
    for (const { schema } of lists) {
      expect(schema).toMatchObject({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] });
    }
  });

  if (kind.servedBy === 'aggregated') {
    it('leaves defaults and rules to IPAM', () => {
      for (const node of nodes) {
        expect(node.schema, node.path).not.toHaveProperty('default');
        expect(rulesOf(node), node.path).toEqual([]);
      }
    });
  }

  it('can not be changed by whoever reads it', () => {
    expect(() => {
      (kind.schema as { type: string }).type = 'string';
    }).toThrow(TypeError);
  });
});
