import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VirtualClock } from '../../kube/index.ts';
import type { KubeList, KubeObject, Status } from '../../meta/index.ts';
import { base, type Fixture, startServer, textOf, widget, widgets } from '../testing/fixture.ts';
import { openTestStorage } from '../testing/storage.ts';

type List = KubeList<KubeObject>;
const merge = 'application/merge-patch+json';
let api: Fixture;
let version: string;

beforeAll(async () => {
  api = await startServer();
  for (const [index, color] of ['red', 'blue', 'red', 'green', 'blue'].entries()) {
    await api.send('POST', widgets, widget(`w${index}`, { color }, { labels: { n: String(index), color } }));
  }
  version = (await api.send<List>('GET', widgets)).body.metadata.resourceVersion;
});
afterAll(() => api.close());

const names = (list: List): string[] => list.items.map((item) => item.metadata.name);
const listed = async (query: string): Promise<string[]> =>
  names((await api.send<List>('GET', `${widgets}?${query}`)).body);

describe('list', () => {
  it('gives every object in name order, under the list kind', async () => {
    const { body } = await api.send<List>('GET', widgets);
    expect([body.kind, body.apiVersion, names(body)]).toEqual([
      'WidgetList',
      'example.com/v1',
      ['w0', 'w1', 'w2', 'w3', 'w4'],
    ]);
    expect((await api.send<List>('GET', `${base}/apis/example.com/v1/widgets`)).body.items).toEqual(body.items);
  });

  it.each([
    ['labelSelector=color%3Dred', ['w0', 'w2']],
    ['labelSelector=color!%3Dred', ['w1', 'w3', 'w4']],
    ['labelSelector=color+in+(red,green),n!%3D0', ['w2', 'w3']],
    ['labelSelector=color+notin+(red,green)', ['w1', 'w4']],
    ['labelSelector=!nothing,n>2', ['w3', 'w4']],
    ['fieldSelector=metadata.name%3Dw3', ['w3']],
    ['fieldSelector=metadata.name%3Dw3&labelSelector=color%3Dgreen', ['w3']],
    ['fieldSelector=metadata.name%3Dw3&labelSelector=color%3Dred', []],
    ['fieldSelector=metadata.name%3Dw3,metadata.name%3Dw4', []],
    ['fieldSelector=metadata.name%3Dnone', []],
    ['fieldSelector=metadata.name%3Dw3%00', []],
    ['fieldSelector=metadata.name%3D', []],
    ['fieldSelector=metadata.namespace!%3Ddefault', []],
    ['fieldSelector=spec.color%3Dblue', ['w1', 'w4']],
    ['fieldSelector=spec.color%3Dblue,metadata.name!%3Dw1', ['w4']],
  ])('selects by %s', async (query, expected) => {
    expect(await listed(query)).toEqual(expected);
  });

  it('refuses a field that is not selectable and a selector it cannot read', async () => {
    const field = await api.send<Status>('GET', `${widgets}?fieldSelector=spec.fixed%3Da`);
    expect([field.status, field.body.message]).toEqual([400, 'field label not supported: spec.fixed']);
    expect((await api.send('GET', `${widgets}?labelSelector=a+b`)).status).toBe(400);
  });

  it('pages over one snapshot', async () => {
    const paged = await startServer();
    for (const name of ['a', 'b', 'c', 'd']) await paged.send('POST', widgets, widget(name));
    const first = (await paged.send<List>('GET', `${widgets}?limit=2`)).body;
    expect([names(first), first.metadata.remainingItemCount]).toEqual([['a', 'b'], 2]);
    await paged.send('DELETE', `${widgets}/c`);
    await paged.send('POST', widgets, widget('bb'));
    const second = (await paged.send<List>('GET', `${widgets}?limit=2&continue=${first.metadata.continue}`)).body;
    expect([names(second), second.metadata.continue, second.metadata.resourceVersion]).toEqual([
      ['c', 'd'],
      '',
      first.metadata.resourceVersion,
    ]);
    expect(names((await paged.send<List>('GET', widgets)).body)).toEqual(['a', 'b', 'bb', 'd']);
    await paged.close();
  });

  it('fills pages when a selector leaves gaps, and says no remaining count', async () => {
    const first = (await api.send<List>('GET', `${widgets}?limit=1&labelSelector=color%3Dblue`)).body;
    expect([names(first), first.metadata.remainingItemCount]).toEqual([['w1'], undefined]);
    const query = `limit=1&labelSelector=color%3Dblue&continue=${first.metadata.continue}`;
    const second = (await api.send<List>('GET', `${widgets}?${query}`)).body;
    expect([names(second), second.metadata.continue]).toEqual([['w4'], '']);
  });

  it('reads the past exactly, and refuses the future', async () => {
    const own = await startServer();
    const made = (await own.send('POST', widgets, widget('then'))).body;
    await own.send('POST', widgets, widget('later'));
    const exact = `resourceVersion=${made.metadata.resourceVersion}&resourceVersionMatch=Exact`;
    expect(names((await own.send<List>('GET', `${widgets}?${exact}`)).body)).toEqual(['then']);
    const notOlder = `resourceVersion=${made.metadata.resourceVersion}&resourceVersionMatch=NotOlderThan`;
    expect(names((await own.send<List>('GET', `${widgets}?${notOlder}`)).body)).toEqual(['later', 'then']);
    const future = await own.send<Status>('GET', `${widgets}?resourceVersion=999999`);
    expect([future.status, future.body.details?.causes?.[0]?.reason]).toEqual([504, 'ResourceVersionTooLarge']);
    await own.close();
  });

  it.each([
    'resourceVersionMatch=Exact',
    'resourceVersion=5&resourceVersionMatch=Newest',
    'resourceVersion=0&resourceVersionMatch=Exact',
  ])('refuses %s with 422', async (query) => {
    const { status, body } = await api.send<Status>('GET', `${widgets}?${query}`);
    expect([status, body.details?.kind]).toEqual([422, 'ListOptions']);
  });

  it('refuses a continue token it did not make', async () => {
    expect((await api.send('GET', `${widgets}?continue=bm9uc2Vuc2U`)).status).toBe(400);
  });
});

describe('other forms', () => {
  it('answers a Table with the columns of the CRD', async () => {
    const response = await api.request('GET', widgets, {
      headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' },
    });
    const table = JSON.parse(await textOf(response));
    expect([table.kind, table.columnDefinitions.map((column: { name: string }) => column.name)]).toEqual([
      'Table',
      ['Name', 'Color', 'Phase'],
    ]);
    expect(table.rows[1].cells).toEqual(['w1', 'blue', null]);
  });

  it('answers metadata only, of one and of many', async () => {
    const list = await api.request('GET', widgets, {
      headers: { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' },
    });
    const body = JSON.parse(await textOf(list));
    expect([body.kind, body.items.length, Object.keys(body.items[0])]).toEqual([
      'PartialObjectMetadataList',
      5,
      ['kind', 'apiVersion', 'metadata'],
    ]);
  });

  it('answers 406 for a list as one object, and the other way round', async () => {
    const as = (kind: string) => ({ headers: { accept: `application/json;as=${kind};v=v1;g=meta.k8s.io` } });
    const list = await api.request('GET', widgets, as('PartialObjectMetadata'));
    const one = await api.request('GET', `${widgets}/w0`, as('PartialObjectMetadataList'));
    expect([list.status, JSON.parse(await textOf(list)).message]).toEqual([
      406,
      'you requested PartialObjectMetadata, but the requested object is a list (*unstructured.UnstructuredList)',
    ]);
    expect(one.status).toBe(406);
  });

  it('refuses rows that carry something unheard of', async () => {
    const headers = { accept: 'application/json;as=Table;v=v1beta1;g=meta.k8s.io' };
    const odd = await api.request('GET', `${widgets}?includeObject=Odd`, { headers });
    expect([odd.status, JSON.parse(await textOf(odd)).reason]).toEqual([400, 'BadRequest']);
    const fine = await api.request('GET', `${widgets}?includeObject=None`, { headers });
    expect(JSON.parse(await textOf(fine)).apiVersion).toBe('meta.k8s.io/v1beta1');
  });

  it('answers YAML', async () => {
    const response = await api.request('GET', `${widgets}/w0`, { headers: { accept: 'application/yaml' } });
    expect(response.headers['content-type']).toBe('application/yaml');
    expect(await textOf(response)).toContain('\n  color: red\n');
  });

  it('answers 406 where nothing it has is acceptable', async () => {
    const response = await api.request('GET', widgets, { headers: { accept: 'text/csv' } });
    expect(response.status).toBe(406);
  });
});

describe('watch', () => {
  it('shows what there is, then what happens, with the revision of a deletion', async () => {
    const own = await startServer();
    await own.send('POST', widgets, widget('old'));
    const log = await own.watch(`${widgets}?watch=true`);
    const made = (await own.send('POST', widgets, widget('new'))).body;
    await own.send('PATCH', `${widgets}/new`, { spec: { color: 'blue' } }, merge);
    await own.send('DELETE', `${widgets}/new`);
    const events = await log.until(4);
    expect(events.map((event) => [event.type, event.object.metadata.name])).toEqual([
      ['ADDED', 'old'],
      ['ADDED', 'new'],
      ['MODIFIED', 'new'],
      ['DELETED', 'new'],
    ]);
    expect(Number(events[3]!.object.metadata.resourceVersion)).toBeGreaterThan(
      Number(events[2]!.object.metadata.resourceVersion),
    );
    expect(events[1]!.object).toEqual(made);
    log.close();
    await log.ended;
    await own.close();
  });

  it('goes on from a version without losing or repeating', async () => {
    const own = await startServer();
    const first = (await own.send('POST', widgets, widget('a'))).body;
    await own.send('POST', widgets, widget('b'));
    await own.send('POST', widgets, widget('c'));
    const log = await own.watch(`${widgets}?watch=1&resourceVersion=${first.metadata.resourceVersion}`);
    await own.send('POST', widgets, widget('d'));
    expect((await log.until(3)).map((event) => event.object.metadata.name)).toEqual(['b', 'c', 'd']);
    log.close();
    await own.close();
  });

  it('turns changes across a selector into ADDED and DELETED', async () => {
    const own = await startServer();
    const log = await own.watch(`${widgets}?watch=true&labelSelector=on%3Dyes`);
    await own.send('POST', widgets, widget('x', {}, { labels: { on: 'no' } }));
    await own.send('PATCH', `${widgets}/x`, { metadata: { labels: { on: 'yes' } } }, merge);
    await own.send('PATCH', `${widgets}/x`, { spec: { color: 'blue' } }, merge);
    const left = (await own.send('PATCH', `${widgets}/x`, { metadata: { labels: { on: 'no' } } }, merge)).body;
    await own.send('DELETE', `${widgets}/x`);
    await own.send('POST', widgets, widget('y', {}, { labels: { on: 'yes' } }));
    const events = await log.until(4);
    expect(events.map((event) => [event.type, event.object.metadata.name])).toEqual([
      ['ADDED', 'x'],
      ['MODIFIED', 'x'],
      ['DELETED', 'x'],
      ['ADDED', 'y'],
    ]);
    expect(events[2]!.object.metadata).toMatchObject({
      labels: { on: 'yes' },
      resourceVersion: left.metadata.resourceVersion,
    });
    log.close();
    await own.close();
  });

  it('sends initial events and the annotated bookmark when asked', async () => {
    const query = 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const log = await api.watch(`${widgets}?${query}`);
    const events = await log.until(6);
    expect(events.map((event) => event.type)).toEqual(['ADDED', 'ADDED', 'ADDED', 'ADDED', 'ADDED', 'BOOKMARK']);
    expect(events[5]!.object.metadata).toMatchObject({
      resourceVersion: version,
      annotations: { 'k8s.io/initial-events-end': 'true' },
    });
    log.close();
  });

  it('refuses sendInitialEvents without its match rule with 422', async () => {
    const { status, body } = await api.send<Status>('GET', `${widgets}?watch=true&sendInitialEvents=true`);
    expect([status, body.details?.causes?.[0]?.message]).toEqual([
      422,
      'Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
    ]);
  });

  it('sends bookmarks in time, and ends after timeoutSeconds', async () => {
    const clock = new VirtualClock();
    const own = await startServer({ clock });
    const log = await own.watch(`${widgets}?watch=true&allowWatchBookmarks=true&timeoutSeconds=200`);
    await clock.advance(80_000);
    await log.until(2);
    // The first says that what there was has been sent.
    expect(log.events.map(({ type, object }) => [type, object.metadata.annotations])).toEqual([
      ['BOOKMARK', { 'k8s.io/initial-events-end': 'true' }],
      ['BOOKMARK', undefined],
    ]);
    await clock.advance(200_000);
    await log.ended;
    expect(log.events.at(-1)!.type).toBe('BOOKMARK');
    await own.close();
  });

  it('answers a Table per event, with columns only in the first', async () => {
    const log = await api.watch(`${widgets}?watch=true`, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' });
    const events = (await log.until(5)) as unknown as {
      object: { kind: string; columnDefinitions: unknown[] | null; rows: { cells: unknown[] }[] };
    }[];
    expect(events.map((event) => event.object.columnDefinitions?.length)).toEqual([
      3,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(events[1]!.object.rows[0]!.cells).toEqual(['w1', 'blue', null]);
    log.close();
  });

  it('watches one object by its name; below the name itself there is nothing to watch', async () => {
    const log = await api.watch(`${widgets}?watch=true&fieldSelector=metadata.name%3Dw3`);
    await log.until(1);
    expect(log.events.map((event) => event.object.metadata.name)).toEqual(['w3']);
    log.close();
    const { body } = await api.send('GET', `${widgets}/w3?watch=true`);
    expect(body).toMatchObject({ kind: 'Widget', metadata: { name: 'w3' } });
  });

  it('tells with 410 in an ERROR event that history is gone', async () => {
    const storage = await openTestStorage({ history: { revisions: 5 } });
    const own = await startServer({ storage });
    const first = (await own.send('POST', widgets, widget('a'))).body;
    for (let index = 0; index < 50; index++) {
      await own.send('PATCH', `${widgets}/a`, { spec: { color: `c${index}` } }, merge);
    }
    const log = await own.watch(`${widgets}?watch=true&resourceVersion=${first.metadata.resourceVersion}`);
    await log.ended;
    expect(log.events.map((event) => [event.type, event.object.code, event.object.reason])).toEqual([
      ['ERROR', 410, 'Expired'],
    ]);
    await own.close();
  });

  it('cuts off a watcher that does not read, and serves the others', async () => {
    const own = await startServer({ limits: { watchBacklogBytes: 20_000 } });
    const lazy = await own.request('GET', `${widgets}?watch=true`);
    const eager = await own.watch(`${widgets}?watch=true`);
    for (let index = 0; index < 100; index++) await own.send('POST', widgets, widget(`m${index}`));
    expect((await eager.until(100)).length).toBe(100);
    const text = await textOf(lazy);
    expect(text.split('\n').length).toBeLessThan(100);
    eager.close();
    await own.close();
  });
});
