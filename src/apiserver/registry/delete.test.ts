import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubeList, KubeObject, Status } from '../../meta/index.ts';
import { base, type Fixture, startServer, widget, widgets } from '../testing/fixture.ts';

const merge = 'application/merge-patch+json';
let api: Fixture;
beforeAll(async () => {
  api = await startServer();
});
afterAll(() => api.close());

const hold = { finalizers: ['example.com/hold'] };

describe('delete', () => {
  it('of a collection at a version deletes what there was then, and takes preconditions from the query', async () => {
    const early = (await api.send('POST', widgets, widget('early', {}, { labels: { when: 'x' } }))).body;
    await api.send('POST', widgets, widget('late', {}, { labels: { when: 'x' } }));
    const version = early.metadata.resourceVersion;
    const selected = `${widgets}?labelSelector=when%3Dx`;
    const { body } = await api.send<KubeList<KubeObject>>('DELETE', `${selected}&resourceVersion=${version}`);
    expect(body.items.map(({ metadata }) => metadata.name)).toEqual(['early']);
    const other = await api.send<Status>('DELETE', `${widgets}/late?uid=other`);
    expect([other.status, other.body.reason]).toEqual([409, 'Conflict']);
    expect((await api.send('DELETE', `${widgets}/late?resourceVersion=${version}`)).status).toBe(409);
    expect((await api.send('DELETE', `${widgets}/late`)).status).toBe(200);
  });

  it('answers a Status that names what went', async () => {
    const made = (await api.send('POST', widgets, widget('plain'))).body;
    const { status, body } = await api.send<Status>('DELETE', `${widgets}/plain`);
    expect([status, body.kind, body.status, body.details]).toEqual([
      200,
      'Status',
      'Success',
      { name: 'plain', group: 'example.com', kind: 'widgets', uid: made.metadata.uid },
    ]);
    const again = await api.send<Status>('DELETE', `${widgets}/plain`);
    expect([again.status, again.body.message]).toEqual([404, 'widgets.example.com "plain" not found']);
  });

  it('waits for finalizers, and removes the object with the last one', async () => {
    await api.send('POST', widgets, widget('held', {}, hold));
    const { status, body } = await api.send('DELETE', `${widgets}/held`);
    expect([status, body.kind, body.metadata.deletionGracePeriodSeconds, body.metadata.generation]).toEqual([
      200,
      'Widget',
      0,
      2,
    ]);
    const version = body.metadata.resourceVersion;
    const again = await api.send('DELETE', `${widgets}/held`);
    expect([again.status, again.body.metadata.resourceVersion]).toEqual([200, version]);
    const more = await api.send<Status>(
      'PATCH',
      `${widgets}/held`,
      { metadata: { finalizers: ['example.com/hold', 'a.com/b'] } },
      merge,
    );
    expect([more.status, more.body.message]).toEqual([
      422,
      'Widget.example.com "held" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"a.com/b"}',
    ]);
    const log = await api.watch(`${widgets}?watch=true&fieldSelector=metadata.name%3Dheld`);
    const released = await api.send('PATCH', `${widgets}/held`, { metadata: { finalizers: null } }, merge);
    expect(released.status).toBe(200);
    expect((await log.until(2)).map((event) => event.type)).toEqual(['ADDED', 'DELETED']);
    log.close();
    expect((await api.send('GET', `${widgets}/held`)).status).toBe(404);
  });

  it('keeps deletionTimestamp out of reach of updates', async () => {
    const made = (await api.send('POST', widgets, widget('undead', {}, hold))).body;
    const early = await api.send('PUT', `${widgets}/undead`, {
      ...made,
      metadata: { ...made.metadata, deletionTimestamp: '2030-01-01T00:00:00Z' },
    });
    expect(early.body.metadata.deletionTimestamp).toBeUndefined();
    const going = (await api.send('DELETE', `${widgets}/undead`)).body;
    const { deletionTimestamp: _, ...metadata } = going.metadata;
    const undone = await api.send('PUT', `${widgets}/undead`, { ...going, metadata });
    expect(undone.body.metadata.deletionTimestamp).toBe(going.metadata.deletionTimestamp);
  });

  it('refuses with 409 where a precondition does not hold', async () => {
    const made = (await api.send('POST', widgets, widget('pre'))).body;
    const uid = await api.send<Status>('DELETE', `${widgets}/pre`, { preconditions: { uid: 'other' } });
    expect([uid.status, uid.body.message]).toEqual([
      409,
      `Operation cannot be fulfilled on Widget.example.com "pre": the UID in the precondition (other) does not match the UID in record (${made.metadata.uid}). The object might have been deleted and then recreated`,
    ]);
    const version = await api.send('DELETE', `${widgets}/pre`, { preconditions: { resourceVersion: '1' } });
    expect(version.status).toBe(409);
    const { uid: own, resourceVersion } = made.metadata;
    expect((await api.send('DELETE', `${widgets}/pre`, { preconditions: { uid: own, resourceVersion } })).status).toBe(
      200,
    );
  });

  it.each([
    ['Foreground', ['example.com/hold', 'foregroundDeletion']],
    ['Orphan', ['example.com/hold', 'orphan']],
    ['Background', ['example.com/hold']],
  ])('leaves the garbage collector its finalizer for %s', async (propagationPolicy, finalizers) => {
    const name = `gc-${propagationPolicy.toLowerCase()}`;
    await api.send('POST', widgets, widget(name, {}, hold));
    const { body } = await api.send('DELETE', `${widgets}/${name}`, { propagationPolicy });
    expect(body.metadata.finalizers).toEqual(finalizers);
  });

  it('changes its mind about propagation with a second delete', async () => {
    await api.send('POST', widgets, widget('mind', {}, hold));
    await api.send('DELETE', `${widgets}/mind`, { propagationPolicy: 'Foreground' });
    const { body } = await api.send('DELETE', `${widgets}/mind?propagationPolicy=Orphan`);
    expect(body.metadata.finalizers).toEqual(['example.com/hold', 'orphan']);
  });

  it('stores nothing with dryRun', async () => {
    await api.send('POST', widgets, widget('drydel'));
    expect((await api.send('DELETE', `${widgets}/drydel?dryRun=All`)).status).toBe(200);
    expect((await api.send('DELETE', `${widgets}/drydel`, { dryRun: ['All'] })).status).toBe(200);
    expect((await api.send('GET', `${widgets}/drydel`)).status).toBe(200);
  });

  it('refuses a policy it does not know', async () => {
    await api.send('POST', widgets, widget('policy'));
    const { status } = await api.send('DELETE', `${widgets}/policy`, { propagationPolicy: 'Sideways' });
    expect(status).toBe(422);
  });
});

describe('deletecollection', () => {
  it('takes what the selector selects, and lists it', async () => {
    for (const [name, on] of [
      ['c1', 'yes'],
      ['c2', 'no'],
      ['c3', 'yes'],
    ] as const) {
      await api.send('POST', widgets, widget(name, {}, { labels: { on } }));
    }
    const { status, body } = await api.send<KubeList<KubeObject>>('DELETE', `${widgets}?labelSelector=on%3Dyes`);
    expect([status, body.items.map((item) => item.metadata.name)]).toEqual([200, ['c1', 'c3']]);
    const left = await api.send<KubeList<KubeObject>>('GET', `${widgets}?labelSelector=on`);
    expect(left.body.items.map((item) => item.metadata.name)).toEqual(['c2']);
  });
});

describe('namespaces', () => {
  const namespaces = `${base}/api/v1/namespaces`;

  it('stay Terminating until finalized, then go', async () => {
    const made = await api.send('POST', namespaces, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'shop' },
    });
    expect([made.body.spec, made.body.status, made.body.metadata.labels]).toEqual([
      { finalizers: ['kubernetes'] },
      { phase: 'Active' },
      { 'kubernetes.io/metadata.name': 'shop' },
    ]);
    const going = (await api.send('DELETE', `${namespaces}/shop`)).body;
    expect([going.status, going.spec]).toEqual([{ phase: 'Terminating' }, { finalizers: ['kubernetes'] }]);
    const finalized = await api.send('PUT', `${namespaces}/shop/finalize`, { ...going, spec: { finalizers: [] } });
    expect(finalized.status).toBe(200);
    expect((await api.send('GET', `${namespaces}/shop`)).status).toBe(404);
  });

  it('does not let the two every plane has be deleted', async () => {
    const { status, body } = await api.send<Status>('DELETE', `${namespaces}/default`);
    expect([status, body.message]).toEqual([
      403,
      'namespaces "default" is forbidden: this namespace may not be deleted',
    ]);
  });

  it('are named by DNS labels', async () => {
    const { status } = await api.send('POST', namespaces, { metadata: { name: 'a.b' } });
    expect(status).toBe(422);
  });
});
