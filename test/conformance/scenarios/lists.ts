import { configMap, core, gadget, gadgetsIn, makeNamespace } from '../definitions.ts';
import { scenario } from '../harness/scenario.ts';
import type { Session } from '../harness/session.ts';

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
const partial = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json';
const partialList = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json';

async function seven(api: Session, gadgets: string): Promise<void> {
  const colors = ['red', 'green', 'blue'];
  for (let n = 1; n <= 7; n++) {
    const metadata = { labels: { n: String(n), odd: String(n % 2 === 1), ...(n > 5 ? { late: '' } : {}) } };
    await api.quiet('POST', gadgets, { body: gadget(`g${n}`, { color: colors[n % 3], replicas: n }, metadata) });
  }
}

scenario('limit and continue', async (api) => {
  const gadgets = await gadgetsIn(api, 'pages');
  await seven(api, gadgets);
  await api.get(gadgets);
  const first = await api.get(`${gadgets}?limit=3`);
  const token = encodeURIComponent(first.body.metadata.continue);
  await api.quiet('POST', gadgets, { body: gadget('g35') });
  const second = await api.get(`${gadgets}?limit=3&continue=${token}`);
  await api.get(`${gadgets}?limit=3&continue=${encodeURIComponent(second.body.metadata.continue)}`);
  await api.get(`${gadgets}?continue=${token}`, { note: 'no limit' });
  await api.get(`${gadgets}?limit=3&continue=${token}&resourceVersion=5`);
  await api.get(`${gadgets}?limit=3&continue=${token}&resourceVersion=0`);
  await api.get(`${gadgets}?limit=3&continue=${token}&resourceVersion=5&resourceVersionMatch=Exact`);
  await api.get(`${gadgets}?limit=3&continue=nonsense`);
  await api.get(`${gadgets}?limit=3&continue=${Buffer.from('{"v":"x"}').toString('base64url')}`);
  await api.get(`${gadgets}?limit=100`);
  await api.get(`${gadgets}?limit=8`, { note: 'exactly all' });
  await api.get(`${gadgets}?limit=0`);
  await api.get(`${gadgets}?limit=-1`);
  await api.get(`${gadgets}?limit=x`);
  const selected = await api.get(`${gadgets}?limit=2&labelSelector=odd%3Dtrue`);
  await api.get(
    `${gadgets}?limit=2&labelSelector=odd%3Dtrue&continue=${encodeURIComponent(selected.body.metadata.continue)}`,
  );
  await api.get(`${gadgets}?limit=2`, { accept: table });
  await api.get(`${gadgets}?limit=2`, { accept: partialList });
  await api.get(`${core}/namespaces/pages/configmaps?limit=1`, { note: 'of an empty collection' });
});

scenario('resourceVersion and resourceVersionMatch of lists and gets', async (api) => {
  const gadgets = await gadgetsIn(api, 'versions');
  const maps = `${core}/namespaces/versions/configmaps`;
  const one = (await api.post(gadgets, gadget('one'))).body.metadata.resourceVersion;
  const two = (await api.post(gadgets, gadget('two'))).body.metadata.resourceVersion;
  await api.post(maps, configMap('m'));
  const future = String(Number(two) + 1_000_000);
  const ask = (query: string, note: string) => api.get(`${gadgets}?${query}`, { note });
  for (const limit of ['', '&limit=1']) {
    await ask(`resourceVersion=${limit}`, `unset${limit}`);
    await ask(`resourceVersion=0${limit}`, `0${limit}`);
    await ask(`resourceVersion=${one}${limit}`, `older${limit}`);
    await ask(`resourceVersion=${two}${limit}`, `newer${limit}`);
    for (const match of ['Exact', 'NotOlderThan']) {
      await ask(`resourceVersionMatch=${match}${limit}`, `unset ${match}${limit}`);
      await ask(`resourceVersion=0&resourceVersionMatch=${match}${limit}`, `0 ${match}${limit}`);
      await ask(`resourceVersion=${one}&resourceVersionMatch=${match}${limit}`, `older ${match}${limit}`);
      await ask(`resourceVersion=${two}&resourceVersionMatch=${match}${limit}`, `newer ${match}${limit}`);
    }
  }
  await ask(`resourceVersion=${one}&resourceVersionMatch=Odd`, 'odd match');
  await ask('resourceVersion=abc', 'no number');
  await ask('resourceVersion=-1', 'negative');
  await ask('resourceVersion=abc&resourceVersionMatch=Exact', 'no number Exact');
  await ask('sendInitialEvents=true', 'initial events of a list');
  await ask(`resourceVersion=1&resourceVersionMatch=Exact`, 'compacted or before everything');
  await api.get(`${gadgets}/one?resourceVersion=0`);
  await api.get(`${gadgets}/one?resourceVersion=${two}`);
  await api.get(`${gadgets}/one?resourceVersion=abc`);
  await api.get(`${gadgets}/one?resourceVersion=${future}`, { note: 'get from the future' });
  await ask(`resourceVersion=${future}`, 'from the future');
  await ask(`resourceVersion=${future}&resourceVersionMatch=Exact`, 'from the future Exact');
  await ask(`resourceVersion=${future}&limit=1`, 'from the future with a limit');
});

scenario('selectors', async (api) => {
  const gadgets = await gadgetsIn(api, 'selectors');
  await seven(api, gadgets);
  const names = {
    view: (body: { items?: { metadata: { name: string } }[] }) => body.items?.map((item) => item.metadata.name) ?? body,
  };
  const label = (selector: string) => api.get(`${gadgets}?labelSelector=${encodeURIComponent(selector)}`, names);
  for (const selector of [
    'odd=true',
    'odd==true',
    'odd!=true',
    'n in (1,2,3)',
    'n notin (1,2,3)',
    'late',
    '!late',
    'n>3',
    'n<3',
    'n > 3,n<6',
    'odd=true,late',
    'late=',
    'absent',
    'absent!=x',
    '',
    ' odd = true ',
    'odd in (true),n in (1)',
  ])
    await label(selector);
  for (const selector of [
    'odd=',
    'odd=true,',
    ',',
    'n in',
    'n in (',
    'n in ()',
    '=x',
    'a b',
    'a/b/c=d',
    'odd=bad value',
    'n>x',
    'é=1',
    'n in (1',
    'a=b=c',
    '!',
    '!a=b',
  ]) {
    await label(selector);
  }
  const field = (selector: string) => api.get(`${gadgets}?fieldSelector=${encodeURIComponent(selector)}`, names);
  for (const selector of [
    'metadata.name=g3',
    'metadata.name!=g3',
    'metadata.namespace=selectors',
    'metadata.namespace=other',
    'spec.color=red',
    'spec.color==red',
    'spec.color!=red',
    'spec.replicas=3',
    'spec.color=red,spec.replicas=3',
    'metadata.name=',
    '',
  ])
    await field(selector);
  for (const selector of [
    'spec.on=true',
    'metadata.labels.x=y',
    'nothing',
    'spec.color',
    'spec.color in (red)',
    'a=b,c',
    'metadata.name=a\\',
    'metadata.uid=x',
  ]) {
    await field(selector);
  }
  await api.get(`${gadgets}?fieldSelector=spec.color%3Dred&labelSelector=odd%3Dtrue`, names);
  await api.get(`/apis/conformance.test/v1/gadgets?fieldSelector=metadata.namespace%3Dselectors`, names);
  await api.delete(`${gadgets}?labelSelector=odd%3Dtrue`);
  await api.delete(`${gadgets}?fieldSelector=spec.color%3Dred`);
  await api.delete(`${gadgets}?labelSelector=n%20in%20(`);
  await api.get(gadgets, names);
  await api.get(`${core}/namespaces?fieldSelector=metadata.name%3Dselectors`);
  await api.get(`${core}/namespaces?fieldSelector=status.phase%3DTerminating`, names);
  await api.get(`${core}/namespaces?fieldSelector=spec.x%3D1`);
  await api.get(`${core}/namespaces/selectors/secrets?fieldSelector=type%3DOpaque`);
  await api.get(`${core}/namespaces/selectors/configmaps?fieldSelector=data.a%3D1`);
});

scenario('tables and metadata only', async (api) => {
  const gadgets = await gadgetsIn(api, 'tables');
  const status = {
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Other', status: 'False' },
    ],
  };
  const made = await api.quiet('POST', gadgets, {
    body: gadget(
      'one',
      { color: 'blue', when: '2001-02-03T04:05:06Z', tags: ['a', 'b'], on: true },
      { labels: { l: '1' } },
    ),
  });
  await api.quiet('PATCH', `${gadgets}/one/status`, { type: 'application/merge-patch+json', body: { status } });
  await api.quiet('POST', gadgets, { body: gadget('two') });
  for (const path of [gadgets, `${gadgets}/one`]) {
    await api.get(path, { accept: table });
    await api.get(path, { accept: partial, note: 'PartialObjectMetadata' });
    await api.get(path, { accept: partialList, note: 'PartialObjectMetadataList' });
    for (const include of ['None', 'Metadata', 'Object', 'Odd'])
      await api.get(`${path}?includeObject=${include}`, { accept: table });
    await api.get(path, { accept: 'application/json;as=Table;v=v1beta1;g=meta.k8s.io', note: 'v1beta1' });
    await api.get(path, {
      accept: 'application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json',
      note: 'v1beta1 or plain',
    });
    await api.get(path, { accept: 'application/json;as=Nothing;v=v1;g=meta.k8s.io', note: 'unknown form' });
    await api.get(path, { accept: 'application/json;as=Table;v=v1;g=other', note: 'other group' });
    await api.get(path, { accept: 'application/yaml;as=Table;v=v1;g=meta.k8s.io', note: 'YAML' });
  }
  await api.get(`${gadgets}/none`, { accept: table });
  await api.post(gadgets, gadget('three'), { accept: table });
  await api.post(gadgets, gadget('four'), { accept: partial });
  await api.patch('merge', `${gadgets}/one`, { metadata: { labels: { l: '2' } } }, { accept: partial });
  await api.put(
    `${gadgets}/one`,
    { ...made.body, metadata: { ...made.body.metadata, resourceVersion: '1' } },
    { accept: table },
  );
  await api.delete(`${gadgets}/two`, undefined, { accept: table });
  await makeNamespace(api, 'tables');
  await api.quiet('POST', `${core}/namespaces/tables/configmaps`, { body: configMap('m', { a: '1', b: '2' }) });
  await api.quiet('POST', `${core}/namespaces/tables/secrets`, {
    body: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { a: 'x' } },
  });
  await api.get(`${core}/namespaces/tables/configmaps`, { accept: table });
  await api.get(`${core}/namespaces/tables/secrets`, { accept: table });
  await api.get(`${core}/namespaces/tables/serviceaccounts`, { accept: table });
  await api.get(`${core}/namespaces/tables`, { accept: table });
  await api.get('/apis/coordination.k8s.io/v1/namespaces/tables/leases', { accept: table });
  await api.get('/apis/rbac.authorization.k8s.io/v1/namespaces/tables/roles', { accept: table });
  await api.get('/apis/rbac.authorization.k8s.io/v1/namespaces/tables/rolebindings', { accept: table });
  await api.get(`${core}/namespaces/tables/events`, { accept: table });
  await api.get('/apis/events.k8s.io/v1/namespaces/tables/events', { accept: table });
  await api.get('/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.conformance.test', { accept: table });
  await api.get('/apis/rbac.authorization.k8s.io/v1/clusterroles?limit=1', {
    accept: table,
    view: (body) => body.columnDefinitions,
  });
  await api.get('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings?limit=1', {
    accept: table,
    view: (body) => body.columnDefinitions,
  });
});
