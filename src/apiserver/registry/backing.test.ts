import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiError, type KubeList, type KubeObject, type Status } from '../../meta/index.ts';
import type { AggregatedResource } from '../custom-resources.ts';
import type { BackingRequest, ResourceBacking } from '../resource.ts';
import type { Storage } from '../storage/storage.ts';
import { base, type Fixture, startServer, textOf } from '../testing/fixture.ts';

/** A backing that hands out numbers and keeps its objects in the same store. */
function numbering(asked: BackingRequest[]): ResourceBacking {
  let next = 1;
  const key = (request: BackingRequest, { metadata }: KubeObject) => ({
    plane: request.plane,
    resource: 'test.io/numbers',
    namespace: metadata.namespace ?? '',
    name: metadata.name,
  });
  const encode = (object: KubeObject) => (revision: number) => {
    object.metadata.resourceVersion = String(revision);
    return Buffer.from(JSON.stringify(object));
  };
  const put = async (storage: Storage, request: BackingRequest, object: KubeObject): Promise<KubeObject> => {
    if (!request.dryRun) await storage.commit({ puts: [{ key: key(request, object), encode: encode(object) }] });
    return object;
  };
  return {
    async create(request, object) {
      asked.push(request);
      if ((await request.storage.get(key(request, object), { newest: true })) !== undefined) {
        throw ApiError.of('AlreadyExists', `numbers.test.io "${object.metadata.name}" already exists`);
      }
      if ((object.spec as { want?: number }).want === 0) throw ApiError.of('Invalid', 'there is no zero');
      return put(request.storage, request, { ...object, status: { number: next++ } });
    },
    async update(request, object) {
      asked.push(request);
      return put(request.storage, request, object);
    },
    async delete(request, old) {
      asked.push(request);
      if (!request.dryRun) {
        await request.storage.commit({ deletes: [{ key: key(request, old), encode: encode(old) }] });
      }
      return old;
    },
  };
}

const kind: AggregatedResource['kind'] = {
  group: 'test.io',
  version: 'v1',
  kind: 'Number',
  plural: 'numbers',
  namespaced: true,
  singular: 'number',
  listKind: 'NumberList',
  shortNames: [],
  categories: [],
  schema: {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        required: ['want'],
        properties: { want: { type: 'integer' }, how: { type: 'string', default: 'any' } },
      },
      status: { type: 'object', properties: { number: { type: 'integer' } } },
    },
  },
  columns: [{ name: 'Number', type: 'integer', jsonPath: '.status.number' }],
  subresources: { status: true },
  selectableFields: [],
};

const numbers = `${base}/apis/test.io/v1/namespaces/default/numbers`;
const asked: BackingRequest[] = [];
let api: Fixture;
beforeAll(async () => {
  api = await startServer({ plane: { project: 'p1', aggregated: [{ kind, backing: numbering(asked) }] } });
});
afterAll(() => api.close());

const number = (name: string, spec: object) => ({ apiVersion: 'test.io/v1', kind: 'Number', metadata: { name }, spec });

describe('a kind with a backing', () => {
  it('gets objects complete, and its answer is the answer', async () => {
    const log = await api.watch(`${numbers}?watch=true`);
    const { status, body } = await api.send('POST', numbers, number('one', { want: 1 }));
    expect([status, body.spec, body.status]).toEqual([201, { want: 1, how: 'any' }, { number: 1 }]);
    expect(body.metadata.uid).toBeDefined();
    const { plane, project, identity, dryRun, subresource } = asked[0]!;
    expect({ plane, project, user: identity.user, dryRun, subresource }).toEqual({
      plane: 'hub',
      project: 'p1',
      user: 'admin',
      dryRun: false,
      subresource: '',
    });
    expect((await api.send('GET', `${numbers}/one`)).body).toEqual(body);
    expect((await log.until(1))[0]!.object).toEqual(body);
    log.close();
    const table = await api.request('GET', numbers, {
      headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
    });
    expect(JSON.parse(await textOf(table)).rows[0].cells).toEqual(['one', 1]);
  });

  it('is not asked about what the schema refuses', async () => {
    const before = asked.length;
    const { status } = await api.send<Status>('POST', numbers, number('none', {}));
    expect([status, asked.length]).toEqual([422, before]);
  });

  it('may refuse with a Status of its own', async () => {
    const refused = await api.send<Status>('POST', numbers, number('zero', { want: 0 }));
    expect([refused.status, refused.body.message]).toEqual([422, 'there is no zero']);
    await api.send('POST', numbers, number('taken', { want: 1 }));
    expect((await api.send('POST', numbers, number('taken', { want: 1 }))).status).toBe(409);
  });

  it('is patched and deleted through it, and told of dry runs', async () => {
    await api.send('POST', numbers, number('two', { want: 2 }));
    const patched = await api.send('PATCH', `${numbers}/two`, { spec: { how: 'odd' } }, 'application/merge-patch+json');
    expect([patched.status, patched.body.spec, patched.body.metadata.generation]).toEqual([
      200,
      { want: 2, how: 'odd' },
      2,
    ]);
    await api.send('DELETE', `${numbers}/two?dryRun=All`);
    expect(asked.at(-1)!.dryRun).toBe(true);
    expect((await api.send('GET', `${numbers}/two`)).status).toBe(200);
    expect((await api.send<Status>('DELETE', `${numbers}/two`)).body.status).toBe('Success');
    const list = await api.send<KubeList<KubeObject>>('GET', numbers);
    expect(list.body.items.map((item) => item.metadata.name)).not.toContain('two');
  });
});
