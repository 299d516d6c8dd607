import { describe, expect, it } from 'vitest';
import { ApiError, Namespace } from '../../meta/index.ts';
import { VirtualClock } from '../clock/virtual.ts';
import { bodyOf, refusal, ScriptedServer, Thing, thing } from '../testing/scripted-server.ts';
import { createClient } from './create-client.ts';

function setUp(options: Partial<Parameters<typeof createClient>[0]> = {}) {
  const clock = new VirtualClock();
  const server = new ScriptedServer(clock);
  const client = createClient({ transport: server.transport(), basePath: '', clock, ...options });
  return { clock, server, client };
}

describe('get', () => {
  it('answers what is stored', async () => {
    const { server, client } = setUp();
    server.put(Thing, thing('a', { color: 'red' }));
    expect(await client.get(Thing, { namespace: 'default', name: 'a' })).toMatchObject({ spec: { color: 'red' } });
  });

  it('takes the object that a server in the same process hands over, and reads no body', async () => {
    const object = Object.freeze(thing('a', { color: 'red' }));
    const transport = {
      request: async () => ({ status: 200, headers: {}, body: bodyOf('not read'), object }),
      close: async () => {},
    };
    const { client } = setUp({ transport });
    expect(await client.get(Thing, { namespace: 'default', name: 'a' })).toBe(object);
  });

  it('answers undefined for an object that is not there', async () => {
    const { client } = setUp();
    expect(await client.get(Thing, { namespace: 'default', name: 'a' })).toBeUndefined();
  });

  it('does not take another 404 for an absent object', async () => {
    const { server, client } = setUp();
    const gone = ApiError.of('NotFound', 'projects "p" not found', {
      group: 'resourcemanager.miloapis.com',
      kind: 'projects',
      name: 'a',
    });
    server.faults.push(
      () => ({ status: 404, body: bodyOf(JSON.stringify(gone.status)) }),
      () => ({ status: 404, body: bodyOf('404 page not found\n') }),
      refusal('NotFound', 'the server could not find the requested resource'),
    );
    const key = { namespace: 'default', name: 'a' };
    await expect(client.get(Thing, key)).rejects.toMatchObject({ status: { details: { kind: 'projects' } } });
    await expect(client.get(Thing, key)).rejects.toThrow('the server answered 404: 404 page not found');
    await expect(client.get(Thing, key)).rejects.toThrow('could not find the requested resource');
  });

  it('encodes what would change the path, and refuses names that are no path segment', async () => {
    const { server, client } = setUp({ basePath: '/planes/hub' });
    server.faults.push(refusal('Forbidden', 'no'));
    await expect(client.get(Thing, { namespace: 'a/b', name: 'c?d%2e' })).rejects.toThrow('no');
    expect(server.requests).toEqual(['GET /planes/hub/apis/test.example/v1/namespaces/a%2Fb/things/c%3Fd%252e']);
    await expect(client.get(Thing, { namespace: 'default', name: '' })).rejects.toThrow(
      'the name of a Thing may not be ""',
    );
    await expect(client.get(Thing, { namespace: '..', name: 'a' })).rejects.toThrow('may not be ".."');
  });
});

describe('list', () => {
  it('reads all pages of one state, whatever changes meanwhile', async () => {
    const { server, client } = setUp();
    for (let n = 0; n < 7; n++) server.put(Thing, thing(`t${n}`, { size: n }));
    const version = String(server.revision);
    let pages = 0;
    const change = () => {
      if (pages++ > 0) server.remove(Thing, 'default', 't6');
      return undefined;
    };
    server.faults.push(change, change);
    const list = await client.list(Thing, { namespace: 'default', pageSize: 3 });
    expect(list.items.map((item) => item.metadata.name)).toEqual(['t0', 't1', 't2', 't3', 't4', 't5', 't6']);
    expect(list.resourceVersion).toBe(version);
    expect(server.requests).toHaveLength(3);
  });

  it('starts over when a page has expired, and asks for everything at once when that keeps happening', async () => {
    const { server, client } = setUp();
    for (let n = 0; n < 4; n++) server.put(Thing, thing(`t${n}`));
    const forget = () => {
      server.put(Thing, thing('t0', { size: server.revision }));
      server.compact();
      return undefined;
    };
    const none = () => undefined;
    server.faults.push(none, forget, none, forget, none, forget);
    const list = await client.list(Thing, { pageSize: 3 });
    expect(list.items).toHaveLength(4);
    expect(server.requests.at(-1)).toBe('GET /apis/test.example/v1/things');
  });

  it('gives items of built-in kinds their apiVersion and kind, and takes null for none', async () => {
    const { server, client } = setUp();
    const metadata = { resourceVersion: '5' };
    server.faults.push(
      () => ({ body: bodyOf(JSON.stringify({ metadata, items: [{ metadata: { name: 'x' } }] })) }),
      () => ({ body: bodyOf(JSON.stringify({ metadata, items: null })) }),
    );
    expect((await client.list(Namespace)).items).toEqual([
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'x' } },
    ]);
    expect(await client.list(Namespace)).toEqual({ items: [], resourceVersion: '5' });
  });
});

describe('writes', () => {
  it('says who writes and how, and reports what was stored, but no dry run', async () => {
    const written: string[] = [];
    const { server, client } = setUp({
      defaultFieldManager: 'network/claim',
      onWrite: (type, object) => written.push(`${type.kind} ${object.metadata.resourceVersion}`),
    });
    await client.create(Thing, thing('a'));
    const key = { namespace: 'default', name: 'a' };
    await client.patch(Thing, key, { type: 'merge', body: { status: { phase: 'Up' } } }, { subresource: 'status' });
    await client.patch(Thing, key, { type: 'merge', body: { spec: { size: 1 } } }, { dryRun: true });
    await client.patch(Thing, key, { type: 'apply', body: thing('a', { size: 2 }), fieldManager: 'me', force: true });
    expect(written).toEqual(['Thing 1001', 'Thing 1002', 'Thing 1003']);
    expect(server.requests.map((request) => request.replace('/apis/test.example/v1/namespaces/default', ''))).toEqual([
      'POST /things?fieldManager=network%2Fclaim',
      'PATCH /things/a/status?fieldManager=network%2Fclaim',
      'PATCH /things/a?fieldManager=network%2Fclaim&dryRun=All',
      'PATCH /things/a?fieldManager=me&force=true',
    ]);
    expect(server.read(Thing, 'default', 'a')).toMatchObject({ status: { phase: 'Up' } });
  });

  it('throws the Status the server refused with', async () => {
    const { client } = setUp();
    await client.create(Thing, thing('a'));
    const error = await client.create(Thing, thing('a')).catch((error) => error);
    expect(error).toBeInstanceOf(ApiError);
    expect([error.code, error.reason]).toEqual([409, 'AlreadyExists']);
  });

  it('deletes once, reports an object that finalizers hold, and answers false for one that is not there', async () => {
    const written: unknown[] = [];
    const { server, client } = setUp({ onWrite: (_, object) => written.push(object.metadata.deletionTimestamp) });
    server.put(Thing, thing('free'));
    server.put(Thing, thing('held', {}, { finalizers: ['test.example/hold'] }));
    expect(await client.delete(Thing, { namespace: 'default', name: 'free' })).toBe(true);
    expect(await client.delete(Thing, { namespace: 'default', name: 'free' })).toBe(false);
    expect(await client.delete(Thing, { namespace: 'default', name: 'held' })).toBe(true);
    expect(written).toEqual(['2026-01-01T00:00:00Z']);
    const wrong = client.delete(Thing, { namespace: 'default', name: 'held' }, { preconditions: { uid: 'other' } });
    await expect(wrong).rejects.toMatchObject({ code: 409 });
  });
});

describe('a server that is busy', () => {
  it('is asked again after the time it names', async () => {
    const { clock, server, client } = setUp();
    server.faults.push(
      refusal('TooManyRequests', 'busy', { 'retry-after': '2' }),
      refusal('ServiceUnavailable', 'starting', { 'retry-after': 'Thu, 01 Jan 2026 00:00:05 GMT' }),
    );
    const created = client.create(Thing, thing('a'));
    await clock.advance(1_999);
    expect(server.requests).toHaveLength(1);
    await clock.advance(1);
    expect(server.requests).toHaveLength(2);
    await clock.advance(3_000);
    expect((await created).metadata.name).toBe('a');
  });

  it('is given up on after five repetitions, and at once when it names no time or a long one', async () => {
    const { clock, server, client } = setUp();
    for (let n = 0; n < 6; n++) server.faults.push(refusal('TooManyRequests', 'busy', { 'retry-after': '1' }));
    await expect(clock.advanceUntil(client.list(Thing))).rejects.toMatchObject({ reason: 'TooManyRequests' });
    expect(server.requests).toHaveLength(6);
    server.faults.push(
      refusal('ServiceUnavailable', 'down'),
      refusal('TooManyRequests', 'much', { 'retry-after': '31' }),
    );
    await expect(client.list(Thing)).rejects.toThrow('down');
    await expect(client.list(Thing)).rejects.toThrow('much');
  });
});

describe('watch', () => {
  it('decodes events wherever the chunks end, within a character too', async () => {
    const { server, client } = setUp();
    server.cut = (bytes) => Array.from(bytes, (byte) => Uint8Array.of(byte));
    server.put(Thing, thing('a', { color: 'grün 🟢' }));
    server.remove(Thing, 'default', 'a');
    const seen: unknown[] = [];
    for await (const event of client.watch(Thing, { resourceVersion: '1000' })) {
      seen.push(event.type === 'BOOKMARK' ? event.resourceVersion : [event.type, event.object.spec?.color]);
      if (seen.length === 2) server.bookmark();
      if (seen.length === 3) break;
    }
    expect(seen).toEqual([['ADDED', 'grün 🟢'], ['DELETED', 'grün 🟢'], '1002']);
    expect(server.openWatches).toBe(0);
  });

  it('throws the error the server sends in the stream', async () => {
    const { clock, server, client } = setUp();
    const read = (async () => {
      for await (const _ of client.watch(Thing, { resourceVersion: '1000' }));
    })();
    read.catch(() => undefined);
    await clock.settle();
    server.inject({ type: 'ERROR', object: ApiError.of('Expired', 'too old').status });
    await expect(read).rejects.toMatchObject({ code: 410, reason: 'Expired' });
    expect(server.openWatches).toBe(0);
  });

  it('throws on a stream that breaks off within an event', async () => {
    const { server, client } = setUp();
    server.faults.push(() => ({ body: bodyOf('{"type":"ADDED","object":{"meta') }));
    const read = async () => {
      for await (const _ of client.watch(Thing, { resourceVersion: '1' }));
    };
    await expect(read()).rejects.toThrow('is not a watch event');
    server.faults.push(() => ({ body: bodyOf('{"type":"ADDED","object":null}\n') }));
    await expect(read()).rejects.toThrow('without a resourceVersion');
    server.faults.push(() => ({ body: bodyOf('{"items":[]}') }));
    await expect(client.list(Thing)).rejects.toThrow("answered without a list's resourceVersion");
  });

  it('closes the connection when it is left while it waits', async () => {
    const { clock, server, client } = setUp();
    const events = client.watch(Thing, { resourceVersion: '1000' })[Symbol.asyncIterator]();
    const waiting = events.next();
    waiting.catch(() => undefined);
    await clock.settle();
    expect(server.openWatches).toBe(1);
    await events.return?.();
    expect(server.openWatches).toBe(0);
  });

  it('ends with the signal', async () => {
    const { clock, server, client } = setUp();
    const ending = new AbortController();
    const read = (async () => {
      for await (const _ of client.watch(Thing, { resourceVersion: '1000', signal: ending.signal }));
    })();
    read.catch(() => undefined);
    await clock.settle();
    ending.abort(new Error('enough'));
    await expect(read).rejects.toThrow('enough');
    expect(server.openWatches).toBe(0);
  });
});
