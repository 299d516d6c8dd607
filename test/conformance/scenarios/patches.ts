import { configMap, core, gadget, gadgetsIn, makeNamespace } from '../definitions.ts';
import { scenario } from '../harness/scenario.ts';

scenario('JSON patch', async (api) => {
  const gadgets = await gadgetsIn(api, 'json-patch');
  await api.post(
    gadgets,
    gadget('one', { tags: ['a', 'b'], anything: { x: [1, 2, 3], y: null } }, { labels: { 'a/b': '1' } }),
  );
  const one = `${gadgets}/one`;
  const patch = (operations: unknown, note?: string) =>
    api.patch('json', one, operations, note === undefined ? {} : { note });
  await patch([{ op: 'replace', path: '/spec/color', value: 'blue' }]);
  await patch([{ op: 'add', path: '/spec/tags/-', value: 'c' }]);
  await patch([{ op: 'add', path: '/spec/tags/0', value: 'z' }]);
  await patch([{ op: 'remove', path: '/spec/tags/1' }]);
  await patch([
    { op: 'test', path: '/spec/color', value: 'blue' },
    { op: 'replace', path: '/spec/color', value: 'red' },
  ]);
  await patch([{ op: 'test', path: '/spec/color', value: 'green' }]);
  await patch([{ op: 'move', from: '/spec/anything/x/0', path: '/spec/anything/first' }]);
  await patch([{ op: 'copy', from: '/spec/anything/x', path: '/spec/anything/z' }]);
  await patch([{ op: 'remove', path: '/spec/nothing' }]);
  await patch([{ op: 'replace', path: '/spec/nothing', value: 1 }]);
  await patch([{ op: 'add', path: '/spec/nothing/deep', value: 1 }]);
  await patch([{ op: 'add', path: '/spec/tags/9', value: 'q' }]);
  await patch([{ op: 'remove', path: '/spec/tags/x' }]);
  await patch([{ op: 'odd', path: '/spec' }]);
  await patch([{ path: '/spec' }]);
  await patch([{ op: 'add', path: 'spec', value: 1 }]);
  await patch([{ op: 'remove', path: '/metadata/labels/a~1b' }]);
  await patch([{ op: 'test', path: '/metadata/resourceVersion', value: '1' }]);
  await patch([{ op: 'replace', path: '/metadata/name', value: 'other' }]);
  await patch([{ op: 'replace', path: '/kind', value: 'Other' }]);
  await patch([{ op: 'replace', path: '/apiVersion', value: 'v9' }]);
  await patch([{ op: 'replace', path: '/metadata/uid', value: 'x' }]);
  await patch([{ op: 'replace', path: '/metadata/resourceVersion', value: '1' }]);
  await patch([{ op: 'remove', path: '/metadata' }]);
  await patch([{ op: 'replace', path: '', value: 5 }]);
  await patch([{ op: 'replace', path: '/spec/replicas', value: 'x' }]);
  await patch([], 'empty');
  await patch({}, 'an object');
  await patch('[', 'cut off');
  await patch('', 'nothing');
  await patch([{ op: 'replace', path: '/status', value: { phase: 'x' } }], 'status without its subresource');
  await api.patch('json', `${one}/status`, [{ op: 'add', path: '/status', value: { phase: 'y' } }]);
  await api.patch('json', `${one}/status`, [{ op: 'replace', path: '/spec/color', value: 'green' }]);
  await api.patch('json', `${gadgets}/none`, [{ op: 'add', path: '/spec', value: {} }]);
  await patch(
    Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/kind', value: 'Gadget' })),
    'too many operations',
  );
});

scenario('merge patch', async (api) => {
  const gadgets = await gadgetsIn(api, 'merge-patch');
  await api.post(
    gadgets,
    gadget('one', { tags: ['a', 'b'], anything: { x: { y: 1, z: 2 } } }, { labels: { a: '1', b: '2' } }),
  );
  const one = `${gadgets}/one`;
  const patch = (body: unknown, note?: string) => api.patch('merge', one, body, note === undefined ? {} : { note });
  await patch({ spec: { color: 'blue', tags: ['c'] } });
  await patch({ metadata: { labels: { a: null } }, spec: { anything: { x: { y: null, w: [null] } } } });
  await patch({ spec: { color: null } }, 'back to the default');
  await patch({ spec: null });
  await patch({ metadata: null });
  await patch({ metadata: { name: 'other' } });
  await patch({ metadata: { namespace: 'default' } });
  await patch({ metadata: { resourceVersion: '1' } });
  await patch({ metadata: { uid: 'x' } });
  await patch({ metadata: { generation: 100, creationTimestamp: null } });
  await patch({ metadata: { labels: { 'bad key': 'x' } } });
  await patch({ kind: 'Other' });
  await patch({ status: { phase: 'x' } });
  await patch({}, 'empty');
  await patch('null');
  await patch('[]');
  await patch('{', 'cut off');
  await patch('text', 'text');
  await api.patch('merge', `${one}/status`, {
    status: { phase: 'y', conditions: [{ type: 'Ready', status: 'True' }] },
  });
  await api.patch('merge', `${one}/status`, { spec: { color: 'green' }, metadata: { labels: { c: '3' } } });
  await api.patch('merge', `${one}/status`, { status: { phase: 'far too long a phase' } });
  await api.patch('merge', `${one}/scale`, { spec: { replicas: 4 } });
  await api.patch('merge', `${one}/scale`, { spec: { replicas: 40 } });
  await api.get(`${one}/scale`);
  await api.get(`${one}/status`);
  const scale = await api.get(`${one}/scale`);
  await api.put(`${one}/scale`, { ...scale.body, spec: { replicas: 5 } });
  await api.put(`${one}/scale`, { ...scale.body, spec: { replicas: 6 } }, { note: 'older version' });
  await api.put(`${one}/scale`, {
    ...scale.body,
    spec: { replicas: -1 },
    metadata: { name: 'one', namespace: 'merge-patch' },
  });
  await api.put(`${one}/scale`, { kind: 'Gadget' });
  await api.get(`${gadgets}/none/scale`);
  const { body } = await api.get(one);
  await api.put(`${one}/status`, {
    ...body,
    spec: { color: 'green' },
    status: { phase: 'z', replicas: 3, selector: 'a=b' },
  });
  await api.get(`${one}/scale`);
  await api.put(`${one}/status`, body, { note: 'older version' });
  await api.put(one, { ...(await api.quiet('GET', one)).body, status: { phase: 'ignored' } });
  await api.patch('merge', `${gadgets}/none`, { spec: {} });
  await api.patch('strategic', one, { spec: {} }, { note: 'strategic merge of a custom resource' });
  await api.send('PATCH', one, { body: {}, type: 'application/json' });
  await api.send('PATCH', one, { body: {}, type: '' });
  await api.send('PATCH', `${one}?force=true`, { body: {}, type: 'application/merge-patch+json' });
});

scenario('strategic merge patch', async (api) => {
  const namespace = await makeNamespace(api, 'strategic');
  const map = `${namespace}/configmaps/m`;
  await api.post(`${namespace}/configmaps`, configMap('m', { a: '1', b: '2' }, { finalizers: ['example.com/a'] }));
  await api.patch('strategic', map, { data: { a: null, c: '3' } });
  await api.patch('strategic', map, { metadata: { finalizers: ['example.com/b'] } });
  await api.patch('strategic', map, { metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/a'] } });
  await api.patch('strategic', map, {
    metadata: { '$setElementOrder/finalizers': ['example.com/c', 'example.com/b'], finalizers: ['example.com/c'] },
  });
  await api.patch('strategic', map, { data: { $patch: 'replace', only: '1' } });
  await api.patch('strategic', map, { data: { $patch: 'delete' } });
  const owner = (name: string, more: object = {}) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name,
    uid: `uid-${name}`,
    ...more,
  });
  await api.patch('strategic', map, { metadata: { ownerReferences: [owner('x')] } });
  await api.patch('strategic', map, { metadata: { ownerReferences: [owner('y'), owner('x', { controller: true })] } });
  await api.patch('strategic', map, { metadata: { ownerReferences: [{ $patch: 'delete', uid: 'uid-x' }] } });
  await api.patch('strategic', map, { metadata: { ownerReferences: [{ $patch: 'replace' }, owner('z')] } });
  await api.patch('strategic', map, { metadata: { ownerReferences: [{ name: 'no key' }] } });
  await api.patch('strategic', map, { data: 'x' });
  await api.patch('strategic', map, { metadata: { labels: { x: 1 } } });
  await api.patch('strategic', map, '[]');
  await api.patch('strategic', map, '{');
  const account = `${namespace}/serviceaccounts/s`;
  await api.post(`${namespace}/serviceaccounts`, {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 's' },
    secrets: [{ name: 'a' }],
  });
  await api.patch('strategic', account, { secrets: [{ name: 'b' }], imagePullSecrets: [{ name: 'p' }] });
  await api.patch('strategic', account, { secrets: [{ name: 'a', $patch: 'delete' }] });
  await api.patch('merge', map, { data: { merged: 'yes' } });
  await api.patch('json', map, [{ op: 'add', path: '/data/patched', value: 'yes' }]);
  await api.patch('json', map, [{ op: 'add', path: '/data/number', value: 1 }]);
  await api.patch('strategic', map, { data: { $patch: 'odd' } });
  await api.patch('strategic', map, { data: { $retainKeys: ['x'], x: '1' } });
  await api.patch('strategic', `${core}/namespaces/strategic`, { metadata: { labels: { team: 'x' } } });
  await api.patch('strategic', `${core}/namespaces/strategic`, { spec: { finalizers: ['example.com/mine'] } });
});
