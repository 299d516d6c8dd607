import type { PolicyRule } from '../../../meta/index.ts';

/** A rule as the authorizer reads it: sets in place of lists. Meaning as in kube's `rbac.v1.PolicyRule`. */
export interface CompiledRule {
  readonly source: PolicyRule;
  readonly verbs: ReadonlySet<string>;
  readonly groups: ReadonlySet<string>;
  readonly resources: ReadonlySet<string>;
  /** Empty: every name. */
  readonly names: ReadonlySet<string>;
  readonly paths: readonly string[];
}

/** Compiles what is usable of `rules`: stored objects passed a schema, but nothing here trusts that they did. */
export function compileRules(rules: unknown): CompiledRule[] {
  if (!Array.isArray(rules)) return [];
  return rules
    .filter((rule): rule is PolicyRule => typeof rule === 'object' && rule !== null)
    .map((rule) => ({
      source: rule,
      verbs: stringSet(rule.verbs),
      groups: stringSet(rule.apiGroups),
      resources: stringSet(rule.resources),
      names: stringSet(rule.resourceNames),
      paths: [...stringSet(rule.nonResourceURLs)],
    }));
}

const compiled = new Map<string, readonly CompiledRule[]>();
const compiledLimit = 1024;

/** As `compileRules`, shared by everyone whose rules say the same: every plane has the same roles of controllers. */
export function sharedRules(rules: unknown): readonly CompiledRule[] {
  const key = JSON.stringify(rules) ?? '';
  let known = compiled.get(key);
  if (known === undefined) {
    if (compiled.size >= compiledLimit) compiled.clear();
    known = compileRules(rules);
    compiled.set(key, known);
  }
  return known;
}

function stringSet(list: unknown): ReadonlySet<string> {
  return new Set(Array.isArray(list) ? list.filter((item): item is string => typeof item === 'string') : []);
}

export function verbMatches(rule: CompiledRule, verb: string): boolean {
  return rule.verbs.has(verb) || rule.verbs.has('*');
}

/** `*` is every resource and subresource, `*` + `/scale` that subresource of every resource (kube's `ResourceMatches`). */
export function resourceMatches(rule: CompiledRule, group: string, resource: string, subresource: string): boolean {
  if (!rule.groups.has(group) && !rule.groups.has('*')) return false;
  if (rule.resources.has('*')) return true;
  if (subresource === '') return rule.resources.has(resource);
  return rule.resources.has(`${resource}/${subresource}`) || rule.resources.has(`*/${subresource}`);
}

/** A request without a name (list, create) is not covered by a rule for certain names. */
export function nameMatches(rule: CompiledRule, name: string): boolean {
  return rule.names.size === 0 || rule.names.has(name);
}

/** `/metrics` is itself; `/apis/*` everything that begins so; `*` all. */
export function pathMatches(rule: CompiledRule, path: string): boolean {
  return rule.paths.some(
    (allowed) =>
      allowed === '*' || allowed === path || (allowed.endsWith('*') && path.startsWith(allowed.slice(0, -1))),
  );
}

/**
 * What of `wanted` nobody holding `held` has: each rule is split into its single grants (one verb, group, resource and
 * name, or one verb and path), and a grant is held where one rule of `held` covers it.
 */
export function uncovered(held: readonly CompiledRule[], wanted: readonly CompiledRule[]): PolicyRule[] {
  return wanted.flatMap((rule) => singleGrants(rule).filter((grant) => !held.some((owner) => covers(owner, grant))));
}

/** The single grants a rule is made of. */
export function singleGrants(rule: CompiledRule): PolicyRule[] {
  const grants: PolicyRule[] = [];
  for (const verb of rule.verbs) {
    for (const group of rule.groups) {
      for (const resource of rule.resources) {
        const base = { verbs: [verb], apiGroups: [group], resources: [resource] };
        if (rule.names.size === 0) grants.push(base);
        for (const name of rule.names) grants.push({ ...base, resourceNames: [name] });
      }
    }
    for (const path of rule.paths) grants.push({ verbs: [verb], nonResourceURLs: [path] });
  }
  return grants;
}

function covers(owner: CompiledRule, grant: PolicyRule): boolean {
  if (!verbMatches(owner, grant.verbs[0]!)) return false;
  const path = grant.nonResourceURLs?.[0];
  if (path !== undefined) return pathMatches(owner, path);
  const [resource, subresource = ''] = grant.resources![0]!.split('/', 2) as [string, string?];
  const name = grant.resourceNames?.[0];
  if (!resourceMatches(owner, grant.apiGroups![0]!, resource, subresource)) return false;
  return owner.names.size === 0 || (name !== undefined && owner.names.has(name));
}
