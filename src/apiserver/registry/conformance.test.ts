import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Status } from '../../meta/index.ts';
import { base, type Fixture, startServer, widget, widgets } from '../testing/fixture.ts';

/** What comparing with a real kube-apiserver found to be otherwise: `npm run conformance`. */

let api: Fixture;
beforeAll(async () => {
  api = await startServer();
});
afterAll(() => api.close());

const merge = 'application/merge-patch+json';
const applyType = 'application/apply-patch+yaml';
const namespaces = `${base}/api/v1/namespaces`;

/** Status code and message of a refusal. */
async function refusal(method: string, path: string, body?: unknown, type?: string): Promise<[number, string]> {
  const answer = await api.send<Status>(method, path, body, type);
  return [answer.status, answer.body?.message ?? answer.text];
}

describe('metadata', () => {
  it('keeps its creation time whatever an update says, and cannot be given a deletion time', async () => {
    const { body } = await api.send('POST', widgets, widget('times'));
    const { metadata } = body;
    const other = { ...body, metadata: { ...metadata, creationTimestamp: '2001-01-01T00:00:00Z', labels: { a: 'b' } } };
    const kept = await api.send('PUT', `${widgets}/times`, other);
    expect([kept.status, kept.body.metadata.creationTimestamp]).toEqual([200, metadata.creationTimestamp]);
    const gone = { ...kept.body, metadata: { ...kept.body.metadata, deletionTimestamp: '2001-01-01T00:00:00Z' } };
    expect(await refusal('PUT', `${widgets}/times`, gone)).toEqual([
      422,
      'Widget.example.com "times" is invalid: metadata.deletionTimestamp: Invalid value: "2001-01-01T00:00:00Z": field is immutable',
    ]);
  });

  it('takes version 0 for none', async () => {
    await api.send('POST', widgets, widget('zero'));
    const zero = widget('zero', {}, { resourceVersion: '0' });
    expect((await refusal('PUT', `${widgets}/zero`, zero))[1]).toContain('must be specified for an update');
  });

  it('has each owner once, owned as one, and warns', async () => {
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u' };
    const { body } = await api.send('POST', widgets, widget('owned', {}, { ownerReferences: [owner, owner] }));
    expect(body.metadata.ownerReferences).toEqual([owner]);
    const fields = body.metadata.managedFields![0]!.fieldsV1 as { 'f:metadata': Record<string, unknown> };
    expect(fields['f:metadata']['f:ownerReferences']).toEqual({ '.': {}, 'k:{"uid":"u"}': {} });
  });

  it('of a custom resource may have a finalizer without a domain, with a warning', async () => {
    const response = await api.request('POST', widgets, {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(widget('plain', {}, { finalizers: ['plain'] })),
    });
    expect(response.status).toBe(201);
    expect(JSON.stringify(response.headers)).toContain('prefer a domain-qualified finalizer name');
  });
});

describe('patches', () => {
  it('cannot make another object or kind', async () => {
    await api.send('POST', widgets, widget('same'));
    const path = `${widgets}/same`;
    expect(await refusal('PATCH', path, { metadata: { uid: 'x' } }, merge)).toEqual([
      422,
      'Widget.example.com "same" is invalid: metadata.uid: Invalid value: "x": field is immutable',
    ]);
    expect(await refusal('PATCH', path, { kind: 'Other' }, merge)).toEqual([
      422,
      'Other.example.com "same" is invalid: kind: Invalid value: "Other": must be Widget',
    ]);
  });

  it('say in a strict refusal what they made', async () => {
    await api.send('POST', widgets, widget('strict'));
    const strict = `${widgets}/strict?fieldValidation=Strict`;
    const [status, message] = await refusal('PATCH', strict, { spec: { odd: 1 } }, merge);
    expect([status, message]).toEqual([422, expect.stringContaining('\\"spec\\":{\\"color\\":\\"red\\",\\"odd\\":1}')]);
    expect(message).toContain('unknown field "spec.odd"');
  });

  it('apply refuses fields that are not declared, whatever fieldValidation says', async () => {
    const path = `${widgets}/undeclared?fieldManager=m&fieldValidation=Ignore`;
    expect(await refusal('PATCH', path, widget('undeclared', { odd: 1 }), applyType)).toEqual([
      400,
      'failed to create typed patch object (/undeclared; example.com/v1, Kind=Widget): .spec.odd: field not declared in schema',
    ]);
  });

  it('apply that changes only who owns what shows no time', async () => {
    const applied = (manager: string) =>
      api.send('PATCH', `${widgets}/shared?fieldManager=${manager}`, widget('shared', { color: 'blue' }), applyType);
    await applied('a');
    const { body } = await applied('b');
    expect(body.metadata.managedFields!.map(({ manager, time }) => [manager, time !== undefined])).toEqual([
      ['b', false],
      ['a', true],
    ]);
  });

  it('apply makes an object of a version that is not there', async () => {
    const path = `${widgets}/versioned?fieldManager=m`;
    const made = await api.send('PATCH', path, widget('versioned', {}, { resourceVersion: '5' }), applyType);
    expect(made.status).toBe(201);
  });
});

describe('reading', () => {
  it('refuses a version that is none and one that is yet to come', async () => {
    await api.send('POST', widgets, widget('read'));
    expect(await refusal('GET', `${widgets}/read?resourceVersion=abc`)).toEqual([
      400,
      'invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
    ]);
    const [status, message] = await refusal('GET', `${widgets}/read?resourceVersion=1000000`);
    expect([status, message]).toEqual([504, expect.stringMatching(/^Timeout: Too large resource version: 1000000/)]);
  });

  it('tells of what goes as it last was', async () => {
    const log = await api.watch(`${widgets}?watch=true&fieldSelector=metadata.name%3Dlast`);
    await api.send('POST', widgets, widget('last', {}, { finalizers: ['example.com/hold'] }));
    await api.send('DELETE', `${widgets}/last`);
    const gone = await api.send('PATCH', `${widgets}/last`, { metadata: { finalizers: null } }, merge);
    const [, , deleted] = await log.until(3);
    log.close();
    expect(gone.body.metadata.finalizers).toBeUndefined();
    expect([deleted!.type, deleted!.object.metadata.finalizers]).toEqual(['DELETED', ['example.com/hold']]);
    expect(Number(deleted!.object.metadata.resourceVersion)).toBeGreaterThan(
      Number(gone.body.metadata.resourceVersion),
    );
  });

  it('answers a Status in YAML to who wants that', async () => {
    const response = await api.request('GET', `${widgets}/none`, { headers: { accept: 'application/yaml' } });
    expect([response.status, response.headers['content-type']]).toEqual([404, 'application/yaml']);
  });
});

describe('what is not offered', () => {
  it('leaves every namespace where it is when all are to be deleted', async () => {
    expect(await refusal('DELETE', namespaces)).toEqual([
      405,
      'the server does not allow this method on the requested resource',
    ]);
    const { body } = await api.send('GET', `${namespaces}/default`);
    expect(body.status).toEqual({ phase: 'Active' });
  });

  it('has no page below a path that nothing is registered for', async () => {
    expect(await refusal('GET', `${base}/apis/nobody.test/v1/things`)).toEqual([404, '404 page not found\n']);
    expect(await refusal('GET', `${base}/api/v1/nothing`)).toEqual([
      404,
      'the server could not find the requested resource',
    ]);
  });

  it('needs the kind of a custom resource said', async () => {
    expect(await refusal('POST', widgets, { metadata: { name: 'x' } })).toEqual([
      400,
      expect.stringMatching(
        /^the object provided is unrecognized \(must be of type Widget\): Object 'Kind' is missing/,
      ),
    ]);
  });
});
