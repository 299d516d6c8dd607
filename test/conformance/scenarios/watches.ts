import { configMap, core, gadget, gadgetsIn, makeNamespace } from '../definitions.ts';
import { scenario } from '../harness/scenario.ts';

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
const partial = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json';
const mergePatch = 'application/merge-patch+json';

scenario('watch: added, modified, deleted', async (api) => {
  const gadgets = await gadgetsIn(api, 'watched');
  await api.quiet('POST', gadgets, { body: gadget('before') });
  const start = (await api.quiet('GET', gadgets)).body.metadata.resourceVersion;
  const merge = (path: string, body: object) => api.quiet('PATCH', path, { type: mergePatch, body });
  const fresh = await api.watch(`${gadgets}?watch=true&resourceVersion=${start}`, { note: 'from the list' });
  const all = await api.watch(`${gadgets}?watch=1`, { note: 'from now, with what is there' });
  const zero = await api.watch(`${gadgets}?watch=true&resourceVersion=0`, { note: 'from 0' });
  const everywhere = await api.watch(`/apis/conformance.test/v1/gadgets?watch=true&resourceVersion=${start}`);
  const named = await api.watch(`${gadgets}?watch=true&resourceVersion=${start}&fieldSelector=metadata.name%3Dafter`);
  const tables = await api.watch(`${gadgets}?watch=true&resourceVersion=${start}`, { accept: table });
  const none = await api.watch(`${gadgets}?watch=true&resourceVersion=${start}&includeObject=None`, { accept: table });
  const metadata = await api.watch(`${gadgets}?watch=true&resourceVersion=${start}`, { accept: partial });
  await api.post(gadgets, gadget('after'));
  await merge(`${gadgets}/after`, { spec: { color: 'blue' } });
  await merge(`${gadgets}/after`, { metadata: { finalizers: ['example.com/hold'] } });
  await api.delete(`${gadgets}/after`);
  await merge(`${gadgets}/after`, { metadata: { finalizers: null } });
  await api.delete(`${gadgets}/before`);
  await fresh.close(6);
  await all.close(7);
  await zero.close(7);
  await everywhere.close(6);
  await named.close(5);
  await tables.close(6);
  await none.close(6);
  await metadata.close(6);
  const late = await api.watch(`${gadgets}?watch=true&resourceVersion=${start}`, { note: 'the same later' });
  await late.close(6);
});

scenario('watch: objects that begin and cease to be selected', async (api) => {
  const gadgets = await gadgetsIn(api, 'transitions');
  const start = (await api.quiet('GET', gadgets)).body.metadata.resourceVersion;
  const label = await api.watch(`${gadgets}?watch=true&resourceVersion=${start}&labelSelector=on%3Dyes`);
  const field = await api.watch(`${gadgets}?watch=true&resourceVersion=${start}&fieldSelector=spec.color%3Dblue`);
  const labelTable = await api.watch(`${gadgets}?watch=true&resourceVersion=${start}&labelSelector=on%3Dyes`, {
    accept: table,
  });
  const change = (name: string, body: object) => api.patch('merge', `${gadgets}/${name}`, body);
  await api.post(gadgets, gadget('a', {}, { labels: { on: 'no' } }));
  await change('a', { metadata: { labels: { on: 'yes' } } });
  await change('a', { spec: { color: 'blue' } });
  await change('a', { metadata: { labels: { on: 'no' } } });
  await change('a', { spec: { replicas: 2 } });
  await change('a', { spec: { color: 'green' } });
  await api.post(gadgets, gadget('b', { color: 'blue' }, { labels: { on: 'yes' } }));
  await api.delete(`${gadgets}/b`);
  await label.close(5);
  await field.close(6);
  await labelTable.close(5);
});

scenario('watch: bookmarks, initial events, time limits, refusals', async (api) => {
  const gadgets = await gadgetsIn(api, 'bookmarks');
  const one = (await api.quiet('POST', gadgets, { body: gadget('one') })).body.metadata.resourceVersion;
  await api.quiet('POST', gadgets, { body: gadget('two', {}, { labels: { l: 'x' } }) });
  const initial = 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan';
  const watchList = await api.watch(`${gadgets}?${initial}&allowWatchBookmarks=true`);
  await watchList.close(3);
  const from = await api.watch(`${gadgets}?${initial}&allowWatchBookmarks=true&resourceVersion=${one}`, {
    note: 'from a version',
  });
  await from.close(3);
  const zero = await api.watch(`${gadgets}?${initial}&allowWatchBookmarks=true&resourceVersion=0`, { note: 'from 0' });
  await zero.close(3);
  const selected = await api.watch(`${gadgets}?${initial}&allowWatchBookmarks=true&labelSelector=l%3Dx`);
  await selected.close(2);
  const tables = await api.watch(`${gadgets}?${initial}&allowWatchBookmarks=true`, { accept: table });
  await tables.close(3);
  const metadata = await api.watch(`${gadgets}?${initial}&allowWatchBookmarks=true`, { accept: partial });
  await metadata.close(3);
  const plain = await api.watch(`${gadgets}?${initial}`, { note: 'without bookmarks' });
  await plain.close(2);
  const off = await api.watch(
    `${gadgets}?watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&timeoutSeconds=1`,
  );
  await off.end();
  const timed = await api.watch(`${gadgets}?watch=true&timeoutSeconds=1&resourceVersion=${one}`);
  await timed.end();
  const refused = async (query: string, note: string) =>
    (await api.watch(`${gadgets}?watch=true&${query}`, { note })).end();
  await refused('sendInitialEvents=true', 'no match');
  await refused('sendInitialEvents=true&resourceVersionMatch=Exact', 'Exact');
  await refused('resourceVersionMatch=NotOlderThan', 'match alone');
  await refused('sendInitialEvents=true&resourceVersionMatch=NotOlderThan&continue=x', 'continue');
  await refused('resourceVersion=abc', 'no number');
  await refused('labelSelector=a%20b', 'selector');
  await refused('fieldSelector=spec.on%3Dtrue', 'field');
  await refused('timeoutSeconds=x', 'timeoutSeconds');
  await refused('allowWatchBookmarks=maybe&timeoutSeconds=1', 'odd boolean');
  await (await api.watch(`${gadgets}?watch=maybe&timeoutSeconds=1`, { note: 'watch=maybe' })).end();
  await (await api.watch(`${gadgets}?watch=false`, { note: 'watch=false' })).end();
  const old = await api.watch(`${gadgets}?watch=true&resourceVersion=1&timeoutSeconds=1`, { note: 'version 1' });
  await old.end();
});

scenario('watch: built-in kinds, one object, and an end with its CRD', async (api) => {
  const maps = `${await makeNamespace(api, 'watching')}/configmaps`;
  const start = (await api.quiet('GET', maps)).body.metadata.resourceVersion;
  const watch = await api.watch(`${maps}?watch=true&resourceVersion=${start}`);
  const tables = await api.watch(`${maps}?watch=true&resourceVersion=${start}`, { accept: table });
  const old = await api.watch(`${core}/watch/namespaces/watching/configmaps?resourceVersion=${start}`, {
    note: 'the old way',
  });
  const one = await api.watch(`${maps}/m?watch=true&resourceVersion=${start}`, { note: 'one object' });
  await api.post(maps, configMap('m'));
  await api.patch('strategic', `${maps}/m`, { data: { b: '2' } });
  await api.post(maps, configMap('n'));
  await api.delete(`${maps}/m`);
  await watch.close(4);
  await tables.close(4);
  await one.close(3);
  await old.close(4);
});
