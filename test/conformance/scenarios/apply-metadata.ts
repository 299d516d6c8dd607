import { configMap, core, gadget, gadgetsIn, makeNamespace } from '../definitions.ts';
import { scenario } from '../harness/scenario.ts';
import type { Json } from '../harness/session.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1';

scenario('apply: labels, finalizers and owners of several managers', async (api) => {
  for (const [path, make] of [
    [await gadgetsIn(api, 'apply-metadata'), gadget],
    [`${core}/namespaces/apply-metadata/configmaps`, configMap],
  ] as const) {
    const one = `${path}/one`;
    const apply = (manager: string, metadata: object, query = '') =>
      api.patch('apply', `${one}?fieldManager=${manager}${query}`, make('one', {}, metadata));
    const owner = (name: string, more: object = {}) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name,
      uid: name,
      ...more,
    });
    await apply('a', { labels: { x: '1', y: '1' }, annotations: { n: '1' }, finalizers: ['example.com/a'] });
    await apply('b', { labels: { y: '1' }, finalizers: ['example.com/b', 'example.com/a'] });
    await apply('a', { labels: { x: '1' }, finalizers: [] });
    await apply('b', { labels: { x: '2' } });
    await apply('a', { ownerReferences: [owner('p'), owner('q', { controller: true })] });
    await apply('b', { ownerReferences: [owner('q', { blockOwnerDeletion: true }), owner('r')] });
    await apply('b', { ownerReferences: [owner('q', { blockOwnerDeletion: true })] }, '&force=true');
    await apply('b', { ownerReferences: [owner('r', { controller: true })] });
    await apply('a', { ownerReferences: [owner('p'), owner('p')] });
    await apply('a', {});
    await apply('b', {});
    await apply('b', { labels: null, finalizers: null });
    await apply('b', { labels: { z: null } });
    await apply('c', { finalizers: ['example.com/hold'] });
    await api.quiet('DELETE', one);
    await apply('c', { finalizers: ['example.com/hold', 'example.com/late'] });
    await apply('d', { labels: { ending: 'yes' } });
    await apply('c', {});
    await api.get(one, { note: 'after its last finalizer' });
  }
});

scenario('apply: objects that nobody applied before', async (api) => {
  const gadgets = await gadgetsIn(api, 'apply-before');
  const apply = (name: string, manager: string, spec: object, query = '') =>
    api.patch('apply', `${gadgets}/${name}?fieldManager=${manager}${query}`, gadget(name, spec));
  const cleared = async (name: string): Promise<void> => {
    await api.quiet('POST', gadgets, { body: gadget(name, { color: 'green', replicas: 2 }) });
    await api.patch('merge', `${gadgets}/${name}`, { metadata: { managedFields: [{}] } }, { note: 'cleared' });
  };
  await cleared('one');
  await api.patch('merge', `${gadgets}/one?fieldManager=m`, { spec: { replicas: 3 } }, { note: 'still cleared' });
  await apply('one', 'a', { color: 'green' });
  await apply('one', 'a', { color: 'blue' });
  await apply('one', 'a', { color: 'blue' }, '&force=true');
  await apply('one', 'a', {});
  await cleared('two');
  await apply('two', 'a', { color: 'blue' }, '&force=true');
  await api.post(`${gadgets}?fieldManager=kubectl-client-side-apply`, gadget('three', { color: 'green', code: 'ab' }));
  const { body } = await api.quiet('GET', `${gadgets}/three`);
  const [entry] = body.metadata.managedFields;
  await api.patch('json', `${gadgets}/three?fieldManager=kubectl`, [
    { op: 'replace', path: '/metadata/managedFields', value: [{ ...entry, manager: 'kubectl', operation: 'Apply' }] },
    { op: 'replace', path: '/metadata/resourceVersion', value: body.metadata.resourceVersion },
  ]);
  await apply('three', 'kubectl', { color: 'green' });
  const change = (managedFields: unknown, note: string) =>
    api.patch('merge', `${gadgets}/three`, { metadata: { managedFields } }, { note });
  const now = (await api.quiet('GET', `${gadgets}/three`)).body.metadata.managedFields as Json[];
  await change([...now, { ...now[0], manager: 'extra' }], 'an entry more');
  await change([{ ...now[0], fieldsV1: { 'f:spec': { 'f:nothing': {} } } }], 'a field that is not there');
  await change([{ ...now[0], fieldsV1: { odd: {} } }], 'no field set');
  await change([{ ...now[0], fieldsType: 'Odd' }], 'an odd type');
  await change([{ ...now[0], subresource: 'odd' }], 'an odd subresource');
  await change([{ ...now[0], time: 'yesterday' }], 'an odd time');
  await change([{ ...now[0], operation: 'Odd' }], 'an odd operation');
  await change([{ manager: 'bare' }], 'a manager alone');
  await change('x', 'a text');
  await apply('three', 'kubectl', { color: 'red' });
});

scenario('managed fields: many updaters', async (api) => {
  const gadgets = await gadgetsIn(api, 'updaters');
  await api.quiet('POST', `${gadgets}?fieldManager=m00`, { body: gadget('one') });
  for (let n = 1; n <= 12; n++) {
    const manager = `m${String(n).padStart(2, '0')}`;
    const body = { metadata: { annotations: { [manager]: 'x' } } };
    await api.patch('merge', `${gadgets}/one?fieldManager=${manager}`, body, { note: `updater ${n}` });
  }
  // Which is the oldest is told by whole seconds.
  await api.pause(1100);
  await api.patch('apply', `${gadgets}/one?fieldManager=applier`, gadget('one', { color: 'blue' }));
  await api.patch('merge', `${gadgets}/one?fieldManager=m03`, { spec: { color: 'green' } });
  await api.patch('merge', `${gadgets}/one/status?fieldManager=m05`, { status: { phase: 'x' } });
});

scenario('a write that changes nothing', async (api) => {
  const gadgets = await gadgetsIn(api, 'nothing');
  const made = await api.post(gadgets, gadget('one', { color: 'green', tags: ['a'] }, { labels: { x: '1' } }));
  const one = `${gadgets}/one`;
  await api.patch('merge', `${one}?fieldManager=second`, { spec: { replicas: 2 } });
  await api.patch('apply', `${one}?fieldManager=third`, gadget('one', { replicas: 2 }));
  // Into the next second: what was written before has an older time.
  await api.pause(1100);
  const now = (await api.get(one)).body;
  await api.put(one, now, { note: 'as it is' });
  await api.put(`${one}?fieldManager=fourth`, now, { note: 'by another' });
  await api.put(
    one,
    { ...now, metadata: { ...now.metadata, managedFields: undefined } },
    { note: 'no managed fields' },
  );
  await api.put(one, { ...now, status: { phase: 'ignored' } }, { note: 'status is ignored' });
  await api.put(`${one}/status`, { ...now, spec: { color: 'blue' } }, { note: 'spec is ignored' });
  await api.put(one, { ...now, spec: { ...now.spec, unknown: 1 } }, { note: 'pruned' });
  await api.put(one, { ...now, metadata: { ...now.metadata, generation: 7, selfLink: 'x' } }, { note: 'the server’s' });
  await api.patch('merge', one, {}, { note: 'merge' });
  await api.patch('merge', `${one}?fieldManager=fifth`, { spec: { color: 'green', replicas: 2 } });
  await api.patch('merge', one, { metadata: { labels: { x: '1' }, annotations: {} } });
  await api.patch('json', one, [{ op: 'replace', path: '/spec/color', value: 'green' }]);
  await api.patch('apply', `${one}?fieldManager=third`, gadget('one', { replicas: 2 }), { note: 'again' });
  await api.patch('apply', `${one}?fieldManager=third&force=true`, gadget('one', { replicas: 2 }), { note: 'again' });
  await api.put(one, now, { note: 'as it was' });
  await api.put(one, {
    ...made.body,
    metadata: { ...made.body.metadata, resourceVersion: now.metadata.resourceVersion },
  });
  const maps = `${await makeNamespace(api, 'nothing')}/configmaps`;
  await api.post(maps, configMap('m'));
  await api.pause(1100);
  await api.put(`${maps}/m`, configMap('m'), { note: 'no version' });
  await api.put(`${maps}/m?fieldManager=other`, configMap('m'), { note: 'by another' });
  await api.patch('strategic', `${maps}/m`, { data: { a: '1' } });
  await api.patch('apply', `${maps}/m?fieldManager=third`, configMap('m'));
  await api.patch('apply', `${maps}/m?fieldManager=third`, configMap('m'), { note: 'again' });
});

scenario('apply: built-in kinds', async (api) => {
  const namespace = await makeNamespace(api, 'apply-builtin');
  const inside = '/namespaces/apply-builtin';
  const apply = (path: string, manager: string, object: object, query = '') =>
    api.patch('apply', `${path}?fieldManager=${manager}${query}`, object);
  const secret = (more: object) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, ...more });
  await apply(`${namespace}/secrets/s`, 'a', secret({ stringData: { a: 'x' }, data: { b: 'eA==' } }));
  await apply(`${namespace}/secrets/s`, 'b', secret({ data: { a: 'eQ==' } }));
  await apply(`${namespace}/secrets/s`, 'a', secret({ stringData: { a: 'y' } }));
  const account = (more: object) => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 's' }, ...more });
  const accounts = `${namespace}/serviceaccounts/s`;
  await apply(accounts, 'a', account({ secrets: [{ name: 'x' }], imagePullSecrets: [{ name: 'p' }] }));
  await apply(accounts, 'b', account({ secrets: [{ name: 'y' }], imagePullSecrets: [{ name: 'q' }] }));
  await apply(accounts, 'a', account({ imagePullSecrets: [] }));
  const roles = `${rbac}${inside}/roles/r`;
  const role = (rules: object[]) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: 'r' },
    rules,
  });
  const reads = { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] };
  await apply(roles, 'a', role([reads]));
  await apply(roles, 'b', role([reads, { ...reads, verbs: ['list'] }]));
  await apply(roles, 'b', role([reads, { ...reads, verbs: ['list'] }]), '&force=true');
  const bindings = `${rbac}${inside}/rolebindings/r`;
  const binding = (subjects: object[]) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'r' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' },
    subjects,
  });
  await apply(bindings, 'a', binding([{ kind: 'User', name: 'u', apiGroup: 'rbac.authorization.k8s.io' }]));
  await apply(bindings, 'b', binding([{ kind: 'User', name: 'v' }]));
  const leases = `/apis/coordination.k8s.io/v1${inside}/leases/l`;
  const lease = (spec: object) => ({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'l' },
    spec,
  });
  await apply(leases, 'a', lease({ holderIdentity: 'a', leaseDurationSeconds: 15 }));
  await apply(leases, 'b', lease({ holderIdentity: 'b' }));
  await apply(leases, 'b', lease({ holderIdentity: 'b', renewTime: '2001-02-03T04:05:06.000000Z' }), '&force=true');
  await apply(leases, 'a', lease({ leaseDurationSeconds: 15 }));
  const spaces = (more: object) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'apply-builtin', ...more },
  });
  await apply(namespace, 'a', spaces({ labels: { team: 'x' } }));
  await apply(namespace, 'b', spaces({ labels: { 'kubernetes.io/metadata.name': 'other' } }));
  await apply(`${core}/namespaces/apply-fresh`, 'a', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'apply-fresh' },
  });
});
