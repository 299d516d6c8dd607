import { describe, expect, it } from 'vitest';
import { allKinds, type JsonSchema } from './index.ts';

/**
 * Kubernetes refuses a definition of which a rule might cost too much, and estimates that from the bounds in the schema:
 * how often the rule runs (every list and map around it), and how much it looks at (every list and text it reads). A part
 * without a bound counts as large as a request can be, and `npm run conformance` would be the first to tell.
 */
interface Found {
  /** Dotted path of the value the rule is about. */
  path: string;
  node: JsonSchema;
  rule: string;
  /** Lists and maps around it, outermost first: how many of them there can be. */
  around: { path: string; most: number | undefined }[];
}

function rulesOf(node: JsonSchema, path: string, around: Found['around'] = []): Found[] {
  const own = (node['x-kubernetes-validations'] ?? []) as { rule: string }[];
  const found = own.map(({ rule }) => ({ path, node, rule, around }));
  for (const [name, inner] of Object.entries((node.properties ?? {}) as Record<string, JsonSchema>)) {
    found.push(...rulesOf(inner, `${path}.${name}`, around));
  }
  const lists = [
    ['items', '[]', 'maxItems'],
    ['additionalProperties', '{}', 'maxProperties'],
  ] as const;
  for (const [of, mark, bound] of lists) {
    const inner = node[of];
    if (typeof inner !== 'object' || inner === null) continue;
    const most = node[bound] as number | undefined;
    found.push(...rulesOf(inner as JsonSchema, path + mark, [...around, { path, most }]));
  }
  return found;
}

/** Parts of `node` without a bound that the rule reads: those it names, and all of them where it compares whole values. */
function unbounded({ node, path, rule }: Found): string[] {
  // Whether something is there, and how many of it, takes no walk.
  const read = rule.replace(/'[^']*'/g, '').replace(/\b(has|size)\([\w.]+\)/g, '');
  const words = new Set(read.match(/\w+/g));
  const whole = /\b(self|oldSelf)\s*(==|!=)|(==|!=)\s*(self|oldSelf)\b(?!\.)/.test(rule);
  const walk = (part: JsonSchema, at: string): string[] => {
    if (part.type === 'string') {
      const isBounded = 'maxLength' in part || 'enum' in part || 'format' in part;
      return isBounded ? [] : [`${at} has no maxLength`];
    }
    if (part.type === 'array') {
      const own = 'maxItems' in part ? [] : [`${at} has no maxItems`];
      return [...own, ...walk(part.items as JsonSchema, `${at}[]`)];
    }
    if (typeof part.additionalProperties === 'object') {
      return 'maxProperties' in part ? [] : [`${at} has no maxProperties`];
    }
    return Object.entries((part.properties ?? {}) as Record<string, JsonSchema>).flatMap(([name, inner]) =>
      whole || words.has(name) ? walk(inner, `${at}.${name}`) : [],
    );
  };
  return walk(node, path);
}

const found = allKinds
  .filter(({ servedBy }) => servedBy === 'crd')
  .flatMap(({ kind, schema }) => rulesOf(schema, kind));

describe('the cost of rules', () => {
  it('is bounded: nothing around a rule can be there without limit', () => {
    const without = found.flatMap(({ around }) => around.filter(({ most }) => most === undefined));
    expect([...new Set(without.map(({ path }) => `${path} has no limit`))]).toEqual([]);
  });

  it('is bounded: a rule reads nothing that has no limit', () => {
    expect([...new Set(found.flatMap(unbounded))]).toEqual([]);
  });

  it('is bounded: no rule joins a text with a number\u2019s, of which no length is known', () => {
    expect(found.map(({ rule }) => rule).filter((rule) => /\+\s*string\(|string\([^)]*\)\s*\+/.test(rule))).toEqual([]);
  });

  it.each(allKinds.filter(({ schema }) => 'x-kubernetes-validations' in schema))(
    'is bounded for the name of a $kind: with only one of the two, Kubernetes drops the bound',
    ({ schema }) => {
      const { metadata } = schema.properties as { metadata: { properties: Record<string, unknown> } };
      expect(metadata.properties).toEqual({
        name: { type: 'string', maxLength: 253 },
        generateName: { type: 'string', maxLength: 253 },
      });
    },
  );
});
