import { afterAll, beforeAll, expect, test } from 'vitest';
import { ClusterRole, type PolicyRule } from '../../meta/index.ts';
import { openTestPlane, type TestPlane } from './testing.ts';

let plane: TestPlane;
beforeAll(async () => {
  plane = await openTestPlane();
});
afterAll(() => plane.close());

const rule = (resource: string): PolicyRule => ({ verbs: ['get'], apiGroups: ['x.example'], resources: [resource] });

function role(name: string, labels: Record<string, string>, more: Partial<ClusterRole> = {}): ClusterRole {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name, labels },
    rules: [],
    ...more,
  };
}

async function rulesOf(name: string): Promise<PolicyRule[] | undefined> {
  await plane.settled();
  return (await plane.client.get(ClusterRole, { namespace: '', name }))?.rules;
}

test('a role collects the rules of those its selectors select, in order of name and each once, and follows them', async () => {
  const { client } = plane;
  await client.create(ClusterRole, role('part-b', { part: 'yes' }, { rules: [rule('b'), rule('shared')] }));
  const selectors = [{ matchLabels: { part: 'yes' } }, { matchExpressions: [{ key: 'also', operator: 'Exists' }] }];
  await client.create(
    ClusterRole,
    role('whole', { part: 'yes' }, { aggregationRule: { clusterRoleSelectors: selectors } }),
  );
  expect(await rulesOf('whole')).toEqual([rule('b'), rule('shared')]);
  await client.create(ClusterRole, role('part-a', { also: '' }, { rules: [rule('a'), rule('shared')] }));
  expect(await rulesOf('whole')).toEqual([rule('a'), rule('shared'), rule('b')]);
  await client.delete(ClusterRole, { namespace: '', name: 'part-b' });
  expect(await rulesOf('whole')).toEqual([rule('a'), rule('shared')]);
});

test('what somebody writes into a role that collects does not stay', async () => {
  const key = { namespace: '', name: 'whole' };
  await plane.client.patch(ClusterRole, key, { type: 'merge', body: { rules: [rule('mine')] } });
  expect(await rulesOf('whole')).toEqual([rule('a'), rule('shared')]);
});

test('a role that collects one that collects has all of it', async () => {
  const selectors = [{ matchLabels: { inner: 'yes' } }];
  const { client } = plane;
  await client.create(ClusterRole, role('outer', {}, { aggregationRule: { clusterRoleSelectors: selectors } }));
  const inner = { clusterRoleSelectors: [{ matchLabels: { leaf: 'yes' } }] };
  await client.create(ClusterRole, role('inner', { inner: 'yes' }, { aggregationRule: inner }));
  await client.create(ClusterRole, role('leaf', { leaf: 'yes' }, { rules: [rule('leaf')] }));
  expect(await rulesOf('outer')).toEqual([rule('leaf')]);
});

test('admin grants what edit grants, and edit what view grants; only view shows no secrets', async () => {
  const covers = (rules: readonly PolicyRule[] = [], resource: string, verb: string): boolean =>
    rules.some(({ verbs, resources = [] }) => resources.includes(resource) && verbs.includes(verb));
  const [view, edit, admin] = [await rulesOf('view'), await rulesOf('edit'), await rulesOf('admin')];
  for (const each of [view, edit, admin]) expect(covers(each, 'configmaps', 'watch')).toBe(true);
  for (const each of [edit, admin]) expect(covers(each, 'configmaps', 'create')).toBe(true);
  expect([view, edit, admin].map((each) => covers(each, 'secrets', 'get'))).toEqual([false, true, true]);
  expect([view, edit, admin].map((each) => covers(each, 'rolebindings', 'create'))).toEqual([false, false, true]);
  expect(plane.errors).toEqual([]);
});
