import { configMap, core, gadget, gadgetsIn } from '../definitions.ts';
import { scenario } from '../harness/scenario.ts';
import type { Json } from '../harness/session.ts';

const options = (more: object) => ({ kind: 'DeleteOptions', apiVersion: 'v1', ...more });
const names = (body: Json): Json =>
  body.items?.map(({ metadata }: Json) => [metadata.name, metadata.finalizers, metadata.deletionTimestamp]) ?? body;

scenario('deletion of collections', async (api) => {
  const gadgets = await gadgetsIn(api, 'collections');
  const maps = `${core}/namespaces/collections/configmaps`;
  const fill = async (): Promise<void> => {
    for (const [index, name] of ['a', 'b', 'c', 'd'].entries()) {
      const labels = { n: String(index), even: String(index % 2 === 0) };
      await api.quiet('POST', gadgets, { body: gadget(name, {}, { labels }) });
      await api.quiet('POST', maps, { body: configMap(name, {}, { labels }) });
    }
  };
  for (const path of [gadgets, maps]) {
    await fill();
    const remove = (query: string, body?: unknown, note?: string) =>
      api.delete(`${path}${query}`, body, note === undefined ? {} : { note });
    await remove('?labelSelector=even%3Dtrue&dryRun=All');
    await remove('?labelSelector=n%3E2', options({ dryRun: ['All'] }));
    await remove('?fieldSelector=metadata.name%3Dd');
    await remove('?labelSelector=even%3Dtrue', options({ propagationPolicy: 'Foreground' }));
    await api.get(path, { view: names, note: 'two in the foreground' });
    await remove('?resourceVersion=1', undefined, 'an old version');
    await remove('', options({ preconditions: { uid: 'x' } }), 'a uid');
    await remove('', options({ propagationPolicy: 'Odd' }), 'an odd policy');
    await remove('?propagationPolicy=Orphan&labelSelector=n%3D1');
    await remove('?limit=1');
    await remove('?limit=x');
    await remove('?continue=nonsense');
    await remove('?labelSelector=%3D');
    await remove('?resourceVersionMatch=Exact');
    await remove('?gracePeriodSeconds=0');
    await api.get(path, { view: names, note: 'what is left' });
    for (const name of ['a', 'b', 'c', 'd']) {
      const body = { metadata: { finalizers: null } };
      await api.quiet('PATCH', `${path}/${name}`, { type: 'application/merge-patch+json', body });
    }
    await remove('', undefined, 'of nothing');
  }
});

scenario('names that are generated or odd', async (api) => {
  const gadgets = await gadgetsIn(api, 'names');
  const maps = `${core}/namespaces/names/configmaps`;
  for (const [path, of] of [
    [gadgets, gadget],
    [maps, configMap],
  ] as const) {
    const view = (body: Json): Json =>
      body.kind === 'Status'
        ? [body.reason, body.details?.causes?.map(({ field }: Json) => field)]
        : body.metadata.generateName;
    const generate = (base: string) =>
      api.send('POST', `${path}?dryRun=All`, {
        body: { ...of('x', {}), metadata: { generateName: base } },
        note: `generated from ${base.slice(0, 20)}`,
        view,
      });
    for (const base of ['a.', '-', 'a--', '.', 'A-', 'a_', 'x'.repeat(63), `${'x'.repeat(64)}-`, 'a/b'])
      await generate(base);
    for (const name of [
      'a.b-c.d',
      '1',
      'a..b',
      'a.',
      '.a',
      'a%',
      'ü',
      `${'a'.repeat(63)}.${'b'.repeat(63)}`,
      `${'A'.repeat(254)}`,
    ]) {
      await api.post(`${path}?dryRun=All`, of(name, {}), { note: name.slice(0, 20) });
    }
    for (const key of [
      '',
      'a/',
      '/a',
      'A/a',
      `${'x'.repeat(64)}`,
      `${'_'.repeat(64)}`,
      `${'x'.repeat(254)}/a`,
      `${'X'.repeat(254)}/-`,
    ]) {
      const note = key.slice(0, 20);
      await api.post(`${path}?dryRun=All`, of('n', {}, { labels: { [key]: 'v' } }), { note: `label ${note}` });
      await api.post(`${path}?dryRun=All`, of('n', {}, { annotations: { [key]: 'v' } }), {
        note: `annotation ${note}`,
      });
      await api.post(`${path}?dryRun=All`, of('n', {}, { finalizers: [key] }), { note: `finalizer ${note}` });
    }
    for (const value of ['-', 'a-', '_', 'ü', ' ', `${'-'.repeat(64)}`]) {
      await api.post(`${path}?dryRun=All`, of('n', {}, { labels: { k: value } }), {
        note: `value ${value.slice(0, 9)}`,
      });
    }
  }
});

scenario('watch: versions that are ahead, selectors, one name', async (api) => {
  const gadgets = await gadgetsIn(api, 'ahead');
  await api.quiet('POST', gadgets, { body: gadget('one', {}, { labels: { on: 'yes' } }) });
  const now = Number((await api.quiet('GET', gadgets)).body.metadata.resourceVersion);
  const ahead = now + 1_000_000;
  const watched = async (query: string, note: string): Promise<void> => {
    const watch = await api.watch(`${gadgets}?watch=true&timeoutSeconds=1&${query}`, { note });
    await watch.end();
  };
  await watched(`resourceVersion=${ahead}`, 'ahead');
  await watched(`resourceVersion=${now}&labelSelector=on%3Dyes&fieldSelector=metadata.name%3Done`, 'both selectors');
  await watched('labelSelector=on%3Dyes&fieldSelector=metadata.name%3Dother', 'nothing');
  await watched('fieldSelector=metadata.name%3Done', 'one name');
  await watched('sendInitialEvents=true&resourceVersionMatch=NotOlderThan&labelSelector=on%3Dno', 'none selected');
  await watched('limit=1', 'a limit');
  await watched('resourceVersion=', 'an empty version');
  await watched('resourceVersion=-1', 'a negative version');
  await watched('resourceVersion=1.5', 'a fraction');
  await watched('sendInitialEvents=maybe', 'an odd word');
  await watched('sendInitialEvents=false&resourceVersionMatch=Exact', 'not initial, Exact');
  await watched(`sendInitialEvents=true&resourceVersion=${now}&resourceVersionMatch=Exact`, 'initial, Exact');
  await watched(`resourceVersion=${now}&resourceVersionMatch=Odd`, 'an odd match');
  await watched(`resourceVersion=${now}&continue=x`, 'continue');
  await watched('timeoutSeconds=-1', 'a second timeout');
});

scenario('preconditions and versions of writes', async (api) => {
  const gadgets = await gadgetsIn(api, 'preconditions');
  const maps = `${core}/namespaces/preconditions/configmaps`;
  for (const [path, of] of [
    [gadgets, gadget],
    [maps, configMap],
  ] as const) {
    const made = (await api.post(path, of('one', {}))).body;
    const one = `${path}/one`;
    const { uid, resourceVersion } = made.metadata;
    const moved = await api.patch('merge', one, { metadata: { resourceVersion, uid, labels: { x: '1' } } });
    await api.patch('merge', one, { metadata: { resourceVersion, labels: { x: '2' } } }, { note: 'older' });
    await api.patch('json', one, [{ op: 'test', path: '/metadata/resourceVersion', value: resourceVersion }]);
    await api.patch('apply', `${one}?fieldManager=m`, of('one', {}, { resourceVersion }), { note: 'older' });
    await api.patch('apply', `${one}?fieldManager=m`, of('one', {}, { uid: 'other' }), { note: 'another uid' });
    await api.patch(
      'apply',
      `${one}?fieldManager=m`,
      of('one', {}, { uid, resourceVersion: moved.body.metadata.resourceVersion }),
    );
    await api.put(
      one,
      { ...made, metadata: { ...made.metadata, uid: 'other', resourceVersion: '' } },
      { note: 'another uid' },
    );
    await api.put(one, { ...made, metadata: { ...made.metadata, resourceVersion: '00' } }, { note: 'version 00' });
    await api.put(one, { ...made, metadata: { ...made.metadata, resourceVersion: '-1' } }, { note: 'version -1' });
    await api.put(
      one,
      { ...made, metadata: { ...made.metadata, resourceVersion: '99999999999999999999' } },
      { note: 'a huge version' },
    );
    await api.delete(one, options({ preconditions: { uid: 'other', resourceVersion } }));
    await api.delete(one, options({ preconditions: { uid, resourceVersion } }), { note: 'older version' });
    await api.delete(one, options({ preconditions: { uid, resourceVersion: 'x' } }));
    await api.delete(one, options({ preconditions: {}, gracePeriodSeconds: 30 }));
    await api.delete(one, options({ preconditions: { uid } }), { note: 'gone' });
  }
});
