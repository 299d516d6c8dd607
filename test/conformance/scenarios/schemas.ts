import { gadget, gadgetsIn, makeNamespace } from '../definitions.ts';
import { scenario } from '../harness/scenario.ts';

scenario('defaults, pruning and types', async (api) => {
  const gadgets = await gadgetsIn(api, 'schema');
  let n = 0;
  const make = (spec: unknown) => api.post(gadgets, { ...gadget(`s${++n}`), spec });
  await make({});
  await make({ color: 'blue', size: { width: 1 } });
  await make({ size: {} });
  await make({ size: null });
  await make({ color: null });
  await make({ maybe: null, mail: null });
  await make({ ports: [{ name: 'a' }, { name: 'b', protocol: 'UDP', junk: 1 }] });
  await make({ anything: { known: 'x', unknown: { y: 1 } } });
  await make({ anything: { known: 5 } });
  await make({ unknown: 1, size: { unknown: 1 } });
  await make({ color: 'pink' });
  await make({ color: 5 });
  await make({ color: ['red'] });
  await make({ replicas: -1 });
  await make({ replicas: 11 });
  await make({ replicas: 1.5 });
  await make({ replicas: '1' });
  await make({ replicas: 1.0 });
  await make({ ratio: 0 });
  await make({ ratio: 1 });
  await make({ ratio: 0.5 });
  await make({ even: 3 });
  await make({ even: 4 });
  await make({ code: 'a' });
  await make({ code: 'abcde' });
  await make({ code: 'A1' });
  await make({ when: 'yesterday' });
  await make({ when: '2001-02-03T04:05:06Z' });
  await make({ when: '2001-02-03T04:05:06+02:00' });
  await make({ day: '2001-02-30' });
  await make({ day: '2001-02-03' });
  await make({ address: '1.2.3' });
  await make({ address: '1.2.3.4' });
  await make({ prefix: '10.0.0.0/33' });
  await make({ prefix: '10.0.0.0/8' });
  await make({ site: 'not a uri' });
  await make({ site: 'https://example.com/x' });
  await make({ mail: 'nobody' });
  await make({ mail: 'a@example.com' });
  await make({ key: 'x' });
  await make({ bytes: '!' });
  await make({ bytes: 'aGVsbG8=' });
  await make({ on: 'true' });
  await make({ port: 80 });
  await make({ port: 'http' });
  await make({ port: 1.5 });
  await make({ port: true });
  await make({ big: Number.MAX_SAFE_INTEGER });
  await make({ labels: { a: '1', b: '2', c: '3', d: '4' } });
  await make({ labels: { a: 'too long' } });
  await make({ labels: { a: null, b: 5 } });
  await make({ tags: ['a', 'a'] });
  await make({ tags: ['a', 'b', 'c', 'd', 'e'] });
  await make({ tags: 'a' });
  await make({ tags: [1] });
  await make({ ports: [{ name: 'a' }, { name: 'a', number: 2 }] });
  await make({ ports: [{}] });
  await make({ ports: [{ name: 'a', number: 70000 }] });
  await make({ steps: [] });
  await make({ steps: ['x'] });
  await make({ choice: {} });
  await make({ choice: { left: 'x' } });
  await make({ choice: { left: 'x', right: 'y' } });
  await make({ template: { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'x', odd: 1 }, data: { a: 1 } } });
  await make({ template: { kind: 'Thing' } });
  await make({
    template: { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'Bad Name', labels: { 'bad key': 'x' } } },
  });
  await make({ template: { apiVersion: 'a/b/c', kind: '', metadata: { finalizers: [1] } } });
  await make({ color: 'pink', replicas: 99, code: 'TOO LONG', ratio: 5 });
  await make(undefined);
  await make([]);
  await make(5);
});

scenario('CEL rules', async (api) => {
  const gadgets = await gadgetsIn(api, 'cel');
  const one = `${gadgets}/one`;
  await api.post(gadgets, gadget('bad1', { size: { width: 9, height: 1 } }));
  await api.post(gadgets, gadget('bad2', { once: 'b' }));
  await api.post(
    gadgets,
    gadget('bad3', { ports: [{ name: 'bad' }, { name: 'good' }, { name: 'bad', protocol: 'UDP' }] }),
  );
  await api.post(gadgets, gadget('bad4', { code: 'no' }));
  await api.post(gadgets, gadget('bad5', { code: 'no', size: { width: 9 }, once: 'x', ports: [{ name: 'bad' }] }));
  await api.post(gadgets, gadget('bad6', { size: { width: 'x' }, once: 'x' }));
  await api.post(gadgets, gadget('one', { code: 'no', replicas: 0, once: 'abc', fixed: 'f' }));
  const set = (spec: object) => api.patch('merge', one, { spec });
  await set({ fixed: 'g' });
  await set({ fixed: 'f' });
  await set({ fixed: null });
  await set({ fixed: 'h' });
  await set({ once: 'abd' });
  await set({ once: null });
  await set({ once: 'b' });
  await set({ replicas: 1 });
  await set({ replicas: 1, code: 'yes' });
  await set({ size: { width: 5 } });
  await set({ size: { width: 5, height: 5 } });
  await api.patch('merge', `${one}/status`, { status: { phase: 'p' } });
});

scenario('CEL rules: an invalid object that was stored before the rule', async (api) => {
  await makeNamespace(api, 'ratchet');
  const { crds, served } = await import('../definitions.ts');
  const definition = (rule: boolean) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'ratchets.ratchet.test' },
    spec: {
      group: 'ratchet.test',
      scope: 'Namespaced',
      names: { plural: 'ratchets', kind: 'Ratchet' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                spec: {
                  type: 'object',
                  properties: {
                    a: {
                      type: 'string',
                      ...(rule
                        ? { maxLength: 3, 'x-kubernetes-validations': [{ rule: "self != 'bad'", message: 'bad' }] }
                        : {}),
                    },
                    b: { type: 'string' },
                    list: { type: 'array', items: { type: 'string', ...(rule ? { pattern: '^x' } : {}) } },
                  },
                },
              },
            },
          },
        },
      ],
    },
  });
  await api.post(crds, definition(false));
  await served(api, definition(false));
  const ratchets = '/apis/ratchet.test/v1/namespaces/ratchet/ratchets';
  const ratchet = (name: string, spec: object) => ({
    apiVersion: 'ratchet.test/v1',
    kind: 'Ratchet',
    metadata: { name },
    spec,
  });
  await api.post(ratchets, ratchet('one', { a: 'too long', list: ['a', 'b'] }));
  await api.post(ratchets, ratchet('two', { a: 'bad' }));
  const now = await api.quiet('GET', `${crds}/ratchets.ratchet.test`);
  await api.put(`${crds}/ratchets.ratchet.test`, { ...now.body, spec: definition(true).spec });
  // Until the rule is in force.
  for (let n = 0; n < 200; n++) {
    const { status } = await api.quiet('POST', `${ratchets}?dryRun=All`, { body: ratchet('probe', { a: 'too long' }) });
    if (status === 422) break;
  }
  await api.post(ratchets, ratchet('three', { a: 'too long' }));
  await api.patch('merge', `${ratchets}/one`, { spec: { b: 'fine' } });
  await api.patch('merge', `${ratchets}/one`, { spec: { a: 'still too long' } });
  await api.patch('merge', `${ratchets}/one`, { spec: { list: ['b', 'a'] } });
  await api.patch('merge', `${ratchets}/one`, { spec: { list: ['a', 'xb'] } });
  await api.patch('merge', `${ratchets}/two`, { spec: { b: 'fine' } });
  await api.patch('merge', `${ratchets}/two`, { metadata: { labels: { l: '1' } } });
  await api.patch('merge', `${ratchets}/two`, { spec: { a: 'ok' } });
  await api.patch('merge', `${ratchets}/two`, { spec: { a: 'bad' } });
  await api.delete(`${crds}/ratchets.ratchet.test`);
});
