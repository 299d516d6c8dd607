import { afterEach, beforeEach, expect, test } from 'vitest';
import { ClusterRole, ClusterRoleBinding } from '../../meta/index.ts';
import { openTestPlane, type TestPlane } from '../lifecycle/test-plane.ts';
import { ensureRoles } from './ensure-roles.ts';
import { controllerRoles } from './roles.ts';

let plane: TestPlane;
beforeEach(async () => {
  plane = await openTestPlane();
});
afterEach(() => plane.close());

const rolesOf = (verbs: string[]) =>
  controllerRoles([{ name: 'claims', rules: { hub: [{ verbs, apiGroups: [''], resources: ['configmaps'] }] } }], 'hub');
const role = () => plane.client.get(ClusterRole, { namespace: '', name: 'berth:claims' });
const binding = () => plane.client.get(ClusterRoleBinding, { namespace: '', name: 'berth:claims' });

test('roles are made once, written again only where they say something else, and others stay', async () => {
  await ensureRoles(plane.client, rolesOf(['get']));
  expect((await role())?.rules).toEqual([{ verbs: ['get'], apiGroups: [''], resources: ['configmaps'] }]);
  const { revision } = plane.storage;
  await ensureRoles(plane.client, rolesOf(['get']));
  expect(plane.storage.revision).toBe(revision);
  await ensureRoles(plane.client, rolesOf(['get', 'patch']));
  expect((await role())?.rules[0]?.verbs).toEqual(['get', 'patch']);
  expect(await plane.client.get(ClusterRole, { namespace: '', name: 'cluster-admin' })).toBeDefined();
});

test('a binding somebody pointed elsewhere is put right', async () => {
  await ensureRoles(plane.client, rolesOf(['get']));
  const before = await binding();
  await plane.client.delete(ClusterRoleBinding, { namespace: '', name: 'berth:claims' });
  await plane.client.create(ClusterRoleBinding, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'berth:claims' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [],
  });
  await ensureRoles(plane.client, rolesOf(['get']));
  const after = await binding();
  expect([after?.roleRef, after?.subjects]).toEqual([before?.roleRef, before?.subjects]);
});
