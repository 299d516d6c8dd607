import { configMap, gadget, gadgetsIn, makeNamespace } from '../definitions.ts';
import { scenario } from '../harness/scenario.ts';

scenario('apply: create, change, conflict, force, give up', async (api) => {
  const gadgets = await gadgetsIn(api, 'apply');
  const one = `${gadgets}/one`;
  const apply = (manager: string, spec: object, query = '', metadata: object = {}) =>
    api.patch('apply', `${one}?fieldManager=${manager}${query}`, gadget('one', spec, metadata));
  await apply('a', { color: 'green', replicas: 2 });
  await apply('a', { color: 'green', replicas: 2 });
  await apply('b', { color: 'green' });
  await apply('b', { color: 'blue' });
  await apply('b', { color: 'blue' }, '&force=true');
  await apply('a', { replicas: 3 });
  await apply('a', {});
  await apply('b', { color: 'blue', size: { width: 1 } }, '', { labels: { l: '1' }, annotations: { n: '1' } });
  await apply('c', { size: { height: 9 } }, '', { labels: { m: '1' } });
  await apply('b', { color: 'blue' });
  await api.patch('merge', `${one}?fieldManager=d`, { spec: { color: 'red', code: 'ab' } });
  await apply('b', { color: 'blue', code: 'xy' });
  await apply('b', { color: 'blue', code: 'xy' }, '&force=true');
  await apply('d', { code: 'xy' });
  await apply('b', { color: 'blue' });
  await api.patch(
    'apply',
    `${one}?fieldManager=a`,
    `apiVersion: conformance.test/v1\nkind: Gadget\nmetadata:\n  name: one\nspec:\n  on: true\n`,
    { note: 'YAML' },
  );
  await api.get(one);
  const { body } = await api.quiet('GET', one);
  await apply('e', { code: 'zz' }, '&force=true', { resourceVersion: '1' });
  await apply('e', { code: 'zz' }, '&force=true', { resourceVersion: body.metadata.resourceVersion });
  await apply('e', { code: 'zz' }, '', { uid: 'other' });
  await apply('e', { code: 'zz' }, '', { managedFields: [{ manager: 'x', operation: 'Apply', apiVersion: 'v1' }] });
  await apply('e', { code: 'zz' }, '', { managedFields: [] });
  await api.put(
    one,
    {
      ...(await api.quiet('GET', one)).body,
      metadata: { ...(await api.quiet('GET', one)).body.metadata, managedFields: [{}] },
    },
    { note: 'ownership cleared' },
  );
});

scenario('apply: lists and maps', async (api) => {
  const gadgets = await gadgetsIn(api, 'apply-lists');
  const two = `${gadgets}/two`;
  const apply = (manager: string, spec: object, query = '') =>
    api.patch('apply', `${two}?fieldManager=${manager}${query}`, gadget('two', spec));
  const port = (name: string, number?: number, protocol?: string) => ({
    name,
    ...(number === undefined ? {} : { number }),
    ...(protocol === undefined ? {} : { protocol }),
  });
  await apply('a', { ports: [port('x', 1), port('y', 2, 'UDP')] });
  await apply('b', { ports: [port('z', 3)] });
  await apply('b', { ports: [port('x', 5)] });
  await apply('b', { ports: [port('x', 5)] }, '&force=true');
  await apply('a', { ports: [port('y', 2, 'UDP')] });
  await apply('b', {});
  await apply('a', { ports: [port('x', 1), port('x', 2)] });
  await apply('a', { ports: [{ number: 4 }] });
  await apply('a', { tags: ['p', 'q'], ports: [port('y', 2, 'UDP'), port('w', 7)] });
  await apply('b', { tags: ['q', 'r'] });
  await apply('a', { tags: ['p'] });
  await apply('a', { tags: ['p', 'p'] });
  await apply('b', { tags: [] });
  await apply('a', { steps: [1, 2] });
  await apply('b', { steps: [1, 2] });
  await apply('b', { steps: [1, 2, 3] });
  await apply('b', { steps: [1, 2, 3] }, '&force=true');
  await apply('a', { plain: [{ a: '1' }] });
  await apply('b', { plain: [{ b: '1' }] }, '&force=true');
  await apply('a', { labels: { k: 'v' }, whole: { a: '1' } });
  await apply('b', { labels: { l: 'w' }, whole: { b: '2' } });
  await apply('b', { labels: { l: 'w' }, whole: { b: '2' } }, '&force=true');
  await apply('a', { anything: { free: { deep: [1, { x: 1 }] } }, port: '80' });
  await apply('b', { anything: { free: { other: 1 } }, port: 80 }, '&force=true');
  await apply('a', {
    template: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 't', labels: { x: '1' } }, data: { a: '1' } },
  });
  await apply('a', { size: null });
  await apply('a', { size: { width: null } });
  await api.get(two);
});

scenario('apply: status, refusals, built-in kinds', async (api) => {
  const gadgets = await gadgetsIn(api, 'apply-more');
  const one = `${gadgets}/one`;
  const withStatus = (status: object) => ({ ...gadget('one'), spec: undefined, status });
  await api.patch('apply', `${one}/status?fieldManager=s`, withStatus({ phase: 'x' }), { note: 'not there' });
  await api.patch('apply', `${one}?fieldManager=a`, {
    ...gadget('one', { color: 'red' }),
    status: { phase: 'dropped' },
  });
  await api.patch(
    'apply',
    `${one}/status?fieldManager=s`,
    withStatus({ phase: 'x', conditions: [{ type: 'Ready', status: 'True' }] }),
  );
  await api.patch(
    'apply',
    `${one}/status?fieldManager=t`,
    withStatus({
      conditions: [
        { type: 'Other', status: 'True' },
        { type: 'Ready', status: 'False' },
      ],
    }),
  );
  await api.patch(
    'apply',
    `${one}/status?fieldManager=t&force=true`,
    withStatus({
      conditions: [
        { type: 'Other', status: 'True' },
        { type: 'Ready', status: 'False' },
      ],
    }),
  );
  await api.patch('apply', `${one}/status?fieldManager=s`, withStatus({}));
  await api.patch('apply', `${one}/status?fieldManager=s`, {
    ...gadget('one', { color: 'green' }),
    status: { phase: 'y' },
  });
  await api.patch('apply', one, gadget('one'), { note: 'no manager' });
  await api.patch('apply', `${one}?fieldManager=`, gadget('one'));
  await api.patch('apply', `${one}?fieldManager=${'x'.repeat(129)}`, gadget('one'));
  await api.patch('apply', `${one}?fieldManager=a%0Ab`, gadget('one'));
  await api.patch('apply', `${one}?fieldManager=a&force=maybe`, gadget('one'));
  await api.patch('apply', `${one}?fieldManager=a`, { ...gadget('one'), kind: 'Other' });
  await api.patch('apply', `${one}?fieldManager=a`, { ...gadget('one'), apiVersion: 'v1' });
  await api.patch('apply', `${one}?fieldManager=a`, { metadata: { name: 'one' } });
  await api.patch('apply', `${one}?fieldManager=a`, gadget('two'));
  await api.patch(
    'apply',
    `${one}?fieldManager=a`,
    { ...gadget('one', { color: 'red' }), metadata: {} },
    { note: 'no name' },
  );
  await api.patch('apply', `${one}?fieldManager=a`, '');
  await api.patch('apply', `${one}?fieldManager=a`, '[]');
  await api.patch('apply', `${one}?fieldManager=a`, '{');
  await api.patch('apply', `${one}?fieldManager=a`, ': : :');
  await api.patch('apply', `${one}?fieldManager=a`, gadget('one', { color: 5 }));
  await api.patch('apply', `${one}?fieldManager=a`, gadget('one', { color: 'pink' }));
  await api.patch('apply', `${one}?fieldManager=a`, gadget('one', { ports: 'x' }));
  await api.patch('apply', `${gadgets}/generated?fieldManager=a`, { ...gadget('x'), metadata: { generateName: 'x-' } });
  await api.patch('apply', `${gadgets}/uid?fieldManager=a`, gadget('uid', {}, { uid: 'x' }));
  await api.patch('apply', `${gadgets}/versioned?fieldManager=a`, gadget('versioned', {}, { resourceVersion: '5' }));
  const maps = `${await makeNamespace(api, 'apply-more')}/configmaps`;
  await api.patch('apply', `${maps}/m?fieldManager=a`, configMap('m', { a: '1', b: '2' }, { labels: { x: '1' } }));
  await api.patch('apply', `${maps}/m?fieldManager=b`, configMap('m', { b: '3' }));
  await api.patch('apply', `${maps}/m?fieldManager=b`, configMap('m', { c: '3' }));
  await api.patch('apply', `${maps}/m?fieldManager=a`, configMap('m', { a: '1' }));
  await api.patch('apply', `${maps}/m?fieldManager=a`, { ...configMap('m'), data: { a: 1 } });
  await api.patch('apply', `${maps}/m?fieldManager=a&fieldValidation=Strict`, { ...configMap('m'), bogus: 1 });
  await api.post(`${maps}?fieldManager=creator`, configMap('n'));
  await api.put(`${maps}/n?fieldManager=updater`, configMap('n', { z: '1' }));
  await api.patch('apply', `${maps}/n?fieldManager=creator`, configMap('n', { z: '2' }));
  await api.post(`${maps}?fieldManager=${'x'.repeat(129)}`, configMap('o'));
});
