import { configMap, core, gadget, gadgetsIn, makeNamespace } from '../definitions.ts';
import { scenario } from '../harness/scenario.ts';

const options = (more: object) => ({ kind: 'DeleteOptions', apiVersion: 'v1', ...more });

scenario('deletion: finalizers, propagation, preconditions', async (api) => {
  const gadgets = await gadgetsIn(api, 'deletion');
  const hold = { finalizers: ['example.com/hold'] };
  await api.post(gadgets, gadget('held', {}, hold));
  await api.delete(`${gadgets}/held`);
  await api.get(`${gadgets}/held`);
  await api.delete(`${gadgets}/held`, undefined, { note: 'again' });
  const held = await api.patch(
    'merge',
    `${gadgets}/held`,
    { spec: { color: 'blue' } },
    { note: 'changed while terminating' },
  );
  await api.put(
    `${gadgets}/held`,
    { ...held.body, metadata: { ...held.body.metadata, finalizers: ['example.com/hold', 'example.com/new'] } },
    { note: 'finalizer added while terminating' },
  );
  await api.patch('merge', `${gadgets}/held`, { metadata: { deletionTimestamp: null } });
  await api.post(gadgets, gadget('held'), { note: 'while terminating' });
  await api.patch('json', `${gadgets}/held`, [{ op: 'remove', path: '/metadata/finalizers' }]);
  await api.get(`${gadgets}/held`);
  for (const policy of ['Foreground', 'Background', 'Orphan', 'Odd']) {
    const name = policy.toLowerCase();
    await api.post(gadgets, gadget(name));
    await api.delete(`${gadgets}/${name}`, options({ propagationPolicy: policy }));
    await api.get(`${gadgets}/${name}`);
    await api.delete(`${gadgets}/${name}`, undefined, { note: 'again, plain' });
    await api.delete(`${gadgets}/${name}?propagationPolicy=Background`, undefined, { note: 'again, Background' });
    await api.get(`${gadgets}/${name}`);
  }
  await api.post(gadgets, gadget('query'));
  await api.delete(`${gadgets}/query?propagationPolicy=Foreground`);
  await api.delete(`${gadgets}/query?propagationPolicy=Orphan`, undefined, { note: 'Orphan over Foreground' });
  await api.patch('merge', `${gadgets}/query`, { metadata: { finalizers: [] } });
  await api.post(gadgets, gadget('old'));
  await api.delete(`${gadgets}/old`, options({ orphanDependents: true }));
  await api.post(gadgets, gadget('both'));
  await api.delete(`${gadgets}/both`, options({ orphanDependents: true, propagationPolicy: 'Orphan' }));
  await api.delete(`${gadgets}/both`, options({ preconditions: { uid: 'x' } }));
  await api.delete(`${gadgets}/both`, options({ preconditions: { resourceVersion: '1' } }));
  await api.delete(`${gadgets}/both`, options({ gracePeriodSeconds: -1 }));
  await api.delete(`${gadgets}/both`, options({ dryRun: 'All' }));
  await api.delete(`${gadgets}/both`, options({ dryRun: ['Odd'] }));
  await api.delete(`${gadgets}/both`, options({ bogus: 1 }));
  await api.post(gadgets, gadget('both2'));
  await api.delete(`${gadgets}/both2`, { kind: 'Gadget', apiVersion: 'v1' });
  await api.delete(`${gadgets}/both2`, '{', { note: 'cut off' });
  await api.delete(`${gadgets}/both2`, '[]', { note: 'list' });
  const both = (await api.quiet('GET', `${gadgets}/both2`)).body;
  await api.delete(
    `${gadgets}/both2`,
    options({
      preconditions: { uid: both.metadata.uid, resourceVersion: both.metadata.resourceVersion },
      gracePeriodSeconds: 0,
    }),
  );
  await api.post(gadgets, gadget('grace'));
  await api.delete(`${gadgets}/grace?gracePeriodSeconds=5`);
  await api.post(gadgets, gadget('c1', {}, { labels: { g: '1' } }));
  await api.post(gadgets, gadget('c2', {}, { labels: { g: '1' }, ...hold }));
  await api.delete(`${gadgets}?labelSelector=g%3D1`);
  await api.get(`${gadgets}?labelSelector=g%3D1`);
  await api.delete(`${gadgets}?limit=1`, options({ propagationPolicy: 'Foreground' }));
});

scenario('namespaces', async (api) => {
  const namespaces = `${core}/namespaces`;
  const namespace = (name: string, more: object = {}) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, ...more },
  });
  const made = await api.post(namespaces, namespace('alive', { labels: { x: '1' } }));
  await api.post(namespaces, namespace('alive'));
  await api.post(namespaces, namespace('Bad'));
  await api.post(namespaces, namespace('a.b'));
  await api.post(namespaces, namespace('x'.repeat(64)));
  await api.post(namespaces, namespace(''));
  await api.post(namespaces, {
    ...namespace('given'),
    spec: { finalizers: ['example.com/f'] },
    status: { phase: 'Terminating' },
  });
  await api.post(namespaces, { ...namespace('badfinal'), spec: { finalizers: ['plain'] } });
  await api.get(`${namespaces}/alive`);
  await api.get(`${namespaces}/none`);
  await api.put(`${namespaces}/alive`, { ...made.body, metadata: { ...made.body.metadata, labels: { y: '2' } } });
  await api.put(
    `${namespaces}/alive`,
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'alive' } },
    { note: 'no version' },
  );
  await api.put(`${namespaces}/fresh`, namespace('fresh'), { note: 'not there' });
  await api.patch('merge', `${namespaces}/alive`, { metadata: { labels: { 'kubernetes.io/metadata.name': 'other' } } });
  await api.patch('merge', `${namespaces}/alive/status`, { status: { phase: 'Odd' } });
  await api.delete(`${namespaces}/default`);
  await api.delete(`${namespaces}/kube-system`);
  const maps = `${namespaces}/alive/configmaps`;
  await api.post(maps, configMap('m'));
  await api.delete(`${namespaces}/alive`);
  await api.until(`${namespaces}/alive`, ({ body }) => body.status?.phase === 'Terminating');
  await api.post(maps, configMap('n'), { note: 'while terminating' });
  await api.patch('merge', `${maps}/m`, { data: { b: '2' } }, { note: 'while terminating' });
  await api.delete(`${namespaces}/alive`, undefined, { note: 'again' });
  const ending = (await api.get(`${namespaces}/alive`)).body;
  await api.put(`${namespaces}/alive/finalize`, { ...ending, spec: { finalizers: [] } });
  await api.get(`${namespaces}/alive`);
  await api.put(`${namespaces}/none/finalize`, namespace('none'));
  await makeNamespace(api, 'short');
  await api.delete(`${namespaces}/short`, options({ propagationPolicy: 'Foreground' }));
  await api.get(`${namespaces}/default`, { view: (body) => [body.spec, body.status, body.metadata.labels] });
  await api.get(namespaces, {
    view: (body) =>
      body.items
        .map((one: { metadata: { name: string } }) => one.metadata.name)
        .filter((name: string) => /^(default|kube-)/.test(name)),
  });
});
