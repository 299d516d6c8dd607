import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubeObject, Status } from '../../meta/index.ts';
import { base, type Fixture, startServer, widget, widgets } from '../testing/fixture.ts';

let api: Fixture;
beforeAll(async () => {
  api = await startServer();
});
afterAll(() => api.close());

const merge = 'application/merge-patch+json';

describe('create', () => {
  it('answers 201 with uid, creationTimestamp, generation 1, defaults and managed fields', async () => {
    const { status, body } = await api.send('POST', widgets, widget('made', { replicas: 2 }));
    expect(status).toBe(201);
    expect(body.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
    expect(body.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(body.metadata).toMatchObject({ name: 'made', namespace: 'default', generation: 1 });
    expect(body.spec).toEqual({ replicas: 2, color: 'red' });
    expect(body.metadata.managedFields).toMatchObject([{ manager: 'tester', operation: 'Update' }]);
    const read = await api.send('GET', `${widgets}/made`);
    expect(read.body).toEqual(body);
  });

  it('does not take a status where there is a status subresource', async () => {
    const { body } = await api.send('POST', widgets, { ...widget('nostatus'), status: { phase: 'Faked' } });
    expect(body.status).toBeUndefined();
  });

  it('ignores uid, generation and creationTimestamp of the client', async () => {
    const metadata = { uid: 'mine', generation: 7, creationTimestamp: '2001-01-01T00:00:00Z' };
    const { body } = await api.send('POST', widgets, widget('owned', {}, metadata));
    expect(body.metadata.uid).not.toBe('mine');
    expect(body.metadata.generation).toBe(1);
    expect(body.metadata.creationTimestamp).not.toBe('2001-01-01T00:00:00Z');
  });

  it('answers 409 AlreadyExists for a name that is taken', async () => {
    await api.send('POST', widgets, widget('twice'));
    const { status, body } = await api.send<Status>('POST', widgets, widget('twice'));
    expect(status).toBe(409);
    expect(body.message).toBe('widgets.example.com "twice" already exists');
    expect(body.details).toEqual({ name: 'twice', group: 'example.com', kind: 'widgets' });
  });

  it('makes names from generateName, each its own', async () => {
    const names = new Set<string>();
    for (let index = 0; index < 20; index++) {
      const { status, body } = await api.send('POST', widgets, {
        apiVersion: 'example.com/v1',
        kind: 'Widget',
        metadata: { generateName: 'gen-' },
      });
      expect(status).toBe(201);
      expect(body.metadata.name).toMatch(/^gen-[a-z0-9]{5}$/);
      names.add(body.metadata.name);
    }
    expect(names.size).toBe(20);
  });

  it('tries another name when a generated one is taken', async () => {
    const numbers = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.5, 0.5, 0.5, 0.5, 0.5];
    let uuids = 0;
    const seeded = await startServer({
      random: { next: () => numbers.shift() ?? 0.9, uuid: () => `uid-${uuids++}`, bytes: (n) => new Uint8Array(n) },
    });
    const body = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { generateName: 'g-' } };
    const first = await seeded.send('POST', widgets, body);
    const second = await seeded.send('POST', widgets, body);
    expect(first.body.metadata.name).toBe('g-bbbbb');
    expect([second.status, second.body.metadata.name]).toEqual([201, 'g-rrrrr']);
    await seeded.close();
  });

  it.each([
    ['Upper', 'metadata.name', 'a lowercase RFC 1123 subdomain must consist of'],
    ['-a', 'metadata.name', 'a lowercase RFC 1123 subdomain must consist of'],
    ['a'.repeat(254), 'metadata.name', 'must be no more than 253'],
  ])('refuses the name %s', async (name, field, text) => {
    const { status, body } = await api.send<Status>('POST', widgets, widget(name));
    expect(status).toBe(422);
    expect(body.details?.causes).toMatchObject([{ field, reason: 'FieldValueInvalid' }]);
    expect(body.message).toContain(text);
  });

  it('asks for a name', async () => {
    const { status, body } = await api.send<Status>('POST', widgets, { apiVersion: 'example.com/v1', kind: 'Widget' });
    expect(status).toBe(422);
    expect(body.message).toContain('metadata.name: Required value: name or generateName is required');
  });

  it('refuses bad labels, annotations, finalizers and owners, all in one answer', async () => {
    const { status, body } = await api.send<Status>(
      'POST',
      widgets,
      widget(
        'bad',
        {},
        {
          labels: { 'a b': 'x', ok: 'not ok!' },
          annotations: { '/x': 'y' },
          finalizers: ['no name/x'],
          ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: '' }],
        },
      ),
    );
    expect(status).toBe(422);
    expect(body.details?.causes?.map((cause) => cause.field)).toEqual([
      'metadata.labels',
      'metadata.labels',
      'metadata.annotations',
      'metadata.ownerReferences[0].uid',
      'metadata.finalizers',
      // Its rules are not asked.
      '<nil>',
    ]);
  });

  it('answers 404 for a namespace that is not there', async () => {
    const path = widgets.replace('/default/', '/nowhere/');
    const { status, body } = await api.send<Status>('POST', path, widget('lost'));
    expect(status).toBe(404);
    expect(body.message).toBe('namespaces "nowhere" not found');
  });

  it('answers 403 in a namespace that is going', async () => {
    await api.send('POST', `${base}/api/v1/namespaces`, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'going' },
    });
    const gone = await api.send('DELETE', `${base}/api/v1/namespaces/going`);
    expect(gone.body.status).toEqual({ phase: 'Terminating' });
    const { status, body } = await api.send<Status>('POST', widgets.replace('/default/', '/going/'), widget('late'));
    expect(status).toBe(403);
    expect(body.details?.causes?.[0]?.reason).toBe('NamespaceTerminating');
    expect(body.message).toContain('because it is being terminated');
  });

  it('refuses a body that names another namespace', async () => {
    const { status, body } = await api.send<Status>('POST', widgets, widget('x', {}, { namespace: 'other' }));
    expect([status, body.message]).toEqual([
      400,
      'the namespace of the provided object does not match the namespace sent on the request',
    ]);
  });

  it('checks and answers but stores nothing with dryRun=All', async () => {
    const dry = await api.send('POST', `${widgets}?dryRun=All`, widget('dry'));
    expect([dry.status, dry.body.metadata.uid?.length]).toEqual([201, 36]);
    expect((await api.send('GET', `${widgets}/dry`)).status).toBe(404);
    const odd = await api.send<Status>('POST', `${widgets}?dryRun=Some`, widget('dry'));
    expect([odd.status, odd.body.message]).toEqual([
      422,
      'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All"',
    ]);
  });

  it('reads YAML', async () => {
    const text = 'apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: yaml}\nspec:\n  color: blue\n';
    const { status, body } = await api.send('POST', widgets, text, 'application/yaml');
    expect([status, body.spec]).toEqual([201, { color: 'blue' }]);
  });

  it('refuses other media types with 415', async () => {
    const { status, body } = await api.send<Status>('POST', widgets, '{}', 'text/csv');
    expect([status, body.reason]).toEqual([415, 'UnsupportedMediaType']);
  });

  it('keeps __proto__ and constructor out', async () => {
    const text =
      '{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"proto","__proto__":{"x":1}},"__proto__":{"polluted":true},"spec":{"__proto__":{"polluted":true}}}';
    const { status, text: answer } = await api.send('POST', widgets, text);
    expect(status).toBe(201);
    expect(answer).not.toContain('polluted');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

describe('fieldValidation', () => {
  const body =
    '{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"strict"},"spec":{"colour":"red","color":"a","color":"b"}}';

  it('Strict refuses unknown and duplicate fields', async () => {
    const answer = await api.send<Status>('POST', `${widgets}?fieldValidation=Strict`, body);
    expect(answer.status).toBe(400);
    expect(answer.body.message).toBe(
      'Widget in version "v1" cannot be handled as a Widget: strict decoding error: duplicate field "spec.color", unknown field "spec.colour"',
    );
  });

  it('Warn (the default) stores what it knows and warns', async () => {
    const answer = await api.send('POST', widgets, body);
    expect(answer.status).toBe(201);
    expect(answer.headers.warning).toBe(
      '299 - "duplicate field \\"spec.color\\"", 299 - "unknown field \\"spec.colour\\""',
    );
    expect(answer.body.spec).toEqual({ color: 'b' });
  });

  it('Ignore says nothing', async () => {
    const answer = await api.send('POST', `${widgets}?fieldValidation=Ignore`, body.replace('strict', 'ignored'));
    expect([answer.status, answer.headers.warning]).toEqual([201, undefined]);
  });

  it('Strict on a patch names the patch', async () => {
    await api.send('POST', widgets, widget('strictpatch'));
    const patch = '{"spec":{"colour":"x"}}';
    const answer = await api.send<Status>('PATCH', `${widgets}/strictpatch?fieldValidation=Strict`, patch, merge);
    expect(answer.status).toBe(422);
    expect(answer.body.message).toContain('strict decoding error: unknown field "spec.colour"');
  });
});

describe('update', () => {
  it('stores a change that is only a key by which every object answers', async () => {
    const key = 'constructor';
    await api.send('POST', widgets, widget('inherits', {}, { labels: { a: 'b' } }));
    const { body } = await api.send('PATCH', `${widgets}/inherits`, { metadata: { labels: { [key]: 'x' } } }, merge);
    expect(body.metadata.labels).toEqual({ a: 'b', [key]: 'x' });
    expect((await api.send('GET', `${widgets}/inherits`)).body.metadata.labels).toEqual({ a: 'b', [key]: 'x' });
  });

  it('moves the generation with the spec, not with labels or status', async () => {
    const made = (await api.send('POST', widgets, widget('gen'))).body;
    const spec = await api.send('PUT', `${widgets}/gen`, { ...made, spec: { color: 'green' } });
    expect(spec.body.metadata.generation).toBe(2);
    const labelled = await api.send('PATCH', `${widgets}/gen`, { metadata: { labels: { a: 'b' } } }, merge);
    expect(labelled.body.metadata.generation).toBe(2);
    const status = await api.send('PATCH', `${widgets}/gen/status`, { status: { phase: 'Up' } }, merge);
    expect([status.body.metadata.generation, status.body.status]).toEqual([2, { phase: 'Up' }]);
  });

  it('keeps spec and status apart', async () => {
    const made = (await api.send('POST', widgets, widget('apart', { color: 'red' }))).body;
    const viaStatus = await api.send('PUT', `${widgets}/apart/status`, {
      ...made,
      metadata: { ...made.metadata, labels: { sneaky: 'yes' } },
      spec: { color: 'blue' },
      status: { phase: 'Up' },
    });
    expect([viaStatus.body.spec, viaStatus.body.status, viaStatus.body.metadata.labels]).toEqual([
      { color: 'red' },
      { phase: 'Up' },
      undefined,
    ]);
    const viaMain = await api.send('PUT', `${widgets}/apart`, {
      ...viaStatus.body,
      spec: { color: 'blue' },
      status: { phase: 'Down' },
    });
    expect([viaMain.body.spec, viaMain.body.status]).toEqual([{ color: 'blue' }, { phase: 'Up' }]);
  });

  it('answers 409 with the known sentence when the object has moved on', async () => {
    const made = (await api.send('POST', widgets, widget('moved'))).body;
    await api.send('PATCH', `${widgets}/moved`, { spec: { color: 'green' } }, merge);
    const { status, body } = await api.send<Status>('PUT', `${widgets}/moved`, made);
    expect([status, body.message]).toEqual([
      409,
      'Operation cannot be fulfilled on widgets.example.com "moved": the object has been modified; please apply your changes to the latest version and try again',
    ]);
  });

  it('needs a resourceVersion for a custom resource', async () => {
    await api.send('POST', widgets, widget('blind'));
    const { status, body } = await api.send<Status>('PUT', `${widgets}/blind`, widget('blind'));
    expect([status, body.message]).toEqual([
      422,
      'widgets.example.com "blind" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    ]);
  });

  it('writes nothing when nothing changes', async () => {
    const made = (await api.send('POST', widgets, widget('same'))).body;
    const again = await api.send('PUT', `${widgets}/same`, made);
    expect(again.body.metadata.resourceVersion).toBe(made.metadata.resourceVersion);
    const patched = await api.send('PATCH', `${widgets}/same`, { spec: { color: 'red' } }, merge);
    expect(patched.body.metadata.resourceVersion).toBe(made.metadata.resourceVersion);
  });

  it('refuses another uid, another name and a changed transition', async () => {
    const made = (await api.send('POST', widgets, widget('ids', { fixed: 'a' }))).body;
    const uid = await api.send<Status>('PUT', `${widgets}/ids`, { ...made, metadata: { ...made.metadata, uid: 'x' } });
    expect([uid.status, uid.body.message]).toEqual([
      409,
      `Operation cannot be fulfilled on widgets.example.com "ids": StorageError: invalid object, Code: 4, Key: /registry/example.com/widgets/default/ids, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: x, UID in object meta: ${made.metadata.uid}`,
    ]);
    const name = await api.send<Status>('PUT', `${widgets}/ids`, {
      ...made,
      metadata: { ...made.metadata, name: 'other' },
    });
    expect([name.status, name.body.message]).toEqual([
      400,
      'the name of the object (other) does not match the name on the URL (ids)',
    ]);
    const rule = await api.send<Status>('PATCH', `${widgets}/ids`, { spec: { fixed: 'b' } }, merge);
    expect([rule.status, rule.body.details?.causes?.[0]?.field]).toEqual([422, 'spec.fixed']);
    expect(rule.body.message).toContain('fixed is fixed');
  });

  it('makes one of two writers that read the same version lose', async () => {
    const made = (await api.send('POST', widgets, widget('race'))).body;
    const answers = await Promise.all(
      ['a', 'b', 'c'].map((color) => api.send('PUT', `${widgets}/race`, { ...made, spec: { color } })),
    );
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 409, 409]);
  });

  it('applies concurrent patches that name no version one after the other', async () => {
    await api.send('POST', widgets, widget('busy'));
    const answers = await Promise.all(
      ['a', 'b', 'c', 'd'].map((key) =>
        api.send('PATCH', `${widgets}/busy`, { metadata: { labels: { [key]: '1' } } }, merge),
      ),
    );
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200, 200]);
    const { body } = await api.send('GET', `${widgets}/busy`);
    expect(Object.keys(body.metadata.labels ?? {}).sort()).toEqual(['a', 'b', 'c', 'd']);
  });
});

describe('patch', () => {
  it('takes JSON patches, and refuses one whose test fails', async () => {
    await api.send('POST', widgets, widget('jp', { color: 'red' }));
    const operations = [
      { op: 'test', path: '/spec/color', value: 'red' },
      { op: 'replace', path: '/spec/color', value: 'blue' },
    ];
    const type = 'application/json-patch+json';
    expect((await api.send('PATCH', `${widgets}/jp`, operations, type)).body.spec).toEqual({ color: 'blue' });
    expect((await api.send('PATCH', `${widgets}/jp`, operations, type)).status).toBe(422);
  });

  it('guards a merge patch by the resourceVersion in it', async () => {
    const made = (await api.send('POST', widgets, widget('guard'))).body;
    const guard = { metadata: { resourceVersion: made.metadata.resourceVersion }, spec: { color: 'blue' } };
    expect((await api.send('PATCH', `${widgets}/guard`, guard, merge)).status).toBe(200);
    expect((await api.send('PATCH', `${widgets}/guard`, { ...guard, spec: { color: 'x' } }, merge)).status).toBe(409);
  });

  it('refuses strategic merge patch for custom kinds with 415, and takes it for built-in ones', async () => {
    await api.send('POST', widgets, widget('smp'));
    const type = 'application/strategic-merge-patch+json';
    const refused = await api.send<Status>('PATCH', `${widgets}/smp`, { spec: {} }, type);
    expect([refused.status, refused.body.reason]).toEqual([415, 'UnsupportedMediaType']);
    const maps = `${base}/api/v1/namespaces/default/configmaps`;
    await api.send('POST', maps, { metadata: { name: 'smp' }, data: { a: '1', b: '2' } });
    const taken = await api.send<KubeObject & { data: object }>(
      'PATCH',
      `${maps}/smp`,
      { data: { a: null, c: '3' } },
      type,
    );
    expect([taken.status, taken.body.data]).toEqual([200, { b: '2', c: '3' }]);
  });

  it('applies server-side: makes, changes, conflicts, and is forced', async () => {
    const type = 'application/apply-patch+yaml';
    const path = (manager: string, force = false) => `${widgets}/ssa?fieldManager=${manager}&force=${force}`;
    const made = await api.send('PATCH', path('one'), widget('ssa', { color: 'blue' }), type);
    expect(made.status).toBe(201);
    const again = await api.send('PATCH', path('one'), widget('ssa', { color: 'blue' }), type);
    expect([again.status, again.body.metadata.resourceVersion]).toEqual([200, made.body.metadata.resourceVersion]);
    const conflict = await api.send<Status>('PATCH', path('two'), widget('ssa', { color: 'green' }), type);
    expect([conflict.status, conflict.body.reason]).toEqual([409, 'Conflict']);
    const forced = await api.send('PATCH', path('two', true), widget('ssa', { color: 'green' }), type);
    expect([forced.status, forced.body.spec]).toEqual([200, { color: 'green' }]);
    const nobody = await api.send<Status>('PATCH', `${widgets}/ssa`, widget('ssa'), type);
    expect([nobody.status, nobody.body.message]).toEqual([
      422,
      'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    ]);
  });

  it('scales over the paths of the CRD', async () => {
    await api.send('POST', widgets, widget('scaled', { replicas: 1 }));
    await api.send('PATCH', `${widgets}/scaled/status`, { status: { replicas: 1 } }, merge);
    const scale = await api.send('GET', `${widgets}/scaled/scale`);
    expect(scale.body).toMatchObject({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      spec: { replicas: 1 },
      status: { replicas: 1 },
    });
    const changed = await api.send('PATCH', `${widgets}/scaled/scale`, { spec: { replicas: 5 } }, merge);
    expect(changed.body.spec).toEqual({ replicas: 5 });
    const { body } = await api.send('GET', `${widgets}/scaled`);
    expect([body.spec, body.metadata.generation]).toEqual([{ color: 'red', replicas: 5 }, 2]);
    const put = await api.send('PUT', `${widgets}/scaled/scale`, { ...scale.body, spec: { replicas: 2 } });
    expect(put.status).toBe(409);
  });
});

describe('limits', () => {
  it('answers 413 for an object that is too large to store', async () => {
    const { status, body } = await api.send<Status>('POST', widgets, widget('huge', { color: 'x'.repeat(1_600_000) }));
    expect([status, body.reason]).toEqual([413, 'RequestEntityTooLarge']);
    expect((await api.send('GET', `${widgets}/huge`)).status).toBe(404);
  });
});
