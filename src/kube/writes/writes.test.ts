import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../clock/virtual.ts';
import { createClient } from '../rest/create-client.ts';
import { ScriptedServer, Thing, thing } from '../testing/scripted-server.ts';
import { addFinalizer, removeFinalizer } from './finalizers.ts';
import { jsonPointer } from './pointer.ts';
import { applyStatus, mergeDifference, mergeStatus } from './status.ts';

function setUp() {
  const clock = new VirtualClock();
  const server = new ScriptedServer(clock);
  const client = createClient({ transport: server.transport(), basePath: '', clock });
  const finalizers = () => server.read(Thing, 'default', 'a')?.metadata.finalizers;
  return { server, client, finalizers };
}

describe('finalizers', () => {
  it('are added once and removed once', async () => {
    const { server, client, finalizers } = setUp();
    const object = server.put(Thing, thing('a'));
    const first = await addFinalizer(client, Thing, object, 'test.example/one');
    const second = await addFinalizer(client, Thing, first, 'test.example/two');
    expect(finalizers()).toEqual(['test.example/one', 'test.example/two']);
    const requests = server.requests.length;
    expect(await addFinalizer(client, Thing, second, 'test.example/one')).toBe(second);
    expect(await removeFinalizer(client, Thing, second, 'test.example/three')).toBe(second);
    expect(server.requests).toHaveLength(requests);
    await removeFinalizer(client, Thing, second, 'test.example/one');
    expect(finalizers()).toEqual(['test.example/two']);
  });

  it('of others that came or went meanwhile are kept as they are', async () => {
    const { server, client, finalizers } = setUp();
    const stale = server.put(Thing, thing('a'));
    server.put(Thing, thing('a', {}, { finalizers: ['other', 'mine'] }));
    await addFinalizer(client, Thing, stale, 'new');
    expect(finalizers()).toEqual(['other', 'mine', 'new']);
    const held = server.read(Thing, 'default', 'a')!;
    server.put(Thing, thing('a', {}, { finalizers: ['mine', 'new'] }));
    await removeFinalizer(client, Thing, held, 'mine');
    expect(finalizers()).toEqual(['new']);
  });

  it('are never put on, or taken off, another object of the same name', async () => {
    const { server, client, finalizers } = setUp();
    const gone = server.put(Thing, thing('a', {}, { finalizers: ['mine'] }));
    server.remove(Thing, 'default', 'a');
    await expect(addFinalizer(client, Thing, gone, 'x')).rejects.toMatchObject({ reason: 'NotFound' });
    expect(await removeFinalizer(client, Thing, gone, 'mine')).toBeUndefined();
    server.put(Thing, thing('a', {}, { finalizers: ['mine'] }));
    await expect(addFinalizer(client, Thing, gone, 'x')).rejects.toMatchObject({ reason: 'NotFound' });
    expect(await removeFinalizer(client, Thing, gone, 'mine')).toBeUndefined();
    expect(finalizers()).toEqual(['mine']);
  });

  it('the last of them off a terminating object ends it', async () => {
    const { server, client } = setUp();
    const object = server.put(
      Thing,
      thing('a', {}, { finalizers: ['mine'], deletionTimestamp: '2026-01-01T00:00:00Z' }),
    );
    await removeFinalizer(client, Thing, object, 'mine');
    expect(server.read(Thing, 'default', 'a')).toBeUndefined();
  });
});

describe('status', () => {
  it('is merged whole, guarded by the version, and not written when equal', async () => {
    const { server, client } = setUp();
    const object = server.put(Thing, { ...thing('a'), status: { phase: 'Old', note: 'gone' } });
    const updated = await mergeStatus(client, Thing, object, { phase: 'New' });
    expect(server.read(Thing, 'default', 'a')?.status).toEqual({ phase: 'New' });
    const requests = server.requests.length;
    expect(await mergeStatus(client, Thing, updated, { phase: 'New' })).toBe(updated);
    expect(server.requests).toHaveLength(requests);
    await expect(mergeStatus(client, Thing, object, { phase: 'Late' })).rejects.toMatchObject({ reason: 'Conflict' });
  });

  it('is applied with the UID, which keeps it off another object of that name', async () => {
    const { server, client } = setUp();
    const object = server.put(Thing, thing('a'));
    await applyStatus(client, Thing, object, { phase: 'Up' }, 'network/interface');
    expect(server.read(Thing, 'default', 'a')?.status).toEqual({ phase: 'Up' });
    expect(server.requests.at(-1)).toContain('/things/a/status?fieldManager=network%2Finterface&force=true');
    server.remove(Thing, 'default', 'a');
    server.put(Thing, thing('a'));
    const late = applyStatus(client, Thing, object, { phase: 'Up' }, 'network/interface');
    await expect(late).rejects.toMatchObject({ reason: 'Conflict' });
  });

  it('differences, merged by RFC 7386, make the one of the other', () => {
    const leaf = fc.oneof(fc.integer(), fc.string(), fc.boolean(), fc.array(fc.integer()));
    const key = fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor');
    const tree = fc.letrec((tie) => ({
      map: fc.dictionary(key, fc.oneof({ depthSize: 'small' }, leaf, tie('map')), { maxKeys: 4 }),
    })).map;
    fc.assert(
      fc.property(tree, tree, (before, after) => {
        const patch = JSON.parse(JSON.stringify(mergeDifference(before as object, after as object)));
        expect(JSON.parse(JSON.stringify(merge(before, patch)))).toEqual(JSON.parse(JSON.stringify(after)));
      }),
    );
  });
});

function merge(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const isMap = typeof target === 'object' && target !== null && !Array.isArray(target);
  const result = new Map<string, unknown>(isMap ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) result.delete(key);
    else result.set(key, merge(result.get(key), value));
  }
  return Object.fromEntries(result);
}

it('pointers escape what would divide them', () => {
  expect(jsonPointer('metadata', 'annotations', 'example.com/a~b', 0)).toBe(
    '/metadata/annotations/example.com~1a~0b/0',
  );
});
