import { configMap, core, makeNamespace } from '../definitions.ts';
import { scenario } from '../harness/scenario.ts';
import type { Session } from '../harness/session.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1';

scenario('config maps and secrets', async (api) => {
  const namespace = await makeNamespace(api, 'data');
  const [maps, secrets] = [`${namespace}/configmaps`, `${namespace}/secrets`];
  const secret = (name: string, more: object = {}) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name },
    ...more,
  });
  await api.post(maps, configMap('m', { 'bad key': 'x' }));
  await api.post(maps, { ...configMap('m'), binaryData: { a: 'eA==' } });
  await api.post(maps, { ...configMap('m'), data: undefined, binaryData: { b: 'not base64' } });
  await api.post(maps, { ...configMap('m'), binaryData: { b: 'eA==' } });
  await api.post(maps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'empty' } });
  await api.put(`${maps}/m`, configMap('m', { new: '1' }), { note: 'no version' });
  await api.put(`${maps}/put`, configMap('put'), { note: 'not there' });
  await api.post(maps, { ...configMap('frozen'), immutable: true });
  await api.patch('merge', `${maps}/frozen`, { data: { a: '2' } });
  await api.patch('merge', `${maps}/frozen`, { immutable: null });
  await api.patch('merge', `${maps}/frozen`, { immutable: false, data: { a: '2' } });
  await api.patch('merge', `${maps}/frozen`, { metadata: { labels: { fine: '1' } } });
  await api.get(maps);
  await api.delete(`${maps}/m`);
  await api.delete(maps);
  await api.post(secrets, secret('s', { stringData: { a: 'plain' }, data: { b: 'eA==' } }));
  await api.post(secrets, secret('s2', { data: { b: 'not base64' } }));
  await api.post(secrets, secret('s3', { data: { 'bad key': 'eA==' } }));
  await api.post(secrets, secret('s4', { type: 'example.com/odd' }));
  await api.post(secrets, secret('s5', { type: 'kubernetes.io/tls', data: {} }));
  await api.post(secrets, secret('s6', { type: 'kubernetes.io/basic-auth', data: {} }));
  await api.post(
    secrets,
    secret('s7', { type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': 'eA==' } }),
  );
  await api.post(secrets, secret('s8', { type: 'kubernetes.io/service-account-token' }));
  await api.post(secrets, secret('s9', { type: 'kubernetes.io/ssh-auth', data: {} }));
  await api.patch('merge', `${secrets}/s`, { type: 'example.com/other' });
  await api.patch('merge', `${secrets}/s`, { stringData: { c: 'more' } });
  await api.patch('merge', `${secrets}/s`, { immutable: true });
  await api.patch('merge', `${secrets}/s`, { data: { b: null } });
  await api.get(`${secrets}?fieldSelector=type%3DOpaque`);
  const accounts = `${namespace}/serviceaccounts`;
  await api.post(accounts, {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'robot' },
    automountServiceAccountToken: false,
  });
  await api.get(`${accounts}/robot`);
  await api.delete(`${accounts}/robot`);
});

scenario('events in both groups', async (api) => {
  const old = `${await makeNamespace(api, 'events')}/events`;
  const fresh = '/apis/events.k8s.io/v1/namespaces/events/events';
  const event = (name: string, more: object = {}) => ({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name },
    involvedObject: { kind: 'Gadget', namespace: 'events', name: 'g', uid: 'u', apiVersion: 'conformance.test/v1' },
    reason: 'Made',
    message: 'it was made',
    type: 'Normal',
    source: { component: 'tester' },
    firstTimestamp: '2001-02-03T04:05:06Z',
    lastTimestamp: '2001-02-03T04:05:06Z',
    count: 1,
    ...more,
  });
  const newer = (name: string, more: object = {}) => ({
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name },
    eventTime: '2001-02-03T04:05:06.123456Z',
    reportingController: 'example.com/tester',
    reportingInstance: 'tester-1',
    action: 'Making',
    reason: 'Made',
    type: 'Normal',
    note: 'it was made',
    regarding: { kind: 'Gadget', namespace: 'events', name: 'g', uid: 'u' },
    ...more,
  });
  await api.post(old, event('e1'));
  await api.get(`${fresh}/e1`);
  await api.post(fresh, newer('e2'));
  await api.get(`${old}/e2`);
  await api.post(fresh, newer('bad1', { eventTime: null }));
  await api.post(fresh, newer('bad2', { reportingController: '' }));
  await api.post(fresh, newer('bad3', { action: '', reason: '', type: 'Odd' }));
  await api.post(fresh, newer('bad4', { note: 'x'.repeat(1025) }));
  await api.post(fresh, newer('bad5', { reportingController: 'bad name' }));
  await api.post(fresh, newer('bad6', { deprecatedCount: 5 }));
  await api.post(fresh, newer('bad7', { regarding: { kind: 'Gadget', namespace: 'other', name: 'g' } }));
  await api.post(old, event('bad8', { involvedObject: { kind: 'Gadget', namespace: 'other', name: 'g' } }));
  await api.post(old, event('bad9', { involvedObject: {} }));
  await api.post(
    old,
    event('bare', {
      involvedObject: { kind: 'Gadget', namespace: 'events' },
      source: undefined,
      type: undefined,
      count: undefined,
      firstTimestamp: undefined,
      lastTimestamp: undefined,
    }),
  );
  await api.patch('strategic', `${old}/e1`, { count: 2, lastTimestamp: '2001-02-03T05:05:06Z', message: 'twice' });
  await api.patch('strategic', `${fresh}/e2`, {
    series: { count: 2, lastObservedTime: '2001-02-03T05:05:06.000000Z' },
  });
  await api.patch('strategic', `${fresh}/e2`, { reason: 'Other' });
  await api.put(`${old}/put`, event('put'), { note: 'not there' });
  for (const selector of [
    'involvedObject.kind=Gadget',
    'involvedObject.name=g,involvedObject.uid=u',
    'reason=Made',
    'type!=Normal',
    'source=tester',
    'reportingComponent=example.com/tester',
    'involvedObject.odd=x',
  ]) {
    await api.get(`${old}?fieldSelector=${encodeURIComponent(selector)}`);
  }
  for (const selector of [
    'regarding.kind=Gadget',
    'reportingController=example.com/tester',
    'involvedObject.kind=Gadget',
  ]) {
    await api.get(`${fresh}?fieldSelector=${encodeURIComponent(selector)}`);
  }
  await api.get(`${old}?limit=2`, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' });
  await api.get(`${fresh}?limit=2`, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' });
  await api.delete(`${old}/e1`);
  await api.delete(`${fresh}/e2`);
});

scenario('leases', async (api) => {
  await makeNamespace(api, 'leases');
  const leases = '/apis/coordination.k8s.io/v1/namespaces/leases/leases';
  const lease = (name: string, spec?: object) => ({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name },
    ...(spec === undefined ? {} : { spec }),
  });
  const spec = {
    holderIdentity: 'me',
    leaseDurationSeconds: 15,
    acquireTime: '2001-02-03T04:05:06.123456Z',
    renewTime: '2001-02-03T04:05:06.123456Z',
    leaseTransitions: 0,
  };
  const made = await api.post(leases, lease('l', spec));
  await api.put(`${leases}/l`, { ...made.body, spec: { ...spec, renewTime: '2001-02-03T04:05:07.000000Z' } });
  await api.put(`${leases}/l`, { ...made.body, spec }, { note: 'older version' });
  await api.post(leases, lease('bare'));
  await api.post(leases, lease('bad1', { leaseDurationSeconds: 0 }));
  await api.post(leases, lease('bad2', { leaseTransitions: -1 }));
  await api.post(leases, lease('bad3', { renewTime: 'x' }));
  await api.post(leases, lease('bad4', { leaseDurationSeconds: '5' }));
  await api.post(leases, lease('bad5', { leaseDurationSeconds: 1.5 }));
  await api.post(leases, lease('bad6', { holderIdentity: '' }));
  await api.post(leases, lease('bad7', { strategy: 'Odd' }));
  await api.post(leases, lease('bad8', { preferredHolder: 'x' }));
  await api.put(`${leases}/put`, lease('put'), { note: 'not there' });
  await api.post(leases, lease('short', { renewTime: '2001-02-03T04:05:06Z' }));
  await api.get(leases);
  await api.get(leases, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' });
  await api.patch('merge', `${leases}/l`, { spec: { holderIdentity: null } });
  await api.delete(`${leases}/l`);
});

async function roles(api: Session): Promise<void> {
  const role = (kind: string, name: string, rules: unknown) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind,
    metadata: { name },
    rules,
  });
  const binding = (kind: string, name: string, roleRef: object, subjects: object[]) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind,
    metadata: { name },
    roleRef,
    subjects,
  });
  const reads = [{ apiGroups: ['conformance.test'], resources: ['gadgets'], verbs: ['get', 'list'] }];
  const inside = `${rbac}/namespaces/rbac`;
  await api.post(`${inside}/roles`, role('Role', 'reader', reads));
  await api.post(`${inside}/roles`, role('Role', 'none', null));
  await api.post(`${inside}/roles`, role('Role', 'bad1', [{ apiGroups: [''], resources: ['x'] }]));
  await api.post(`${inside}/roles`, role('Role', 'bad2', [{ verbs: ['get'] }]));
  await api.post(`${inside}/roles`, role('Role', 'bad3', [{ verbs: ['get'], nonResourceURLs: ['/x'] }]));
  await api.post(`${inside}/roles`, role('Role', 'bad4', [{ verbs: ['get'], apiGroups: [''], resources: [] }]));
  await api.post(`${inside}/roles`, role('Role', 'odd:name', reads));
  await api.post(`${inside}/roles`, role('Role', 'bad/name', reads));
  await api.post(
    `${rbac}/clusterroles`,
    role('ClusterRole', 'conformance-urls', [{ verbs: ['get'], nonResourceURLs: ['/metrics', '/x/*'] }]),
  );
  await api.post(
    `${rbac}/clusterroles`,
    role('ClusterRole', 'conformance-mixed', [
      { verbs: ['get'], nonResourceURLs: ['/x'], resources: ['y'], apiGroups: [''] },
    ]),
  );
  await api.post(`${rbac}/clusterroles`, {
    ...role('ClusterRole', 'conformance-aggregated', []),
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] },
  });
  await api.post(`${rbac}/clusterroles`, {
    ...role('ClusterRole', 'conformance-aggregated2', []),
    aggregationRule: {},
  });
  const ref = (kind: string, name: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name });
  const user = { kind: 'User', name: 'alice', apiGroup: 'rbac.authorization.k8s.io' };
  await api.post(`${inside}/rolebindings`, binding('RoleBinding', 'alice', ref('Role', 'reader'), [user]));
  await api.post(
    `${inside}/rolebindings`,
    binding('RoleBinding', 'plain', { kind: 'Role', name: 'reader' }, [
      { kind: 'User', name: 'alice' },
      { kind: 'Group', name: 'g' },
      { kind: 'ServiceAccount', name: 's', namespace: 'rbac' },
    ]),
  );
  await api.post(`${inside}/rolebindings`, binding('RoleBinding', 'bad1', ref('Odd', 'x'), [user]));
  await api.post(`${inside}/rolebindings`, binding('RoleBinding', 'bad2', ref('Role', ''), [user]));
  await api.post(
    `${inside}/rolebindings`,
    binding('RoleBinding', 'bad3', ref('Role', 'reader'), [{ kind: 'Odd', name: 'x' }]),
  );
  await api.post(
    `${inside}/rolebindings`,
    binding('RoleBinding', 'bad4', ref('Role', 'reader'), [{ kind: 'ServiceAccount', name: 'x' }]),
  );
  await api.post(
    `${inside}/rolebindings`,
    binding('RoleBinding', 'bad5', ref('Role', 'reader'), [{ ...user, name: '' }]),
  );
  await api.post(
    `${inside}/rolebindings`,
    binding('RoleBinding', 'bad6', { apiGroup: 'odd', kind: 'Role', name: 'reader' }, [user]),
  );
  await api.post(`${inside}/rolebindings`, binding('RoleBinding', 'absent', ref('Role', 'not-there'), [user]));
  await api.patch('merge', `${inside}/rolebindings/alice`, { roleRef: { name: 'other' } });
  await api.post(
    `${rbac}/clusterrolebindings`,
    binding('ClusterRoleBinding', 'bad-role', ref('Role', 'reader'), [user]),
  );
  await api.post(
    `${rbac}/clusterrolebindings`,
    binding('ClusterRoleBinding', 'bad-account', ref('ClusterRole', 'x'), [{ kind: 'ServiceAccount', name: 'x' }]),
  );
  await api.put(`${inside}/roles/put`, role('Role', 'put', reads), { note: 'not there' });
  await api.get(`${inside}/roles`, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' });
  await api.get(`${inside}/rolebindings`, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' });
  await api.get(`${inside}/rolebindings/plain`);
}

scenario('roles and bindings, and what they allow', async (api) => {
  await makeNamespace(api, 'rbac');
  await roles(api);
  const gadgets = '/apis/conformance.test/v1/namespaces/rbac/gadgets';
  await api.until(gadgets, () => true);
  for (let n = 0; n < 100; n++) if ((await api.quiet('GET', gadgets, { as: 'alice' })).status === 200) break;
  await api.get(gadgets, { as: 'alice' });
  await api.get(`${gadgets}/x`, { as: 'alice' });
  await api.post(gadgets, {}, { as: 'alice' });
  await api.get(`${gadgets}?watch=true`, { as: 'alice' });
  await api.delete(`${gadgets}/x`, undefined, { as: 'alice' });
  await api.delete(gadgets, undefined, { as: 'alice' });
  await api.patch('merge', `${gadgets}/x/status`, {}, { as: 'alice' });
  await api.get('/apis/conformance.test/v1/gadgets', { as: 'alice' });
  await api.get(`${core}/namespaces/rbac/secrets`, { as: 'alice' });
  await api.get(`${core}/namespaces`, { as: 'alice' });
  await api.get(`${core}/namespaces/rbac`, { as: 'alice' });
  await api.get('/metrics', { as: 'alice' });
  await api.get('/api/v1/nothing', { as: 'alice' });
  await api.get('/apis/nobody.test/v1/things', { as: 'alice' });
  await api.post(
    `${rbac}/namespaces/rbac/roles`,
    { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'x' }, rules: [] },
    { as: 'alice' },
  );
  await api.get(gadgets, { as: 'wrong' });
  await api.get(gadgets, { as: 'nobody' });
  await api.get('/version', { as: 'nobody' });
  await api.get('/livez', { as: 'nobody' });
  await api.get('/api', { as: 'nobody' });
  await api.get('/api', { as: 'alice' });
  await api.get('/version', { as: 'alice' });
});

scenario('escalation is refused', async (api) => {
  await makeNamespace(api, 'escalation');
  const roles = `${rbac}/namespaces/escalation/roles`;
  const ref = (name: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name });
  const rules = [
    { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles', 'rolebindings'], verbs: ['*'] },
    { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] },
  ];
  const role = (name: string, itsRules: object[]) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name },
    rules: itsRules,
  });
  await api.post(roles, role('keeper', rules));
  await api.post(`${rbac}/namespaces/escalation/rolebindings`, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'keeper' },
    roleRef: ref('keeper'),
    subjects: [{ kind: 'User', name: 'alice', apiGroup: 'rbac.authorization.k8s.io' }],
  });
  for (let n = 0; n < 100; n++) if ((await api.quiet('GET', roles, { as: 'alice' })).status === 200) break;
  await api.post(roles, role('fine', [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }]), {
    as: 'alice',
  });
  await api.post(roles, role('more', [{ apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list'] }]), {
    as: 'alice',
  });
  await api.post(roles, role('all', [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]), { as: 'alice' });
  await api.post(roles, role('secret-reader', [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }]));
  await api.post(
    `${rbac}/namespaces/escalation/rolebindings`,
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'more' },
      roleRef: ref('secret-reader'),
      subjects: [{ kind: 'User', name: 'alice', apiGroup: 'rbac.authorization.k8s.io' }],
    },
    { as: 'alice' },
  );
});

scenario('reviews', async (api) => {
  const authorization = '/apis/authorization.k8s.io/v1';
  const review = (kind: string, spec: object) => ({ apiVersion: 'authorization.k8s.io/v1', kind, spec });
  const gadgets = { namespace: 'rbac', group: 'conformance.test', resource: 'gadgets' };
  const self = (spec: object, as: 'admin' | 'alice' = 'alice') =>
    api.post(`${authorization}/selfsubjectaccessreviews`, review('SelfSubjectAccessReview', spec), { as });
  await self({ resourceAttributes: { ...gadgets, verb: 'get' } });
  await self({ resourceAttributes: { ...gadgets, verb: 'create' } });
  await self({ resourceAttributes: { ...gadgets, verb: '*' } });
  await self({ resourceAttributes: { ...gadgets, verb: 'create' } }, 'admin');
  await self({ nonResourceAttributes: { path: '/version', verb: 'get' } });
  await self({ nonResourceAttributes: { path: '/metrics', verb: 'get' } });
  await self({});
  await self({ resourceAttributes: { verb: 'get' }, nonResourceAttributes: { path: '/', verb: 'get' } });
  await api.post(`${authorization}/selfsubjectaccessreviews`, { kind: 'Other' });
  await api.post(`${authorization}/selfsubjectaccessreviews`, '');
  await api.post(`${authorization}/selfsubjectrulesreviews`, review('SelfSubjectRulesReview', { namespace: 'rbac' }), {
    as: 'alice',
  });
  await api.post(`${authorization}/selfsubjectrulesreviews`, review('SelfSubjectRulesReview', {}), { as: 'alice' });
  await api.post(
    `${authorization}/subjectaccessreviews`,
    review('SubjectAccessReview', { user: 'alice', resourceAttributes: { ...gadgets, verb: 'list' } }),
  );
  await api.post(
    `${authorization}/subjectaccessreviews`,
    review('SubjectAccessReview', {
      user: 'bob',
      groups: ['system:masters'],
      resourceAttributes: { ...gadgets, verb: 'list' },
    }),
  );
  await api.post(
    `${authorization}/subjectaccessreviews`,
    review('SubjectAccessReview', { resourceAttributes: { ...gadgets, verb: 'list' } }),
  );
  await api.post(
    `${authorization}/subjectaccessreviews`,
    review('SubjectAccessReview', { user: 'alice', resourceAttributes: gadgets }),
    { as: 'alice' },
  );
  await api.post(
    `${authorization}/namespaces/rbac/localsubjectaccessreviews`,
    review('LocalSubjectAccessReview', { user: 'alice', resourceAttributes: { ...gadgets, verb: 'list' } }),
  );
  await api.post(
    '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
    { as: 'alice' },
  );
  await api.post('/apis/authentication.k8s.io/v1/tokenreviews', {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    spec: { token: 'alice-token' },
  });
  await api.post('/apis/authentication.k8s.io/v1/tokenreviews', {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    spec: { token: 'nobodys' },
  });
});
