import { configMap, core, gadget, gadgetsIn, group, makeNamespace } from '../definitions.ts';
import { scenario } from '../harness/scenario.ts';

scenario('create, read, update, delete of a custom resource', async (api) => {
  const gadgets = await gadgetsIn(api, 'crud');
  const made = await api.post(gadgets, gadget('one', { color: 'green', tags: ['a', 'b'] }, { labels: { x: '1' } }));
  await api.get(`${gadgets}/one`);
  await api.post(gadgets, gadget('one'), { note: 'again' });
  const changed = await api.put(`${gadgets}/one`, { ...made.body, spec: { ...made.body.spec, color: 'blue' } });
  await api.put(`${gadgets}/one`, made.body, { note: 'older version' });
  await api.put(`${gadgets}/one`, changed.body, { note: 'nothing changed' });
  await api.put(`${gadgets}/one`, gadget('one', { color: 'red' }), { note: 'no version' });
  await api.put(`${gadgets}/one`, gadget('one', { color: 'red' }, { resourceVersion: 'x' }), { note: 'odd version' });
  await api.put(`${gadgets}/one`, gadget('one', { color: 'red' }, { resourceVersion: '0' }), { note: 'version 0' });
  await api.put(`${gadgets}/two`, gadget('two', {}, { resourceVersion: '1' }), { note: 'not there' });
  await api.put(`${gadgets}/two`, gadget('two'), { note: 'not there, no version' });
  await api.put(`${gadgets}/one`, gadget('two'), { note: 'name of another' });
  await api.put(`${gadgets}/one`, gadget(''), { note: 'no name' });
  await api.put(`${gadgets}/one`, gadget('one', {}, { namespace: 'default' }), { note: 'namespace of another' });
  await api.put(
    `${gadgets}/one`,
    { ...changed.body, metadata: { ...changed.body.metadata, uid: 'other' } },
    { note: 'another uid' },
  );
  await api.get(`${gadgets}/two`);
  await api.delete(`${gadgets}/two`);
  await api.delete(`${gadgets}/one`);
  await api.get(`${gadgets}/one`);
  await api.delete(`${gadgets}/one`);
  await api.post('/apis/conformance.test/v1/namespaces/absent/gadgets', gadget('one'), { note: 'no such namespace' });
  await api.get('/apis/conformance.test/v1/namespaces/absent/gadgets');
  await api.get('/apis/conformance.test/v1/namespaces/absent/gadgets/x');
});

scenario('what a client may say about metadata', async (api) => {
  const gadgets = await gadgetsIn(api, 'metadata');
  const all = {
    uid: '11111111-1111-1111-1111-111111111111',
    creationTimestamp: '2001-01-01T00:00:00Z',
    deletionTimestamp: '2001-01-01T00:00:00Z',
    deletionGracePeriodSeconds: 7,
    generation: 9,
    selfLink: '/x',
  };
  const made = await api.post(gadgets, gadget('full', {}, all));
  await api.post(gadgets, gadget('versioned', {}, { resourceVersion: '1' }));
  await api.post(gadgets, gadget('', {}), { note: 'no name' });
  await api.post(gadgets, gadget('Upper', {}));
  await api.post(gadgets, gadget('a_b', {}));
  await api.post(gadgets, gadget('-a', {}));
  await api.post(gadgets, gadget('a..b', {}));
  await api.post(gadgets, gadget('a/b', {}));
  await api.post(gadgets, gadget('..', {}));
  await api.post(gadgets, gadget('x'.repeat(254), {}));
  await api.post(gadgets, gadget('x'.repeat(253), {}));
  await api.post(gadgets, gadget('l1', {}, { labels: { 'bad key': 'v' } }));
  await api.post(gadgets, gadget('l2', {}, { labels: { ok: 'bad value' } }));
  await api.post(gadgets, gadget('l3', {}, { labels: { ok: 'x'.repeat(64) } }));
  await api.post(gadgets, gadget('l4', {}, { labels: { 'a/b/c': 'x' } }));
  await api.post(gadgets, gadget('l5', {}, { labels: { 'UPPER.example/x': 'x' } }));
  await api.post(gadgets, gadget('l6', {}, { labels: { x: 1 } }));
  await api.post(gadgets, gadget('l7', {}, { labels: 'x' }));
  await api.post(gadgets, gadget('l8', {}, { labels: { x: null } }));
  await api.post(gadgets, gadget('a1', {}, { annotations: { 'bad key': 'v' } }));
  await api.post(gadgets, gadget('a2', {}, { annotations: { Upper: 'any value at all' } }));
  await api.post(gadgets, gadget('a3', {}, { annotations: { big: 'x'.repeat(270_000) } }), {
    note: 'annotations too big',
  });
  await api.post(gadgets, gadget('f1', {}, { finalizers: ['plain'] }));
  await api.post(gadgets, gadget('f2', {}, { finalizers: ['example.com/fine', 'foregroundDeletion', 'orphan'] }));
  await api.post(gadgets, gadget('f3', {}, { finalizers: ['bad name/x'] }));
  await api.post(gadgets, gadget('f4', {}, { finalizers: 'x' }));
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u' };
  await api.post(gadgets, gadget('o1', {}, { ownerReferences: [owner] }));
  await api.post(gadgets, gadget('o2', {}, { ownerReferences: [{ ...owner, uid: '' }] }));
  await api.post(gadgets, gadget('o3', {}, { ownerReferences: [{ ...owner, kind: '', name: '', apiVersion: '' }] }));
  await api.post(
    gadgets,
    gadget(
      'o4',
      {},
      {
        ownerReferences: [
          { ...owner, controller: true },
          { ...owner, uid: 'v', controller: true },
        ],
      },
    ),
  );
  await api.post(gadgets, gadget('o5', {}, { ownerReferences: [{ ...owner, apiVersion: 'v1', kind: 'Event' }] }));
  await api.post(gadgets, gadget('o6', {}, { ownerReferences: [owner, owner] }));
  await api.post(
    gadgets,
    gadget('m1', {}, { managedFields: [{ manager: 'x', operation: 'Wrong', apiVersion: 'v1' }] }),
  );
  await api.post(gadgets, gadget('m2', {}, { managedFields: [] }));
  await api.post(gadgets, gadget('u1', {}, { bogus: 1 }));
  await api.post(gadgets, gadget('u2', {}, { name: 5 }));
  await api.post(gadgets, gadget('u3', {}, { creationTimestamp: 'yesterday' }));
  await api.post(gadgets, gadget('u4', {}, { generation: 'x' }));
  await api.post(gadgets, { ...gadget('u5', {}), metadata: null });
  await api.post(gadgets, { ...gadget('u6', {}), metadata: 'x' });
  await api.post(gadgets, { ...gadget('u7', {}), metadata: [] });
  const meta = made.body.metadata ?? {};
  const put = (change: object, note: string) =>
    api.put(`${gadgets}/full`, { ...made.body, metadata: { ...meta, ...change } }, { note });
  await put({ creationTimestamp: '2002-01-01T00:00:00Z' }, 'creationTimestamp changed');
  await put({ deletionTimestamp: '2002-01-01T00:00:00Z' }, 'deletionTimestamp set');
  await put({ generation: 77 }, 'generation set');
  await put({ labels: { fresh: 'yes' }, resourceVersion: '' }, 'no version');
  await put({ labels: { fresh: 'yes' }, managedFields: undefined }, 'labels only');
});

scenario('generateName', async (api) => {
  const gadgets = await gadgetsIn(api, 'generated');
  const nameless = (base: string) => ({ ...gadget('x'), metadata: { generateName: base } });
  await api.post(gadgets, nameless('gen-'));
  await api.post(gadgets, nameless('x'.repeat(70)));
  await api.send('POST', gadgets, {
    body: nameless('Bad'),
    view: (body) => JSON.parse(JSON.stringify(body).replace(/Bad[a-z0-9]{5}/g, 'Bad-----')),
  });
  await api.post(gadgets, gadget('named', {}, { generateName: 'gen-' }));
  await api.post(gadgets, { ...gadget('x'), metadata: { generateName: '' } });
  await api.post(`${gadgets}?dryRun=All`, nameless('dry-'));
  await makeNamespace(api, 'generated');
  await api.post(`${core}/namespaces/generated/configmaps`, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { generateName: 'cm-' },
  });
});

scenario('dryRun', async (api) => {
  const gadgets = await gadgetsIn(api, 'dry');
  await api.post(`${gadgets}?dryRun=All`, gadget('one'));
  await api.get(`${gadgets}/one`, { note: 'was not made' });
  const made = await api.post(gadgets, gadget('one'));
  await api.post(`${gadgets}?dryRun=All`, gadget('one'), { note: 'there already' });
  await api.put(`${gadgets}/one?dryRun=All`, { ...made.body, spec: { color: 'blue' } });
  await api.patch('merge', `${gadgets}/one?dryRun=All`, { spec: { color: 'green' } });
  await api.patch('apply', `${gadgets}/one?dryRun=All&fieldManager=m&force=true`, gadget('one', { color: 'green' }));
  await api.patch('apply', `${gadgets}/other?dryRun=All&fieldManager=m`, gadget('other', { color: 'green' }));
  await api.patch('merge', `${gadgets}/one/status?dryRun=All`, { status: { phase: 'x' } });
  await api.delete(`${gadgets}/one?dryRun=All`);
  await api.delete(
    `${gadgets}/one`,
    { kind: 'DeleteOptions', apiVersion: 'v1', dryRun: ['All'] },
    { note: 'in the body' },
  );
  await api.delete(`${gadgets}?dryRun=All`);
  await api.get(`${gadgets}/one`, { note: 'as it was' });
  await api.post(`${gadgets}?dryRun=Some`, gadget('two'));
  await api.put(`${gadgets}/one?dryRun=`, made.body, { note: 'empty' });
  await api.delete(`${gadgets}/one?dryRun=x`);
  await api.patch('merge', `${gadgets}/one?dryRun=true`, {});
  await api.post(`${gadgets}?dryRun=All&dryRun=All`, gadget('three'));
});

scenario('fieldValidation and warnings', async (api) => {
  const gadgets = await gadgetsIn(api, 'validation');
  const odd = (name: string) => ({ ...gadget(name, { bogus: 1, size: { depth: 2 } }, { wrong: 1 }), extra: true });
  await api.post(gadgets, odd('default'));
  await api.post(`${gadgets}?fieldValidation=Warn`, odd('warn'));
  await api.post(`${gadgets}?fieldValidation=Ignore`, odd('ignore'));
  await api.post(`${gadgets}?fieldValidation=Strict`, odd('strict'));
  await api.post(`${gadgets}?fieldValidation=Other`, odd('other'));
  await api.post(`${gadgets}?fieldValidation=`, odd('empty'));
  const twice = `{"apiVersion":"${group}/v1","kind":"Gadget","metadata":{"name":"NAME","name":"NAME"},"spec":{"color":"red","color":"blue"}}`;
  await api.post(`${gadgets}?fieldValidation=Strict`, twice.replaceAll('NAME', 'twice'), { note: 'duplicates' });
  await api.post(`${gadgets}?fieldValidation=Warn`, twice.replaceAll('NAME', 'twice'), { note: 'duplicates' });
  await api.patch('merge', `${gadgets}/twice?fieldValidation=Strict`, { spec: { bogus: 1 } });
  await api.patch('merge', `${gadgets}/twice`, { spec: { bogus: 1, anything: { free: 1 } } });
  await api.patch('json', `${gadgets}/twice?fieldValidation=Strict`, [{ op: 'add', path: '/spec/bogus', value: 1 }]);
  await api.patch('json', `${gadgets}/twice`, [{ op: 'add', path: '/spec/bogus', value: 1 }]);
  await api.patch('apply', `${gadgets}/twice?fieldManager=m&fieldValidation=Strict`, gadget('twice', { bogus: 1 }));
  await api.patch('apply', `${gadgets}/twice?fieldManager=m`, gadget('twice', { bogus: 1 }));
  const made = await api.get(`${gadgets}/twice`);
  await api.put(`${gadgets}/twice?fieldValidation=Strict`, { ...made.body, spec: { ...made.body.spec, what: 1 } });
  await api.put(`${gadgets}/twice`, { ...made.body, spec: { ...made.body.spec, what: 1 } });
  const maps = `${await makeNamespace(api, 'validation')}/configmaps`;
  await api.post(`${maps}?fieldValidation=Strict`, { ...configMap('a'), bogus: 1 });
  await api.post(maps, { ...configMap('a'), bogus: 1 });
  await api.post(
    `${maps}?fieldValidation=Strict`,
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"},"data":{"a":"1","a":"2"}}',
  );
  await api.post(maps, '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"},"data":{"a":"1","a":"2"}}');
  await api.post(
    `${maps}?fieldValidation=Strict`,
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  a: "1"\n  a: "2"\n',
    { type: 'application/yaml' },
  );
  await api.post(maps, 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\nbogus: 1\n', {
    type: 'application/yaml',
  });
});

scenario('bodies', async (api) => {
  const gadgets = await gadgetsIn(api, 'bodies');
  const maps = `${core}/namespaces/bodies/configmaps`;
  const yaml = `apiVersion: ${group}/v1\nkind: Gadget\nmetadata:\n  name: yaml\nspec:\n  color: blue\n`;
  await api.post(gadgets, yaml, { type: 'application/yaml' });
  await api.post(gadgets, yaml, { type: 'application/yaml', accept: 'application/yaml', note: 'again, YAML back' });
  await api.get(`${gadgets}/yaml`, { accept: 'application/yaml' });
  await api.get(`${maps}`, { accept: 'application/yaml' });
  for (const path of [gadgets, maps]) {
    await api.post(path, '', { note: 'empty' });
    await api.post(path, '{', { note: 'cut off' });
    await api.post(path, 'null', { note: 'null' });
    await api.post(path, '[]', { note: 'a list' });
    await api.post(path, '"text"', { note: 'a string' });
    await api.post(path, '{}', { note: 'an empty object' });
    await api.post(path, '{"kind":"Gadget"}', { note: 'no apiVersion' });
    await api.post(path, '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"}}', { note: 'another kind' });
    await api.post(path, '{"apiVersion":"v9","kind":"ConfigMap","metadata":{"name":"x"}}', { note: 'another version' });
    await api.post(path, '{"apiVersion":1,"kind":2}', { note: 'wrong types' });
    await api.post(path, '{}', { type: 'text/plain', note: 'text/plain' });
    await api.post(path, '{}', { type: 'application/xml', note: 'application/xml' });
    await api.post(path, '{"kind":"X"} trailing', { note: 'text behind' });
    await api.post(path, '\ufeff{}', { note: 'byte order mark' });
    await api.post(path, ': : :', { type: 'application/yaml', note: 'no YAML' });
    await api.post(path, new Uint8Array([0x7b, 0xff, 0x7d]), { note: 'no UTF-8' });
  }
  await api.post(gadgets, gadget('typeless'), { type: '', note: 'no content type' });
  await api.post(gadgets, gadget('charset'), { type: 'application/json; charset=utf-8' });
  await api.post(gadgets, { ...gadget('spec'), spec: 'text' });
  await api.post(gadgets, { ...gadget('spec'), spec: null });
  await api.post(gadgets, { metadata: { name: 'kindless' }, spec: {} });
  await api.post(maps, { metadata: { name: 'kindless' }, data: { a: 'b' } });
  await api.post(maps, { ...configMap('numbers'), data: { a: 1 } });
  await api.post(maps, { ...configMap('listed'), data: [] });
  await api.post(maps, { ...configMap('nulls'), data: { a: null } });
  await api.post(maps, configMap('big', { a: 'x'.repeat(1_100_000) }), { note: 'data too long' });
  await api.post(maps, configMap('huge', { a: 'x'.repeat(3_200_000) }), { note: 'body too long' });
  await api.post(gadgets, gadget('huge', { anything: { a: 'x'.repeat(1_600_000) } }), { note: 'object too long' });
  await api.post(gadgets, gadget('big', { anything: { a: 'x'.repeat(1_000_000) } }), { note: 'just fits' });
  await api.get(`${gadgets}/yaml`, { accept: 'text/html' });
  await api.get(`${gadgets}/yaml`, { accept: 'application/vnd.kubernetes.protobuf' });
  await api.get(`${gadgets}/yaml`, { accept: 'application/vnd.kubernetes.protobuf,application/json' });
  await api.get(`${gadgets}/yaml`, { accept: 'text/html, */*' });
  await api.get(`${gadgets}/yaml`, { accept: 'application/*' });
});

scenario('methods and parts that are not offered', async (api) => {
  const gadgets = await gadgetsIn(api, 'methods');
  await api.post(gadgets, gadget('one'));
  await api.post(`${gadgets}/one`, gadget('one'));
  await api.put(gadgets, gadget('one'));
  await api.patch('merge', gadgets, {});
  await api.send('OPTIONS', gadgets);
  await api.send('HEAD', `${gadgets}/one`);
  await api.send('PURGE', `${gadgets}/one`);
  await api.get(`${gadgets}/one/nothing`);
  await api.delete(`${gadgets}/one/status`);
  await api.post(`${gadgets}/one/status`, gadget('one'));
  await api.get(`/apis/${group}/v1/gadgets/one`);
  await api.post(`/apis/${group}/v1/gadgets`, gadget('one'));
  await api.post(`/apis/${group}/v1/gadgets`, gadget('one', {}, { namespace: 'methods' }));
  await api.delete(`/apis/${group}/v1/gadgets`);
  await api.get(`/apis/${group}/v1/namespaces/methods/bags`);
  await api.get(`/apis/${group}/v1/bags/none/status`);
  await api.post(`${core}/configmaps`, configMap('x'));
  await api.delete(`${core}/configmaps`);
  await api.put(`${core}/namespaces/methods/configmaps`, configMap('x'));
  await api.get(`${core}/namespaces/methods/configmaps/x/status`);
  await api.delete(`${core}/namespaces`);
  await api.post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews/x', {});
  await api.get('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews');
});

scenario('a kind without structure, in two versions, cluster scoped', async (api) => {
  const [old, bags] = [`/apis/${group}/v1beta1/bags`, `/apis/${group}/v1/bags`];
  const bag = (version: string, name: string, more: object = {}) => ({
    apiVersion: `${group}/${version}`,
    kind: 'Bag',
    metadata: { name },
    ...more,
  });
  await api.post(old, bag('v1beta1', 'one', { a: { b: [1, 'x', null] }, status: { s: 1 } }));
  await api.get(`${bags}/one`);
  await api.get(`${old}/one`);
  await api.get(old);
  await api.post(bags, bag('v1', 'two', { status: { free: true } }));
  await api.post(bags, bag('v1beta1', 'three'), { note: 'version of another path' });
  await api.patch('merge', `${bags}/two`, { status: { free: false }, new: 1 });
  await api.patch('apply', `${bags}/two?fieldManager=m`, bag('v1', 'two', { deep: { list: [{ a: 1 }] } }));
  await api.patch('apply', `${old}/two?fieldManager=m`, bag('v1beta1', 'two', { deep: { list: [{ a: 2 }] } }));
  await api.get(`${bags}/two/status`);
  await api.get(`${bags}/two/scale`);
  await api.get(bags, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' });
  await api.delete(`${bags}/two`);
  await api.delete(bags);
});
